//! How a connection to an HTTP server comes about: straight, or through the proxy that the environment names.
//!
//! What a reader would get wrong: the two kinds of target use a proxy differently. For `https` it only passes bytes on
//! (a tunnel); for `http` it is sent the request itself, with the whole address in it, and that is what
//! [`Dialed::connected`] tells the client.

use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::http::Uri;
use hyper::http::uri::Scheme;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use toolfold_wire::BoxFuture;
use tower_service::Service;

use crate::reach::{Reach, Resolver, out_of_reach};

type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;
type BoxError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Clone)]
pub(crate) struct Dialer {
    straight: HttpConnector<Resolver>,
    /// A proxy may itself want TLS, and is where the environment says.
    to_proxy: HttpsConnector<HttpConnector>,
    proxies: Arc<Proxies>,
    reach: Option<Arc<dyn Reach>>,
}

impl Dialer {
    pub(crate) fn new(
        straight: HttpConnector<Resolver>,
        to_proxy: HttpsConnector<HttpConnector>,
        proxies: Arc<Proxies>,
        reach: Option<Arc<dyn Reach>>,
    ) -> Self {
        Dialer { straight, to_proxy, proxies, reach }
    }

    /// TLS with the server itself is made by whoever asked.
    async fn dial(mut self, target: Uri) -> std::result::Result<Dialed, BoxError> {
        let secure = target.scheme() == Some(&Scheme::HTTPS);
        // An address that is written out is not looked up, so no resolver sees it.
        if let (Some(reach), Some(host)) = (&self.reach, target.host())
            && let Ok(address) = host.trim_matches(['[', ']']).parse()
            && !reach.allows(host, address)
        {
            return Err(out_of_reach(&**reach, host).into());
        }
        match self.proxies.of(&target) {
            None => Ok(Dialed { stream: self.straight.call(target).await?.into(), through: false }),
            Some(proxy) if secure => {
                let mut tunnel = Tunnel::new(proxy.uri().clone(), self.to_proxy);
                if let Some(login) = proxy.basic_auth() {
                    tunnel = tunnel.with_auth(login.clone());
                }
                Ok(Dialed { stream: tunnel.call(target).await?, through: false })
            }
            Some(proxy) => Ok(Dialed { stream: self.to_proxy.call(proxy.uri().clone()).await?, through: true }),
        }
    }
}

impl Service<Uri> for Dialer {
    type Response = Dialed;
    type Error = BoxError;
    type Future = BoxFuture<'static, std::result::Result<Dialed, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::result::Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        Box::pin(self.clone().dial(target))
    }
}

/// Which proxy a target is reached through, as the environment has it.
pub(crate) struct Proxies(Matcher);

impl Proxies {
    pub(crate) fn new(matcher: Matcher) -> Arc<Self> {
        Arc::new(Proxies(matcher))
    }

    /// This machine is always reached straight.
    pub(crate) fn of(&self, target: &Uri) -> Option<Intercept> {
        let here = matches!(target.host(), Some("localhost" | "127.0.0.1" | "[::1]"));
        if here { None } else { self.0.intercept(target) }
    }
}

pub(crate) struct Dialed {
    stream: Stream,
    /// The other end is a proxy that reads the requests.
    through: bool,
}

impl Connection for Dialed {
    fn connected(&self) -> Connected {
        self.stream.connected().proxy(self.through)
    }
}

impl Read for Dialed {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: ReadBufCursor<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl Write for Dialed {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }
}
