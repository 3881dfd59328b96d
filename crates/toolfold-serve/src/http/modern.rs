//! Requests of the stateless era over HTTP. The answer is plain JSON if nothing else was said before it, and a stream
//! of events otherwise; a client that hangs up has cancelled.

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use futures_util::Stream;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolfold_core::Surface;
use toolfold_wire::{BoxFuture, Event, Id, Message, Object, Raw, RpcError, VERSION_HEADER, code};

use super::App;
use super::headers;
use super::reply::{KEEP_ALIVE, PATIENCE, error_response, event_stream, json_response};
use crate::listen::Listening;
use crate::modern::{self, Envelope, unsupported};

/// Messages that may wait for a client that reads slowly.
const WAITING: usize = 256;

pub(crate) async fn request(
    app: App,
    surface: Surface,
    headers: &HeaderMap,
    (id, method, params): (Id, String, Option<Raw>),
) -> Response {
    let envelope = match check(&app, headers, &method, params.as_ref()).await {
        Ok(envelope) => envelope,
        Err(error) => return error_response(StatusCode::BAD_REQUEST, Some(id), error),
    };
    let (out, said) = mpsc::channel(WAITING);
    let work = answer(app, surface, envelope, (id.clone(), method.clone(), params), out);
    let mut talk = Talk { work: Some(Box::pin(work)), said };
    let first = tokio::select! {
        biased;
        Some(line) = talk.said.recv() => First::Said(line),
        outcome = work_of(&mut talk.work) => First::Done(outcome),
        () = tokio::time::sleep(PATIENCE) => First::Silence,
    };
    match first {
        First::Done(Some(Ok(result))) => json_response(StatusCode::OK, Message::response(id, Ok(result)).to_line()),
        First::Done(Some(Err(error))) => error_response(status_of(&error), Some(id), error),
        First::Done(None) => error_response(StatusCode::OK, Some(id), RpcError::internal("Ended.")),
        First::Said(line) => event_stream(talk.events(id, Some(line))),
        First::Silence => event_stream(talk.events(id, None)),
    }
}

enum First {
    Said(String),
    Done(Option<Result<Raw, RpcError>>),
    Silence,
}

async fn check(app: &App, headers: &HeaderMap, method: &str, params: Option<&Raw>) -> Result<Envelope, RpcError> {
    // First: a header that says something else than the body is that, whatever else is wrong with the body.
    headers::check(headers, method, params)?;
    let envelope = Envelope::read(params)?;
    if method == "tools/call"
        && let Some(params) = params.and_then(|raw| Object::parse(raw))
        && let Some(name) = params.string("name")
    {
        let snapshot = app.gateway.snapshot().await;
        if let Ok(place) = snapshot.catalog.resolve(&name) {
            let definition = snapshot.catalog.entries()[place].definition.get();
            headers::check_parameters(headers, definition, params.get("arguments").map(ToOwned::to_owned))?;
        }
    }
    Ok(envelope)
}

/// The answer; `None` where there is none to give because the client went away.
async fn answer(
    app: App,
    surface: Surface,
    envelope: Envelope,
    (id, method, params): (Id, String, Option<Raw>),
    out: mpsc::Sender<String>,
) -> Option<Result<Raw, RpcError>> {
    if method == "subscriptions/listen" {
        return match Listening::begin(&app.gateway, surface, id, params.as_ref(), out).await {
            Ok(listening) => listening.run(app.stop.clone()).await.map(Ok),
            Err(error) => Some(Err(error)),
        };
    }
    let cancel = CancellationToken::new();
    // Dropped with the request: what runs on its behalf elsewhere is then cancelled too.
    let _cancelled = cancel.clone().drop_guard();
    Some(modern::answer(&app.gateway, surface, envelope, method, params, out, cancel).await)
}

type Work = BoxFuture<'static, Option<Result<Raw, RpcError>>>;

/// A request that turned out to have more to say than its answer.
struct Talk {
    work: Option<Work>,
    said: mpsc::Receiver<String>,
}

impl Talk {
    fn events(self, id: Id, first: Option<String>) -> impl Stream<Item = String> + Send + 'static {
        futures_util::stream::unfold((self, id, first), |(mut talk, id, first)| async move {
            let line = match first {
                Some(line) => Some(line),
                None => talk.next(&id).await,
            };
            line.map(|line| (line_event(line), (talk, id, None)))
        })
    }

    async fn next(&mut self, id: &Id) -> Option<String> {
        let finished = self.work.is_none();
        tokio::select! {
            biased;
            Some(line) = self.said.recv() => Some(line),
            outcome = work_of(&mut self.work), if !finished => {
                self.work = None;
                // What was said before the answer goes out before it.
                let answer = outcome.map(|outcome| Message::response(id.clone(), outcome).to_line());
                let mut lines: Vec<String> = std::iter::from_fn(|| self.said.try_recv().ok()).collect();
                lines.extend(answer);
                (!lines.is_empty()).then(|| lines.join(SEPARATOR))
            }
            () = tokio::time::sleep(KEEP_ALIVE), if !finished => Some(String::new()),
            else => None,
        }
    }
}

/// Stands between lines that go out together; a line of JSON never contains it.
const SEPARATOR: &str = "\n";

/// An empty line is a sign of life.
fn line_event(lines: String) -> String {
    if lines.is_empty() {
        return ": still here\n\n".to_owned();
    }
    lines.split(SEPARATOR).map(|line| Event::message(line).to_text()).collect()
}

async fn work_of(work: &mut Option<Work>) -> Option<Result<Raw, RpcError>> {
    match work {
        Some(work) => work.await,
        None => None,
    }
}

fn status_of(error: &RpcError) -> StatusCode {
    match error.code {
        code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        code::UNSUPPORTED_VERSION | code::HEADER_MISMATCH | code::MISSING_CAPABILITY => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// A version header that no era knows.
pub(crate) fn unknown_version(headers: &HeaderMap) -> Option<RpcError> {
    let version = headers.get(VERSION_HEADER)?.to_str().unwrap_or("?");
    let known = crate::info::supported().contains(&version);
    (!known).then(|| unsupported(version))
}
