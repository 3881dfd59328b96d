//! The endpoint: by method, then by era.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;
use hyper::header::{HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use toolfold_access::BodyHash;
use toolfold_core::{Principal, Surface};
use toolfold_gateway::{Carriage, Client};
use toolfold_wire::{BoxFuture, LEGACY, MODERN, Message, RpcError, SESSION_HEADER, VERSION_HEADER, code};

use super::accept::Accepts;
use super::body::{self, Coming};
use super::cluster::{self, Arrived};
use super::event::event;
use super::event_log::{EventLog, First, parse_event_id};
use super::failure::{session_status, without_body};
use super::reply::{PATIENCE, Reply, empty_response, error_response, event_stream, json_response};
use super::routes::not_allowed;
use super::session::{Said, Session};
use super::stateless::unknown_version;
use super::{App, batch, not_believed, stateless};
use crate::apart::apart;
use crate::asking::{Asking, is_notification};
use crate::conversation::Conversation;
use crate::running::InFlight;
use crate::stateless::{Asker, Whence};

/// Who sent a request, and what for.
pub(crate) struct Caller {
    pub(crate) principal: Principal,
    pub(crate) peer: IpAddr,
    pub(crate) surface: Surface,
    /// Where another replica has sent it on: what its body has to be.
    pub(crate) passed: Option<BodyHash>,
}

impl Caller {
    pub(crate) fn asker(&self, app: &App) -> Asker {
        let from = Whence { transport: Carriage::TCP, address: Some(self.peer) };
        Asker {
            gateway: app.gateway.clone(),
            principal: self.principal.clone(),
            surface: self.surface,
            from,
            relayed: None,
        }
    }
}

pub(crate) async fn mcp(app: &Arc<App>, caller: Caller, parts: Parts, body: Coming) -> Reply {
    match parts.method {
        Method::POST => {
            let accepts = Accepts::read(&parts.headers);
            if accepts.nothing() {
                return accepts.refusal();
            }
            match body::read(app, &parts.headers, body).await {
                Ok(bytes) => read(app, caller, parts, accepts, bytes).await,
                Err(why) => {
                    let (status, error) = without_body(why);
                    error_response(status, None, error)
                }
            }
        }
        Method::GET | Method::DELETE => {
            let nothing = Bytes::new();
            match cluster::session_elsewhere(app, Arrived::new(&caller, &parts, &nothing)).await {
                Some(reply) => reply,
                None if parts.method == Method::GET => get(app, &caller, &parts.headers),
                None => delete(app, &caller, &parts.headers).await,
            }
        }
        _ => not_allowed("POST"),
    }
}

/// A body that is whole: answered here, or by the replica that has its session.
async fn read(app: &Arc<App>, caller: Caller, parts: Parts, accepts: Accepts, body: Bytes) -> Reply {
    if caller.passed.is_some_and(|word| word != BodyHash::of(&body)) {
        return not_believed().reply(&parts.method, parts.uri.path());
    }
    let mut held = cluster::held(app, &parts.headers);
    if held.is_none() {
        if let Some(reply) = cluster::session_elsewhere(app, Arrived::new(&caller, &parts, &body)).await {
            return reply;
        }
        held = cluster::held(app, &parts.headers);
    }
    let reply = post(app, caller, &parts, accepts, body).await;
    drop(held);
    reply
}

async fn post(app: &Arc<App>, caller: Caller, parts: &Parts, accepts: Accepts, body: Bytes) -> Reply {
    let (size, headers) = (body.len(), &parts.headers);
    // For another replica, if it turns out to be about something of theirs.
    let whole = app.replicas.as_ref().map(|_| body.clone());
    let Some(mut messages) = apart(size, move || Message::parse_all(body)).await else {
        return error_response(StatusCode::INTERNAL_SERVER_ERROR, None, RpcError::internal("It could not be read."));
    };
    if messages.len() > 1 {
        return Box::pin(batch::answer(app, &caller, headers, messages)).await;
    }
    let message = match messages.pop() {
        Some(Ok(message)) => message,
        Some(Err(bad)) => return error_response(StatusCode::BAD_REQUEST, bad.id, bad.error),
        None => return empty_response(StatusCode::ACCEPTED),
    };
    match message {
        Message::Request { id, method, params } => {
            match apart(size, move || Asking::read(id, method, params.as_ref())).await {
                Some(Ok(asking)) => {
                    let carrier = carrier(headers);
                    ask(app, caller, (parts, whole), accepts, Asking { carrier, ..asking }).await
                }
                Some(Err((id, error))) => error_response(StatusCode::BAD_REQUEST, id, error),
                None => empty_response(StatusCode::INTERNAL_SERVER_ERROR),
            }
        }
        Message::Notification { .. } if says_stateless(headers) => empty_response(StatusCode::ACCEPTED),
        Message::Notification { method, params } => match session_of(app, &caller, headers) {
            Ok(session) => {
                if is_notification(&method) {
                    session.conversation.notification(&method, params).await;
                }
                empty_response(StatusCode::ACCEPTED)
            }
            Err((status, error)) => error_response(status, None, error),
        },
        Message::Response { id, outcome } => match session_of(app, &caller, headers) {
            Ok(session) => {
                session.conversation.answered(&id, outcome);
                empty_response(StatusCode::ACCEPTED)
            }
            Err((status, error)) => error_response(status, Some(id), error),
        },
    }
}

async fn ask(
    app: &Arc<App>,
    caller: Caller,
    (parts, body): (&Parts, Option<Bytes>),
    accepts: Accepts,
    asking: Asking,
) -> Reply {
    let headers = &parts.headers;
    if let Some(refused) = lacks_scope(app, &caller, parts.uri.path(), &asking).await {
        return refused;
    }
    if says_stateless(headers) || asking.is_stateless() {
        if let (Some(body), Some(state)) = (&body, asking.params.string("requestState"))
            && let Some(reply) = cluster::parked_elsewhere(app, Arrived::new(&caller, parts, body), &state).await
        {
            return reply;
        }
        // In a box of its own, or every request of the other era would be as large.
        return Box::pin(stateless::request(app, caller.asker(app), headers, accepts, asking)).await;
    }
    if asking.method == "initialize" {
        return initialize(app, &caller, asking).await;
    }
    let session = match session_of(app, &caller, headers) {
        Ok(session) => session,
        Err((status, error)) => return error_response(status, Some(asking.id), error),
    };
    match session.conversation.admit(&asking) {
        Ok(running) => request(app, &caller, session, headers, accepts, asking, running).await,
        Err(error) => error_response(StatusCode::OK, Some(asking.id), error),
    }
}

/// A request that another token of the same person could make is answered with what to ask for, before anything else is said.
async fn lacks_scope(app: &App, caller: &Caller, path: &str, asking: &Asking) -> Option<Reply> {
    let client = Client::request(caller.principal.clone(), caller.surface, None);
    let scope = app.gateway.access().scope_wanted(&client, &asking.method, &asking.params).await?;
    Some(app.identities.step_up(path, &scope).reply(&Method::POST, path))
}

async fn initialize(app: &App, caller: &Caller, asking: Asking) -> Reply {
    let begun = Conversation::greet(&caller.asker(app), &asking).await;
    let id = asking.id;
    let (conversation, result) = match begun {
        Ok(begun) => begun,
        Err(error) => return error_response(StatusCode::OK, Some(id), error),
    };
    let session = app.session_id(&caller.principal).and_then(|id| {
        let session = Session::new(conversation, caller.peer, app.budget.clone());
        Ok((app.sessions.begin(id.clone(), session)?, id))
    });
    match session {
        Ok((begun, session)) => {
            if let Some(replicas) = &app.replicas {
                replicas.began(&session, &begun, &asking.params).await;
            }
            let mut response = json_response(StatusCode::OK, Message::response(id, Ok(result)).to_line());
            if let Ok(value) = HeaderValue::from_str(&session) {
                response.headers_mut().insert(SESSION_HEADER, value);
            }
            response
        }
        Err(why) => {
            let mut response = error_response(session_status(&why), Some(id), RpcError::internal(why.to_string()));
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("10"));
            response
        }
    }
}

/// Works on a request of a session. The work goes on when the connection breaks, and when what the client came with is over: in
/// this era that is not a cancellation, and the client may come back for the answer, with what is good then.
async fn request(
    app: &Arc<App>,
    caller: &Caller,
    session: Arc<Session>,
    headers: &HeaderMap,
    accepts: Accepts,
    asking: Asking,
    running: InFlight,
) -> Reply {
    let id = asking.id.clone();
    let row = app.replicas.as_ref().and_then(|_| Some((app.clone(), text(headers, SESSION_HEADER)?.to_owned())));
    let log = session.stream();
    // A client that takes no stream hears what is said meanwhile where it listens, if it does.
    let said = if accepts.events { log.clone() } else { session.common.clone() };
    let said = Said { session: session.clone(), log: said };
    let mut work = Carried::new(log.clone(), work(session.clone(), row, log.clone(), asking, (running, said)));
    let first = tokio::select! {
        biased;
        () = work.run() => log.first().await,
        first = log.first(), if accepts.events => first,
        () = tokio::time::sleep(PATIENCE), if accepts.events => First::Stream,
    };
    // Before the stream is read: from here on it is carried elsewhere.
    drop(work);
    match first {
        First::Answer(answer) if accepts.json => json_response(StatusCode::OK, answer),
        First::Answer(answer) => event_stream(futures_util::stream::iter(event(None, answer))),
        First::Nothing if app.end.is_cancelled() => error_response(
            StatusCode::SERVICE_UNAVAILABLE,
            Some(id),
            RpcError::internal("Toolfold is stopping, and the call took too long to wait for."),
        ),
        // Cancelled: there is no answer in this era, but its HTTP response has to end somehow.
        First::Nothing if accepts.events => event_stream(futures_util::stream::empty()),
        First::Nothing => empty_response(StatusCode::NO_CONTENT),
        First::Stream => {
            let prime = session.conversation.version >= "2025-11-25";
            session.keep(&log);
            event_stream(log.read(0, prime).take_until(app.sessions.over(&app.gateway, &caller.principal)))
        }
    }
}

/// Work that is done here for as long as somebody waits here for it, and elsewhere after that.
struct Carried {
    work: Option<BoxFuture<'static, ()>>,
    /// What it says meanwhile: nobody hears that until somebody reads it elsewhere.
    log: Arc<EventLog>,
}

impl Carried {
    fn new(log: Arc<EventLog>, work: impl Future<Output = ()> + Send + 'static) -> Self {
        Carried { work: Some(Box::pin(work)), log }
    }

    async fn run(&mut self) {
        if let Some(work) = &mut self.work {
            work.await;
        }
        self.work = None;
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        let rest = self.work.take().zip(tokio::runtime::Handle::try_current().ok());
        if let Some((work, runtime)) = rest {
            self.log.abandon();
            runtime.spawn(work);
        }
    }
}

/// Where a session is written down for other replicas: its id.
type Row = Option<(Arc<App>, String)>;

async fn work(session: Arc<Session>, row: Row, log: Arc<EventLog>, asking: Asking, (running, said): (InFlight, Said)) {
    if let Some(answer) = session.conversation.request(asking, running, said).await {
        // What an answer says is loaded is so on every replica.
        if let Some((app, id)) = &row {
            keep(app, id, &session).await;
        }
        session.answer(&log, &answer);
    }
    log.close();
}

pub(super) async fn keep(app: &App, id: &str, session: &Session) {
    if let Some(replicas) = &app.replicas {
        replicas.keep(app, id, session).await;
    }
}

/// The stream of what belongs to no request, or a stream that broke off.
fn get(app: &App, caller: &Caller, headers: &HeaderMap) -> Reply {
    if text(headers, SESSION_HEADER).is_none() || says_stateless(headers) {
        return not_allowed("POST");
    }
    let accepts = Accepts::read(headers);
    if !accepts.events {
        return accepts.refusal();
    }
    let session = match session_of(app, caller, headers) {
        Ok(session) => session,
        Err((status, error)) => return error_response(status, None, error),
    };
    let prime = session.conversation.version >= "2025-11-25";
    let over = app.sessions.over(&app.gateway, &caller.principal);
    let Some(last) = text(headers, "last-event-id") else {
        return event_stream(session.common.clone().read(0, prime).take_until(over));
    };
    // Who was not told an id at the beginning of a stream has seen at least one message of it.
    let given = parse_event_id(last).filter(|(_, seen)| prime || *seen > 0);
    let found = given.and_then(|(number, seen)| Some((session.find_stream(number)?, seen)));
    match found {
        Some((log, seen)) => event_stream(log.read(seen, false).take_until(over)),
        None => {
            let error = RpcError::new(code::INVALID_REQUEST, "The stream of this Last-Event-ID is not kept any more.");
            error_response(StatusCode::BAD_REQUEST, None, error)
        }
    }
}

async fn delete(app: &App, caller: &Caller, headers: &HeaderMap) -> Reply {
    match text(headers, SESSION_HEADER) {
        Some(id) if !says_stateless(headers) => {
            let ended = app.sessions.end(id, &caller.principal);
            if let Some(replicas) = app.replicas.as_ref().filter(|_| ended) {
                replicas.ended(id).await;
            }
            empty_response(if ended { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND })
        }
        _ => not_allowed("POST"),
    }
}

pub(super) fn session_of(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
) -> Result<Arc<Session>, (StatusCode, RpcError)> {
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
    app.sessions.find(id, &caller.principal).ok_or_else(|| (StatusCode::NOT_FOUND, ended()))
}

/// Which trace the HTTP request itself belongs to.
pub(super) fn carrier(headers: &HeaderMap) -> Option<String> {
    text(headers, "traceparent").map(str::to_owned)
}

pub(crate) fn says_stateless(headers: &HeaderMap) -> bool {
    text(headers, VERSION_HEADER) == Some(MODERN)
}

pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
