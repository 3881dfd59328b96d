//! The client itself: connections kept open, TLS with the certificates of the system, proxies, redirects.
//!
//! What a reader would get wrong: a redirect is followed only where the request, its credentials included, may go to
//! the new address as it is. A POST that would become a GET on the way (301, 302, 303) is not the same request.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::http::header::{
    AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION, PROXY_AUTHORIZATION,
};
use hyper::http::uri::Scheme;
use hyper::http::{Method, Request, StatusCode, Uri};
use hyper_rustls::ConfigBuilderExt;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::proxy::matcher::Matcher;
use rustls::ClientConfig;
use url::Url;

use crate::credentials::{Asked, Challenge, Credentials, FixedHeaders, Reaction};
use crate::dial::{Dialer, Proxies};
use crate::error::{BadTarget, NoClient, SendError};
use crate::pool::{Line, Pool, Response};
use crate::reach::{Reach, Resolver};

const MOST_REDIRECTS: usize = 5;
/// A connection nobody uses is closed after this.
const IDLE: Duration = Duration::from_secs(90);
/// Nobody who can be reached takes longer to say so.
const CONNECT: Duration = Duration::from_secs(30);
/// Nor does one who stands beside us.
const NEAR: Duration = Duration::from_secs(2);
/// A peer that vanished without a word is noticed within a minute or so.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const KEEP_ALIVE_TRIES: u32 = 3;
#[cfg(target_os = "linux")]
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub struct HttpClient {
    pool: Arc<Pool>,
    proxies: Arc<Proxies>,
}

/// An address in the two forms that are needed of it.
pub struct Target {
    url: Url,
    uri: Uri,
}

impl Target {
    pub fn parse(text: &str) -> Result<Self, BadTarget> {
        Target::new(Url::parse(text)?)
    }

    /// What the `Host` header says. Every place that a redirect may lead to has the same.
    pub fn host(&self) -> Result<HeaderValue, BadTarget> {
        let authority = self.uri.authority().map_or("", |authority| authority.as_str());
        Ok(HeaderValue::from_str(authority)?)
    }

    fn new(url: Url) -> Result<Self, BadTarget> {
        let uri = Uri::try_from(url.as_str())?;
        Ok(Target { url, uri })
    }
}

/// What [`HttpClient::fetch`] got.
#[derive(Debug)]
pub struct Fetched {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// A request, and whose.
pub struct Outgoing<'a> {
    pub method: Method,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub credentials: &'a dyn Credentials,
}

/// A connection to a place, and nothing said yet.
pub struct SoleLine {
    line: Line,
    uri: Uri,
}

impl SoleLine {
    /// Asks as nobody in particular, and goes nowhere else. `Host` is among the headers.
    pub async fn send(self, method: Method, headers: HeaderMap, body: Bytes) -> Result<Response, SendError> {
        let mut request = Request::new(Full::new(body));
        (*request.method_mut(), *request.headers_mut()) = (method, headers);
        self.line.ask_once(&self.uri, request).await
    }
}

impl HttpClient {
    /// One for the process: connections are pooled, and the certificates of the system are read once.
    pub fn shared() -> Result<HttpClient, NoClient> {
        static SHARED: OnceLock<Result<HttpClient, NoClient>> = OnceLock::new();
        SHARED.get_or_init(|| HttpClient::new(Matcher::from_system(), None)).clone()
    }

    /// One that connects to nothing but what `reach` allows. By way of a proxy that is up to the proxy, which alone knows
    /// where it connects to; an address that is written out is looked at all the same.
    pub fn within(reach: Arc<dyn Reach>) -> Result<HttpClient, NoClient> {
        HttpClient::new(Matcher::from_system(), Some(reach))
    }

    /// One that goes nowhere by way of a proxy, and gives up connecting soon: for those who stand beside us.
    pub fn straight() -> Result<HttpClient, NoClient> {
        HttpClient::connecting(Matcher::builder().build(), None, NEAR)
    }

    fn new(proxies: Matcher, reach: Option<Arc<dyn Reach>>) -> Result<HttpClient, NoClient> {
        HttpClient::connecting(proxies, reach, CONNECT)
    }

    fn connecting(proxies: Matcher, reach: Option<Arc<dyn Reach>>, connect: Duration) -> Result<HttpClient, NoClient> {
        let proxies = Proxies::new(proxies);
        let tls = shared_tls()?;
        let straight = tcp(HttpConnector::new_with_resolver(Resolver::new(reach.clone())), connect);
        let proxied = tcp(HttpConnector::new(), connect);
        let dialer = Dialer::new(straight, (proxied, tls.clone()).into(), proxies.clone(), reach);
        Ok(HttpClient { pool: Arc::new(Pool::new((dialer, tls).into(), IDLE)), proxies })
    }

    /// Sends a request where it should go, as who it should be from.
    pub async fn send(&self, target: &Target, request: Outgoing<'_>) -> Result<Response, SendError> {
        let (mut again, mut proven) = (false, false);
        loop {
            let (response, sent) = self.send_on(target, &request).await?;
            // A server that asks for other credentials has not looked at the request.
            let Some(challenge) = Challenge::of(response.status(), response.headers(), sent) else {
                return Ok(response);
            };
            // Each once: a server that is never content has given its answer.
            match request.credentials.rejected(&challenge).await {
                Reaction::Again if !again => again = true,
                Reaction::Proven if !proven => proven = true,
                _ => return Ok(response),
            }
        }
    }

    /// A connection for one request alone: from here on it is known that somebody was there to take it.
    pub async fn reach(&self, target: &Target) -> Result<SoleLine, SendError> {
        Ok(SoleLine { line: self.pool.connect(&target.uri).await?, uri: target.uri.clone() })
    }

    /// Asks as nobody in particular, goes nowhere else, and reads no more than `limit` of the answer.
    pub async fn fetch(
        &self,
        target: &Target,
        method: Method,
        mut headers: HeaderMap,
        body: Vec<u8>,
        limit: usize,
    ) -> Result<Fetched, SendError> {
        if let Ok(host) = target.host() {
            headers.insert(HOST, host);
        }
        let nobody = FixedHeaders::default();
        let outgoing = Outgoing { method, headers, body: body.into(), credentials: &nobody };
        let (mut response, _) = self.send_once(&target.uri, &outgoing).await?;
        let mut body = Vec::new();
        while let Some(chunk) = chunk(&mut response).await? {
            if body.len() + chunk.len() > limit {
                return Err(SendError::TooLarge(limit));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Fetched { status: response.status().as_u16(), headers: std::mem::take(response.headers_mut()), body })
    }

    /// Sends a body and hears the status; what else is answered is not read.
    pub async fn post(
        &self,
        target: &Target,
        kind: &'static str,
        body: Vec<u8>,
        credentials: &dyn Credentials,
    ) -> Result<u16, SendError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        if let Ok(host) = target.host() {
            headers.insert(HOST, host);
        }
        let request = Outgoing { method: Method::POST, headers, body: body.into(), credentials };
        Ok(self.send(target, request).await?.status().as_u16())
    }

    /// The answer, and the `Authorization` it is an answer to.
    async fn send_on(
        &self,
        target: &Target,
        request: &Outgoing<'_>,
    ) -> Result<(Response, Option<HeaderValue>), SendError> {
        let (mut response, mut sent) = self.send_once(&target.uri, request).await?;
        let mut place = None;
        for _ in 0..MOST_REDIRECTS {
            let now = place.as_ref().unwrap_or(target);
            let Some(next) = redirected(target, now, &request.method, &response) else { break };
            (response, sent) = Box::pin(self.send_once(&next.uri, request)).await?;
            place = Some(next);
        }
        Ok((response, sent))
    }

    async fn send_once(
        &self,
        uri: &Uri,
        outgoing: &Outgoing<'_>,
    ) -> Result<(Response, Option<HeaderValue>), SendError> {
        let mut request = Request::new(Full::new(outgoing.body.clone()));
        *request.method_mut() = outgoing.method.clone();
        *request.uri_mut() = uri.clone();
        *request.headers_mut() = outgoing.headers.clone();
        outgoing.credentials.sign(Asked { method: &outgoing.method, uri }, request.headers_mut()).await?;
        if let Some(login) = self.proxy_login(uri) {
            request.headers_mut().insert(PROXY_AUTHORIZATION, login);
        }
        let sent = request.headers().get(AUTHORIZATION).cloned();
        Ok((self.pool.request(request).await?, sent))
    }

    /// For a proxy that reads the request; one that only passes on a tunnel has it from the tunnel's beginning.
    fn proxy_login(&self, uri: &Uri) -> Option<HeaderValue> {
        let plain = uri.scheme() == Some(&Scheme::HTTP);
        plain.then(|| self.proxies.of(uri))??.basic_auth().cloned()
    }
}

/// What is to be said in headers, as headers. What cannot be in one is left out.
pub fn header_lines(
    said: impl IntoIterator<Item = (&'static str, String)>,
) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    said.into_iter()
        .filter_map(|(name, value)| Some((HeaderName::from_static(name), HeaderValue::try_from(value).ok()?)))
}

/// The next piece of a response's body.
pub async fn chunk(response: &mut Response) -> Result<Option<Bytes>, SendError> {
    while let Some(frame) = response.body_mut().frame().await {
        if let Ok(data) = frame?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

fn tls() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(versions.try_with_platform_verifier()?.with_no_client_auth())
}

/// The certificates of the system are read once.
fn shared_tls() -> Result<Arc<ClientConfig>, NoClient> {
    static TLS: OnceLock<Result<Arc<ClientConfig>, NoClient>> = OnceLock::new();
    TLS.get_or_init(|| Ok(Arc::new(tls()?))).clone()
}

fn tcp<R>(mut tcp: HttpConnector<R>, connect: Duration) -> HttpConnector<R> {
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(connect));
    tcp.set_keepalive(Some(KEEP_ALIVE));
    tcp.set_keepalive_interval(Some(KEEP_ALIVE));
    tcp.set_keepalive_retries(Some(KEEP_ALIVE_TRIES));
    #[cfg(target_os = "linux")]
    tcp.set_tcp_user_timeout(Some(UNACKNOWLEDGED));
    tcp
}

/// Where the response sends us, if we go there.
fn redirected(first: &Target, now: &Target, method: &Method, response: &Response) -> Option<Target> {
    let as_it_is = match response.status() {
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER => method == Method::GET,
        _ => false,
    };
    let location = response.headers().get(LOCATION).filter(|_| as_it_is)?.to_str().ok()?;
    let next = now.url.join(location).ok().filter(|next| same_place(&first.url, next))?;
    Target::new(next).ok()
}

/// Credentials go to the place they were configured for and nowhere else.
fn same_place(first: &Url, next: &Url) -> bool {
    let upgraded =
        first.scheme() == "http" && next.scheme() == "https" && first.port().is_none() && next.port().is_none();
    first.host_str() == next.host_str() && (first.origin() == next.origin() || upgraded)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
    use tokio::net::TcpListener;
    use toolfold_wire::BoxFuture;

    use super::*;
    use crate::credentials::NoCredentials;

    fn post(credentials: &dyn Credentials) -> Outgoing<'_> {
        Outgoing { method: Method::POST, headers: HeaderMap::new(), body: Bytes::from_static(b"{}"), credentials }
    }

    /// Answers every request with the next of these heads and returns what it was asked.
    async fn answering(listener: TcpListener, heads: &[&str]) -> Vec<String> {
        let mut asked = Vec::new();
        for head in heads {
            let mut stream = BufReader::new(listener.accept().await.unwrap().0);
            let mut request = String::new();
            while !request.ends_with("\r\n\r\n") {
                stream.read_line(&mut request).await.unwrap();
            }
            let mut body = [0; 2];
            stream.read_exact(&mut body).await.unwrap();
            let answer = format!("HTTP/1.1 {head}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
            asked.push(request.to_lowercase());
        }
        asked
    }

    /// A token that is renewed once.
    struct Renewed(std::sync::Mutex<Vec<String>>);

    impl Credentials for Renewed {
        fn sign<'a>(
            &'a self,
            asked: Asked<'a>,
            headers: &'a mut HeaderMap,
        ) -> BoxFuture<'a, Result<(), NoCredentials>> {
            Box::pin(async move {
                assert_eq!((asked.method, asked.uri.path()), (&Method::POST, "/mcp"));
                let token = format!("token-{}", self.0.lock().unwrap().len());
                headers.insert("authorization", token.parse().unwrap());
                Ok(())
            })
        }

        fn rejected<'a>(&'a self, challenge: &'a Challenge) -> BoxFuture<'a, Reaction> {
            self.0.lock().unwrap().extend(challenge.schemes.iter().cloned());
            Box::pin(std::future::ready(Reaction::Again))
        }
    }

    #[tokio::test]
    async fn credentials_are_asked_for_each_request_and_told_of_a_401() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = Target::parse(&format!("http://{}/mcp", listener.local_addr().unwrap())).unwrap();
        let client = HttpClient::new(Matcher::builder().build(), None).unwrap();
        let credentials = Renewed(Default::default());
        let heads = [
            "401 Unauthorized\r\nWWW-Authenticate: Bearer error=\"expired\"",
            "200 OK",
            "401 Unauthorized",
            "401 Unauthorized",
        ];
        let (asked, statuses) = tokio::join!(answering(listener, &heads), async {
            let first = client.send(&target, post(&credentials)).await.unwrap().status();
            (first, client.send(&target, post(&credentials)).await.unwrap().status())
        });
        assert_eq!(statuses, (StatusCode::OK, StatusCode::UNAUTHORIZED), "a second 401 is the answer");
        let tokens: Vec<bool> = asked.iter().map(|request| request.contains("authorization: token-1")).collect();
        assert_eq!(tokens, [false, true, true, true]);
        assert_eq!(*credentials.0.lock().unwrap(), ["Bearer error=\"expired\""]);
    }

    /// Sends a request by way of a proxy: what the proxy is told, and what becomes of the request when it answers so.
    async fn through_proxy(url: &str, answer: &str) -> (String, Result<Response, SendError>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = format!("http://me:secret@{}", listener.local_addr().unwrap());
        let client = HttpClient::new(Matcher::builder().all(proxy).build(), None).unwrap();
        let (target, nobody) = (Target::parse(url).unwrap(), FixedHeaders::default());
        let proxying = async {
            let mut stream = BufReader::new(listener.accept().await.unwrap().0);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                stream.read_line(&mut head).await.unwrap();
            }
            stream.write_all(answer.as_bytes()).await.unwrap();
            head.replace('\r', "").to_lowercase()
        };
        tokio::join!(proxying, client.send(&target, post(&nobody)))
    }

    #[tokio::test]
    async fn a_proxy_is_sent_plain_requests_whole() {
        let (told, response) =
            through_proxy("http://tools.example/mcp?a=b", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n").await;
        insta::assert_snapshot!(told.trim_end(), @r"
        post http://tools.example/mcp?a=b http/1.1
        proxy-authorization: basic bwu6c2vjcmv0
        host: tools.example
        content-length: 2
        ");
        assert_eq!(response.unwrap().status(), StatusCode::ACCEPTED);
    }

    #[tokio::test]
    async fn a_proxy_is_asked_for_a_tunnel_to_what_is_encrypted() {
        let (told, response) =
            through_proxy("https://tools.example/mcp", "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n").await;
        insta::assert_snapshot!(told.trim_end(), @r"
        connect tools.example:443 http/1.1
        host: tools.example:443
        proxy-authorization: basic bwu6c2vjcmv0
        ");
        assert!(matches!(response, Err(SendError::Unreachable(_))));
    }

    #[test]
    fn this_machine_is_reached_without_a_proxy() {
        let proxies = Proxies::new(Matcher::builder().all("http://proxy.example:3128").build());
        for (url, expected) in
            [("http://localhost:1/mcp", false), ("http://[::1]:1/", false), ("http://localhost.example/", true)]
        {
            assert_eq!(proxies.of(&Uri::from_static(url)).is_some(), expected, "{url}");
        }
    }

    #[test]
    fn credentials_stay_where_they_were_configured_for() {
        let same = |first: &str, next: &str| same_place(&Url::parse(first).unwrap(), &Url::parse(next).unwrap());
        assert!(same("https://a.example/mcp", "https://a.example/v2/mcp"));
        assert!(same("http://a.example/mcp", "https://a.example/mcp"));
        assert!(!same("https://a.example/mcp", "http://a.example/mcp"));
        assert!(!same("https://a.example/mcp", "https://b.example/mcp"));
        assert!(!same("https://a.example/mcp", "https://a.example:8443/mcp"));
    }

    /// What a challenge in a proof, and one that no credentials answer, make of a request.
    #[tokio::test]
    async fn a_403_with_a_challenge_is_told_and_a_proof_is_made_once_more() {
        struct Proving(std::sync::Mutex<Vec<(u16, Option<String>)>>);
        impl Credentials for Proving {
            fn sign<'a>(
                &'a self,
                _: Asked<'a>,
                headers: &'a mut HeaderMap,
            ) -> BoxFuture<'a, Result<(), NoCredentials>> {
                headers.insert("authorization", HeaderValue::from_static("DPoP x"));
                Box::pin(std::future::ready(Ok(())))
            }
            fn rejected<'a>(&'a self, challenge: &'a Challenge) -> BoxFuture<'a, Reaction> {
                assert_eq!(challenge.sent.as_ref().unwrap(), "DPoP x");
                self.0.lock().unwrap().push((challenge.status, challenge.nonce.clone()));
                Box::pin(std::future::ready(Reaction::Proven))
            }
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = Target::parse(&format!("http://{}/mcp", listener.local_addr().unwrap())).unwrap();
        let client = HttpClient::new(Matcher::builder().build(), None).unwrap();
        let credentials = Proving(Default::default());
        let heads = [
            "401 Unauthorized\r\nWWW-Authenticate: DPoP error=\"use_dpop_nonce\"\r\nDPoP-Nonce: n1",
            "403 Forbidden\r\nWWW-Authenticate: DPoP error=\"insufficient_scope\"",
            "403 Forbidden",
        ];
        let (_, statuses) = tokio::join!(answering(listener, &heads), async {
            let first = client.send(&target, post(&credentials)).await.unwrap().status();
            (first, client.send(&target, post(&credentials)).await.unwrap().status())
        });
        assert_eq!(statuses, (StatusCode::FORBIDDEN, StatusCode::FORBIDDEN));
        assert_eq!(*credentials.0.lock().unwrap(), [(401, Some("n1".to_owned())), (403, None)]);
    }

    struct Nowhere;

    impl Reach for Nowhere {
        fn allows(&self, _: &str, _: std::net::IpAddr) -> bool {
            false
        }
    }

    #[tokio::test]
    async fn what_is_out_of_reach_is_not_dialled() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let client = HttpClient::new(Matcher::builder().build(), Some(Arc::new(Nowhere))).unwrap();
        for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
            let target = Target::parse(&format!("http://{host}:{port}/")).unwrap();
            let fetched = client.fetch(&target, Method::GET, HeaderMap::new(), Vec::new(), 1).await;
            let why = fetched.unwrap_err().to_string();
            assert!(why.contains("private"), "{host}: {why}");
        }
    }

    #[tokio::test]
    async fn what_is_fetched_has_a_size_and_leads_nowhere_else() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = Target::parse(&format!("http://{}/a", listener.local_addr().unwrap())).unwrap();
        let client = HttpClient::new(Matcher::builder().build(), None).unwrap();
        let serving = async {
            for answer in [
                "HTTP/1.1 302 Found\r\nLocation: /b\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
            ] {
                let mut stream = BufReader::new(listener.accept().await.unwrap().0);
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    stream.read_line(&mut head).await.unwrap();
                }
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        };
        let fetching = async {
            let first = client.fetch(&target, Method::GET, HeaderMap::new(), Vec::new(), 4).await.unwrap();
            (first.status, client.fetch(&target, Method::GET, HeaderMap::new(), Vec::new(), 4).await)
        };
        let ((), (status, second)) = tokio::join!(serving, fetching);
        assert_eq!(status, 302);
        assert!(matches!(second, Err(SendError::TooLarge(4))), "{second:?}");
    }
}
