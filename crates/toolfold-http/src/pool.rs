//! Connections that are kept open, each driven by whoever asks over it.
//!
//! Why not a pool that runs a task for each connection, as the usual ones do: a request is then handed to that task, its
//! answer back, and a third task waits until the connection is free again. A call that passes through a gateway pays for
//! each of these with a wake-up of another thread. Here the one who waits for an answer moves the bytes of it.
//!
//! What a reader would get wrong: a connection that lies here is not looked at. Whether the other end has closed it is found
//! out when it is taken, and by the sweeper.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{Connection, SendRequest, handshake};
use hyper::http::header::{HOST, HeaderValue};
use hyper::http::uri::{Authority, PathAndQuery, Scheme};
use hyper::http::{Request, Uri};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::Connection as _;
use tokio::runtime::Handle;
use tokio::time::Instant;
use tower_service::Service;

use crate::dial::{Dialed, Dialer};
use crate::error::SendError;

pub type Response = hyper::Response<Streamed>;

/// Connections to one place that are kept while nobody uses them.
const MOST_KEPT: usize = 256;

type Place = (Scheme, Authority);
type Driver = Connection<MaybeHttpsStream<Dialed>, Full<Bytes>>;

pub(crate) struct Pool {
    connector: HttpsConnector<Dialer>,
    idle: Arc<Idle>,
}

impl Pool {
    /// Connections are kept as long as `unused` without a request.
    pub(crate) fn new(connector: HttpsConnector<Dialer>, unused: Duration) -> Self {
        Pool { connector, idle: Arc::new(Idle { unused, state: Mutex::default() }) }
    }

    /// Sends a request, and hears the head of the answer.
    pub(crate) async fn request(&self, mut request: Request<Full<Bytes>>) -> Result<Response, SendError> {
        let uri = request.uri().clone();
        let place = uri.scheme().cloned().zip(uri.authority().cloned());
        let place = place.ok_or_else(|| SendError::Unreachable("the address has no host".into()))?;
        if !request.headers().contains_key(HOST) {
            let host = HeaderValue::from_str(&host(&place)).map_err(|error| SendError::Unreachable(error.into()))?;
            request.headers_mut().insert(HOST, host);
        }
        loop {
            let kept = self.idle.take(&place);
            let reused = kept.is_some();
            let mut line = match kept {
                Some(line) => line,
                // In a box of its own: most requests need none.
                None => Box::pin(self.connect(&uri)).await?,
            };
            match line.ask(&uri, request).await {
                Ok(incoming) => {
                    let home = Home { idle: Arc::downgrade(&self.idle), place };
                    return Ok(incoming.map(|incoming| Streamed {
                        incoming,
                        line: Some((line, Some(home))),
                        read: false,
                    }));
                }
                // Nothing of it was written, as the other end had closed a connection that was kept: nobody has seen it.
                Err(mut failed) => match failed.take_message().filter(|_| reused) {
                    Some(unsent) => request = unsent,
                    None => return Err(SendError::Broken(failed.into_error())),
                },
            }
        }
    }

    /// A connection of one's own.
    pub(crate) async fn connect(&self, uri: &Uri) -> Result<Line, SendError> {
        let stream = self.connector.clone().call(uri.clone()).await.map_err(SendError::Unreachable)?;
        let through = stream.connected().is_proxied();
        let (sender, driver) = handshake(stream).await.map_err(SendError::Broken)?;
        Ok(Line { sender, driver: Some(Box::pin(driver)), through })
    }
}

/// One connection.
pub(crate) struct Line {
    sender: SendRequest<Full<Bytes>>,
    /// None where it has ended.
    driver: Option<Pin<Box<Driver>>>,
    /// The other end is a proxy that reads the requests.
    through: bool,
}

impl Line {
    /// Sends one request, and closes when its answer has been read.
    pub(crate) async fn ask_once(mut self, uri: &Uri, request: Request<Full<Bytes>>) -> Result<Response, SendError> {
        let answered = self.ask(uri, request).await.map_err(|failed| SendError::Broken(failed.into_error()))?;
        Ok(answered.map(|incoming| Streamed { incoming, line: Some((self, None)), read: false }))
    }

    async fn ask(
        &mut self,
        uri: &Uri,
        mut request: Request<Full<Bytes>>,
    ) -> Result<hyper::Response<Incoming>, TrySendError<Request<Full<Bytes>>>> {
        *request.uri_mut() = if self.through { uri.clone() } else { origin(uri) };
        let mut asked = std::pin::pin!(self.sender.try_send_request(request));
        std::future::poll_fn(|context| {
            loop {
                if let Poll::Ready(answered) = asked.as_mut().poll(context) {
                    return Poll::Ready(answered);
                }
                let Some(driver) = &mut self.driver else { return Poll::Pending };
                // What it ends with reaches the one who asked.
                match driver.as_mut().poll(context) {
                    Poll::Ready(_) => self.driver = None,
                    // The answer may have come in just now.
                    Poll::Pending => return asked.as_mut().poll(context),
                }
            }
        })
        .await
    }

    /// Whether a request can be sent over it, as far as this end knows.
    fn poll_free(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        let open = self.driver.as_mut().is_some_and(|driver| driver.as_mut().poll(&mut context).is_pending());
        open && self.sender.is_ready()
    }
}

/// Where a connection goes back to.
struct Home {
    idle: Weak<Idle>,
    place: Place,
}

/// The body of an answer, with the connection it comes in on.
pub struct Streamed {
    incoming: Incoming,
    /// Where it goes back to, if anywhere.
    line: Option<(Line, Option<Home>)>,
    /// Whether it was read to its end, which only some know of themselves.
    read: bool,
}

impl Streamed {
    fn next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let next = Pin::new(&mut self.incoming).poll_frame(context);
        self.read |= matches!(next, Poll::Ready(None));
        next
    }
}

impl Body for Streamed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let answer = self.get_mut();
        loop {
            if let Poll::Ready(frame) = answer.next(context) {
                return Poll::Ready(frame);
            }
            let Some(driver) = answer.line.as_mut().and_then(|(line, _)| line.driver.as_mut()) else {
                return Poll::Pending;
            };
            match driver.as_mut().poll(context) {
                Poll::Ready(_) => answer.line = None,
                Poll::Pending => return answer.next(context),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

impl Drop for Streamed {
    /// A connection whose answer was read to its end carries the next request; any other ends here, and the server sees that
    /// nobody listens any more.
    fn drop(&mut self) {
        if let Some((line, Some(home))) = self.line.take()
            && (self.read || self.incoming.is_end_stream())
            && let Some(idle) = home.idle.upgrade()
        {
            idle.give(home.place, line);
        }
    }
}

/// Connections nobody uses.
struct Idle {
    unused: Duration,
    state: Mutex<Resting>,
}

#[derive(Default)]
struct Resting {
    /// Of each place the newest last.
    lines: HashMap<Place, Vec<(Instant, Line)>>,
    swept: bool,
}

impl Idle {
    fn state(&self) -> MutexGuard<'_, Resting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest: the others may then grow old enough to be closed.
    fn take(&self, place: &Place) -> Option<Line> {
        loop {
            let (since, mut line) = self.state().lines.get_mut(place)?.pop()?;
            if since.elapsed() < self.unused && line.poll_free() {
                return Some(line);
            }
        }
    }

    fn give(self: Arc<Self>, place: Place, line: Line) {
        // The end of the runtime is the end of its connections.
        let Ok(runtime) = Handle::try_current() else { return };
        let swept = {
            let mut state = self.state();
            let lines = state.lines.entry(place).or_default();
            if lines.len() >= MOST_KEPT {
                return;
            }
            lines.push((Instant::now(), line));
            std::mem::replace(&mut state.swept, true)
        };
        // Not with the lock: a runtime that is ending drops what it is given, and that asks for the lock.
        if !swept {
            runtime.spawn(Sweeper(Arc::downgrade(&self)).run());
        }
    }

    /// Lets go of what is old or closed; whether anything is left.
    fn sweep(&self) -> bool {
        let mut state = self.state();
        state.lines.retain(|_, lines| {
            lines.retain_mut(|(since, line)| since.elapsed() < self.unused && line.poll_free());
            !lines.is_empty()
        });
        !state.lines.is_empty()
    }
}

/// Runs as long as there are connections nobody uses.
struct Sweeper(Weak<Idle>);

impl Sweeper {
    async fn run(self) {
        while let Some(unused) = self.0.upgrade().map(|idle| idle.unused) {
            tokio::time::sleep(unused / 3).await;
            if !self.0.upgrade().is_some_and(|idle| idle.sweep()) {
                return;
            }
        }
    }
}

impl Drop for Sweeper {
    /// Also where its runtime ends: whoever comes next begins another.
    fn drop(&mut self) {
        if let Some(idle) = self.0.upgrade() {
            idle.state().swept = false;
        }
    }
}

/// As a server wants to be asked.
fn origin(uri: &Uri) -> Uri {
    uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/")).into()
}

/// What the `Host` header says: no names of users, no port that the scheme says already.
fn host((scheme, authority): &Place) -> String {
    let usual = if *scheme == Scheme::HTTPS { 443 } else { 80 };
    match authority.port_u16().filter(|port| *port != usual) {
        Some(port) => format!("{}:{port}", authority.host()),
        None => authority.host().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use hyper::http::{HeaderMap, Method};
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::{FixedHeaders, HttpClient, Outgoing, Target, chunk};

    const FINE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

    struct Meeting {
        listener: TcpListener,
        target: Target,
        client: HttpClient,
    }

    async fn meeting() -> Meeting {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = Target::parse(&format!("http://{}/a?b", listener.local_addr().unwrap())).unwrap();
        Meeting { listener, target, client: HttpClient::straight().unwrap() }
    }

    impl Meeting {
        async fn accept(&self) -> BufReader<TcpStream> {
            BufReader::new(self.listener.accept().await.unwrap().0)
        }

        async fn ask(&self) -> Result<Vec<u8>, SendError> {
            let fetched =
                self.client.fetch(&self.target, Method::POST, HeaderMap::new(), b"{}".to_vec(), 1 << 20).await?;
            Ok(fetched.body)
        }
    }

    /// Hears one request and says this.
    async fn answer(stream: &mut BufReader<TcpStream>, answer: &str) -> String {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(stream.read_line(&mut head).await.unwrap(), 0, "nobody asks: {head:?}");
        }
        stream.read_exact(&mut [0; 2]).await.unwrap();
        stream.write_all(answer.as_bytes()).await.unwrap();
        head
    }

    async fn is_closed(stream: &mut BufReader<TcpStream>) -> bool {
        matches!(stream.read(&mut [0; 64]).await, Ok(0) | Err(_))
    }

    #[tokio::test]
    async fn one_connection_serves_many_requests() {
        let place = meeting().await;
        let serving = async {
            let mut stream = place.accept().await;
            let first = answer(&mut stream, FINE).await;
            for _ in 0..3 {
                answer(&mut stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n").await;
            }
            first
        };
        let asking = async {
            for _ in 0..4 {
                assert_eq!(place.ask().await.unwrap(), b"ok");
            }
        };
        let (first, ()) = tokio::join!(serving, asking);
        assert!(first.starts_with("POST /a?b HTTP/1.1\r\n"), "{first}");
    }

    #[tokio::test]
    async fn a_connection_that_was_closed_while_nobody_used_it_costs_nobody_anything() {
        let place = meeting().await;
        let serving = async {
            for _ in 0..3 {
                let mut stream = place.accept().await;
                answer(&mut stream, FINE).await;
                stream.shutdown().await.unwrap();
            }
        };
        let asking = async {
            for _ in 0..3 {
                assert_eq!(place.ask().await.unwrap(), b"ok");
                // It has closed.
                tokio::task::yield_now().await;
            }
        };
        tokio::join!(serving, asking);
    }

    /// Nobody gets the answer to a question that was not asked yet.
    #[tokio::test]
    async fn an_answer_ahead_of_its_question_ends_the_connection() {
        let place = meeting().await;
        let serving = async {
            let mut stream = place.accept().await;
            answer(&mut stream, &format!("{FINE}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong")).await;
            let mut next = place.accept().await;
            answer(&mut next, FINE).await;
        };
        let asking = async {
            assert_eq!(place.ask().await.unwrap(), b"ok");
            assert_eq!(place.ask().await.unwrap(), b"ok");
        };
        tokio::join!(serving, asking);
    }

    #[tokio::test]
    async fn an_answer_that_nobody_reads_to_its_end_ends_the_connection() {
        let place = meeting().await;
        let half = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok";
        let serving = async {
            let mut stream = place.accept().await;
            answer(&mut stream, half).await;
            assert!(is_closed(&mut stream).await);
        };
        let asking = async {
            let uri = place.target.host().unwrap();
            let mut headers = HeaderMap::new();
            headers.insert(HOST, uri);
            let there = place.client.reach(&place.target).await.unwrap();
            let mut response = there.send(Method::POST, headers, Bytes::from_static(b"{}")).await.unwrap();
            assert_eq!(chunk(&mut response).await.unwrap().unwrap(), "ok");
        };
        tokio::join!(serving, asking);
    }

    #[tokio::test]
    async fn a_request_that_is_given_up_ends_the_connection() {
        let place = meeting().await;
        let mut asking = Box::pin(place.ask());
        let mut stream = tokio::select! {
            stream = place.accept() => stream,
            _ = &mut asking => unreachable!("nobody has answered"),
        };
        let mut head = String::new();
        tokio::select! {
            read = stream.read_line(&mut head) => assert_ne!(read.unwrap(), 0),
            _ = &mut asking => unreachable!("nobody has answered"),
        }
        drop(asking);
        while !is_closed(&mut stream).await {}
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_nobody_uses_is_closed() {
        let place = meeting().await;
        let serving = async {
            let mut stream = place.accept().await;
            answer(&mut stream, FINE).await;
            stream
        };
        let (mut stream, body) = tokio::join!(serving, place.ask());
        assert_eq!(body.unwrap(), b"ok");
        assert!(is_closed(&mut stream).await);
    }

    /// An answer that is dropped with its runtime gives its connection back when nothing more can be begun there.
    #[test]
    fn a_runtime_that_ends_takes_its_connections_with_it() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let _client = runtime.block_on(async {
            let place = meeting().await;
            let serving = async {
                let mut stream = place.accept().await;
                answer(&mut stream, FINE).await;
                stream
            };
            let asking = async {
                let (body, nobody) = (Bytes::from_static(b"{}"), FixedHeaders::default());
                let request = Outgoing { method: Method::POST, headers: HeaderMap::new(), body, credentials: &nobody };
                let mut response = place.client.send(&place.target, request).await.unwrap();
                assert_eq!(chunk(&mut response).await.unwrap().unwrap(), "ok");
                response
            };
            let (_stream, response) = tokio::join!(serving, asking);
            tokio::spawn(async move {
                std::future::pending::<()>().await;
                drop(response);
            });
            place.client
        });
        drop(runtime);
    }
}
