//! Answers as HTTP: JSON bodies and event streams.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::Stream;
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use toolfold_wire::{BadMessage, Id, RpcError};

use super::place::Busy;

/// How often a silent stream says that it is still there.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long an answer may take before it becomes a stream, so that nobody between gives up on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) type Reply = Response<Body>;

/// What goes out. Its connection counts as answering until it is gone.
pub(crate) struct Body {
    content: Content,
    busy: Option<Busy>,
}

enum Content {
    Whole(Bytes),
    Events(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

impl Body {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Body { content: Content::Whole(bytes.into()), busy: None }
    }

    pub(crate) fn hold(&mut self, busy: Busy) {
        self.busy = Some(busy);
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.content {
            Content::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Content::Events(events) => {
                events.as_mut().poll_next(cx).map(|next| next.map(|event| Ok(Frame::data(event))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, Content::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Events(_) => SizeHint::default(),
        }
    }
}

pub(crate) fn json_response(status: StatusCode, body: impl Into<Bytes>) -> Reply {
    whole(status, "application/json", body)
}

/// A sentence for a person.
pub(crate) fn text_response(status: StatusCode, text: impl Into<String>) -> Reply {
    whole(status, "text/plain; charset=utf-8", text.into())
}

pub(crate) fn empty_response(status: StatusCode) -> Reply {
    let mut response = Response::new(Body::whole(Bytes::new()));
    *response.status_mut() = status;
    response
}

/// A body of this kind.
pub(crate) fn whole(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Reply {
    let mut response = Response::new(Body::whole(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// A JSON-RPC error as a whole answer.
pub(crate) fn error_response(status: StatusCode, id: Option<Id>, error: RpcError) -> Reply {
    json_response(status, BadMessage { id, error }.to_line())
}

/// An answer that somebody else gave, as it comes.
pub(crate) fn stream_response(
    status: StatusCode,
    headers: header::HeaderMap,
    pieces: impl Stream<Item = Bytes> + Send + 'static,
) -> Reply {
    let mut response = Response::new(Body { content: Content::Events(Box::pin(pieces)), busy: None });
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// A stream of events, each already in its text form.
pub(crate) fn event_stream(events: impl Stream<Item = Bytes> + Send + 'static) -> Reply {
    let mut response = Response::new(Body { content: Content::Events(Box::pin(events)), busy: None });
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
