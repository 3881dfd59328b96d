//! Answers as HTTP: JSON bodies and event streams.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::{Stream, StreamExt};
use toolfold_wire::{BadMessage, Id, RpcError};

/// How often a silent stream says that it is still there.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long an answer may take before it becomes a stream, so that nobody between gives up on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn json_response(status: StatusCode, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub(crate) fn empty_response(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// A JSON-RPC error as a whole answer.
pub(crate) fn error_response(status: StatusCode, id: Option<Id>, error: RpcError) -> Response {
    json_response(status, BadMessage { id, error }.to_line())
}

/// A stream of events, each already in its text form.
pub(crate) fn event_stream(events: impl Stream<Item = String> + Send + 'static) -> Response {
    let body = Body::from_stream(events.map(Ok::<_, std::convert::Infallible>));
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
