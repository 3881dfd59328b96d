//! Asking login servers. Each answer has its time and its size, nobody is sent elsewhere, and addresses are looked at when
//! they are dialled.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::http::Method;
use hyper::http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use toolfold_http::{HttpClient, Target};
use toolfold_oauth::{Answer, Ask, Flow, Login, Step};
use url::Url;

use super::failed::NoLogin;
use super::reach::Nearby;
use crate::clock::seconds_now;

/// One answer, from the first byte to the last.
const LONGEST: Duration = Duration::from_secs(15);
/// Ten times what the largest provider says about itself.
const LARGEST: usize = 256 * 1024;
/// What a login asks, all together: documents, a client, tokens, each with what can go wrong once.
const MOST: usize = 16;
const AGENT: HeaderValue = HeaderValue::from_static(concat!("toolfold/", env!("CARGO_PKG_VERSION")));

/// For one login: whoever asks on its behalf, before somebody visits a page and after, asks here.
pub(super) struct Fetcher {
    client: HttpClient,
    asked: AtomicUsize,
}

/// What a flow cannot do without a person.
pub(super) enum Halt {
    Visit(String),
    Done(Box<Login>),
}

impl Fetcher {
    pub(super) fn new(server: &Url, private_hosts: &[String]) -> Result<Fetcher, NoLogin> {
        let reach = Arc::new(Nearby::of(server, private_hosts));
        let client = HttpClient::within(reach).map_err(|error| NoLogin::Unreachable(error.to_string()))?;
        Ok(Fetcher { client, asked: AtomicUsize::new(0) })
    }

    pub(super) async fn ask(&self, ask: &Ask) -> Result<Answer, NoLogin> {
        let host = Url::parse(&ask.url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
        let failed = |why: String| NoLogin::Unreachable(format!("{host} could not be asked: {why}"));
        if self.asked.fetch_add(1, Ordering::Relaxed) >= MOST {
            return Err(failed(format!("{MOST} questions were asked, and the login is not done")));
        }
        let target = Target::parse(&ask.url).map_err(|error| failed(error.to_string()))?;
        let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
        headers.insert(USER_AGENT, AGENT);
        for (name, value) in &ask.headers {
            let mut value = HeaderValue::try_from(value).map_err(|_| failed("a header cannot be sent".to_owned()))?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        let (method, body) = match ask.encoded() {
            Some((kind, body)) => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
                (Method::POST, body)
            }
            None => (Method::GET, Vec::new()),
        };
        let fetching = self.client.fetch(&target, method, headers, body, LARGEST);
        let fetched = tokio::time::timeout(LONGEST, fetching).await;
        let fetched = fetched.map_err(|_| failed(format!("no answer within {LONGEST:?}")))?;
        let fetched = fetched.map_err(|error| failed(error.to_string()))?;
        let nonce = fetched.headers.get("dpop-nonce").and_then(|nonce| nonce.to_str().ok()).map(str::to_owned);
        Ok(Answer { status: fetched.status, nonce, body: fetched.body })
    }

    /// Goes on with a login until it is done or needs a person.
    pub(super) async fn drive(&self, flow: &mut Flow) -> Result<Halt, NoLogin> {
        loop {
            match flow.step(seconds_now())? {
                Step::Fetch(ask) => flow.heard(&self.ask(&ask).await?, seconds_now())?,
                Step::Visit(url) => return Ok(Halt::Visit(url)),
                Step::Done(login) => return Ok(Halt::Done(login)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::join;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::Instant;
    use toolfold_oauth::Body;

    use super::*;

    async fn login_server() -> (TcpListener, Fetcher, Ask) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let fetcher = Fetcher::new(&Url::parse(&url).unwrap(), &[]).unwrap();
        (listener, fetcher, Ask { url, headers: Vec::new(), body: Body::Nothing })
    }

    /// Takes one question, and gives so many bytes of the promised answer.
    async fn answer(listener: &TcpListener, promised: usize, given: usize) -> TcpStream {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {promised}\r\nconnection: close\r\n\r\n");
        // Whoever has had enough hangs up.
        let _ = stream.write_all(head.as_bytes()).await;
        let _ = stream.write_all(&vec![b'x'; given]).await;
        stream
    }

    #[tokio::test]
    async fn an_answer_has_15_seconds_to_its_last_byte() {
        let (listener, fetcher, ask) = login_server().await;
        let before = Instant::now();
        let half = async {
            let stream = answer(&listener, 100, 50).await;
            tokio::time::pause();
            (stream, Instant::now())
        };
        let (outcome, (_open, since)) = join(fetcher.ask(&ask), half).await;
        let why = outcome.unwrap_err().to_string();
        assert!(why.contains("no answer within"), "{why}");
        assert!(before.elapsed() >= Duration::from_secs(15), "{:?}", before.elapsed());
        assert!(since.elapsed() < Duration::from_secs(16), "{:?}", since.elapsed());
    }

    #[tokio::test]
    async fn an_answer_has_256_kilobytes() {
        let (listener, fetcher, ask) = login_server().await;
        for (length, fits) in [(256 * 1024, true), (256 * 1024 + 1, false)] {
            let (outcome, _open) = join(fetcher.ask(&ask), answer(&listener, length, length)).await;
            assert_eq!(outcome.is_ok_and(|answer| answer.body.len() == length), fits, "{length}");
        }
    }

    #[tokio::test]
    async fn a_login_asks_16_questions() {
        let (listener, fetcher, ask) = login_server().await;
        for _ in 0..16 {
            let (outcome, _open) = join(fetcher.ask(&ask), answer(&listener, 2, 2)).await;
            assert_eq!(outcome.unwrap().body, b"xx");
        }
        // Nobody is there to answer another.
        let why = fetcher.ask(&ask).await.unwrap_err().to_string();
        assert!(why.contains("16 questions"), "{why}");
    }
}
