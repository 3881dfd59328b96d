//! Replicas that stand in for each other: whichever of them a request reaches, it is answered by the one that has what it is
//! about.
//!
//! A session and a parked call live in one process, and their ids name it. A request that arrives elsewhere is sent on to
//! there, once, with the word of who it is from. Where the owner is gone, whoever has the next request takes the session
//! over: its row in the database has a fence, so that of several who try one succeeds.
//!
//! What a reader would get wrong: nothing here is asked on the way of a request that is where it belongs, and nothing that
//! may have reached its owner is ever sent again.

mod adopt;
mod ask;
mod handover;
mod members;
mod pass;
mod relay;
mod shelves;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use hyper::http::request::Parts;
use hyper::{HeaderMap, StatusCode};
use tokio_util::sync::CancellationToken;
use toolfold_access::{BodyHash, Handle, ReplicaId, Standing};
use toolfold_core::Principal;
use toolfold_gateway::Gateway;
use toolfold_http::HttpClient;
use toolfold_wire::{RpcError, SESSION_HEADER};
use tracing::warn;

use super::App;
use super::post::{Caller, says_stateless, text};
use super::reply::{Reply, error_response};
use super::session::Held;
pub(crate) use ask::{STATE, answer as state};
use members::Members;
use pass::{NotPassed, Sent};
pub(crate) use pass::{WORD, Word, word_of};
pub(crate) use relay::answer as relay;
pub(crate) use shelves::{RESULTS, answer as kept_result};

/// Sessions that are remembered to be elsewhere than their ids say.
const MOST_MOVED: usize = 65_536;
/// Sessions that are taken over at once are told apart by so much of their ids.
const SHARDS: usize = 64;

pub(crate) struct Replicas {
    pub(super) standing: Arc<Standing>,
    rows: toolfold_store::cluster::Cluster,
    members: Members,
    client: HttpClient,
    /// Where sessions are that were taken over by somebody else.
    moved: Mutex<HashMap<String, ReplicaId>>,
    /// One at a time takes over one session.
    adopting: Vec<tokio::sync::Mutex<()>>,
    asked: ask::LastSaid,
    /// No new work.
    pub(super) stop: CancellationToken,
}

impl Replicas {
    /// Joins the others. An error where the database that is shared cannot be asked: alone nobody is a cluster.
    pub(crate) async fn join(gateway: &Gateway) -> std::io::Result<Option<Arc<Replicas>>> {
        let config = gateway.config();
        let Some(settings) = &config.cluster else { return Ok(None) };
        let Some((standing, rows)) = gateway.cluster().await else {
            return Err(std::io::Error::other("the database that the replicas share cannot be reached: see `store`"));
        };
        let members = Members::join(rows.clone(), standing.clone(), &settings.advertise).await?;
        let client = HttpClient::straight().map_err(std::io::Error::other)?;
        let adopting = (0..SHARDS).map(|_| tokio::sync::Mutex::default()).collect();
        let replicas = Arc::new(Replicas {
            standing,
            rows,
            members,
            client,
            moved: Mutex::default(),
            adopting,
            asked: ask::LastSaid::default(),
            stop: CancellationToken::new(),
        });
        gateway.relay().ask_for_results(replicas.clone());
        Ok(Some(replicas))
    }

    /// Follows who is there, and keeps what is written down of our sessions true, until told to stop.
    pub(crate) async fn follow(self: Arc<Self>, app: Arc<App>, stop: CancellationToken) {
        let lost = async {
            loop {
                self.members.was_thought_dead().await;
                self.drop_lost(&app).await;
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.members.beat() => {}
            () = self.keep_rows(&app) => {}
            () = self.greet() => {}
            () = lost => {}
        }
    }

    /// A new id for something of this replica's; `None` without randomness.
    pub(crate) fn name(&self, handle: Handle, principal: &Principal) -> Option<String> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).ok()?;
        Some(self.standing.name(handle, principal, random))
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.members.is_draining()
    }

    /// Whether requests for this one may come to another: then none should come here.
    pub(crate) fn has_twin(&self) -> bool {
        self.members.has_twin()
    }

    /// The answer of whoever has the session of this request, unless that is us, now, or nobody.
    async fn session(&self, app: &Arc<App>, request: &Arrived<'_>, id: &str) -> Option<Reply> {
        let named = self.standing.owner(Handle::Session, &request.caller.principal, id)?;
        let owner = self.moved_to(id).unwrap_or(named);
        if !request.is_passed()
            && let Some(address) = self.members.address(owner)
        {
            match self.pass(owner, &address, request).await {
                Ok(Sent::Answered(reply)) => return Some(reply),
                // It is not there any more, or nobody is: what is written down says where.
                Ok(Sent::NotThere) | Err(NotPassed::Unreached(_) | NotPassed::Another) => {}
                Err(NotPassed::Unknown) => return Some(unknown()),
            }
        }
        self.settle(app, request, id).await
    }

    fn moved_to(&self, id: &str) -> Option<ReplicaId> {
        self.moved.lock().unwrap_or_else(PoisonError::into_inner).get(id).copied()
    }

    fn remember(&self, id: &str, owner: ReplicaId) {
        let mut moved = self.moved.lock().unwrap_or_else(PoisonError::into_inner);
        // What is forgotten is looked up again.
        if moved.len() >= MOST_MOVED {
            moved.clear();
        }
        moved.insert(id.to_owned(), owner);
    }

    fn forget(&self, id: &str) {
        self.moved.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    fn shard(&self, id: &str) -> &tokio::sync::Mutex<()> {
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        &self.adopting[hasher.finish() as usize % SHARDS]
    }
}

/// A request as it came, for whoever may send it on.
pub(crate) struct Arrived<'a> {
    caller: &'a Caller,
    parts: &'a Parts,
    body: &'a Bytes,
    /// Of the body, once somebody has needed it: it may be tried several times.
    hash: OnceLock<BodyHash>,
}

impl<'a> Arrived<'a> {
    pub(crate) fn new(caller: &'a Caller, parts: &'a Parts, body: &'a Bytes) -> Self {
        Arrived { caller, parts, body, hash: OnceLock::new() }
    }

    fn hash(&self) -> &BodyHash {
        self.hash.get_or_init(|| BodyHash::of(self.body))
    }

    /// Whether another replica has sent it on: then it goes no further.
    fn is_passed(&self) -> bool {
        self.caller.passed.is_some()
    }
}

/// The session of a request, kept here until the request has begun, where it is here and could be handed over before.
pub(crate) fn held(app: &App, headers: &HeaderMap) -> Option<Held> {
    app.replicas.as_ref()?;
    app.sessions.hold(session_id(headers)?)
}

/// The answer of another replica to a request of a session; `None` where it is answered here, if only to say that there is
/// no such session.
pub(crate) async fn session_elsewhere(app: &Arc<App>, request: Arrived<'_>) -> Option<Reply> {
    let replicas = app.replicas.as_ref()?;
    let id = session_id(&request.parts.headers)?;
    if app.sessions.has(id) {
        return None;
    }
    // In a box of its own: hardly any request needs it.
    Box::pin(replicas.session(app, &request, id)).await
}

/// The same for a stateless request that goes on with a parked call.
pub(crate) async fn parked_elsewhere(app: &App, request: Arrived<'_>, state: &str) -> Option<Reply> {
    let replicas = app.replicas.as_ref()?;
    let owner = app.gateway.owner_of_parked(&request.caller.principal, state)?;
    if owner == replicas.standing.id || request.is_passed() {
        return None;
    }
    let address = replicas.members.address(owner)?;
    match replicas.pass(owner, &address, &request).await {
        Ok(Sent::Answered(reply)) => Some(reply),
        // Whoever had it is gone, and the call with them: said here as of any that is not there any more.
        Ok(Sent::NotThere) | Err(NotPassed::Unreached(_) | NotPassed::Another) => None,
        Err(NotPassed::Unknown) => Some(unknown()),
    }
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    text(headers, SESSION_HEADER).filter(|_| !says_stateless(headers))
}

/// The request was on its way when whoever had it went away.
fn unknown() -> Reply {
    let message =
        "The replica that worked on this went away. Whether it was done is not known: look before you ask again.";
    error_response(StatusCode::BAD_GATEWAY, None, RpcError::internal(message))
}

/// Nobody can say now who has a session.
fn not_now(why: &str) -> Reply {
    warn!("a session cannot be looked up: {why}");
    let message = "Who has this session cannot be found out at the moment. Ask again in a second.";
    let mut reply = error_response(StatusCode::SERVICE_UNAVAILABLE, None, RpcError::internal(message));
    reply.headers_mut().insert(hyper::header::RETRY_AFTER, hyper::header::HeaderValue::from_static("1"));
    reply
}
