//! The handle everybody holds. Starting it returns at once: servers are contacted, and the store is read, while the
//! first clients are already being answered.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{broadcast, mpsc, oneshot, watch};
use toolfold_access::{ReplicaId, Standing};
use toolfold_audit::{Audit, EventKind};
use toolfold_config::Config;
use toolfold_core::{Code, Principal, ServerName, Surface};
use toolfold_disclosure::{Checker, instructions};
use toolfold_script::Program;
use toolfold_store::StoreError;
use toolfold_wire::{Memory, Raw};

use crate::access::{AccessRights, counters_seen};
use crate::advertised::Advertised;
use crate::change::Change;
use crate::current::Current;
use crate::gate::{CallRecord, Gate, Source};
use crate::kept::Kept;
use crate::learning::{Learning, UsedRequest};
use crate::local::{LocalServer, Unregistered};
use crate::logins::Logins;
use crate::precise::Tier;
use crate::progress::{Progress, Waiting};
use crate::recording::{Occurrence, Recording};
use crate::relay::Relay;
use crate::replica;
use crate::request::Client;
use crate::results::Results;
use crate::scope::Scope;
use crate::scripts::Runner;
use crate::servers::Servers;
use crate::snapshot::Snapshot;
use crate::status::{ServerStatus, status_of};
use crate::tenancy::Tenancy;
use crate::tokens::GivenTokens;
use crate::toolsets::Toolsets;
use crate::trust::Approvals;
use crate::usage::Usage;
use crate::visitors::{ConnectedClients, Visitors};
use crate::writer::{News, Writer};

/// Changes a client may lag behind before it misses some: lists are asked for again anyway.
const CHANGES: usize = 256;

pub struct Options {
    pub config: Config,
    /// Tools of this process, beside the configured servers.
    pub local: Vec<LocalServer>,
}

#[derive(Clone)]
pub struct Gateway(pub(crate) Arc<Inner>);

/// The parts. Each has what it needs; what answers on somebody's behalf (scripts, replicas, who is connected) has the whole.
pub(crate) struct Inner {
    pub(crate) snapshot: Current,
    pub(crate) waiting: Waiting,
    pub(crate) gate: Gate,
    pub(crate) checker: Arc<Checker>,
    pub(crate) toolsets: Toolsets,
    pub(crate) results: Results,
    pub(crate) visitors: Visitors,
    pub(crate) learning: Arc<Learning>,
    pub(crate) precise: Tier,
    pub(crate) scripts: Arc<Runner>,
    pub(crate) store: Kept,
    /// Which of several replicas this is.
    pub(crate) standing: Option<Arc<Standing>>,
    /// What one of them runs.
    pub(crate) tenancy: Option<Tenancy>,
    pub(crate) changes: broadcast::Sender<Change>,
    /// What may be held for clients and servers, all together.
    memory: Memory,
    pub(crate) events: mpsc::UnboundedSender<News>,
}

impl Gateway {
    /// Starts the gateway on the current runtime.
    pub fn start(options: Options) -> Gateway {
        let Options { config, local } = options;
        let (events, inbox) = mpsc::unbounded_channel();
        let (progress_sender, progress) = watch::channel(Progress::starting());
        let (changes, _) = broadcast::channel(CHANGES);
        let store = Kept::default();
        let memory = Memory::new(config.limits.memory);
        let usage = Usage::new(store.clone(), config.pin_used);
        let recording = Recording::new(&config);
        let standing = replica::standing(&config);
        let learning = Arc::new(Learning::new(store.clone(), &config));
        let sources = local.iter().map(|server| (server.name.clone(), Source::Local(Arc::new(server.clone()))));
        let inner = Arc::new_cyclic(|weak| Inner {
            scripts: Arc::new(Runner::new(weak.clone())),
            snapshot: Current::new(Snapshot::empty(config, sources.collect())),
            waiting: Waiting::new(progress),
            gate: Gate::new(usage, recording, standing.clone()),
            checker: Arc::default(),
            toolsets: Toolsets::new(store.clone()),
            results: Results::of(standing.as_ref().map(|standing| standing.id.to_string()).unwrap_or_default()),
            visitors: Visitors::default(),
            learning,
            precise: Tier::default(),
            tenancy: standing.clone().map(|standing| Tenancy::new(store.clone(), standing)),
            store,
            standing,
            changes,
            memory: memory.clone(),
            events,
        });
        inner.gate.instruments.start(&inner);
        tokio::spawn(Writer::new(Arc::downgrade(&inner), progress_sender, local, memory).run(inbox));
        Gateway(inner)
    }

    /// Says what scripts run in, once. As long as nobody does, none run.
    pub fn run_scripts_in(&self, program: Program) {
        self.0.scripts.run_in(program);
    }

    /// What exists for this client, once there is a first snapshot.
    pub async fn view(&self, client: &Client) -> Scope {
        self.0.waiting.published().await;
        self.latest(client)
    }

    /// Returns once there is a first snapshot.
    pub async fn published(&self) {
        self.0.waiting.published().await;
    }

    /// What exists for this client, now: nothing before the first snapshot is published.
    pub fn latest(&self, client: &Client) -> Scope {
        self.0.scope(client)
    }

    /// Everything there is, whoever asks. For whoever runs the program, and reads its configuration anyway.
    pub fn whole(&self) -> Scope {
        let client = Client::inside(Principal::local(), Surface::Direct);
        Scope::seen_by(self.0.snapshot.load_full(), &self.0.learning, &client)
    }

    /// As [`Gateway::view`], once every server that may soon say what it offers has done so, or had its time.
    pub async fn settled(&self, client: &Client) -> Scope {
        self.0.settled(&client.principal()).await;
        self.latest(client)
    }

    /// As [`Gateway::settled`], without a limit: for a person who waits and sees what for.
    pub async fn settled_completely(&self, client: &Client) -> Scope {
        self.0.waiting.complete().await;
        self.latest(client)
    }

    /// Servers that nothing is known of yet, for who waits for them and says so; with `all` those too that failed the last
    /// time and were not heard of since.
    pub async fn awaited(&self, all: bool) -> Vec<ServerName> {
        self.0.waiting.published().await;
        self.0.waiting.open(all)
    }

    /// Whoever waited so long for these servers, and heard nothing of them, says that they fail; returns when that is told to everybody.
    pub async fn give_up(&self, servers: BTreeSet<ServerName>, waited: Duration) {
        if self.0.events.send(News::GivenUp(servers.clone(), waited)).is_ok() {
            self.0.waiting.heard_of(&servers).await;
        }
    }

    /// The result of `tools/list`. A surface that shows the same to everybody does not wait for anything.
    pub async fn tool_list(&self, client: &Client) -> Raw {
        let (surface, session, loaded) = (client.surface, client.has_session(), client.loaded());
        let now = self.0.seen(&client.principal());
        if loaded.is_empty() && now.has_fixed_list(surface) {
            return now.tool_list(surface, session, &[]);
        }
        self.0.waiting.settled_for_list(&|server| now.is_seen(server)).await;
        self.0.seen(&client.principal()).tool_list(surface, session, &loaded)
    }

    /// What a client is told about this server as a whole.
    pub fn instructions(&self, surface: Surface, principal: &Principal) -> String {
        let snapshot = self.0.seen(principal);
        let configured = snapshot.config.servers.keys().chain(snapshot.config.unusable.keys());
        let configured = configured.filter(|server| snapshot.is_seen(server));
        let local = snapshot.sources().filter(|(_, source)| matches!(source, Source::Local(_))).map(|(name, _)| name);
        instructions(surface, &configured.chain(local).map(ServerName::as_str).collect::<Vec<_>>())
    }

    pub fn config(&self) -> Arc<Config> {
        self.0.snapshot.load().config.clone()
    }

    /// Which replica this is of those that share a database, and what they know of each other there. `None` where it is
    /// none, and where the database cannot be asked.
    pub async fn cluster(&self) -> Option<(Arc<Standing>, toolfold_store::cluster::Cluster)> {
        self.0.waiting.published().await;
        Some((self.0.standing.clone()?, self.0.store.get()?.cluster()?))
    }

    /// What other replicas want of servers that run here.
    pub fn relay(&self) -> Relay<'_> {
        Relay { inner: &self.0 }
    }

    /// Which replica has a parked call of this principal's, by its `requestState`.
    pub fn owner_of_parked(&self, principal: &Principal, state: &str) -> Option<ReplicaId> {
        self.0.gate.owner_of_parked(principal, state)
    }

    /// What may be held for clients and servers, all together. Whoever keeps or queues bytes takes a share first.
    pub fn memory(&self) -> &Memory {
        &self.0.memory
    }

    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.0.changes.subscribe()
    }

    /// Every call from now on, when it has ended.
    pub fn calls(&self) -> broadcast::Receiver<CallRecord> {
        self.0.gate.calls()
    }

    /// The tokens that were given out.
    pub fn tokens(&self) -> GivenTokens<'_> {
        GivenTokens { waiting: &self.0.waiting, store: &self.0.store }
    }

    /// What of the whole is for whom.
    pub fn access(&self) -> AccessRights<'_> {
        AccessRights { waiting: &self.0.waiting, snapshot: &self.0.snapshot, learning: &self.0.learning }
    }

    /// What is held, and deciding about it.
    pub fn approvals(&self) -> Approvals<'_> {
        Approvals { waiting: &self.0.waiting, snapshot: &self.0.snapshot, events: &self.0.events }
    }

    /// Making and ending logins at servers.
    pub fn logins(&self) -> Logins<'_> {
        Logins { snapshot: &self.0.snapshot }
    }

    /// Who is connected.
    pub fn clients(&self) -> ConnectedClients<'_> {
        ConnectedClients { inner: &self.0 }
    }

    /// Starting and stopping servers.
    pub fn servers(&self) -> Servers<'_> {
        Servers { snapshot: &self.0.snapshot }
    }

    /// What a client is told that can be asked for beside tools.
    pub async fn advertised(&self, principal: &Principal) -> Advertised {
        Advertised::to(principal, &self.0.waiting, &self.0.snapshot).await
    }

    /// How the servers are.
    pub async fn status(&self) -> Vec<ServerStatus> {
        self.0.waiting.published().await;
        status_of(&self.0.snapshot.load_full(), &self.0.gate.turnstile)
    }

    /// How the servers are that exist for somebody.
    pub async fn status_for(&self, principal: &Principal) -> Vec<ServerStatus> {
        self.0.waiting.published().await;
        status_of(&self.0.seen(principal), &self.0.gate.turnstile)
    }

    /// Somebody was not let in, and nothing of what they wanted was looked at. `None`: it is not known who.
    pub fn turned_away(&self, who: Option<&Principal>, code: Code) {
        self.0.gate.instruments.meter.refused(code.as_str());
        self.0.gate.turned_away.tell(&self.0.gate.recording, who, code);
    }

    /// Whether somebody may ask anything now, or how long to wait. `None`: it is not known who.
    pub fn knock(&self, principal: Option<&Principal>) -> Result<(), Duration> {
        self.0.gate.turnstile.knock(&self.0.snapshot.load().config.limits, principal)
    }

    /// Whether those are counted who show nothing that is right, or too little.
    pub fn limits_strangers(&self) -> bool {
        self.0.snapshot.load().config.limits.unauthenticated.is_some()
    }

    /// Whether one more of those would be let in to be looked at, or how long to wait. It is not counted.
    pub fn has_room_for_strangers(&self) -> Result<(), Duration> {
        self.0.gate.turnstile.peek(&self.0.snapshot.load().config.limits)
    }

    /// The counters, in the text format of Prometheus.
    pub fn metrics(&self) -> String {
        self.0.metrics()
    }

    /// The counters that somebody may see, as [`Gateway::metrics`].
    pub fn metrics_for(&self, principal: &Principal) -> String {
        match self.0.snapshot.limited(principal) {
            None => self.0.metrics(),
            Some(_) => counters_seen(&self.0.metrics(), &self.0.seen(principal)),
        }
    }

    /// Whether every request can be answered from a snapshot, and every call be written down that must be.
    pub async fn is_ready(&self) -> bool {
        let written = match self.audit().filter(|audit| audit.is_strict()) {
            Some(audit) => audit.can_write().await,
            None => true,
        };
        self.has_catalog() && written
    }

    /// Whether there is a snapshot to answer from.
    pub fn has_catalog(&self) -> bool {
        self.0.waiting.is_published()
    }

    /// What is written down, where anything is.
    pub fn audit(&self) -> Option<&Audit> {
        self.0.gate.recording.audit()
    }

    /// Writes down that something happened here that is no call.
    pub fn note(&self, kind: EventKind, tool: Option<&str>, outcome: &str, about: Option<String>) {
        self.0.gate.recording.happened(Occurrence { tool, about, ..Occurrence::new(kind, outcome) });
    }

    /// Forgets what was learned from calls of one tool or of all; in every catalog that is remembered in the same place, if
    /// that is wanted. How many habits there were.
    pub async fn forget(&self, tool: Option<&str>, everywhere: bool) -> Result<usize, StoreError> {
        self.0.waiting.published().await;
        self.0.learning.forget(tool, everywhere).await
    }

    /// The requests that ended in calls, where their texts are kept.
    pub async fn used_requests(&self) -> Result<Vec<UsedRequest>, StoreError> {
        self.0.waiting.published().await;
        self.0.learning.requests().await
    }

    /// Applies another configuration: only what differs is started, stopped or changed.
    pub fn reconfigure(&self, config: Config) {
        self.send(News::Configure(Box::new(config)));
    }

    /// Reads the files of agents, skills and scripts again: some were added, changed or removed.
    pub fn reread_documents(&self) {
        self.send(News::Documents);
    }

    /// Adds tools of this process; one that is there already by that name is replaced. Returns when they can be found.
    pub async fn register(&self, server: LocalServer) -> Result<(), Unregistered> {
        let (done, registered) = oneshot::channel();
        self.send(News::Register(server, done));
        registered.await.unwrap_or(Err(Unregistered::Stopped))
    }

    /// Stops every server and returns when their processes are gone.
    pub async fn stop(&self) {
        let (done, stopped) = oneshot::channel();
        self.send(News::Stop(done));
        // The writer answers or is gone already: nothing is left to stop then.
        let _ = stopped.await;
        self.0.gate.instruments.flush().await;
        self.0.gate.turned_away.tell_rest(&self.0.gate.recording);
        self.0.gate.recording.close().await;
    }

    /// Whether search asks the encoder, once that is known of the newest snapshot.
    pub async fn is_precise(&self) -> bool {
        self.0.waiting.published().await;
        let snapshot = self.0.snapshot.load_full();
        self.0.precise.done_with(snapshot.catalog.number(), &snapshot.config).await;
        self.0.snapshot.load().index.is_precise()
    }

    /// How many entries the encoder has read of how many that it has to, while it does.
    pub fn encoding(&self) -> Option<(usize, usize)> {
        self.0.precise.under_way()
    }

    pub(crate) fn send(&self, event: News) {
        // The writer lives as long as the gateway; after a stop nothing needs to be written any more.
        let _ = self.0.events.send(event);
    }
}
