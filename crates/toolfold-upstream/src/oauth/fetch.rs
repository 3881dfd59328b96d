//! Asking login servers. Each answer has its time and its size, nobody is sent elsewhere, and addresses are looked at when
//! they are dialled.

use std::sync::Arc;
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
pub(super) const LONGEST: Duration = Duration::from_secs(15);
/// Ten times what the largest provider says about itself.
const LARGEST: usize = 256 * 1024;
/// What a login asks, all together: documents, a client, tokens, each with what can go wrong once.
const MOST: usize = 16;
const AGENT: HeaderValue = HeaderValue::from_static(concat!("toolfold/", env!("CARGO_PKG_VERSION")));

pub(super) struct Fetcher {
    client: HttpClient,
}

/// What a flow cannot do without a person.
pub(super) enum Halt {
    Visit(String),
    Done(Box<Login>),
}

impl Fetcher {
    pub(super) async fn new(server: &Url, private_hosts: &[String]) -> Result<Fetcher, NoLogin> {
        let reach = Arc::new(Nearby::of(server, private_hosts).await);
        let client = HttpClient::within(reach).map_err(|error| NoLogin::Unreachable(error.to_string()))?;
        Ok(Fetcher { client })
    }

    pub(super) async fn ask(&self, ask: &Ask) -> Result<Answer, NoLogin> {
        let host = Url::parse(&ask.url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
        let failed = |why: String| NoLogin::Unreachable(format!("{host} could not be asked: {why}"));
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
        for _ in 0..MOST {
            match flow.step(seconds_now())? {
                Step::Fetch(ask) => flow.heard(&self.ask(&ask).await?, seconds_now())?,
                Step::Visit(url) => return Ok(Halt::Visit(url)),
                Step::Done(login) => return Ok(Halt::Done(login)),
            }
        }
        Err(NoLogin::Unreachable(format!("the login servers had more than {MOST} questions answered and are not done")))
    }
}
