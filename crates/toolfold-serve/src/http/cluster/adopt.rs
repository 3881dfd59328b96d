//! Sessions in the database: written down when they begin and change, taken over by whoever is asked when their owner is gone.
//!
//! What a reader would get wrong: what is taken over is what `initialize` said, the surface and the loaded tools. Streams,
//! what was said on them, subscriptions and calls under way end with their replica.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::StatusCode;
use toolfold_access::ReplicaId;
use toolfold_core::{Surface, ToolId};
use toolfold_store::StoreError;
use toolfold_store::cluster::{Claim, NewSession, StoredSession};
use toolfold_wire::{Object, Raw};
use tracing::{debug, info, warn};

use super::super::App;
use super::super::reply::{Reply, empty_response};
use super::super::session::{Saved, Session};
use super::members::DEAD;
use super::pass::{NotPassed, Sent};
use super::{Arrived, Replicas, not_now, unknown};
use crate::conversation::Conversation;
use crate::stateless::Asker;

/// How often rows are looked after.
const TOUCH: Duration = Duration::from_secs(30);
/// Between two looks at an owner who does not answer and is not dead.
const AGAIN: Duration = Duration::from_millis(500);
/// How often the row of one session is looked at for one request: until its owner must be known to be dead, and a little more.
const LOOKS: u32 = 26;
/// What of `initialize` is needed to begin again.
const NEEDED: [&str; 3] = ["protocolVersion", "capabilities", "clientInfo"];

/// What a row says about who should answer.
enum Found {
    /// It is here now, or nowhere.
    Here,
    There(ReplicaId, String),
    /// It is for whoever has sent it on to look further.
    NotHere,
    /// Whoever has it cannot be reached, and is not dead yet.
    Waiting,
}

impl Replicas {
    /// Answers by what is written down: sends the request on, or takes the session over. `None` where it is answered here.
    pub(super) async fn settle(&self, app: &Arc<App>, request: &Arrived<'_>, id: &str) -> Option<Reply> {
        let mut unreached = None;
        for _ in 0..LOOKS {
            let (owner, address) = match self.look_up(app, request, id, unreached).await {
                Ok(Found::Here) => return None,
                Ok(Found::NotHere) => return Some(misdirected()),
                Ok(Found::There(..)) if request.is_passed() => return Some(misdirected()),
                Ok(Found::There(owner, address)) => (owner, address),
                Ok(Found::Waiting) => {
                    tokio::time::sleep(AGAIN).await;
                    self.members.look().await;
                    unreached = unreached.map(|(owner, gone)| (owner, gone || self.members.is_replaced(owner)));
                    continue;
                }
                Err(error) => return Some(not_now(&error.to_string())),
            };
            match self.pass(owner, &address, request).await {
                Ok(Sent::Answered(reply)) => {
                    self.remember(id, owner);
                    return Some(reply);
                }
                Ok(Sent::NotThere) => tokio::time::sleep(AGAIN / 10).await,
                // Gone, once whoever is there now has been heard of; until then it may be a word that is too old.
                Err(NotPassed::Another) => {
                    self.members.look().await;
                    unreached = Some((owner, self.members.is_replaced(owner)));
                }
                Err(NotPassed::Unreached(error)) => unreached = Some((owner, error.is_refused())),
                Err(NotPassed::Unknown) => return Some(unknown()),
            }
        }
        Some(not_now("its owner neither answers nor is dead"))
    }

    /// Where a session is, by its row. One that nobody has any more is taken over.
    async fn look_up(
        &self,
        app: &Arc<App>,
        request: &Arrived<'_>,
        id: &str,
        unreached: Option<(ReplicaId, bool)>,
    ) -> Result<Found, StoreError> {
        let _alone = self.shard(id).lock().await;
        if app.sessions.has(id) {
            return Ok(Found::Here);
        }
        let principal = &request.caller.principal;
        let Some(row) = self.rows.get_session(id).await?.filter(|row| row.principal == principal.key()) else {
            return Ok(Found::Here);
        };
        let owner = ReplicaId::parse(&row.owner).filter(|owner| *owner != self.standing.id);
        let address = owner.and_then(|owner| Some((owner, self.members.address(owner)?)));
        match (address, unreached) {
            // Nobody listens where it was: it is gone, whatever its last beat says.
            (Some((owner, _)), Some((who, true))) if who == owner => {}
            (Some((owner, _)), Some((who, false))) if who == owner => return Ok(Found::Waiting),
            (Some((owner, address)), _) => return Ok(Found::There(owner, address)),
            (None, _) => {}
        }
        // Whoever ends takes nothing over: another does, or whoever has sent it on.
        if self.is_draining() && row.owner != self.standing.id.to_string() {
            match self.members.successor() {
                _ if request.is_passed() => return Ok(Found::NotHere),
                Some((successor, address)) => return Ok(Found::There(successor, address)),
                None => {}
            }
        }
        match self.rows.claim_session(id, row.fence, &self.standing.id.to_string()).await? {
            Claim::Ours(row) => {
                self.rebuild(app, request, row).await;
                Ok(Found::Here)
            }
            Claim::Lost(row) => {
                let now = ReplicaId::parse(&row.owner).filter(|owner| *owner != self.standing.id);
                Ok(now.and_then(|now| Some(Found::There(now, self.members.address(now)?))).unwrap_or(Found::Waiting))
            }
            Claim::Gone => Ok(Found::Here),
        }
    }

    /// Begins a session again as it was, for whoever asks now.
    async fn rebuild(&self, app: &Arc<App>, request: &Arrived<'_>, row: StoredSession) {
        let hello = Raw::parse(row.initialize.into_bytes()).ok().and_then(|raw| Object::parse(&raw));
        let (Some(hello), Some(surface)) = (hello, Surface::parse(&row.surface)) else {
            warn!("the row of a session cannot be read: it is taken for none");
            return;
        };
        let asker = Asker { surface, ..request.caller.asker(app) };
        let Ok((conversation, _)) = Conversation::begin(&asker, &hello).await else { return };
        let loaded: Vec<ToolId> = serde_json::from_str::<Vec<String>>(&row.loaded)
            .unwrap_or_default()
            .iter()
            .filter_map(|id| ToolId::parse(id))
            .collect();
        conversation.client.restore(&loaded);
        let session = Session::new(conversation, request.caller.peer, app.budget.clone());
        session.saved(Saved { fence: row.fence, loaded: loaded.len() });
        match app.sessions.begin(row.id.clone(), session) {
            Ok(_) => {
                self.forget(&row.id);
                info!(replica = %self.standing.id, "a session of another replica goes on here");
            }
            Err(why) => debug!("a session cannot go on here: {why}"),
        }
    }

    /// Writes down that a session begins, before its client hears of it. Where that fails it lives as long as this replica, and
    /// is written down later.
    pub(crate) async fn began(&self, id: &str, session: &Session, params: &Object) {
        let mut hello = Object::new();
        for key in NEEDED {
            if let Some(value) = params.get(key) {
                hello.set_raw(key, value.detached());
            }
        }
        session.unsaved(hello.to_raw().get().to_owned());
        self.save(id, session).await;
    }

    async fn save(&self, id: &str, session: &Session) {
        let Some(initialize) = session.initialize() else { return };
        let client = &session.conversation.client;
        let (loaded, count) = loaded(session);
        let row = NewSession {
            id: id.to_owned(),
            owner: self.standing.id.to_string(),
            principal: client.principal().key(),
            initialize,
            surface: client.surface.as_str().to_owned(),
            loaded,
        };
        match self.rows.put_session(row).await {
            Ok(fence) => session.saved(Saved { fence, loaded: count }),
            Err(error) => warn!("a session could not be written down, and ends with this replica: {error}"),
        }
    }

    /// Writes down what a session has loaded, where that is more than is written.
    pub(crate) async fn keep(&self, app: &App, id: &str, session: &Session) {
        let Some(saved) = session.row() else { return };
        // Nearly no answer has loaded anything, and what is loaded stays.
        if session.conversation.client.count_loaded() == saved.loaded {
            return;
        }
        let (loaded, count) = loaded(session);
        let surface = session.conversation.client.surface.as_str();
        match self.rows.update_session(id, saved.fence, surface, &loaded).await {
            Ok(true) => session.saved(Saved { loaded: count, ..saved }),
            Ok(false) => app.sessions.drop_lost(id),
            Err(error) => warn!("what a session has loaded could not be written down: {error}"),
        }
    }

    /// Ends a session for all replicas.
    pub(crate) async fn ended(&self, id: &str) {
        if let Err(error) = self.rows.remove_session(id).await {
            warn!("the end of a session could not be written down: {error}");
        }
    }

    /// Says which sessions are in use, writes down what could not be before, and ends what nobody uses; for ever.
    pub(super) async fn keep_rows(&self, app: &App) {
        let mut told = Instant::now();
        loop {
            tokio::time::sleep(TOUCH).await;
            let (used, unsaved) = app.sessions.rows(told.elapsed());
            if let Err(error) = self.rows.touch_sessions(&self.standing.id.to_string(), used).await {
                debug!("sessions could not be said to be in use: {error}");
                continue;
            }
            for (id, session) in unsaved {
                self.save(&id, &session).await;
                self.keep(app, &id, &session).await;
            }
            // Where nobody could say so for a while, everybody has to say first what is in use.
            if told.elapsed() < 2 * TOUCH {
                let _ = self.rows.expire_sessions(super::super::sessions::IDLE).await;
            }
            told = Instant::now();
        }
    }

    /// Lets go of sessions that others took over while they thought that this replica was dead.
    pub(super) async fn drop_lost(&self, app: &App) {
        let Ok(rows) = self.rows.sessions_of(&self.standing.id.to_string()).await else { return };
        let ours: std::collections::HashSet<String> = rows.into_iter().map(|row| row.id).collect();
        let lost = app.sessions.saved_but_not(&ours);
        if !lost.is_empty() {
            warn!(sessions = lost.len(), silence = ?DEAD, "others have gone on with sessions of this replica");
        }
        lost.iter().for_each(|id| app.sessions.drop_lost(id));
    }
}

/// The loaded tools as they are written down, and how many.
fn loaded(session: &Session) -> (String, usize) {
    let tools: Vec<String> = session.conversation.client.loaded().iter().map(ToString::to_string).collect();
    (serde_json::to_string(&tools).unwrap_or_default(), tools.len())
}

/// Not here, and not to be asked for further: whoever sent it on looks for itself.
pub(super) fn misdirected() -> Reply {
    empty_response(StatusCode::MISDIRECTED_REQUEST)
}
