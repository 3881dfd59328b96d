//! Requests of the stateless era over HTTP. The answer is plain JSON if nothing else was said before it, and a stream
//! of events otherwise; a client that hangs up has cancelled, and so has one whose token is over while it listens.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use hyper::{HeaderMap, StatusCode};
use toolfold_core::Principal;
use toolfold_wire::{BoxFuture, Id, Message, Raw, RpcError, VERSION_HEADER};

use super::App;
use super::accept::Accepts;
use super::event::{STILL_HERE, event};
use super::failure::status_of;
use super::headers;
use super::reply::{KEEP_ALIVE, PATIENCE, Reply, error_response, event_stream, json_response};
use crate::asking::Asking;
use crate::outbox::{Outbox, Unread, outbox};
use crate::running::until_cancelled;
use crate::stateless::{Asker, Envelope, unsupported};
use crate::subscription::Subscription;

pub(crate) async fn request(
    app: &Arc<App>,
    asker: Asker,
    headers: &HeaderMap,
    accepts: Accepts,
    asking: Asking,
) -> Reply {
    let id = asking.id.clone();
    let checked = match &asker.relayed {
        // A server's own rules for headers were followed by nobody: no HTTP was meant to be in between.
        Some(_) => Envelope::read(&asking.about),
        None => headers::check(&asker, headers, &asking).await,
    };
    let envelope = match checked {
        Ok(envelope) => envelope,
        Err(error) => return error_response(StatusCode::BAD_REQUEST, Some(id), error),
    };
    if !accepts.events {
        if asking.method == "subscriptions/listen" {
            return accepts.refusal();
        }
        let outcome = answer(app, asker, envelope, asking, None).await;
        return plain(app, id, outcome);
    }
    let (out, said) = outbox(&app.budget.answers);
    let principal = asker.principal.clone();
    let work = work(app.clone(), asker, envelope, asking, out);
    let mut talk = Talk { app: app.clone(), principal, id, work: Some(Box::pin(work)), said };
    let first = tokio::select! {
        biased;
        outcome = work_of(&mut talk.work) => First::Done(outcome),
        Some(line) = talk.said.next() => First::Said(line),
        () = tokio::time::sleep(PATIENCE) => First::Silence,
    };
    match first {
        First::Done(Some(outcome)) => match talk.said.try_next() {
            // It was said before the answer, so it goes out before it.
            Some(line) => talk.ended(outcome, line),
            None if accepts.json => plain(app, talk.id, outcome),
            None => {
                let line = app.answer_line(talk.id, outcome);
                event_stream(futures_util::stream::iter(event(None, line)))
            }
        },
        First::Done(None) => error_response(StatusCode::OK, Some(talk.id), RpcError::internal("Ended.")),
        First::Said(line) => event_stream(talk.events(Some(line))),
        First::Silence => event_stream(talk.events(None)),
    }
}

enum First {
    Said(Bytes),
    Done(Option<Result<Raw, RpcError>>),
    Silence,
}

/// The answer and nothing else.
fn plain(app: &App, id: Id, outcome: Result<Raw, RpcError>) -> Reply {
    match outcome {
        Ok(result) => json_response(StatusCode::OK, app.answer_line(id, Ok(result))),
        Err(error) => error_response(status_of(&error), Some(id), error),
    }
}

/// The answer; `None` where there is none to give because the client went away.
async fn work(
    app: Arc<App>,
    asker: Asker,
    envelope: Envelope,
    asking: Asking,
    out: Outbox,
) -> Option<Result<Raw, RpcError>> {
    if asking.method == "subscriptions/listen" {
        // It lies in the body of the request, and this goes on for long.
        drop(envelope);
        // In a box of its own: hardly any request is one.
        return Box::pin(listen(&app, asker, asking, out)).await;
    }
    Some(answer(&app, asker, envelope, asking, Some(out)).await)
}

/// Tells changes until somebody has enough of it.
async fn listen(app: &App, asker: Asker, asking: Asking, out: Outbox) -> Option<Result<Raw, RpcError>> {
    let Asking { id, params, about, .. } = asking;
    let begun = Subscription::begin(asker, id, &params, &app.subscriptions, out).await;
    // They lie in the body of the request, which is not needed while changes are waited for.
    drop((params, about));
    match begun {
        Ok(subscription) => subscription.run(app.stop.clone()).await.map(Ok),
        Err(error) => Some(Err(error)),
    }
}

async fn answer(
    app: &App,
    asker: Asker,
    envelope: Envelope,
    asking: Asking,
    out: Option<Outbox>,
) -> Result<Raw, RpcError> {
    let stopped = || Err(RpcError::internal("Toolfold is being stopped."));
    until_cancelled(asker.answer(asking, envelope, out), &app.end).await.unwrap_or_else(stopped)
}

type Work = BoxFuture<'static, Option<Result<Raw, RpcError>>>;

/// A request that turned out to have more to say than its answer.
struct Talk {
    app: Arc<App>,
    principal: Principal,
    id: Id,
    work: Option<Work>,
    said: Unread,
}

impl Talk {
    /// What is said from now on, for as long as its client may hear it. The work ends with the stream.
    fn events(self, first: Option<Bytes>) -> impl Stream<Item = Bytes> + Send + 'static {
        let over = self.app.sessions.over(&self.app.gateway, &self.principal);
        let ready: Vec<Bytes> = first.into_iter().flat_map(|line| event(None, line)).rev().collect();
        let pieces = futures_util::stream::unfold((self, ready), |(mut talk, mut ready)| async move {
            if ready.is_empty() {
                ready = talk.next().await?;
                ready.reverse();
            }
            ready.pop().map(|piece| (piece, (talk, ready)))
        });
        pieces.take_until(over)
    }

    /// An answer that came together with what was said before it.
    fn ended(mut self, outcome: Result<Raw, RpcError>, first: Bytes) -> Reply {
        self.work = None;
        let pieces = std::iter::once(first).chain(std::iter::from_fn(|| self.said.try_next()));
        let mut pieces: Vec<Bytes> = pieces.flat_map(|line| event(None, line)).collect();
        pieces.extend(event(None, self.app.answer_line(self.id, outcome)));
        event_stream(futures_util::stream::iter(pieces))
    }

    /// What goes out next, in pieces.
    async fn next(&mut self) -> Option<Vec<Bytes>> {
        self.work.as_ref()?;
        tokio::select! {
            biased;
            Some(line) = self.said.next() => Some(event(None, line).collect()),
            outcome = work_of(&mut self.work) => {
                self.work = None;
                // What was said before the answer goes out before it.
                let mut pieces: Vec<Bytes> =
                    std::iter::from_fn(|| self.said.try_next()).flat_map(|line| event(None, line)).collect();
                pieces.extend(outcome.into_iter().flat_map(|outcome| event(None, self.app.answer_line(self.id.clone(), outcome))));
                (!pieces.is_empty()).then_some(pieces)
            }
            () = tokio::time::sleep(KEEP_ALIVE) => Some(vec![Bytes::from_static(STILL_HERE)]),
        }
    }
}

async fn work_of(work: &mut Option<Work>) -> Option<Result<Raw, RpcError>> {
    match work {
        Some(work) => work.await,
        None => None,
    }
}

/// A version header that no era knows.
pub(crate) fn unknown_version(headers: &HeaderMap) -> Option<RpcError> {
    let version = headers.get(VERSION_HEADER)?.to_str().unwrap_or("?");
    let known = crate::info::supported().contains(&version);
    (!known).then(|| unsupported(version))
}

impl App {
    /// An answer as a line; where too much waits to go out already, an error in its place.
    pub(crate) fn answer_line(&self, id: Id, outcome: Result<Raw, RpcError>) -> Bytes {
        let line = Message::response(id.clone(), outcome).to_line();
        self.budget.answer(line).unwrap_or_else(|| {
            let error = RpcError::internal("Too many large answers are waiting to be read. Ask again later.");
            Message::response(id, Err(error)).to_line().into()
        })
    }
}
