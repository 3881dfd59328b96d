//! The handle everybody holds. Starting it returns at once: servers are contacted, and the store is read, while the
//! first clients are already being answered.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use serde::Serialize;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::time::Instant;
use toolfold_config::Config;
use toolfold_core::{Groups, ServerName, Surface};
use toolfold_disclosure::{Checker, instructions};
use toolfold_store::Store;
use toolfold_upstream::State;
use toolfold_wire::{Memory, Raw};

use crate::bridge::Parked;
use crate::change::Change;
use crate::local::LocalServer;
use crate::precise::Tier;
use crate::request::Client;
use crate::snapshot::Snapshot;
use crate::subscriptions::Subscriptions;
use crate::writer::{Event, Progress, Writer};

/// How long after the start a request may wait for servers that nothing is known of yet.
const SETTLE: Duration = Duration::from_secs(10);
/// How long a tool list may: long enough for a server that starts at once, short enough to be "at once".
const SETTLE_LIST: Duration = Duration::from_secs(2);
/// Changes a client may lag behind before it misses some: lists are asked for again anyway.
const CHANGES: usize = 256;

pub struct Options {
    pub config: Config,
    /// Tools of this process, beside the configured servers.
    pub local: Vec<LocalServer>,
}

#[derive(Clone)]
pub struct Gateway(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    memory: Memory,
    pub(crate) snapshot: ArcSwap<Snapshot>,
    pub(crate) config: ArcSwap<Config>,
    pub(crate) checker: Arc<Checker>,
    pub(crate) parked: Parked,
    pub(crate) subscriptions: Subscriptions,
    /// What outlives the process. Empty until the writer has opened it, and where it cannot be opened.
    pub(crate) store: OnceLock<Arc<Store>>,
    pub(crate) precise: Tier,
    pub(crate) changes: broadcast::Sender<Change>,
    local: ArcSwap<Vec<ServerName>>,
    events: mpsc::UnboundedSender<Event>,
    progress: watch::Receiver<Progress>,
    started: Instant,
}

/// What a person sees of one server.
#[derive(Debug, Clone, Serialize)]
pub struct ServerStatus {
    pub name: ServerName,
    pub state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_in_seconds: Option<u64>,
    pub tools: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
}

impl Gateway {
    /// Starts the gateway on the current runtime.
    pub fn start(options: Options) -> Gateway {
        let (events, inbox) = mpsc::unbounded_channel();
        let (progress_sender, progress) = watch::channel(Progress::Starting);
        let (changes, _) = broadcast::channel(CHANGES);
        let inner = Arc::new(Inner {
            memory: Memory::new(options.config.limits.memory),
            snapshot: ArcSwap::from_pointee(Snapshot::empty(&options.config)),
            config: ArcSwap::from_pointee(options.config),
            checker: Arc::default(),
            parked: Parked::default(),
            subscriptions: Subscriptions::default(),
            store: OnceLock::new(),
            precise: Tier::default(),
            changes,
            local: ArcSwap::from_pointee(options.local.iter().map(|server| server.name.clone()).collect()),
            events,
            progress,
            started: Instant::now(),
        });
        tokio::spawn(Writer::new(Arc::downgrade(&inner), progress_sender, options.local).run(inbox));
        Gateway(inner)
    }

    /// What may be queued or kept for clients and servers together. It is as large as it was at the start.
    pub fn memory(&self) -> &Memory {
        &self.0.memory
    }

    /// The newest snapshot, once there is a first one.
    pub async fn snapshot(&self) -> Arc<Snapshot> {
        self.wait_for(Progress::Published, None).await;
        self.0.snapshot.load_full()
    }

    /// The newest snapshot, now: an empty one before the first is published.
    pub fn latest(&self) -> Arc<Snapshot> {
        self.0.snapshot.load_full()
    }

    /// The newest snapshot, once every server has said what it offers, failed, or had its time.
    pub async fn settled(&self) -> Arc<Snapshot> {
        self.wait_for(Progress::Settled, Some(SETTLE)).await;
        self.snapshot().await
    }

    /// As [`Gateway::settled`], without a limit: for a person who waits and sees what for.
    pub async fn settled_completely(&self) -> Arc<Snapshot> {
        self.wait_for(Progress::Settled, None).await;
        self.0.snapshot.load_full()
    }

    /// The result of `tools/list`. A surface that shows the same to everybody does not wait for anything.
    pub async fn tool_list(&self, client: &Client) -> Raw {
        let (surface, session, loaded) = (client.surface, client.has_session(), client.loaded());
        let config = self.0.config.load_full();
        let split = surface == Surface::Levels && config.settings.groups == Groups::Split;
        if surface != Surface::Direct && !split && config.pin.is_empty() && !config.pin_used && loaded.is_empty() {
            return self.0.snapshot.load().tool_list(surface, session, &[]);
        }
        self.wait_for(Progress::Settled, Some(SETTLE_LIST)).await;
        self.snapshot().await.tool_list(surface, session, &loaded)
    }

    /// What a client is told about this server as a whole.
    pub fn instructions(&self, surface: Surface) -> String {
        let config = self.0.config.load();
        let configured = config.servers.keys().map(ServerName::as_str);
        let local = self.0.local.load();
        instructions(surface, &configured.chain(local.iter().map(ServerName::as_str)).collect::<Vec<_>>())
    }

    pub fn config(&self) -> Arc<Config> {
        self.0.config.load_full()
    }

    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.0.changes.subscribe()
    }

    /// Applies another configuration: only what differs is started, stopped or changed.
    pub fn reconfigure(&self, config: Config) {
        self.send(Event::Configure(Box::new(config)));
    }

    /// Reads the files of agents and skills again: some were added, changed or removed.
    pub fn reread_documents(&self) {
        self.send(Event::Documents);
    }

    /// Adds tools of this process; one that is there already by that name is replaced. Returns when they can be found.
    pub async fn register(&self, server: LocalServer) -> Result<(), String> {
        let (done, registered) = oneshot::channel();
        self.send(Event::Register(server, done));
        registered.await.unwrap_or_else(|_| Err("the gateway was stopped".to_owned()))
    }

    /// Stops every server and returns when their processes are gone.
    pub async fn stop(&self) {
        let (done, stopped) = oneshot::channel();
        self.send(Event::Stop(done));
        // The writer answers or is gone already: nothing is left to stop then.
        let _ = stopped.await;
    }

    pub async fn status(&self) -> Vec<ServerStatus> {
        let snapshot = self.snapshot().await;
        let describe = |(name, source): (&ServerName, &crate::source::Source)| {
            let manifest = source.upstream().and_then(|upstream| upstream.manifest());
            let tools = snapshot.catalog.servers().iter().find(|known| known.name == *name);
            let (state, why, retry) = label(source.state());
            ServerStatus {
                name: name.clone(),
                state,
                why,
                retry_in_seconds: retry.map(|wait| wait.as_secs()),
                tools: tools.map_or(0, |tools| tools.entries.len()),
                protocol: manifest.map(|manifest| manifest.version.clone()),
            }
        };
        snapshot.sources.iter().map(describe).collect()
    }

    pub(crate) fn send(&self, event: Event) {
        // The writer lives as long as the gateway; after a stop nothing needs to be written any more.
        let _ = self.0.events.send(event);
    }

    async fn wait_for(&self, wanted: Progress, limit: Option<Duration>) {
        let mut progress = self.0.progress.clone();
        let reached = progress.wait_for(|now| *now >= wanted);
        match limit {
            Some(limit) => drop(tokio::time::timeout_at(self.0.started + limit, reached).await),
            None => drop(reached.await),
        }
    }
}

impl Inner {
    /// Notes a server of this process that came later. Only the writer calls it.
    pub(crate) fn add_local(&self, name: &ServerName) {
        let known = self.local.load();
        if !known.contains(name) {
            self.local.store(Arc::new(known.iter().chain([name]).cloned().collect()));
        }
    }
}

fn label(state: State) -> (&'static str, Option<String>, Option<Duration>) {
    match state {
        State::Configured => ("configured", None, None),
        State::Known => ("known", None, None),
        State::Starting => ("starting", None, None),
        State::Ready => ("ready", None, None),
        State::Failing { why, retry_in } => ("failing", Some(why), Some(retry_in)),
        State::Stopped => ("stopped", None, None),
    }
}
