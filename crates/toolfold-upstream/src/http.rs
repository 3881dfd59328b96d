//! JSON-RPC over streamable HTTP: one POST a message, in both eras. What comes back on a stream is in `http_stream.rs`.
//!
//! What a reader would get wrong: a POST is never repeated. Where it is certain that the server did not look at a
//! request (no connection, a session it does not know), the caller is told so and may send it over a new connection.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::Value;
use serde_json::value::RawValue;
use toolfold_config::Transport;
use toolfold_wire::{
    Era, Id, METHOD_HEADER, MODERN, Message, NAME_HEADER, Object, Raw, RpcError, SESSION_HEADER, VERSION_HEADER, code,
    encode_header, name_of,
};

use crate::call::CallError;
use crate::connection::{Closing, Connection, Failure, Link};
use crate::http_stream;
use crate::shared::{Shared, Stale, lock};

const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(crate) const STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");
/// A message that nobody waits for.
const DELIVERY: Duration = Duration::from_secs(30);
const FAREWELL: Duration = Duration::from_secs(2);
const LONGEST_ERROR_BODY: usize = 64 * 1024;

pub(crate) struct Endpoint {
    client: reqwest::Client,
    url: Url,
    headers: HeaderMap,
    session: Mutex<Session>,
}

/// What a legacy server gave us at `initialize`.
#[derive(Default, Clone)]
struct Session {
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
}

pub(crate) fn open(shared: &Arc<Shared>, era: Era) -> Result<Arc<Connection>, String> {
    let Transport::Http { url, headers } = &shared.config.transport else {
        return Err("the server has no url".into());
    };
    let url = Url::parse(url).map_err(|error| format!("its url is not valid ({error}): correct `url`"))?;
    let mut own = HeaderMap::new();
    for (name, value) in headers {
        let key = HeaderName::try_from(name).map_err(|_| format!("{name:?} is not the name of a header"))?;
        let mut value = HeaderValue::try_from(value.expose())
            .map_err(|_| format!("the value of the header {name:?} has characters that a header cannot hold"))?;
        value.set_sensitive(true);
        own.insert(key, value);
    }
    let endpoint = Endpoint { client: client(&url)?, url, headers: own, session: Mutex::default() };
    Ok(Connection::new(shared, era, Link::Http(Box::new(endpoint))))
}

/// One for the process, and one without proxy for this machine: connections are pooled, and the certificates of the
/// system are read once.
fn client(url: &Url) -> Result<reqwest::Client, String> {
    static AFAR: OnceLock<Result<reqwest::Client, String>> = OnceLock::new();
    static HERE: OnceLock<Result<reqwest::Client, String>> = OnceLock::new();
    let here = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    let build = || {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let redirects = reqwest::redirect::Policy::custom(|attempt| {
            let home = attempt.previous().first().is_some_and(|first| same_place(first, attempt.url()));
            if home && attempt.previous().len() <= 5 { attempt.follow() } else { attempt.stop() }
        });
        let agent = concat!("toolfold/", env!("CARGO_PKG_VERSION"));
        let builder = reqwest::Client::builder().user_agent(agent).redirect(redirects);
        let built = if here { builder.no_proxy().build() } else { builder.build() };
        built.map_err(|error| format!("no HTTP client could be set up: {error}"))
    };
    if here { HERE.get_or_init(build).clone() } else { AFAR.get_or_init(build).clone() }
}

/// Credentials go to the place they were configured for and nowhere else.
fn same_place(first: &Url, next: &Url) -> bool {
    let upgraded =
        first.scheme() == "http" && next.scheme() == "https" && first.port().is_none() && next.port().is_none();
    first.host_str() == next.host_str() && (first.origin() == next.origin() || upgraded)
}

impl Endpoint {
    /// Sends a request and reads what comes back until the answer is there.
    pub(crate) async fn exchange(
        &self,
        connection: &Arc<Connection>,
        id: u64,
        method: &str,
        params: Option<Raw>,
    ) -> Result<(), Failure> {
        let request = self.post(connection, Some(method), params.as_deref());
        let body = Message::request(Id::number(id), method, params).to_line();
        let response = request.body(body).send().await.map_err(|error| unsent(connection, &error))?;
        let response = self.accept(connection, response).await?;
        if method == "initialize" {
            lock(&self.session).id = response.headers().get(SESSION_HEADER).cloned();
        }
        if is_stream(&response) {
            return http_stream::until_answered(self, connection, id, response).await;
        }
        let status = response.status();
        let bytes = read_body(response, connection.shared.config.max_message).await?;
        let _ = connection.receive_bytes(&bytes, Some(id));
        if connection.is_open(id) {
            return Err(CallError::unavailable(format!(
                "the server answered HTTP {} without a response",
                status.as_u16()
            ))
            .into());
        }
        Ok(())
    }

    /// Sends a message that has no answer.
    pub(crate) async fn deliver(&self, connection: &Arc<Connection>, message: &Message) -> Result<(), Failure> {
        let (method, params) = match message {
            Message::Notification { method, params } => (Some(method.as_str()), params.as_deref()),
            _ => (None, None),
        };
        let request = self.post(connection, method, params).body(message.to_line());
        let sending = async {
            let response = request.send().await.map_err(|error| unsent(connection, &error))?;
            self.accept(connection, response).await.map(drop)
        };
        let late = |_| Err(CallError::Timeout { after: DELIVERY }.into());
        tokio::time::timeout(DELIVERY, sending).await.unwrap_or_else(late)
    }

    pub(crate) fn get(&self, last_event: Option<&str>) -> RequestBuilder {
        let request = self.request(Method::GET).header(ACCEPT, STREAM);
        match last_event {
            Some(id) => request.header("last-event-id", id),
            None => request,
        }
    }

    pub(crate) fn agree(&self, version: &str) {
        lock(&self.session).version = HeaderValue::from_str(version).ok();
    }

    pub(crate) fn has_session(&self) -> bool {
        lock(&self.session).id.is_some()
    }

    /// Tells a legacy server that its session is over. Servers may refuse; ours is done either way.
    pub(crate) async fn end_session(&self) {
        if self.has_session() {
            let _ = tokio::time::timeout(FAREWELL, self.request(Method::DELETE).send()).await;
        }
    }

    fn request(&self, method: Method) -> RequestBuilder {
        let Session { id, version } = lock(&self.session).clone();
        let mut headers = self.headers.clone();
        for (name, value) in [(SESSION_HEADER, id), (VERSION_HEADER, version)] {
            if let Some(value) = value {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        self.client.request(method, self.url.clone()).headers(headers)
    }

    fn post(&self, connection: &Connection, method: Option<&str>, params: Option<&RawValue>) -> RequestBuilder {
        let mut request = self.request(Method::POST).header(ACCEPT, BOTH).header(CONTENT_TYPE, JSON);
        if connection.era == Era::Modern {
            request = request.header(VERSION_HEADER, MODERN);
            for (name, value) in method.map(|method| repeated(connection, method, params)).unwrap_or_default() {
                request = request.header(name, value);
            }
        }
        request
    }

    /// The response, if it is one to read. An error that the server wrote as JSON-RPC is its answer.
    pub(crate) async fn accept(&self, connection: &Connection, response: Response) -> Result<Response, Failure> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            let status = status.as_u16();
            let why = format!("the server refused our credentials (HTTP {status}): check the token in its `headers`");
            return Err(CallError::unavailable(why).into());
        }
        if status.is_redirection() {
            return Err(CallError::unavailable("the server redirects to another address: correct its `url`").into());
        }
        let retry_in = retry_after(&response);
        let body = read_body(response, LONGEST_ERROR_BODY).await.unwrap_or_default();
        if self.has_session() && forgot_session(status, &body) {
            connection.retire(Closing::harmless("no longer knows our session"));
            // By the book nothing was processed. Prose under another status is enough to begin a new session, but
            // not to send the call a second time.
            if status == StatusCode::NOT_FOUND {
                return Err(Failure::NotSent("the server no longer knows our session".into()));
            }
        }
        if let Some(error) = rpc_error(&body) {
            if error.code == code::HEADER_MISMATCH {
                // The headers come from a schema that we remember; the server's own may have changed.
                connection.shared.stale.mark(Stale::TOOLS);
            }
            return Err(CallError::Answered(error).into());
        }
        let hint = if status.is_client_error() { ": check its `url`" } else { "" };
        let why = format!("the server answered HTTP {}{hint}", status.as_u16());
        Err(CallError::Unavailable { why, retry_in }.into())
    }
}

/// What the body says, said again in headers, as the stateless era wants it.
fn repeated(connection: &Connection, method: &str, params: Option<&RawValue>) -> Vec<(String, String)> {
    let mut headers = vec![(METHOD_HEADER.to_owned(), encode_header(method))];
    let Some(params) = params.and_then(Object::parse) else { return headers };
    let Some(name) = name_of(method, Some(&params)) else { return headers };
    headers.push((NAME_HEADER.to_owned(), encode_header(&name)));
    if method == "tools/call"
        && let Some(wanted) = connection.shared.headers().get(&name)
    {
        let arguments: Value = params.read("arguments").unwrap_or_default();
        let given = wanted.iter().filter_map(|one| Some((one.header.clone(), encode_header(&one.value(&arguments)?))));
        headers.extend(given);
    }
    headers
}

pub(crate) fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
}

/// 404 by the book; some servers say 400 and mention the session in prose.
fn forgot_session(status: StatusCode, body: &[u8]) -> bool {
    let mentions = || String::from_utf8_lossy(body).to_lowercase().contains("session");
    status == StatusCode::NOT_FOUND || (status == StatusCode::BAD_REQUEST && mentions())
}

fn rpc_error(body: &[u8]) -> Option<RpcError> {
    serde_json::from_slice::<Object>(body).ok()?.read("error")
}

fn retry_after(response: &Response) -> Option<Duration> {
    response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

async fn read_body(mut response: Response, limit: usize) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| broken(&error))? {
        if body.len() + chunk.len() > limit {
            return Err(CallError::TooLarge { limit }.into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// A request that failed on its way. Where no connection came about, the server cannot have seen it.
fn unsent(connection: &Connection, error: &reqwest::Error) -> Failure {
    if error.is_connect() {
        let why = format!("cannot be reached ({})", cause(error));
        connection.retire(Closing::harmless(&why));
        return Failure::NotSent(format!("the server {why}: check that it runs and that its `url` is right"));
    }
    broken(error)
}

pub(crate) fn broken(error: &reqwest::Error) -> Failure {
    let why = format!("the connection to the server broke ({}); whether the call took effect is unknown", cause(error));
    CallError::unavailable(why).into()
}

/// The innermost cause: the outer ones repeat the URL, which may carry a token.
fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if std::ptr::addr_eq(cause, error) { "no answer".to_owned() } else { cause.to_string() }
}
