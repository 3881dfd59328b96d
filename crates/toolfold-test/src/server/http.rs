//! Streamable HTTP at any path, both eras. A request is answered with plain JSON where its answer is all there is to
//! send, and with a stream of events as soon as something else comes first.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::Response;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use toolfold_wire::{
    Era, Id, METHOD_HEADER, MODERN, Message, NAME_HEADER, Object, Raw, RpcError, SESSION_HEADER, StreamEvent,
    VERSION_HEADER, code, decode_header, name_of, parameter_headers,
};

use super::link::{Link, Questions};
use super::script::EraName;
use super::{Caller, Change, Fake};

pub(super) async fn serve(fake: &'static Fake, port: u16) -> std::io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    writeln!(std::io::stderr(), "listening on {}", listener.local_addr()?)?;
    let door: &'static Door = Box::leak(Box::new(Door { fake, sessions: Mutex::default(), next: AtomicU64::new(1) }));
    let app = Router::new().fallback(move |method: Method, headers: HeaderMap, body: Bytes| async move {
        door.enter(method, headers, body).await
    });
    // It takes whatever comes: what is too large is for whoever is tested to say.
    let app = app.layer(axum::extract::DefaultBodyLimit::disable());
    axum::serve(listener, app).await
}

struct Door {
    fake: &'static Fake,
    sessions: Mutex<HashMap<String, Session>>,
    next: AtomicU64,
}

/// A legacy session.
#[derive(Clone)]
struct Session {
    questions: Arc<Questions>,
    requests: Arc<AtomicU64>,
}

impl Session {
    fn new() -> Self {
        Session { questions: Arc::default(), requests: Arc::default() }
    }
}

impl Door {
    async fn enter(&self, method: Method, headers: HeaderMap, body: Bytes) -> Response {
        for (name, value) in &self.fake.script.http.require {
            if header(&headers, name) != Some(value) {
                return status(StatusCode::UNAUTHORIZED);
            }
        }
        match method {
            Method::POST => self.post(&headers, &body).await,
            Method::GET => self.follow(&headers),
            Method::DELETE => self.delete(&headers),
            _ => status(StatusCode::METHOD_NOT_ALLOWED),
        }
    }

    async fn post(&self, headers: &HeaderMap, body: &[u8]) -> Response {
        let seen = serde_json::from_slice(body).unwrap_or_else(|_| String::from_utf8_lossy(body).into());
        self.fake.journal.message(seen, Some(journal_headers(headers)));
        match Message::parse(body.to_vec()) {
            Ok(Message::Request { id, method, params }) => self.request(headers, id, method, params).await,
            Ok(Message::Notification { .. }) => status(StatusCode::ACCEPTED),
            Ok(Message::Response { id, outcome }) => match self.session(headers) {
                Some(session) => {
                    session.questions.answer(&id, outcome);
                    status(StatusCode::ACCEPTED)
                }
                None => status(StatusCode::NOT_FOUND),
            },
            Err(bad) => json_reply(StatusCode::BAD_REQUEST, &json!({"jsonrpc": "2.0", "id": null, "error": bad.error})),
        }
    }

    async fn request(&self, headers: &HeaderMap, id: Id, method: String, params: Option<Raw>) -> Response {
        if let Some(code) = self.fake.script.http.status.get(&method) {
            return status(StatusCode::from_u16(*code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
        }
        let params = Object::parse_optional(params.as_ref()).unwrap_or_default();
        let session = self.session(headers);
        let sessions = self.fake.script.http.sessions;
        let era = match self.fake.admit(&method, &params, session.is_some() || !sessions).await {
            Ok(era) => era,
            // What asks for a session that is gone is to begin a new one.
            Err(_) if session.is_none() && headers.contains_key(SESSION_HEADER) => {
                return status(StatusCode::NOT_FOUND);
            }
            Err(error) => return refuse(StatusCode::BAD_REQUEST, id, error),
        };
        if era == Era::Modern
            && let Err(error) = self.check_headers(headers, &method, &params)
        {
            return refuse(StatusCode::BAD_REQUEST, id, error);
        }
        let mut opened = None;
        let session = session.unwrap_or_else(Session::new);
        if era == Era::Legacy && sessions && method == "initialize" {
            opened = Some(self.open(&session));
        }
        let (out, messages) = mpsc::unbounded_channel();
        let link = Link { out, questions: session.questions };
        let task = tokio::spawn(play(self.fake, Caller { era, id, link }, method, params));
        let response = reply(self.fake.script.http.always_stream, messages, Running(task)).await;
        with_session(for_era(response, era), opened)
    }

    /// The session a request names, if it still lives.
    fn session(&self, headers: &HeaderMap) -> Option<Session> {
        let id = header(headers, SESSION_HEADER)?;
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let session = sessions.get(id)?.clone();
        let requests = session.requests.fetch_add(1, Ordering::Relaxed);
        if self.fake.script.http.session_requests.is_some_and(|most| requests as usize >= most) {
            sessions.remove(id);
            return None;
        }
        Some(session)
    }

    fn open(&self, session: &Session) -> String {
        let id = format!("session-{}-{}", std::process::id(), self.next.fetch_add(1, Ordering::Relaxed));
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), session.clone());
        id
    }

    fn delete(&self, headers: &HeaderMap) -> Response {
        self.fake.journal.message(json!({"method": "DELETE"}), Some(journal_headers(headers)));
        let id = header(headers, SESSION_HEADER).unwrap_or_default();
        let known = self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(id).is_some();
        status(if known { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND })
    }

    /// The stream of a legacy session for what no request asked for.
    fn follow(&self, headers: &HeaderMap) -> Response {
        self.fake.journal.message(json!({"method": "GET"}), Some(journal_headers(headers)));
        if !self.fake.script.speaks(EraName::Legacy) {
            return status(StatusCode::METHOD_NOT_ALLOWED);
        }
        if self.fake.script.http.sessions && self.session(headers).is_none() {
            return status(StatusCode::NOT_FOUND);
        }
        let fake = self.fake;
        let events = stream::unfold(fake.changes.subscribe(), move |mut changes| async move {
            loop {
                let change: Change = changes.recv().await.ok()?;
                if fake.told_to_all(&change) {
                    return Some((event(&Message::notification(change.method, change.params)), changes));
                }
            }
        });
        event_stream(Body::from_stream(events))
    }

    fn check_headers(&self, headers: &HeaderMap, method: &str, params: &Object) -> Result<(), RpcError> {
        expect_header(headers, VERSION_HEADER, Some(MODERN))?;
        expect_header(headers, METHOD_HEADER, Some(method))?;
        let name = name_of(method, Some(params));
        if let Some(name) = &name {
            expect_header(headers, NAME_HEADER, Some(name))?;
        }
        let arguments = params.object("arguments").unwrap_or_default();
        let tools = self.fake.tools();
        let tool = tools.iter().filter_map(Object::parse).find(|tool| tool.string("name") == name);
        let schema: Value = tool.and_then(|tool| tool.read("inputSchema")).unwrap_or_default();
        for wanted in parameter_headers(&schema).unwrap_or_default() {
            expect_header(headers, &wanted.header, wanted.value(&arguments).as_deref())?;
        }
        Ok(())
    }
}

/// Stops the work when nobody is left to hear of it.
struct Running(JoinHandle<()>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn play(fake: &Fake, caller: Caller, method: String, params: Object) {
    let outcome = fake.answer(&caller, &method, &params).await;
    caller.link.send(Message::response(caller.id.clone(), outcome));
}

async fn reply(always_stream: bool, mut messages: mpsc::UnboundedReceiver<Message>, running: Running) -> Response {
    let Some(first) = messages.recv().await else { return status(StatusCode::INTERNAL_SERVER_ERROR) };
    if let (Message::Response { outcome, .. }, false) = (&first, always_stream) {
        let unknown = matches!(outcome, Err(error) if error.code == code::METHOD_NOT_FOUND);
        let status = if unknown { StatusCode::NOT_FOUND } else { StatusCode::OK };
        return text_reply(status, "application/json", first.to_line());
    }
    let rest = stream::unfold((Some(first), messages, running), |(first, mut messages, running)| async move {
        let message = match first {
            Some(message) => message,
            None => messages.recv().await?,
        };
        Some((event(&message), (None, messages, running)))
    });
    event_stream(Body::from_stream(rest))
}

fn event(message: &Message) -> Result<Bytes, Infallible> {
    Ok(StreamEvent::message(message.to_line()).to_text().into())
}

fn event_stream(body: Body) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert("content-type", HeaderValue::from_static("text/event-stream"));
    response
}

/// In a legacy session 404 means that the session is gone, so an unknown method must not say it.
fn for_era(mut response: Response, era: Era) -> Response {
    if era == Era::Legacy {
        *response.status_mut() = StatusCode::OK;
    }
    response
}

fn with_session(mut response: Response, session: Option<String>) -> Response {
    if let Some(value) = session.and_then(|id| id.parse().ok()) {
        response.headers_mut().insert(SESSION_HEADER, value);
    }
    response
}

fn refuse(status: StatusCode, id: Id, error: RpcError) -> Response {
    let status = if error.code == code::METHOD_NOT_FOUND { StatusCode::NOT_FOUND } else { status };
    text_reply(status, "application/json", Message::response(id, Err(error)).to_line())
}

fn json_reply(status: StatusCode, body: &Value) -> Response {
    text_reply(status, "application/json", body.to_string())
}

fn text_reply(status: StatusCode, kind: &'static str, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert("content-type", HeaderValue::from_static(kind));
    response
}

fn status(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn journal_headers(headers: &HeaderMap) -> Value {
    headers
        .iter()
        .map(|(name, value)| (name.to_string(), Value::from(String::from_utf8_lossy(value.as_bytes()))))
        .collect()
}

fn expect_header(headers: &HeaderMap, name: &str, wanted: Option<&str>) -> Result<(), RpcError> {
    let found = header(headers, name).and_then(decode_header);
    if found.as_deref() == wanted {
        return Ok(());
    }
    let message = format!("Header mismatch: {name} is {found:?}, the body says {wanted:?}");
    Err(RpcError::new(code::HEADER_MISMATCH, message))
}
