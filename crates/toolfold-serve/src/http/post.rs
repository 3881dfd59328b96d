//! The endpoint: by method, then by era.

use std::sync::Arc;

use axum::body::{Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolfold_core::Surface;
use toolfold_wire::{BoxFuture, Id, LEGACY, MODERN, Message, Raw, RpcError, SESSION_HEADER, VERSION_HEADER, code};

use super::event_log::{EventLog, First, parse_event_id};
use super::modern::unknown_version;
use super::reply::{PATIENCE, empty_response, error_response, event_stream, json_response};
use super::session::Session;
use super::{App, LARGEST_BODY, modern};
use crate::asks::Outlet;
use crate::era::is_modern;
use crate::legacy::Legacy;

pub(crate) async fn mcp(app: &App, surface: Surface, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    match parts.method {
        Method::POST => match to_bytes(body, LARGEST_BODY).await {
            Ok(bytes) => post(app, surface, &parts.headers, bytes).await,
            Err(_) => {
                let error = RpcError::new(
                    code::INVALID_REQUEST,
                    format!("The body is larger than {LARGEST_BODY} bytes, or broke off."),
                );
                error_response(StatusCode::PAYLOAD_TOO_LARGE, None, error)
            }
        },
        Method::GET => get(app, &parts.headers),
        Method::DELETE => delete(app, &parts.headers),
        _ => not_allowed(),
    }
}

async fn post(app: &App, surface: Surface, headers: &HeaderMap, body: Bytes) -> Response {
    let mut messages = Message::parse_all(body);
    if messages.len() > 1 {
        return Box::pin(batch(app, headers, messages)).await;
    }
    let message = match messages.remove(0) {
        Ok(message) => message,
        Err(bad) => return error_response(StatusCode::BAD_REQUEST, bad.id, bad.error),
    };
    let says_modern = text(headers, VERSION_HEADER) == Some(MODERN);
    match message {
        Message::Request { id, method, params } => {
            if says_modern || is_modern(&method, params.as_ref()) {
                // In a box of its own, or every request of the other era would be as large.
                return Box::pin(modern::request(app.clone(), surface, headers, (id, method, params))).await;
            }
            if method == "initialize" {
                return initialize(app, surface, id, params.as_ref());
            }
            match session_of(app, headers) {
                Ok(session) => request(session, accepts_stream(headers), id, method, params).await,
                Err((status, error)) => error_response(status, Some(id), error),
            }
        }
        Message::Notification { .. } if says_modern => empty_response(StatusCode::ACCEPTED),
        Message::Notification { method, params } => match session_of(app, headers) {
            Ok(session) => {
                session.legacy.notification(&method, params).await;
                empty_response(StatusCode::ACCEPTED)
            }
            Err((status, error)) => error_response(status, None, error),
        },
        Message::Response { id, outcome } => match session_of(app, headers) {
            Ok(session) => {
                session.legacy.answered(&id, outcome);
                empty_response(StatusCode::ACCEPTED)
            }
            Err((status, error)) => error_response(status, Some(id), error),
        },
    }
}

fn initialize(app: &App, surface: Surface, id: Id, params: Option<&Raw>) -> Response {
    let (legacy, result) = match Legacy::begin(&app.gateway, surface, params) {
        Ok(begun) => begun,
        Err(error) => return error_response(StatusCode::OK, Some(id), error),
    };
    let Some(session) = app.sessions.begin(legacy) else {
        return error_response(
            StatusCode::INTERNAL_SERVER_ERROR,
            Some(id),
            RpcError::internal("No session could be begun."),
        );
    };
    let mut response = json_response(StatusCode::OK, Message::response(id, Ok(result)).to_line());
    if let Ok(value) = HeaderValue::from_str(&session) {
        response.headers_mut().insert(SESSION_HEADER, value);
    }
    response
}

/// Works on a request of a session. The work goes on when the connection breaks: in this era that is not a
/// cancellation, and the client may come back for the answer.
async fn request(session: Arc<Session>, streaming: bool, id: Id, method: String, params: Option<Raw>) -> Response {
    let log = session.stream();
    let mut work = Carried::new(work(session.clone(), log.clone(), id.clone(), method, params));
    let first = tokio::select! {
        biased;
        () = work.run() => log.first().await,
        first = log.first() => first,
        () = tokio::time::sleep(PATIENCE), if streaming => First::Stream,
    };
    match first {
        First::Answer(answer) => {
            session.forget_stream(log.number());
            json_response(StatusCode::OK, answer)
        }
        First::Stream if log.is_closed() && !streaming => error_response(
            StatusCode::NOT_ACCEPTABLE,
            Some(id),
            RpcError::new(code::INVALID_REQUEST, "Accept text/event-stream too."),
        ),
        First::Stream => {
            let prime = session.legacy.version >= "2025-11-25";
            event_stream(log.read(0, prime))
        }
    }
}

/// Work that is done here for as long as somebody waits here for it, and elsewhere after that.
struct Carried(Option<BoxFuture<'static, ()>>);

impl Carried {
    fn new(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Carried(Some(Box::pin(work)))
    }

    async fn run(&mut self) {
        if let Some(work) = &mut self.0 {
            work.await;
        }
        self.0 = None;
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        let rest = self.0.take().zip(tokio::runtime::Handle::try_current().ok());
        if let Some((work, runtime)) = rest {
            runtime.spawn(work);
        }
    }
}

async fn work(session: Arc<Session>, log: Arc<EventLog>, id: Id, method: String, params: Option<Raw>) {
    let outlet: Outlet = {
        let log = log.clone();
        Arc::new(move |message: Message| log.push(message.to_line()))
    };
    let answer = session.legacy.request(id.clone(), method, params, outlet).await;
    // A cancelled request gets no answer in this era, but its HTTP response has to end somehow.
    if let Some(answer) = answer {
        log.push(answer.to_line());
    }
    log.close();
}

/// Several messages in one body, as protocol 2025-03-26 has it: answered in one body, in order.
async fn batch(app: &App, headers: &HeaderMap, messages: Vec<Result<Message, toolfold_wire::BadMessage>>) -> Response {
    let session = match session_of(app, headers) {
        Ok(session) => session,
        Err((status, error)) => return error_response(status, None, error),
    };
    let mut answers = Vec::new();
    for message in messages {
        match message {
            Ok(Message::Request { id, method, params }) => {
                let common = session.common.clone();
                let outlet: Outlet = Arc::new(move |message: Message| common.push(message.to_line()));
                answers.extend(session.legacy.request(id, method, params, outlet).await.map(|answer| answer.to_line()));
            }
            Ok(Message::Notification { method, params }) => session.legacy.notification(&method, params).await,
            Ok(Message::Response { id, outcome }) => drop(session.legacy.answered(&id, outcome)),
            Err(bad) => answers.push(bad.to_line()),
        }
    }
    if answers.is_empty() {
        return empty_response(StatusCode::ACCEPTED);
    }
    json_response(StatusCode::OK, format!("[{}]", answers.join(",")))
}

/// The stream of what belongs to no request, or a stream that broke off.
fn get(app: &App, headers: &HeaderMap) -> Response {
    if text(headers, SESSION_HEADER).is_none() || text(headers, VERSION_HEADER) == Some(MODERN) {
        return not_allowed();
    }
    let session = match session_of(app, headers) {
        Ok(session) => session,
        Err((status, error)) => return error_response(status, None, error),
    };
    let prime = session.legacy.version >= "2025-11-25";
    let Some(last) = text(headers, "last-event-id") else {
        let seen = session.common.clone();
        return event_stream(seen.read(0, prime));
    };
    let found = parse_event_id(last).and_then(|(number, seen)| Some((session.find_stream(number)?, seen)));
    match found {
        Some((log, seen)) => event_stream(log.read(seen, false)),
        None => {
            let error = RpcError::new(code::INVALID_REQUEST, "The stream of this Last-Event-ID is not kept any more.");
            error_response(StatusCode::BAD_REQUEST, None, error)
        }
    }
}

fn delete(app: &App, headers: &HeaderMap) -> Response {
    match text(headers, SESSION_HEADER) {
        Some(id) if text(headers, VERSION_HEADER) != Some(MODERN) => {
            let ended = app.sessions.end(id);
            empty_response(if ended { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND })
        }
        _ => not_allowed(),
    }
}

fn session_of(app: &App, headers: &HeaderMap) -> Result<Arc<Session>, (StatusCode, RpcError)> {
    if let Some(error) = unknown_version(headers) {
        return Err((StatusCode::BAD_REQUEST, error));
    }
    let Some(id) = text(headers, SESSION_HEADER) else {
        let message = format!(
            "Begin with `initialize` and send its {SESSION_HEADER}, or speak protocol {MODERN}. Sessions are for {}.",
            LEGACY.join(", ")
        );
        return Err((StatusCode::BAD_REQUEST, RpcError::new(code::INVALID_REQUEST, message)));
    };
    let ended = || RpcError::new(code::INVALID_REQUEST, "This session has ended. Begin again with `initialize`.");
    app.sessions.find(id).ok_or_else(|| (StatusCode::NOT_FOUND, ended()))
}

/// A client that lists what it accepts and leaves streams out gets none.
fn accepts_stream(headers: &HeaderMap) -> bool {
    text(headers, "accept").is_none_or(|accept| accept.contains("text/event-stream") || accept.contains("*/*"))
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn not_allowed() -> Response {
    let allow = [(header::ALLOW, "POST")];
    (StatusCode::METHOD_NOT_ALLOWED, allow, "Send MCP messages with POST.\n").into_response()
}
