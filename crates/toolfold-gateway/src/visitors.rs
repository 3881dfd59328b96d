//! Who is connected: clients with a session for as long as that lasts, and clients of the stateless era, which only ever ask,
//! for a while after they last did.
//!
//! What a reader would get wrong: a name is what a program says of itself. Two that say the same and come the same way are one
//! line here, unless each has a session.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;
use toolfold_core::{Principal, Surface, beginning};
use toolfold_telemetry::Carriage;

use crate::gateway::Inner;
use crate::request::{Client, ClientKind, LogLevel};

/// Clients of the stateless era that are remembered at once; the one that was silent for longest makes room.
const MOST_PASSING: usize = 256;
/// How long one is remembered that asks nothing.
const REMEMBERED: Duration = Duration::from_secs(10 * 60);
/// Characters of what a program calls itself.
const LONGEST_NAME: usize = 200;

/// What a client has done here.
#[derive(Debug)]
pub(crate) struct Presence {
    begun: Instant,
    since: SystemTime,
    /// Milliseconds after `begun`.
    seen: AtomicU64,
    calls: AtomicU64,
}

impl Default for Presence {
    fn default() -> Self {
        Presence { begun: Instant::now(), since: SystemTime::now(), seen: AtomicU64::new(0), calls: AtomicU64::new(0) }
    }
}

impl Presence {
    fn asks(&self, method: &str) {
        self.seen.store(self.begun.elapsed().as_millis() as u64, Ordering::Relaxed);
        if method == "tools/call" {
            self.calls.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn silent_for(&self) -> Duration {
        self.begun.elapsed().saturating_sub(Duration::from_millis(self.seen.load(Ordering::Relaxed)))
    }
}

/// A client as somebody sees it who looks.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// What it calls itself; empty where it does not.
    pub name: String,
    pub principal: Principal,
    pub by: Carriage,
    pub surface: Surface,
    pub has_session: bool,
    /// In milliseconds since 1970.
    pub since: u64,
    pub seen: u64,
    pub calls: u64,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Likeness {
    name: Option<Arc<str>>,
    principal: Principal,
    by: Carriage,
    surface: Surface,
}

impl Likeness {
    fn of(client: &Client) -> Self {
        let name = client.about.as_ref().map(short);
        Likeness { name, principal: client.principal(), by: client.by, surface: client.surface }
    }
}

#[derive(Default)]
pub(crate) struct Visitors {
    sessions: Mutex<HashMap<u64, Arc<Client>>>,
    passing: Mutex<HashMap<Likeness, Presence>>,
}

/// A session, for as long as somebody holds it.
pub struct Stay {
    inner: Arc<Inner>,
    client: Arc<Client>,
    over: AtomicBool,
}

impl Stay {
    /// The session is over, which is counted once.
    pub fn end(&self) {
        if !self.over.swap(true, Ordering::Relaxed) {
            lock(&self.inner.visitors.sessions).remove(&self.client.id);
            self.inner.gate.instruments.meter.left(self.client.by, self.client.presence.begun.elapsed());
        }
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        self.end();
    }
}

/// Who comes and goes.
pub struct ConnectedClients<'a> {
    pub(crate) inner: &'a Arc<Inner>,
}

impl ConnectedClients<'_> {
    /// A client with a session has come, and is there until what is returned is dropped.
    pub fn welcome(&self, client: &Arc<Client>) -> Stay {
        lock(&self.inner.visitors.sessions).insert(client.id, client.clone());
        Stay { inner: self.inner.clone(), client: client.clone(), over: AtomicBool::new(false) }
    }

    /// Who is connected, whoever asked last first. Somebody whose rights end somewhere sees their own programs alone.
    pub fn seen_by(&self, looking: &Principal) -> Vec<Visitor> {
        let everybody = self.inner.snapshot.limited(looking).is_none();
        let mut all = self.inner.visitors.all();
        all.retain(|visitor| everybody || visitor.principal == *looking);
        all.sort_by(|one, other| (other.seen, &one.name).cmp(&(one.seen, &other.name)));
        all
    }
}

impl Visitors {
    /// A request has come.
    pub(crate) fn asks(&self, client: &Client, method: &str) {
        match client.kind {
            ClientKind::Session => client.presence.asks(method),
            ClientKind::Request if !client.by.transport.is_empty() => self.passes(client, method),
            // Ourselves: the page, the command line, a script.
            ClientKind::Request | ClientKind::Inside => {}
        }
    }

    /// Of all sessions, what the one wants to hear that wants to hear most.
    pub(crate) fn most_curious(&self) -> Option<LogLevel> {
        lock(&self.sessions).values().map(|client| client.log_level()).min()
    }

    fn passes(&self, client: &Client, method: &str) {
        let likeness = Likeness::of(client);
        let mut passing = lock(&self.passing);
        if !passing.contains_key(&likeness) && passing.len() >= MOST_PASSING {
            let silent = passing.iter().max_by_key(|(_, visit)| visit.silent_for());
            let goes = silent.map(|(likeness, _)| likeness.clone());
            goes.and_then(|likeness| passing.remove(&likeness));
        }
        passing.entry(likeness).or_default().asks(method);
    }

    fn all(&self) -> Vec<Visitor> {
        let sessions: Vec<Arc<Client>> = lock(&self.sessions).values().cloned().collect();
        let of_session = |client: &Arc<Client>| visitor(&Likeness::of(client), &client.presence, true);
        let mut all: Vec<Visitor> = sessions.iter().map(of_session).collect();
        let mut passing = lock(&self.passing);
        passing.retain(|_, visit| visit.silent_for() < REMEMBERED);
        all.extend(passing.iter().map(|(likeness, visit)| visitor(likeness, visit, false)));
        all
    }
}

fn visitor(likeness: &Likeness, visit: &Presence, has_session: bool) -> Visitor {
    let since = visit.since.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
    Visitor {
        name: likeness.name.as_deref().unwrap_or_default().to_owned(),
        principal: likeness.principal.clone(),
        by: likeness.by,
        surface: likeness.surface,
        has_session,
        since,
        seen: since + visit.seen.load(Ordering::Relaxed),
        calls: visit.calls.load(Ordering::Relaxed),
    }
}

/// As much of a name as is kept: a program may say what it likes.
fn short(name: &Arc<str>) -> Arc<str> {
    match beginning(name, LONGEST_NAME) {
        Cow::Borrowed(_) => name.clone(),
        Cow::Owned(cut) => Arc::from(cut),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use toolfold_wire::raw;

    use super::*;

    fn passing(name: &str) -> Client {
        let info = raw(&serde_json::json!({"name": name, "version": "1"}));
        let by = Carriage::new(Carriage::TCP, "2026-07-28");
        Client::request(Principal::local(), Surface::Compact, None).called(Some(&info)).over(by, None)
    }

    #[tokio::test(start_paused = true)]
    async fn who_passes_is_one_line_and_is_forgotten() {
        let visitors = Visitors::default();
        for method in ["tools/list", "tools/call", "tools/call"] {
            visitors.asks(&passing("agent"), method);
        }
        // What names nobody, or comes from inside, is not a visitor of another kind.
        visitors.asks(&Client::inside(Principal::local(), Surface::Compact), "tools/call");
        let all = visitors.all();
        let seen: Vec<_> = all.iter().map(|v| (v.name.as_str(), v.calls, v.has_session, v.by.transport)).collect();
        assert_eq!(seen, [("agent 1", 2, false, "tcp")]);
        tokio::time::advance(REMEMBERED + Duration::from_secs(1)).await;
        assert!(visitors.all().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_of_names_has_a_bound_and_the_silent_go_first() {
        let visitors = Visitors::default();
        for number in 0..1000 {
            tokio::time::advance(Duration::from_millis(1)).await;
            visitors.asks(&passing(&format!("{number} {}", "x".repeat(10_000))), "tools/list");
            visitors.asks(&passing("faithful"), "tools/list");
        }
        let all = visitors.all();
        assert_eq!(all.len(), MOST_PASSING);
        assert!(all.iter().all(|visitor| visitor.name.chars().count() <= LONGEST_NAME + 1));
        assert!(all.iter().any(|visitor| visitor.name == "faithful 1"));
        assert!(all.iter().any(|visitor| visitor.name.starts_with("999 ")));
    }
}
