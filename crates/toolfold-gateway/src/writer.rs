//! The single writer: it alone knows what the servers said last, and it alone publishes snapshots. Everything that
//! happens arrives as one [`Event`]; events that queued up meanwhile are taken together, so that fifty servers that
//! come up at once cost a few snapshots, not fifty.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use toolfold_catalog::Catalog;
use toolfold_config::{Config, Server, Transport, changed};
use toolfold_core::{Fingerprint, ServerName, ToolId};
use toolfold_store::Store;
use toolfold_upstream::{Event as Happened, House, Manifest, Report, State, Upstream};
use toolfold_wire::{Memory, raw};
use tracing::{info, warn};

use crate::change::Change;
use crate::files::Documents;
use crate::gateway::Inner;
use crate::known::Known;
use crate::local::LocalServer;
use crate::offers::Offers;
use crate::precise::Tier;
use crate::snapshot::Snapshot;
use crate::source::Source;
use crate::usage::most_used;

pub(crate) enum Event {
    Report(Report),
    Configure(Box<Config>),
    /// Files of agents or skills were added, changed or removed.
    Documents,
    /// Tools of this process, beside those it has already; told when they can be found, or why they cannot.
    Register(LocalServer, oneshot::Sender<Result<(), String>>),
    Stop(oneshot::Sender<()>),
}

/// How long a client has the machine to itself after the start.
const HEAD_START: Duration = Duration::from_millis(8);

/// How far the start has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Progress {
    Starting,
    /// There is a snapshot of everything that is remembered.
    Published,
    /// Every server has said what it offers, or failed.
    Settled,
}

pub(crate) struct Writer {
    inner: Weak<Inner>,
    progress: watch::Sender<Progress>,
    reports: mpsc::UnboundedSender<Report>,
    reported: mpsc::UnboundedReceiver<Report>,
    store: Option<Arc<Store>>,
    servers: BTreeMap<ServerName, Known>,
    number: u64,
    /// What was called most before this start.
    used: Vec<ToolId>,
    /// What all servers share.
    house: House,
}

impl Writer {
    pub(crate) fn new(inner: Weak<Inner>, progress: watch::Sender<Progress>, local: Vec<LocalServer>) -> Self {
        let (reports, reported) = mpsc::unbounded_channel();
        let servers = local.into_iter().map(|server| (server.name.clone(), Known::local(server))).collect();
        // There are no servers before the configuration is read, and with it how much they may hold.
        let house = House::new(Memory::new(0));
        Writer { inner, progress, reports, reported, store: None, servers, number: 0, used: Vec::new(), house }
    }

    pub(crate) async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Event>) {
        self.open().await;
        loop {
            let first = tokio::select! {
                event = inbox.recv() => event,
                Some(report) = self.reported.recv() => Some(Event::Report(report)),
            };
            // No sender left: the gateway was dropped, and its servers with it.
            let Some(first) = first else { return };
            let mut events = vec![first];
            while let Ok(report) = self.reported.try_recv() {
                events.push(Event::Report(report));
            }
            while let Ok(event) = inbox.try_recv() {
                events.push(event);
            }
            let mut publish = false;
            let mut registered = Vec::new();
            for event in events {
                match event {
                    Event::Report(report) => publish |= self.report(report),
                    Event::Configure(config) => publish |= self.configure(*config).await,
                    Event::Documents => publish |= self.read_documents().await,
                    Event::Register(server, done) => {
                        let outcome = self.register(server);
                        publish |= outcome.is_ok();
                        registered.push((done, outcome));
                    }
                    Event::Stop(done) => {
                        self.stop().await;
                        let _ = done.send(());
                        return;
                    }
                }
            }
            if publish {
                self.publish();
            }
            self.settle();
            for (done, outcome) in registered {
                // Whoever registered need not have waited.
                let _ = done.send(outcome);
            }
        }
    }

    /// Reads what is remembered, starts what is configured, and publishes the first snapshot.
    async fn open(&mut self) {
        let Some(inner) = self.inner.upgrade() else { return };
        let config = inner.config.load_full();
        drop(inner);
        self.house = House::new(Memory::new(config.limits.memory));
        self.house.secrets.extend(config.http.token.clone());
        // A client that has just started us asks for the list of tools first, and most lists need nothing of what
        // follows: reading a few megabytes on the same cores would only be in its way.
        tokio::time::sleep(HEAD_START).await;
        let wanted: Vec<_> = config.servers.values().map(|server| (server.name.clone(), config_key(server))).collect();
        let (store, mut manifests) = remembered(config.store.as_deref(), wanted).await;
        if let (Some(store), Some(inner)) = (&store, self.inner.upgrade()) {
            // Never set before: a writer opens once.
            let _ = inner.store.set(store.clone());
        }
        self.store = store;
        if config.pin_used {
            self.used = most_used(self.store.clone()).await;
        }
        self.read_documents().await;
        for server in config.servers.values() {
            let manifest = manifests.remove(&(server.name.clone(), config_key(server)));
            self.add(Arc::new(server.clone()), manifest);
        }
        self.publish();
        self.progress.send_modify(|now| *now = Progress::Published);
        self.settle();
    }

    fn add(&mut self, config: Arc<Server>, manifest: Option<Arc<Manifest>>) {
        let upstream = Upstream::spawn(config.clone(), manifest.clone(), self.reports.clone(), &self.house);
        let name = config.name.clone();
        let mut known = Known {
            source: Source::Server(upstream),
            config: Some(config),
            manifest: None,
            tools: None,
            settled: false,
        };
        if let Some(manifest) = manifest {
            known.listed(&name, manifest);
        }
        self.servers.insert(name, known);
    }

    /// Takes in what a server did; whether the next snapshot differs.
    fn report(&mut self, Report { server, instance, event }: Report) -> bool {
        let Some(known) = self.servers.get_mut(&server) else { return false };
        // What a server said before it was replaced is not said by its successor.
        if known.source.upstream().is_none_or(|upstream| upstream.instance() != instance) {
            return false;
        }
        match event {
            Happened::State(state) => {
                known.settled |= matches!(state, State::Failing { .. } | State::Stopped);
                false
            }
            Happened::Listed(manifest) => {
                let tools = manifest.tools.len();
                info!(%server, tools, protocol = %manifest.version, "listed");
                known.listed(&server, manifest);
                self.remember(server);
                true
            }
            Happened::Updated { uri } => {
                self.tell_updated(&server, &uri);
                false
            }
        }
    }

    fn tell_updated(&self, server: &ServerName, uri: &str) {
        let Some(inner) = self.inner.upgrade() else { return };
        let uri = inner.snapshot.load().offers.exposed_uri(server, uri);
        // Nobody listening is fine.
        let _ = inner.changes.send(Change::Resource { uri });
    }

    /// Keeps a manifest for the next start. Slow disks must not hold up the writer, so it is done beside it.
    fn remember(&self, server: ServerName) {
        let Some(Known { config: Some(config), manifest: Some(manifest), .. }) = self.servers.get(&server) else {
            return;
        };
        let (config, manifest) = (config.clone(), manifest.clone());
        let Some(store) = self.store.clone() else { return };
        let saved = store.save_manifest(&server, &config_key(&config), move || raw(&*manifest).get().to_owned());
        tokio::spawn(async move {
            if let Err(error) = saved.await {
                warn!(%server, "its tools could not be remembered for the next start: {error}. {}", error.hint());
            }
        });
    }

    /// Reads agents and skills again, beside the writer's own thread.
    async fn read_documents(&mut self) -> bool {
        let Some(config) = self.inner.upgrade().map(|inner| inner.config.load_full()) else { return false };
        let read = tokio::task::spawn_blocking(move || Documents::read(&config)).await;
        let Documents { servers, unusable } = read.unwrap_or_default();
        for odd in unusable {
            warn!("{odd}");
        }
        self.servers.retain(|_, known| !matches!(known.source, Source::Documents));
        for tools in servers {
            if self.servers.contains_key(&tools.name) {
                warn!(server = %tools.name, "a server has this name already, so these files are not served");
                continue;
            }
            self.servers.insert(tools.name.clone(), Known::documents(tools));
        }
        true
    }

    /// Adds tools to those of their server; one of the same name is replaced.
    fn register(&mut self, new: LocalServer) -> Result<(), String> {
        new.check()?;
        let merged = match self.servers.get(&new.name).map(|known| &known.source) {
            None => new,
            Some(Source::Local(known)) => known.with(new),
            Some(_) => return Err(format!("{} is a server of the configuration", new.name)),
        };
        if let Some(inner) = self.inner.upgrade() {
            inner.add_local(&merged.name);
        }
        self.servers.insert(merged.name.clone(), Known::local(merged));
        Ok(())
    }

    async fn configure(&mut self, new: Config) -> bool {
        let Some(inner) = self.inner.upgrade() else { return false };
        let old = inner.config.load_full();
        let changes = changed(&old, &new);
        // Calls under way hold the old snapshot, and with it the server, until they are done.
        changes.removed.iter().for_each(|name| drop(self.servers.remove(name)));
        for name in changes.added.iter().chain(&changes.changed) {
            let Some(server) = new.servers.get(name) else { continue };
            let before = self.servers.remove(name);
            let same_source = old.servers.get(name).is_some_and(|before| config_key(before) == config_key(server));
            let manifest = before.and_then(|known| known.manifest).filter(|_| same_source);
            self.add(Arc::new(server.clone()), manifest);
        }
        info!(
            added = changes.added.len(),
            removed = changes.removed.len(),
            changed = changes.changed.len(),
            "configuration applied"
        );
        if new.pin_used && !old.pin_used {
            self.used = most_used(self.store.clone()).await;
        }
        inner.config.store(Arc::new(new));
        drop(inner);
        self.read_documents().await
    }

    fn publish(&mut self) {
        let Some(inner) = self.inner.upgrade() else { return };
        let before = inner.snapshot.load_full();
        let config = inner.config.load_full();
        self.number += 1;
        let servers = self.servers.values().filter_map(|known| known.tools.clone());
        let catalog = Catalog::merge_beside(self.number, servers, toolfold_disclosure::is_reserved);
        let index = before.index.update(&catalog);
        let placement = before.placement.update(&config.nodes, &catalog, &index);
        let catalog = placement.apply(catalog);
        let offers = Offers::merge(self.servers.iter().filter_map(|(name, known)| {
            Some((name, known.config.as_ref().is_none_or(|config| config.prefix), known.manifest.as_deref()?))
        }));
        let sources = self.servers.iter().map(|(name, known)| (name.clone(), known.source.clone())).collect();
        let next = Snapshot::new(catalog, index, placement, &config, &self.used, offers, sources);
        let changes = next.changes_since(&before);
        inner.snapshot.store(Arc::new(next));
        for change in changes {
            let _ = inner.changes.send(change);
        }
        Tier::look(&inner);
    }

    fn settle(&mut self) {
        let settled = self.servers.values().all(|known| known.settled);
        let progress = if settled { Progress::Settled } else { Progress::Published };
        self.progress.send_if_modified(|now| progress > *now && std::mem::replace(now, progress) != progress);
    }

    async fn stop(&mut self) {
        if let Some(inner) = self.inner.upgrade() {
            inner.precise.stop();
        }
        let stopping: Vec<_> = std::mem::take(&mut self.servers)
            .into_values()
            .filter_map(|known| known.source.upstream().cloned())
            .map(|upstream| tokio::spawn(async move { upstream.stop().await }))
            .collect();
        for stopped in stopping {
            // A supervisor that panicked has dropped its process.
            let _ = stopped.await;
        }
        if let Some(store) = &self.store {
            store.close().await;
        }
    }
}

type Manifests = BTreeMap<(ServerName, Fingerprint), Arc<Manifest>>;

/// The store and what it remembers. A store that cannot be used costs the memory of the next start, nothing else.
async fn remembered(
    path: Option<&std::path::Path>,
    wanted: Vec<(ServerName, Fingerprint)>,
) -> (Option<Arc<Store>>, Manifests) {
    let store = match Store::open(path).await {
        Ok(opened) => {
            if let Some(notice) = opened.notice {
                warn!("{notice}");
            }
            opened.store
        }
        Err(error) => {
            warn!("going on without a store, so nothing is remembered for the next start: {error}. {}", error.hint());
            return Default::default();
        }
    };
    let stored = store.load_manifests_of(wanted).await.unwrap_or_else(|error| {
        warn!("nothing is remembered: {error}");
        Vec::new()
    });
    let read = |stored: toolfold_store::StoredManifest| {
        let manifest = serde_json::from_str::<Manifest>(&stored.json).ok()?;
        Some(((stored.server, stored.config_key), Arc::new(manifest)))
    };
    let manifests = stored.into_iter().filter_map(read).collect();
    (Some(Arc::new(store)), manifests)
}

/// Which program or address a manifest was learned from. Values of secrets stay out of it.
fn config_key(server: &Server) -> Fingerprint {
    let text = match &server.transport {
        Transport::Stdio { command, args, env, cwd } => {
            format!("stdio\0{command}\0{}\0{:?}\0{cwd:?}", args.join("\0"), env.keys())
        }
        Transport::Http { url, headers } => format!("http\0{url}\0{:?}", headers.keys()),
    };
    Fingerprint::of_text(&format!("{text}\0{:?}", server.era))
}
