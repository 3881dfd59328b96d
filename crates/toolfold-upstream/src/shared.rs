//! What the handle, the supervisor and the connection of one server have in common. Every lock in here is held for a
//! few instructions and never across an await; the supervisor alone decides, the others read and leave wishes.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, Semaphore, mpsc, watch};
use toolfold_config::{Server, Transport};
use toolfold_core::Principal;
use toolfold_wire::{Memory, Object, ParameterHeader, Raw, RpcError, parameter_headers};

use crate::allowance::Allowance;
use crate::blank::Blanks;
use crate::call::CallError;
use crate::connection::Connection;
use crate::house::House;
use crate::manifest::Manifest;
use crate::oauth::Account;
use crate::only::Tenure;
use crate::said::LastLines;
use crate::upstream::{Event, Report, State};

/// Notifications of a server that are passed on.
const NOTIFICATIONS_A_SECOND: u32 = 1_000;
/// Changes of resources that wait until they are told: whoever is behind by so many has to look again anyway.
const UPDATES_WAITING: usize = 1_000;
/// What a server says in a second that answers nothing; then it is not listened to until the second is over. Read as fast as
/// it comes, a few servers that say nothing of use would take all the time there is.
pub(crate) const HEARD_A_SECOND: u32 = 10_000;

static INSTANCES: AtomicU64 = AtomicU64::new(1);

pub(crate) struct Shared {
    pub(crate) config: Arc<Server>,
    /// Tells this server apart from one of the same name that it replaced.
    pub(crate) instance: u64,
    /// This server's part of the memory: what is on its way from and to it.
    pub(crate) memory: Memory,
    pub(crate) house: House,
    /// What must not be read in anything the server says in prose.
    pub(crate) blanks: Blanks,
    /// What its processes said last on stderr, for people.
    pub(crate) said: LastLines,
    /// Whose login is used, where there can be one.
    pub(crate) account: Option<Arc<Account>>,
    /// Whose way to the server this is. One of somebody else than the owner says nothing of its state and its lists: the
    /// owner's does.
    pub(crate) whose: Principal,
    reports: mpsc::UnboundedSender<Report>,
    now: Mutex<Now>,
    told: Mutex<Allowance>,
    /// Places for changes of resources that wait until they are told.
    updates: Arc<Semaphore>,
    heard: Mutex<Allowance>,
    pub(crate) stale: Stale,
    pub(crate) subscriptions: watch::Sender<BTreeSet<String>>,
    /// How many requests wait for the server to start.
    pub(crate) waiting: AtomicUsize,
}

struct Now {
    state: State,
    manifest: Option<Arc<Manifest>>,
    headers: Arc<HashMap<String, Vec<ParameterHeader>>>,
    connection: Option<Arc<Connection>>,
    /// A connection whose server is being greeted.
    attempt: Option<Arc<Connection>>,
    log_level: Option<String>,
    /// While a server is started that one replica runs: the right to.
    tenure: Option<Arc<Tenure>>,
}

impl Shared {
    pub(crate) fn new(
        config: Arc<Server>,
        manifest: Option<Arc<Manifest>>,
        reports: mpsc::UnboundedSender<Report>,
        house: &House,
        (whose, instance): (&Principal, Option<u64>),
    ) -> Arc<Self> {
        let account = Account::of(&config, &login_of(whose), &house.vault, &house.oauth);
        let state = if manifest.is_some() { State::Known } else { State::Configured };
        let headers = Arc::new(headers_of(&config, manifest.as_deref()));
        let now = Now { state, manifest, headers, connection: None, attempt: None, log_level: None, tenure: None };
        Arc::new(Shared {
            memory: house.part(config.max_message),
            blanks: Blanks::of(&config, &house.secrets),
            said: LastLines::default(),
            account,
            whose: whose.clone(),
            house: house.clone(),
            config,
            instance: instance.unwrap_or_else(|| INSTANCES.fetch_add(1, Ordering::Relaxed)),
            reports,
            now: Mutex::new(now),
            told: Mutex::new(Allowance::new(NOTIFICATIONS_A_SECOND)),
            updates: Arc::new(Semaphore::new(UPDATES_WAITING)),
            heard: Mutex::new(Allowance::new(HEARD_A_SECOND)),
            stale: Stale::default(),
            subscriptions: watch::Sender::new(BTreeSet::new()),
            waiting: AtomicUsize::new(0),
        })
    }

    /// Whether one more notification is passed on. A flood is cut: nobody reads a thousand a second.
    pub(crate) fn admits_notification(&self) -> bool {
        lock(&self.told).admits()
    }

    /// Counts something that the server said and nobody asked for.
    pub(crate) fn heard_unasked(&self) {
        let _ = lock(&self.heard).admits();
    }

    /// For whoever reads what a server says, after each piece: lets others have their turn, and rests where that was too much.
    pub(crate) async fn breathe(&self) {
        tokio::task::coop::consume_budget().await;
        let rest = lock(&self.heard).rest();
        if let Some(rest) = rest {
            tokio::time::sleep(rest).await;
        }
    }

    /// Whether somebody watches this resource, or one that it is a part of: a server may name the part.
    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        let part_of = |whole: &String| {
            let rest = uri.strip_prefix(whole.as_str());
            rest.is_some_and(|rest| rest.is_empty() || whole.ends_with('/') || rest.starts_with(['/', '#', '?']))
        };
        self.subscriptions.borrow().iter().any(part_of)
    }

    /// A resource has changed. Nobody waits for who has to tell it: past the bound it is lost.
    pub(crate) fn report_update(&self, uri: String) {
        if let Ok(place) = self.updates.clone().try_acquire_owned() {
            self.report(Event::Updated { uri, whose: self.whose.clone(), place: Arc::new(place) });
        }
    }

    pub(crate) fn report(&self, event: Event) {
        if !self.whose.is_owner() && !matches!(event, Event::Updated { .. } | Event::Parted(_)) {
            return;
        }
        let _ = self.reports.send(Report { server: self.config.name.clone(), instance: self.instance, event });
    }

    /// An error that the server answered with, without secrets: it goes to logs and to whoever asks for the status.
    pub(crate) fn answered(&self, mut error: RpcError) -> CallError {
        error.message = self.blank(&error.message);
        CallError::Answered(error)
    }

    /// A text for logs and people, without secrets, the token of the login included.
    pub(crate) fn blank(&self, text: &str) -> String {
        let text = self.blanks.blank(text);
        match &self.account {
            Some(account) => account.blank(text),
            None => text,
        }
    }

    pub(crate) fn is_logged_in(&self) -> bool {
        self.account.as_ref().is_some_and(|account| account.is_logged_in())
    }

    pub(crate) fn state(&self) -> State {
        self.now().state.clone()
    }

    pub(crate) fn set_state(&self, state: State) {
        let mut now = self.now();
        if now.state != state {
            now.state = state.clone();
            drop(now);
            self.report(Event::State(state));
        }
    }

    pub(crate) fn manifest(&self) -> Option<Arc<Manifest>> {
        self.now().manifest.clone()
    }

    pub(crate) fn set_manifest(&self, manifest: Arc<Manifest>) {
        let headers = Arc::new(headers_of(&self.config, Some(&manifest)));
        let mut now = self.now();
        now.manifest = Some(manifest.clone());
        now.headers = headers;
        drop(now);
        self.report(Event::Listed(manifest));
    }

    /// The parameters each tool wants repeated in headers; tools that want none are not in it.
    pub(crate) fn headers(&self) -> Arc<HashMap<String, Vec<ParameterHeader>>> {
        self.now().headers.clone()
    }

    pub(crate) fn connection(&self) -> Option<Arc<Connection>> {
        self.now().connection.clone()
    }

    pub(crate) fn set_connection(&self, connection: Option<Arc<Connection>>) {
        let old = std::mem::replace(&mut self.now().connection, connection);
        drop(old);
    }

    /// Exchanges the connection that is being made for another, and returns it.
    pub(crate) fn swap_attempt(&self, attempt: Option<Arc<Connection>>) -> Option<Arc<Connection>> {
        std::mem::replace(&mut self.now().attempt, attempt)
    }

    pub(crate) fn log_level(&self) -> Option<String> {
        self.now().log_level.clone()
    }

    pub(crate) fn set_log_level(&self, level: &str) {
        self.now().log_level = Some(level.to_owned());
    }

    /// For every process that is started.
    pub(crate) fn tenure(&self) -> Option<Arc<Tenure>> {
        self.now().tenure.clone()
    }

    pub(crate) fn set_tenure(&self, tenure: Option<Arc<Tenure>>) {
        let old = std::mem::replace(&mut self.now().tenure, tenure);
        drop(old);
    }

    /// One more request that waits for the server; `false` where there are too many already.
    pub(crate) fn enter(&self, most: usize) -> bool {
        self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| (n < most).then_some(n + 1)).is_ok()
    }

    pub(crate) fn leave(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        lock(&self.now)
    }
}

/// Whoever runs the program has one login, however they come.
pub(crate) fn login_of(principal: &Principal) -> String {
    if principal.is_owner() { Principal::local().key() } else { principal.key() }
}

/// A poisoned lock means that a thread panicked between two assignments of plain values: they are still plain values.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The parts of the manifest that must be listed again. A server that announces a change a thousand times leaves one bit.
#[derive(Default)]
pub(crate) struct Stale {
    parts: AtomicU8,
    changed: Notify,
}

impl Stale {
    pub(crate) const TOOLS: u8 = 1;
    pub(crate) const PROMPTS: u8 = 2;
    pub(crate) const RESOURCES: u8 = 4;
    pub(crate) const ALL: u8 = 7;

    pub(crate) fn mark(&self, parts: u8) {
        self.parts.fetch_or(parts, Ordering::AcqRel);
        self.changed.notify_one();
    }

    pub(crate) fn take(&self) -> u8 {
        self.parts.swap(0, Ordering::AcqRel)
    }

    pub(crate) fn is_any(&self) -> bool {
        self.parts.load(Ordering::Acquire) != 0
    }

    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}

fn headers_of(config: &Server, manifest: Option<&Manifest>) -> HashMap<String, Vec<ParameterHeader>> {
    let (Transport::Http { .. }, Some(manifest)) = (&config.transport, manifest) else { return HashMap::new() };
    manifest.tools.iter().filter_map(wanted_headers).filter(|(_, wanted)| !wanted.is_empty()).collect()
}

fn wanted_headers(tool: &Raw) -> Option<(String, Vec<ParameterHeader>)> {
    // Most tools ask for none, and their schemas need not be parsed to know it.
    if !tool.get().contains("x-mcp-header") {
        return None;
    }
    let tool = Object::parse(tool)?;
    Some((tool.string("name")?, parameter_headers(&tool.read("inputSchema")?).ok()?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use toolfold_core::ServerName;

    use super::*;

    #[tokio::test]
    async fn who_is_behind_with_changes_of_resources_loses_some() {
        let transport = Transport::Http { url: "http://127.0.0.1:9".to_owned(), headers: BTreeMap::new() };
        let config = Arc::new(Server::new(ServerName::new("a").unwrap(), transport));
        let (reports, mut told) = mpsc::unbounded_channel();
        let house = House::new(Memory::new(1 << 20));
        let shared = Shared::new(config, None, reports, &house, (&Principal::local(), None));
        for number in 0..UPDATES_WAITING + 5 {
            shared.report_update(format!("x://{number}"));
        }
        assert_eq!(told.len(), UPDATES_WAITING);
        drop(told.recv().await);
        shared.report_update("x://last".to_owned());
        assert_eq!(told.len(), UPDATES_WAITING, "one was told, and there is room for one");
    }
}
