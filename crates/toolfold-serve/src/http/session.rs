//! Sessions of the old era over HTTP: whose they are, what they still have to hear, and when they are forgotten.
//!
//! What a reader would get wrong: a session that is in use is never given up for another one. Where all places are
//! taken it is the newcomer who has to wait.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;
use toolfold_wire::{Memory, Message, RpcError};

use super::event_log::{EventLog, LARGE};
use crate::asks::Outlet;
use crate::budget::{Budget, LITTLE, SMALL, counted};
use crate::conversation::Conversation;

/// What a session keeps of its streams for a client that may come back, and what it keeps while nobody listens.
const KEPT: usize = 8 * 1024 * 1024;
const UNHEARD: usize = 1024 * 1024;
/// How long an ended stream is kept.
const KEPT_FOR: Duration = Duration::from_secs(60);
/// Streams kept for clients that may come back.
const STREAMS: usize = 64;

pub(crate) struct Session {
    pub(crate) conversation: Conversation,
    /// Where it was begun from.
    pub(crate) peer: IpAddr,
    /// What belongs to no request; number 0. Whoever reads it holds a second reference.
    pub(crate) common: Arc<EventLog>,
    budget: Arc<Budget>,
    memory: Memory,
    streams: Mutex<BTreeMap<u64, Arc<EventLog>>>,
    next_stream: AtomicU64,
    seen: Mutex<Instant>,
    /// Whether anything was asked in it.
    used: AtomicBool,
    /// Where replicas stand in for each other: how it is written down, and how many requests have come for it that are not begun.
    row: Mutex<Row>,
    held: AtomicUsize,
}

/// A session that a request has come for: it is not handed over before that is begun.
pub(crate) struct Held(Arc<Session>);

impl Held {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        session.held.fetch_add(1, Ordering::Relaxed);
        Held(session)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.held.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How a session is written down for the other replicas.
#[derive(Default)]
enum Row {
    /// It is not: there are none.
    #[default]
    None,
    /// Not yet. What it began with.
    Unsaved(String),
    Saved(Saved),
}

/// A row that is ours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Saved {
    /// What it may be changed under.
    pub(crate) fence: i64,
    /// How many loaded tools it has.
    pub(crate) loaded: usize,
}

impl Session {
    pub(crate) fn new(conversation: Conversation, peer: IpAddr, budget: Arc<Budget>) -> Self {
        Session {
            conversation,
            peer,
            common: Arc::new(EventLog::new(0, UNHEARD)),
            memory: budget.kept.part(KEPT),
            budget,
            streams: Mutex::default(),
            next_stream: AtomicU64::new(1),
            seen: Mutex::new(Instant::now()),
            used: AtomicBool::new(false),
            row: Mutex::default(),
            held: AtomicUsize::new(0),
        }
    }

    /// A stream for one request. It cannot be asked for again until it is kept.
    pub(crate) fn stream(&self) -> Arc<EventLog> {
        Arc::new(EventLog::new(self.next_stream.fetch_add(1, Ordering::Relaxed), KEPT))
    }

    /// Keeps a stream for a client that may come back.
    pub(crate) fn keep(&self, log: &Arc<EventLog>) {
        let mut streams = self.streams();
        streams.insert(log.number(), log.clone());
        if streams.len() > STREAMS {
            forget_one(&mut streams);
        }
    }

    pub(crate) fn find_stream(&self, number: u64) -> Option<Arc<EventLog>> {
        if number == 0 {
            return Some(self.common.clone());
        }
        self.streams().get(&number).cloned()
    }

    /// Says something on a stream of this session. What it has no memory for is lost.
    pub(crate) fn say(&self, log: &EventLog, line: Bytes) {
        self.remember(log, line);
    }

    /// Whether there was memory for it.
    fn remember(&self, log: &EventLog, line: Bytes) -> bool {
        while !log.push(line.clone(), &self.memory) {
            // Those that have ended are only kept in case their reader comes back.
            if !forget_one(&mut self.streams()) {
                return false;
            }
        }
        true
    }

    /// Says an answer, which is never lost: where there is no memory for it, its client is told that.
    pub(crate) fn answer(&self, log: &EventLog, answer: &Message) {
        let line = Bytes::from(answer.to_line());
        let size = line.len();
        // Most likely all there will be: it goes out as it is, as in the other era.
        let goes_out = size <= SMALL && log.is_silent();
        if !goes_out && size <= LARGE && self.remember(log, line.clone()) {
            return;
        }
        // Beside a stream that lies here already, what is little is nothing.
        let share = if goes_out || size <= LITTLE { Some(None) } else { self.budget.answers.take(size).map(Some) };
        log.push_always(match share {
            Some(Some(share)) => counted(line, share),
            Some(None) => line,
            None => no_memory(answer),
        });
    }

    /// Whether nothing is asked in it that is not answered.
    pub(crate) fn is_idle(&self) -> bool {
        self.conversation.running.is_empty() && self.held.load(Ordering::Relaxed) == 0
    }

    /// Whether somebody waits for an answer or listens.
    pub(crate) fn is_in_use(&self) -> bool {
        !self.conversation.running.is_empty() || Arc::strong_count(&self.common) > 1
    }

    pub(crate) fn was_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    pub(crate) fn idle(&self) -> Duration {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    pub(crate) fn touch(&self) {
        self.used.store(true, Ordering::Relaxed);
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Lets go of streams that ended some time ago.
    pub(crate) fn forget_ended(&self) {
        self.streams().retain(|_, log| log.closed().is_none_or(|closed| closed.elapsed() < KEPT_FOR));
    }

    /// What it began with, until that is written down.
    pub(crate) fn unsaved(&self, initialize: String) {
        *self.row.lock().unwrap_or_else(PoisonError::into_inner) = Row::Unsaved(initialize);
    }

    pub(crate) fn saved(&self, saved: Saved) {
        *self.row.lock().unwrap_or_else(PoisonError::into_inner) = Row::Saved(saved);
    }

    /// What is still to be written down.
    pub(crate) fn initialize(&self) -> Option<String> {
        match &*self.row.lock().unwrap_or_else(PoisonError::into_inner) {
            Row::Unsaved(initialize) => Some(initialize.clone()),
            Row::None | Row::Saved(_) => None,
        }
    }

    pub(crate) fn row(&self) -> Option<Saved> {
        match &*self.row.lock().unwrap_or_else(PoisonError::into_inner) {
            Row::Saved(saved) => Some(*saved),
            Row::None | Row::Unsaved(_) => None,
        }
    }

    pub(crate) fn close(&self) {
        self.conversation.running.cancel_all();
        self.conversation.leave();
        self.common.close();
    }

    fn streams(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<EventLog>>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets the oldest stream that has ended; whether there was one.
fn forget_one(streams: &mut BTreeMap<u64, Arc<EventLog>>) -> bool {
    let ended = streams.iter().find(|(_, log)| log.closed().is_some()).map(|(number, _)| *number);
    ended.and_then(|number| streams.remove(&number)).is_some()
}

fn no_memory(answer: &Message) -> Bytes {
    let error = RpcError::internal("Too many answers are waiting to be read. Ask again later.");
    match answer {
        Message::Response { id, .. } => Message::response(id.clone(), Err(error)).to_line().into(),
        other => other.to_line().into(),
    }
}

/// What is said during one request of a session.
pub(crate) struct Said {
    pub(crate) session: Arc<Session>,
    pub(crate) log: Arc<EventLog>,
}

impl Outlet for Said {
    fn put(&self, message: Message) {
        self.session.say(&self.log, message.to_line().into());
    }

    fn is_heard(&self) -> bool {
        !self.log.is_abandoned()
    }
}
