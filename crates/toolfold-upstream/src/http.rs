//! JSON-RPC over streamable HTTP: one POST a message, in both eras. What comes back on a stream is in `http_stream.rs`.
//!
//! What a reader would get wrong: a POST is never repeated. Where it is certain that the server did not look at a
//! request (no connection, a session it does not know), the caller is told so and may send it over a new connection.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::body::{Body, Bytes};
use hyper::http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT};
use hyper::http::{Method, StatusCode};
use toolfold_config::Transport;
use toolfold_core::Principal;
use toolfold_http::{FixedHeaders, HttpClient, Outgoing, Response, SendError, Target, chunk, header_lines};
use toolfold_wire::{
    Era, METHOD_HEADER, MODERN, Memory, Message, NAME_HEADER, Object, RpcError, SESSION_HEADER, VERSION_HEADER, code,
    encode_header, name_of,
};

use crate::apart::apart;
use crate::buffer::Buffer;
use crate::call::CallError;
use crate::closing::{Closing, Failure};
use crate::connection::{Connection, Link};
use crate::http_stream;
use crate::oauth::{Need, Signer};
use crate::only::Remote;
use crate::sent::Params;
use crate::shared::{Shared, Stale, lock};
use crate::stdio::lost;
use crate::unopened::Unopened;

const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const AGENT: HeaderValue = HeaderValue::from_static(concat!("toolfold/", env!("CARGO_PKG_VERSION")));
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// A message that nobody waits for.
const DELIVERY: Duration = Duration::from_secs(30);
const FAREWELL: Duration = Duration::from_secs(2);
const LONGEST_ERROR_BODY: usize = 64 * 1024;

pub(crate) struct Endpoint {
    client: HttpClient,
    target: Target,
    credentials: Signer,
    /// What every POST says beside who asks, the session included, once there is one. Ready to be copied.
    headers: Mutex<HeaderMap>,
    /// The replica that this is, where it is one of ours.
    pub(crate) remote: Option<Remote>,
}

pub(crate) fn open(shared: &Arc<Shared>, era: Era) -> Result<Arc<Connection>, Unopened> {
    let Transport::Http { url, headers } = &shared.config.transport else {
        return Err(Unopened::NoUrl);
    };
    let target = Target::parse(url)?;
    let credentials = FixedHeaders::new(headers)?;
    let mut own = HeaderMap::from_iter([(ACCEPT, BOTH), (CONTENT_TYPE, JSON)]);
    let host = target.host()?;
    // These two a configuration may say otherwise.
    for (name, value) in [(USER_AGENT, AGENT), (HOST, host)] {
        if !credentials.names().any(|given| *given == name) {
            own.insert(name, value);
        }
    }
    let client = HttpClient::shared()?;
    let credentials = Signer { fixed: credentials, account: shared.account.clone() };
    let endpoint = Endpoint { client, target, credentials, headers: Mutex::new(own), remote: None };
    Ok(Connection::new(shared, era, Link::Http(Box::new(endpoint))))
}

/// A way to the replica that runs the server.
pub(crate) fn open_at(shared: &Arc<Shared>, remote: Remote) -> Result<Arc<Connection>, Unopened> {
    let target = Target::parse(&remote.url)?;
    let own = [(ACCEPT, BOTH), (CONTENT_TYPE, JSON), (USER_AGENT, AGENT), (HOST, target.host()?)];
    let credentials = Signer { fixed: FixedHeaders::default(), account: None };
    let headers = Mutex::new(HeaderMap::from_iter(own));
    let client = HttpClient::straight()?;
    let endpoint = Endpoint { client, target, credentials, headers, remote: Some(remote) };
    Ok(Connection::new(shared, Era::Modern, Link::Http(Box::new(endpoint))))
}

impl Endpoint {
    /// What shows another replica who a request is from.
    pub(crate) fn word(&self, principal: Option<&Principal>, body: &str) -> Repeated {
        let Some(remote) = &self.remote else { return Repeated::new() };
        let local = Principal::local();
        header_lines((remote.sign)(principal.unwrap_or(&local), body.as_bytes())).collect()
    }

    /// Sends a request, whose method and parameters `body` says, and reads what comes back until the answer is there. The
    /// parameters are let go of once the server has them.
    pub(crate) async fn exchange(
        &self,
        connection: &Arc<Connection>,
        id: u64,
        (method, params): (&str, &mut Params<'_>),
        (principal, repeated, body): (Option<&Principal>, Repeated, String),
    ) -> Result<(), Failure> {
        let response = self.post(connection, principal, repeated, body).await?;
        params.let_go();
        if method == "initialize" {
            self.keep(SESSION_HEADER, response.headers().get(SESSION_HEADER).cloned());
        }
        if is_stream(&response) {
            return Box::pin(http_stream::until_answered(self, connection, id, response)).await;
        }
        let status = response.status();
        let (limit, memory) = (connection.shared.config.max_message, connection.shared.memory.clone());
        let to = connection.clone();
        let body = Buffer::new(limit, Some(memory)).offering(Box::new(move |_| to.owner_of(id)?.spooling(id)));
        let bytes = read_into(body, response, limit).await?;
        connection.last_words(id).await;
        let to = connection.clone();
        let _ = apart(bytes.len(), move || to.receive_bytes(bytes, Some(id))).await;
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
            Message::Notification { method, params } => {
                (Some(method.as_str()), params.as_ref().and_then(Object::parse))
            }
            _ => (None, None),
        };
        let line = message.to_line();
        let mut headers = repeated(connection, method, params.as_ref());
        headers.extend(self.word(None, &line));
        let sending = self.post(connection, None, headers, line);
        let late = |_| Err(CallError::Timeout { after: DELIVERY }.into());
        tokio::time::timeout(DELIVERY, sending).await.unwrap_or_else(late).map(drop)
    }

    /// Asks for a stream: a new one, or the rest of one that broke off after this event.
    pub(crate) async fn get(&self, last_event: Option<&str>) -> Result<Response, SendError> {
        let last_event = last_event.and_then(|id| HeaderValue::from_str(id).ok());
        let mut headers = self.without_content();
        headers.insert(ACCEPT, STREAM);
        headers.extend(last_event.map(|id| (LAST_EVENT, id)));
        self.send(Method::GET, None, headers, Bytes::new()).await
    }

    pub(crate) fn agree(&self, version: &str) {
        self.keep(VERSION_HEADER, HeaderValue::from_str(version).ok());
    }

    pub(crate) fn has_session(&self) -> bool {
        lock(&self.headers).contains_key(SESSION_HEADER)
    }

    /// Tells a legacy server that its session is over. Servers may refuse; ours is done either way.
    pub(crate) async fn end_session(&self) {
        if self.has_session() {
            let ending = self.send(Method::DELETE, None, self.without_content(), Bytes::new());
            let _ = tokio::time::timeout(FAREWELL, ending).await;
        }
    }

    async fn post(
        &self,
        connection: &Connection,
        principal: Option<&Principal>,
        repeated: Repeated,
        body: String,
    ) -> Result<Response, Failure> {
        let mut headers = lock(&self.headers).clone();
        headers.extend(repeated);
        let sent = self.send(Method::POST, principal, headers, body.into()).await;
        self.accept(connection, sent.map_err(|error| unsent(connection, &error))?).await
    }

    /// For a principal, or for whoever this way is.
    async fn send(
        &self,
        method: Method,
        principal: Option<&Principal>,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response, SendError> {
        if self.remote.is_some() {
            // Over a connection of its own: then it is known whether anybody was there to take it.
            return self.client.reach(&self.target).await?.send(method, headers, body).await;
        }
        let credentials = self.credentials.asked_by(principal);
        let request = Outgoing { method, headers, body, credentials: &credentials };
        self.client.send(&self.target, request).await
    }

    fn without_content(&self) -> HeaderMap {
        let mut headers = lock(&self.headers).clone();
        headers.remove(CONTENT_TYPE);
        headers
    }

    /// Says this with every request from now on, or no longer.
    fn keep(&self, name: &'static str, value: Option<HeaderValue>) {
        let mut headers = lock(&self.headers);
        match value {
            Some(value) => headers.insert(name, value),
            None => headers.remove(name),
        };
    }

    /// The response, if it is one to read. An error that the server wrote as JSON-RPC is its answer.
    pub(crate) async fn accept(&self, connection: &Connection, response: Response) -> Result<Response, Failure> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if self.remote.is_some() && status == StatusCode::MISDIRECTED_REQUEST {
            connection.retire(Closing::harmless("runs on another replica now"));
            return Err(Failure::NotSent("the server runs on another replica now".to_owned()));
        }
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            if let Some(failure) = needs_login(connection) {
                return Err(failure);
            }
            let logged_in = connection.shared.account.as_ref().is_some_and(|account| account.has_login());
            let status = status.as_u16();
            let why = match logged_in {
                true => format!("the server refused our login (HTTP {status}), and another would be no better"),
                false => {
                    format!("the server refused our credentials (HTTP {status}): check the token in its `headers`")
                }
            };
            return Err(CallError::unavailable(why).into());
        }
        if status.is_redirection() {
            return Err(CallError::unavailable("the server redirects to another address: correct its `url`").into());
        }
        let retry_in = retry_after(&response);
        let body = read_body(response, LONGEST_ERROR_BODY, None).await.unwrap_or_default();
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
            return Err(connection.shared.answered(error).into());
        }
        let hint = if status.is_client_error() { ": check its `url`" } else { "" };
        let why = format!("the server answered HTTP {}{hint}", status.as_u16());
        Err(CallError::Unavailable { why, retry_in }.into())
    }
}

pub(crate) type Repeated = Vec<(HeaderName, HeaderValue)>;

/// What the body says, said again in headers, as the stateless era wants it.
pub(crate) fn repeated(connection: &Connection, method: Option<&str>, params: Option<&Object>) -> Repeated {
    if connection.era == Era::Legacy {
        return Repeated::new();
    }
    let mut headers = vec![(HeaderName::from_static(VERSION_HEADER), HeaderValue::from_static(MODERN))];
    let mut say = |name: &str, value: &str| {
        // Names and values are checked when tools are listed, and encoded.
        let header = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(encode_header(value)).ok());
        headers.extend(header);
    };
    let Some(method) = method else { return headers };
    say(METHOD_HEADER, method);
    let Some(params) = params else { return headers };
    let Some(name) = name_of(method, Some(params)) else { return headers };
    say(NAME_HEADER, &name);
    if method == "tools/call"
        && let Some(wanted) = connection.shared.headers().get(&name)
    {
        let arguments = params.object("arguments").unwrap_or_default();
        for one in wanted {
            if let Some(value) = one.value(&arguments) {
                say(&one.header, &value);
            }
        }
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

pub(crate) async fn read_body(response: Response, limit: usize, memory: Option<Memory>) -> Result<Bytes, Failure> {
    read_into(Buffer::new(limit, memory), response, limit).await
}

async fn read_into(mut body: Buffer, mut response: Response, limit: usize) -> Result<Bytes, Failure> {
    while let Some(chunk) = chunk(&mut response).await.map_err(|error| broken(&error))? {
        // Nearly every answer comes in one piece, and is passed on as it is.
        if body.is_empty() && response.body().is_end_stream() && chunk.len() <= limit {
            return Ok(chunk);
        }
        body.extend(&chunk).map_err(|why| lost(why, limit))?;
        if body.is_due() {
            body.settle().await.map_err(|why| lost(why, limit))?;
        }
    }
    Ok(body.take_message().await.map_err(|why| lost(why, limit))?)
}

/// A request that failed on its way. Where no connection came about, the server cannot have seen it.
fn unsent(connection: &Connection, error: &SendError) -> Failure {
    match error {
        SendError::Unreachable(_) => {
            let why = format!("cannot be reached ({error})");
            connection.retire(Closing::harmless(&why));
            Failure::NotSent(format!("the server {why}: check that it runs and that its `url` is right"))
        }
        SendError::Credentials(_) => needs_login(connection)
            .unwrap_or_else(|| CallError::unavailable(format!("the server was not asked: {error}")).into()),
        SendError::Broken(_) | SendError::Cut(_) | SendError::TooLarge(_) => broken(error),
    }
}

/// Where only a login helps. Without one the connection is of no use to anybody; with one that is not enough, it is.
fn needs_login(connection: &Connection) -> Option<Failure> {
    let need = connection.shared.account.as_ref()?.need()?;
    if let Need::Login { why } = &need {
        connection.retire(Closing::login(why));
    }
    Some(CallError::Login(need).into())
}

pub(crate) fn broken(error: &dyn std::fmt::Display) -> Failure {
    let why = format!("the connection to the server broke ({error}); whether the call took effect is unknown");
    CallError::unavailable(why).into()
}
