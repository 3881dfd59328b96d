//! Sessions of the old era over HTTP: who they are, what they still have to hear, and when they are forgotten.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolfold_wire::Message;

use super::event_log::EventLog;
use crate::legacy::Legacy;

/// A session nobody used for this long is forgotten.
const IDLE: Duration = Duration::from_secs(30 * 60);
const SWEEP: Duration = Duration::from_secs(30);
/// Sessions at once; for a new one beyond that the longest idle is given up.
const SESSIONS: usize = 4096;
/// Streams kept for clients that may come back, per session.
const STREAMS: usize = 64;

pub(crate) struct Session {
    pub(crate) legacy: Legacy,
    /// What belongs to no request; number 0.
    pub(crate) common: Arc<EventLog>,
    streams: Mutex<BTreeMap<u64, Arc<EventLog>>>,
    next_stream: AtomicU64,
    used: Mutex<Instant>,
    closed: CancellationToken,
}

impl Session {
    fn new(legacy: Legacy) -> Arc<Self> {
        let session = Arc::new(Session {
            legacy,
            common: Arc::new(EventLog::new(0)),
            streams: Mutex::default(),
            next_stream: AtomicU64::new(1),
            used: Mutex::new(Instant::now()),
            closed: CancellationToken::new(),
        });
        // Weak, because whoever reads the stream is known by the reference to it that it holds.
        let common = Arc::downgrade(&session.common);
        let outlet = move |message: Message| {
            if let Some(common) = common.upgrade() {
                common.push(message.to_line());
            }
        };
        session.legacy.tell_changes(Arc::new(outlet), session.closed.clone());
        session
    }

    /// A stream for one request.
    pub(crate) fn stream(&self) -> Arc<EventLog> {
        let log = Arc::new(EventLog::new(self.next_stream.fetch_add(1, Ordering::Relaxed)));
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.insert(log.number(), log.clone());
        if streams.len() > STREAMS {
            // Those that have ended are only kept in case their reader comes back: the oldest goes first.
            let ended = streams.iter().find(|(_, log)| log.is_closed()).map(|(number, _)| *number);
            ended.and_then(|number| streams.remove(&number));
        }
        log
    }

    pub(crate) fn find_stream(&self, number: u64) -> Option<Arc<EventLog>> {
        if number == 0 {
            return Some(self.common.clone());
        }
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).get(&number).cloned()
    }

    pub(crate) fn forget_stream(&self, number: u64) {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
    }

    fn close(&self) {
        self.closed.cancel();
        self.legacy.running.cancel_all();
        self.common.close();
    }

    fn idle_since(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Arc<Session>>>);

impl Sessions {
    /// Begins a session under an id that nobody can guess; `None` without randomness.
    pub(crate) fn begin(&self, legacy: Legacy) -> Option<String> {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes).ok()?;
        let id = format!("{:032x}", u128::from_be_bytes(bytes));
        let mut sessions = self.lock();
        if sessions.len() >= SESSIONS {
            let idlest = sessions.iter().min_by_key(|(_, session)| session.idle_since()).map(|(id, _)| id.clone());
            if let Some(session) = idlest.and_then(|id| sessions.remove(&id)) {
                session.close();
            }
        }
        sessions.insert(id.clone(), Session::new(legacy));
        Some(id)
    }

    pub(crate) fn find(&self, id: &str) -> Option<Arc<Session>> {
        let session = self.lock().get(id).cloned()?;
        *session.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        Some(session)
    }

    pub(crate) fn end(&self, id: &str) -> bool {
        let session = self.lock().remove(id);
        if let Some(session) = &session {
            session.close();
        }
        session.is_some()
    }

    /// Forgets idle sessions for as long as there is a table of them.
    pub(crate) async fn sweep(sessions: Weak<Sessions>, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => {
                    // Open streams would keep the server from ending.
                    if let Some(sessions) = sessions.upgrade() {
                        sessions.lock().drain().for_each(|(_, session)| session.close());
                    }
                    return;
                }
                () = tokio::time::sleep(SWEEP) => {}
            }
            let Some(sessions) = sessions.upgrade() else { return };
            sessions.lock().retain(|_, session| {
                // A stream that is being read holds a second reference to its log.
                let kept = session.idle_since().elapsed() < IDLE || Arc::strong_count(&session.common) > 1;
                if !kept {
                    session.close();
                }
                kept
            });
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
