//! The table of sessions: how many there may be, who has to go, and who may use which.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolfold_core::{Principal, Proof};
use toolfold_gateway::{Change, Gateway, seconds_now};
use toolfold_wire::{BoxFuture, Message, Raw};
use tracing::{debug, warn};

use super::session::{Held, Session};
use crate::tidings::Tidings;

/// Sessions at once.
const MOST: usize = 4096;
/// A session nobody used for this long is forgotten.
pub(crate) const IDLE: Duration = Duration::from_secs(30 * 60);
/// One that was used is given up for a newcomer after this long, one that never was after that long.
const SPARE: Duration = Duration::from_secs(5 * 60);
const UNUSED: Duration = Duration::from_secs(10);
const SWEEP: Duration = Duration::from_secs(10);
/// How soon what was opened with a token ends after the token was taken back.
const LOOK: Duration = Duration::from_millis(500);

pub(crate) struct Sessions {
    most: usize,
    /// Whether everybody may have the same address, as behind a balancer.
    one_address: bool,
    table: Mutex<HashMap<String, Arc<Session>>>,
    /// Who had which token at the last look.
    holders: watch::Sender<Holders>,
}

/// Tokens by the name they were given out under, and when that was: the next one of the same name is another.
type Holders = Vec<(String, i64)>;

/// Why no session could be begun.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoSession {
    #[error("All sessions are taken. Try again in a while, or end some with DELETE.")]
    Full,
    #[error("No session could be begun.")]
    NoRandomness,
}

/// An id that nobody can guess.
pub(crate) fn new_id() -> Result<String, NoSession> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|_| NoSession::NoRandomness)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

impl Sessions {
    pub(crate) fn new(one_address: bool) -> Self {
        Sessions { one_address, ..Sessions::of(MOST) }
    }

    fn of(most: usize) -> Self {
        Sessions { most, one_address: false, table: Mutex::default(), holders: watch::Sender::default() }
    }

    /// Begins a session.
    pub(crate) fn begin(&self, id: String, session: Session) -> Result<Arc<Session>, NoSession> {
        let mut table = self.lock();
        self.make_room(&mut table, session.peer)?;
        debug!(session = short(&id), principal = %session.conversation.client.principal(), peer = %session.peer, "a session begins");
        let session = Arc::new(session);
        table.insert(id, session.clone());
        Ok(session)
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.lock().contains_key(id)
    }

    /// The session of this id for a request that has come for it, whoever it is from.
    pub(crate) fn hold(&self, id: &str) -> Option<Held> {
        self.lock().get(id).cloned().map(Held::new)
    }

    /// Lets go of a session that somebody else has now.
    pub(crate) fn drop_lost(&self, id: &str) {
        let session = self.lock().remove(id);
        session.inspect(|session| session.close());
    }

    /// Sessions that were used within a time and are written down, and those that are still to be.
    pub(crate) fn rows(&self, within: Duration) -> (Vec<String>, Vec<(String, Arc<Session>)>) {
        let table = self.lock();
        let is_used = |session: &Session| session.idle() <= within || session.is_in_use();
        let saved = table.iter().filter(|(_, session)| session.row().is_some() && is_used(session));
        let unsaved = table.iter().filter(|(_, session)| session.initialize().is_some());
        (
            saved.map(|(id, _)| id.clone()).collect(),
            unsaved.map(|(id, session)| (id.clone(), session.clone())).collect(),
        )
    }

    /// Those that are written down and nobody uses at the moment.
    pub(crate) fn idle_rows(&self) -> Vec<String> {
        let table = self.lock();
        let idle = table.iter().filter(|(_, session)| session.row().is_some() && session.is_idle());
        idle.map(|(id, _)| id.clone()).collect()
    }

    /// Of these, those that nobody uses now either.
    pub(crate) fn still_idle(&self, ids: &[String]) -> Vec<String> {
        let table = self.lock();
        ids.iter().filter(|id| table.get(*id).is_some_and(|session| session.is_idle())).cloned().collect()
    }

    /// Lets go of those of these that nobody uses: how many.
    pub(crate) fn drop_idle(&self, ids: &[String]) -> usize {
        let mut table = self.lock();
        let idle: Vec<_> = ids.iter().filter(|id| table.get(*id).is_some_and(|session| session.is_idle())).collect();
        let gone: Vec<_> = idle.into_iter().filter_map(|id| table.remove(id)).collect();
        drop(table);
        gone.iter().for_each(|session| session.close());
        gone.len()
    }

    /// Those that are written down and not among these.
    pub(crate) fn saved_but_not(&self, these: &HashSet<String>) -> Vec<String> {
        let table = self.lock();
        let lost = table.iter().filter(|(id, session)| session.row().is_some() && !these.contains(*id));
        lost.map(|(id, _)| id.clone()).collect()
    }

    /// The session of this id, if it is this principal's. Another one's is as good as none.
    pub(crate) fn find(&self, id: &str, principal: &Principal) -> Option<Arc<Session>> {
        let session = self.lock().get(id).filter(|session| belongs(session, principal)).cloned()?;
        session.touch();
        session.conversation.client.seen_as(principal);
        Some(session)
    }

    pub(crate) fn end(&self, id: &str, principal: &Principal) -> bool {
        let mut table = self.lock();
        if !table.get(id).is_some_and(|session| belongs(session, principal)) {
            return false;
        }
        let session = table.remove(id);
        drop(table);
        session.inspect(|session| session.close()).is_some()
    }

    /// Where all places are taken, one that nobody uses makes room: those nothing was ever asked in go first.
    fn make_room(&self, table: &mut HashMap<String, Arc<Session>>, peer: IpAddr) -> Result<(), NoSession> {
        // Everybody on this machine has the same address.
        let crowded = table.len() >= self.most / 2 && !peer.is_loopback() && !self.one_address;
        if crowded && table.values().filter(|session| session.peer == peer).count() >= self.most / 2 {
            return Err(NoSession::Full);
        }
        if table.len() < self.most {
            return Ok(());
        }
        let spare = |session: &Session| session.idle() > if session.was_used() { SPARE } else { UNUSED };
        let candidates = table.iter().filter(|(_, session)| spare(session) && !session.is_in_use());
        let goes = candidates.min_by_key(|(_, session)| (session.was_used(), std::cmp::Reverse(session.idle())));
        let Some(id) = goes.map(|(id, _)| id.clone()) else {
            warn!(sessions = table.len(), "all sessions are taken: a new one is refused");
            return Err(NoSession::Full);
        };
        table.remove(&id).inspect(|session| session.close());
        Ok(())
    }

    /// Lets streams that belong to no call end, because the program does; calls go on.
    pub(crate) fn say_goodbye(&self) {
        self.lock().values().for_each(|session| session.common.close());
    }

    pub(crate) fn end_all(&self) {
        self.lock().drain().for_each(|(_, session)| session.close());
    }

    /// Forgets what nobody uses any more, until told to stop.
    pub(crate) async fn sweep(self: Arc<Self>, gateway: Gateway, stop: CancellationToken) {
        let mut swept = Instant::now();
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(LOOK) => {}
            }
            self.end_revoked(&gateway).await;
            if swept.elapsed() < SWEEP {
                continue;
            }
            swept = Instant::now();
            self.lock().retain(|_, session| {
                session.forget_ended();
                let kept = session.idle() < IDLE || session.is_in_use();
                if !kept {
                    session.close();
                }
                kept
            });
        }
    }

    /// Ends the sessions of those whose token was taken back: a stream that is open asks for nothing any more.
    async fn end_revoked(&self, gateway: &Gateway) {
        let nobody_listens = self.holders.receiver_count() == 0;
        if nobody_listens && !self.lock().values().any(|session| is_named(&session.conversation.client.principal())) {
            return;
        }
        let Ok(mut known) = gateway.tokens().holders().await else { return };
        let is_over = |session: &Arc<Session>| {
            let principal = session.conversation.client.principal();
            is_named(&principal) && !has_token(&known, &principal)
        };
        if self.lock().values().any(is_over) {
            known = match gateway.tokens().written().await {
                Ok(written) => written,
                Err(_) => return,
            };
        }
        self.lock().retain(|_, session| {
            let principal = session.conversation.client.principal();
            let kept = !is_named(&principal) || has_token(&known, &principal);
            if !kept {
                session.close();
            }
            kept
        });
        self.holders.send_replace(known);
    }

    /// Returns when what somebody came with is good no more: for what stays open after the request that it came with. That an
    /// issuer has taken a token back nobody tells us, so its end is what is waited for.
    pub(crate) fn over(&self, gateway: &Gateway, principal: &Principal) -> BoxFuture<'static, ()> {
        let left = principal.credential().ends_at.map(|end| Duration::from_secs(end.saturating_sub(seconds_now())));
        let ended = async move {
            match left {
                Some(left) => tokio::time::sleep(left).await,
                None => std::future::pending().await,
            }
        };
        if !is_named(principal) {
            return Box::pin(ended);
        }
        let (mut holders, gateway, principal) = (self.holders.subscribe(), gateway.clone(), principal.clone());
        let revoked = async move {
            // What was known before is older than this.
            while holders.changed().await.is_ok() {
                let known = has_token(&holders.borrow_and_update(), &principal);
                if !known && gateway.tokens().written().await.is_ok_and(|written| !has_token(&written, &principal)) {
                    return;
                }
            }
        };
        Box::pin(async {
            tokio::select! {
                () = ended => {}
                () = revoked => {}
            }
        })
    }

    /// Tells every session of changes, until told to stop. A change is written once, however many hear of it.
    pub(crate) async fn announce(self: Arc<Self>, gateway: Gateway, mut changes: Tidings, stop: CancellationToken) {
        loop {
            let changed = tokio::select! {
                () = stop.cancelled() => return,
                changed = changes.next() => changed,
            };
            let Some(changed) = changed else { return };
            changed.iter().for_each(|change| self.tell(&gateway, change));
        }
    }

    fn tell(&self, gateway: &Gateway, change: &Change) {
        let all: Vec<Arc<Session>> = self.lock().values().cloned().collect();
        let mut written: HashMap<String, Bytes> = HashMap::new();
        for session in all {
            let client = &session.conversation.client;
            let mine = gateway.access().concerning(change, &client.principal());
            for (method, params) in mine.iter().flat_map(|change| change.notifications(client)) {
                // Nearly always one: two clients may know a resource by two addresses.
                let key = format!("{method} {}", params.as_ref().map_or("", Raw::get));
                let line = written.entry(key).or_insert_with(|| Message::notification(method, params).to_line().into());
                session.say(&session.common, line.clone());
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_named(principal: &Principal) -> bool {
    principal.identity().proof == Proof::Named
}

/// Whether the token that somebody came with can still be used.
fn has_token(holders: &Holders, principal: &Principal) -> bool {
    let given_at = principal.credential().given_at;
    holders.iter().any(|(name, at)| name == principal.name() && given_at.is_none_or(|given| given == *at))
}

fn belongs(session: &Session, principal: &Principal) -> bool {
    session.conversation.client.principal() == *principal
}

/// Enough of a session's id to tell it from others in the log, and not enough to use it.
fn short(id: &str) -> &str {
    id.get(..6).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use toolfold_core::Surface;
    use toolfold_gateway::Options;
    use toolfold_wire::Object;

    use super::*;
    use crate::budget::Budget;
    use crate::conversation::Conversation;
    use crate::stateless::{Asker, Whence};

    async fn greet(gateway: &Gateway) -> Conversation {
        let hello = Object::new().with("protocolVersion", "2025-11-25");
        let from = Whence { transport: "tcp", address: None };
        let asker = Asker {
            gateway: gateway.clone(),
            principal: Principal::local(),
            surface: Surface::Compact,
            from,
            relayed: None,
        };
        let begun = Conversation::begin(&asker, &hello).await;
        let Ok((conversation, _)) = begun else { panic!("a conversation begins") };
        conversation
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_are_forgotten_after_half_an_hour_and_streams_that_ended_after_a_minute() {
        let gateway = Gateway::start(Options { config: Default::default(), local: Vec::new() });
        let sessions = Arc::new(Sessions::of(1));
        let (conversation, budget) = (greet(&gateway).await, Arc::new(Budget::of(&gateway)));
        let session = Session::new(conversation, Ipv4Addr::LOCALHOST.into(), budget);
        let session = sessions.begin("only".to_owned(), session).expect("a place");
        let stream = session.stream();
        session.keep(&stream);
        stream.close();
        let begun = Instant::now();
        tokio::spawn(sessions.clone().sweep(gateway, CancellationToken::new()));
        let is_kept = async |after: u64| {
            tokio::time::sleep_until(begun + Duration::from_secs(after)).await;
            (sessions.has("only"), session.find_stream(stream.number()).is_some())
        };
        assert_eq!(is_kept(59).await, (true, true));
        assert_eq!(is_kept(75).await, (true, false), "a minute, and until somebody looks");
        assert_eq!(is_kept(30 * 60 - 1).await, (true, false));
        assert_eq!(is_kept(30 * 60 + 15).await, (false, false), "half an hour, and until somebody looks");
    }

    #[tokio::test(start_paused = true)]
    async fn who_never_asked_goes_after_seconds_and_who_did_after_minutes() {
        let gateway = Gateway::start(Options { config: Default::default(), local: Vec::new() });
        let sessions = Sessions::of(2);
        // Greeted before the clock counts: whoever waits moves it.
        let mut greeted = Vec::new();
        for _ in 0..6 {
            greeted.push(greet(&gateway).await);
        }
        let budget = Arc::new(Budget::of(&gateway));
        let mut begin = || {
            let conversation = greeted.pop().expect("another one");
            let id = new_id()?;
            let session = Session::new(conversation, Ipv4Addr::LOCALHOST.into(), budget.clone());
            sessions.begin(id.clone(), session).map(|_| id)
        };
        let me = Principal::local();
        let used = begin().expect("the first place");
        let unused = begin().expect("the second place");
        assert!(sessions.find(&used, &me).is_some());
        tokio::time::advance(UNUSED).await;
        assert_eq!(begin(), Err(NoSession::Full));
        tokio::time::advance(Duration::from_millis(1)).await;
        let newcomer = begin().expect("the place of the one that was never used");
        assert!(sessions.find(&unused, &me).is_none() && sessions.find(&newcomer, &me).is_some());

        tokio::time::advance(SPARE - UNUSED - Duration::from_secs(1)).await;
        assert!(sessions.find(&newcomer, &me).is_some());
        assert_eq!(begin(), Err(NoSession::Full));
        tokio::time::advance(Duration::from_secs(2)).await;
        begin().expect("the place of the one that was used first");
        assert!(sessions.find(&used, &me).is_none() && sessions.find(&newcomer, &me).is_some());
    }
}
