//! The single writer: it alone knows what the servers said last, and it alone publishes snapshots. Everything that
//! happens arrives as one [`News`]; events that queued up meanwhile are taken together, so that fifty servers that
//! come up at once cost a few snapshots, not fifty.
//!
//! What a reader would get wrong: the writer decides and does no work. Lists are read and snapshots are built on other
//! threads, and after a long build it rests as long: a server that changes without end gets half a core, and nobody waits.

mod configure;
mod decide;
mod ending;
mod followed;
mod inside;
mod judge;
mod publish;
mod records;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};
use toolfold_audit::EventKind;
use toolfold_config::{Config, Server};
use toolfold_core::{ServerName, ToolId};
use toolfold_store::Store;
use toolfold_upstream::{Arbiter, Event as Happened, House, Manifest, Report, State, Upstream};
use toolfold_wire::Memory;
use tracing::info;

use crate::change::Change;
use crate::claims::Claims;
use crate::following::{Followed, Sought};
use crate::gate::Source;
use crate::gateway::Inner;
use crate::known::{Known, Listed};
use crate::local::{LocalServer, Unregistered};
use crate::precise::Vectors;
use crate::progress::Progress;
use crate::recording::Occurrence;
use crate::remembered::{Remembered, remember, remember_failure};
use crate::snapshot::Snapshot;
use crate::status::worth_noting;
use crate::trust::{Decided, Decision, Heard, Undecided};
use crate::usage::most_used;
use crate::vault::vault;

use decide::Awaiting;
use records::Records;

pub(crate) enum News {
    Report(Report),
    Configure(Box<Config>),
    /// Another replica has heard from a server.
    Followed(Followed),
    /// Other tools are called most.
    Used(Vec<ToolId>),
    /// Files of agents, skills or scripts were added, changed or removed.
    Documents,
    /// Tools of this process, beside those it has already; told when they can be found, or why they cannot.
    Register(LocalServer, Told),
    /// A catalog has been encoded.
    Encoded(Vectors),
    /// What these servers said has been looked through aside.
    Heard(Vec<ServerName>, Vec<Heard>),
    /// Somebody has decided about what is held; told when it takes effect.
    Decide(Decision, oneshot::Sender<Result<Decided, Undecided>>),
    /// Somebody has waited so long for these, and says that they fail.
    GivenUp(BTreeSet<ServerName>, Duration),
    /// What is held is to be looked at again; told when it has been.
    Recheck(oneshot::Sender<Result<Decided, Undecided>>),
    Stop(oneshot::Sender<()>),
}

type Told = oneshot::Sender<Result<(), Unregistered>>;

/// How long a client has the machine to itself after the start.
const HEAD_START: Duration = Duration::from_millis(8);
/// A build that nobody would notice, after which the writer does not rest.
const QUICK: Duration = Duration::from_millis(50);
/// The most that the writer rests after a long build.
const LONGEST_REST: Duration = Duration::from_secs(5);
/// How long servers may take to come up at once, for the question who had an address first.
const START: Duration = Duration::from_secs(10);
/// During the start, whatever comes within this came at once.
const AT_ONCE: Duration = Duration::from_secs(1);

pub(crate) struct Writer {
    inner: Weak<Inner>,
    progress: watch::Sender<Progress>,
    reports: mpsc::UnboundedSender<Report>,
    reported: mpsc::UnboundedReceiver<Report>,
    /// The events, for those who work aside. Weak: whoever holds the gateway decides how long there is a writer.
    events: Option<mpsc::WeakUnboundedSender<News>>,
    /// What all servers share.
    house: House,
    store: Option<Arc<Store>>,
    config: Arc<Config>,
    servers: BTreeMap<ServerName, Known>,
    claims: Claims,
    /// Who came at once: the number of the first snapshot of them, and when that was.
    wave: (u64, Instant),
    number: u64,
    /// What was called most before this start.
    used: Vec<ToolId>,
    started: Instant,
    /// Servers of the first configuration are still being heard of for the first time.
    starting: bool,
    /// Something happened that the newest snapshot does not show.
    dirty: Dirty,
    rest_until: Instant,
    /// Who registered tools and is told when they can be found, or why they cannot.
    registered: Vec<(Told, Result<(), Unregistered>)>,
    /// Who decided and is told when it takes effect.
    decided: Vec<Awaiting>,
    records: Records,
    /// Who follows other replicas, and is told which servers there are.
    followed: Option<watch::Sender<Vec<Sought>>>,
}

/// What the next snapshot differs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Dirty {
    Nothing,
    /// Which servers are missing, and why. That is no work at all.
    Missing,
    Catalog,
}

impl Writer {
    pub(crate) fn new(
        inner: Weak<Inner>,
        progress: watch::Sender<Progress>,
        local: Vec<LocalServer>,
        memory: Memory,
    ) -> Self {
        let (reports, reported) = mpsc::unbounded_channel();
        let mut house = House::new(memory);
        let events = inner.upgrade().map(|inner| inner.events());
        let config = inner.upgrade().map(|inner| inner.snapshot.load().config.clone()).unwrap_or_default();
        house.secrets.extend(config.http.token.clone());
        house.secrets.extend(config.key.clone());
        house.oauth = Arc::new(config.oauth.clone());
        let tenancy = inner.upgrade().and_then(|inner| inner.tenancy.clone());
        house.arbiter = tenancy.map(|tenancy| Arc::new(tenancy) as Arc<dyn Arbiter>);
        Writer {
            inner,
            progress,
            reports,
            reported,
            events,
            house,
            store: None,
            config,
            servers: local.into_iter().map(|server| (server.name.clone(), Known::local(server))).collect(),
            claims: Claims::default(),
            wave: (0, Instant::now()),
            number: 0,
            used: Vec::new(),
            started: Instant::now(),
            starting: true,
            dirty: Dirty::Nothing,
            rest_until: Instant::now(),
            registered: Vec::new(),
            decided: Vec::new(),
            records: Records::default(),
            followed: None,
        }
    }

    pub(crate) async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<News>) {
        self.open().await;
        loop {
            let rested = sleep_until(self.rest_until);
            let first = tokio::select! {
                event = inbox.recv() => match event {
                    Some(event) => Some(event),
                    // No sender left: the gateway was dropped, and its servers with it.
                    None => return,
                },
                Some(report) = self.reported.recv() => Some(News::Report(report)),
                () = rested, if self.dirty == Dirty::Catalog => None,
            };
            let mut events: Vec<News> = first.into_iter().collect();
            while let Ok(report) = self.reported.try_recv() {
                events.push(News::Report(report));
            }
            while let Ok(event) = inbox.try_recv() {
                events.push(event);
            }
            let mut stopping = None;
            for event in events {
                let change = match event {
                    // What else has come by now is remembered first: whoever was told of a failure may stop us at once.
                    News::Stop(done) => {
                        stopping = Some(done);
                        continue;
                    }
                    event => self.take_in(event).await,
                };
                self.dirty = self.dirty.max(change);
            }
            if let Some(done) = stopping {
                self.stop().await;
                let _ = done.send(());
                return;
            }
            self.publish_what_is_due().await;
            // Whoever waits for a server waits until it can be found.
            if self.dirty == Dirty::Nothing {
                self.tell_progress();
            }
        }
    }

    async fn take_in(&mut self, event: News) -> Dirty {
        match event {
            News::Report(report) => self.report(report).await,
            News::Configure(config) => self.configure(*config).await,
            News::Followed(followed) => self.follow(followed).await,
            News::Used(used) => {
                self.used = used;
                Dirty::Catalog
            }
            News::Documents => self.read_documents().await,
            News::Register(server, done) => {
                let outcome = self.register(server);
                let change = if outcome.is_ok() { Dirty::Catalog } else { Dirty::Nothing };
                self.registered.push((done, outcome));
                change
            }
            News::Encoded(vectors) => self.attach(vectors),
            News::Heard(servers, heard) => self.heard(&servers, heard).await,
            News::Decide(decision, done) => {
                let outcome = self.decide(&decision).await;
                let nothing = outcome.as_ref().is_ok_and(|decided| decided.ids.is_empty());
                self.decided.push((done, outcome));
                if nothing { Dirty::Nothing } else { Dirty::Catalog }
            }
            News::GivenUp(servers, waited) => self.give_up(&servers, waited),
            News::Recheck(done) => {
                self.decided.push((done, Ok(Decided::default())));
                self.recheck()
            }
            // Last of all, and not here.
            News::Stop(_) => Dirty::Nothing,
        }
    }

    async fn publish_what_is_due(&mut self) {
        let rested = Instant::now() >= self.rest_until;
        match self.dirty {
            Dirty::Catalog if rested => self.publish().await,
            // Who is missing can be said while a longer build has to wait.
            Dirty::Catalog | Dirty::Missing => self.publish_missing(),
            Dirty::Nothing => {}
        }
        if self.dirty == Dirty::Catalog && !rested {
            return;
        }
        self.dirty = Dirty::Nothing;
        for (done, outcome) in self.decided.drain(..) {
            let _ = done.send(outcome);
        }
        for (done, outcome) in self.registered.drain(..) {
            // Whoever registered need not have waited.
            let _ = done.send(outcome);
        }
    }

    /// Reads what is remembered, starts what is configured, and publishes the first snapshot.
    async fn open(&mut self) {
        let config = self.config.clone();
        // A client that has just started us asks for the list of tools first, and most lists need nothing of what
        // follows: reading a few megabytes on the same cores would only be in its way.
        tokio::time::sleep(HEAD_START).await;
        let mut remembered = Remembered::open(config.store.as_ref(), config.servers.values()).await;
        self.store = remembered.store.clone();
        // Before anything of it is read: what changes meanwhile is then seen to have.
        let shared = self.store.as_ref().and_then(|store| store.cluster());
        let before = match shared {
            Some(cluster) => cluster.versions().await.ok(),
            None => None,
        };
        self.house.vault = vault(self.store.clone(), config.key.clone());
        if let (Some(store), Some(inner)) = (&self.store, self.inner.upgrade()) {
            inner.store.set(store.clone());
            inner.learning.configure(config.learn).await;
        }
        self.records = Records::beside(self.store.clone(), &config).await;
        if config.pin_used {
            self.used = most_used(self.store.clone()).await;
        }
        self.read_documents().await;
        for server in config.servers.values() {
            let (manifest, failure) = remembered.of(server);
            self.add(Arc::new(server.clone()), manifest, failure).await;
        }
        self.publish().await;
        self.tell_progress();
        self.begin_to_follow(before);
    }

    async fn add(&mut self, config: Arc<Server>, manifest: Option<Arc<Manifest>>, failure: Option<String>) {
        let upstream = Upstream::spawn(config.clone(), manifest.clone(), self.reports.clone(), &self.house);
        let name = config.name.clone();
        let mut known = Known::server(Source::server(upstream), config.clone(), failure);
        if let Some(manifest) = manifest {
            known.take_list(spawn_blocking(move || Listed::read(&config, manifest, None)).await.ok());
        }
        self.servers.insert(name, known);
    }

    /// Takes in what a server did.
    async fn report(&mut self, Report { server, instance, event }: Report) -> Dirty {
        self.count_parted(&event);
        let Some(known) = self.servers.get_mut(&server) else { return Dirty::Nothing };
        // What a server said before it was replaced is not said by its successor.
        let (true, Some(config)) = (known.source.is_instance(instance), known.config.clone()) else {
            return Dirty::Nothing;
        };
        match event {
            Happened::State(state) => {
                if let (State::Failing { why, .. }, Some(store)) = (&state, &self.store) {
                    remember_failure(store, &config, why);
                }
                if let (Some(state), Some(inner)) = (worth_noting(&state), self.inner.upgrade()) {
                    let happened = Occurrence { server: Some(&server), ..Occurrence::new(EventKind::Server, state) };
                    inner.gate.recording.happened(happened);
                }
                if known.take_state(&state) { Dirty::Missing } else { Dirty::Nothing }
            }
            Happened::Listed(manifest) => {
                info!(%server, tools = manifest.tools.len(), protocol = %manifest.version, "listed");
                let before = known.listed.clone();
                let reading = config.clone();
                let read = spawn_blocking(move || Listed::read(&reading, manifest, before.as_ref())).await;
                // A list that cannot even be read without a crash is none.
                let Ok(listed) = read else { return Dirty::Nothing };
                if let (Some(store), Some(manifest)) = (&self.store, &listed.manifest) {
                    remember(store, &config, manifest.clone());
                }
                known.take_list(Some(listed));
                (known.failing, known.tried) = (None, true);
                Dirty::Catalog
            }
            Happened::Updated { uri, whose, .. } => {
                if let Some(inner) = self.inner.upgrade() {
                    // Nobody listening is fine.
                    let _ = inner.changes.send(Change::Resource { server, whose, uri });
                }
                Dirty::Nothing
            }
            Happened::Parted(_) => Dirty::Nothing,
        }
    }

    fn tell_progress(&mut self) {
        let names = |wanted: fn(&Known) -> bool| -> BTreeSet<ServerName> {
            self.servers.iter().filter(|(_, known)| wanted(known)).map(|(name, _)| name.clone()).collect()
        };
        let (pending, untried) = (names(Known::is_pending), names(Known::is_untried));
        self.starting &= !pending.is_empty();
        self.progress.send_if_modified(|now| now.follow(pending, untried));
    }

    fn newest(&self) -> Option<Arc<Snapshot>> {
        self.inner.upgrade().map(|inner| inner.snapshot.load_full())
    }
}
