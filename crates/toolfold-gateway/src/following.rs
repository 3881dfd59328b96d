//! What other replicas change in the store that they share with us: lists of servers, tokens, decisions, logins, and which tools
//! are used most. Notices from the database make it quick; looking every few seconds makes it sure.
//!
//! What a reader would get wrong: nothing here is on the way of a request. While the database is away, requests are answered from
//! what was last seen, and everything is looked at again when it is back.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::spawn_blocking;
use toolfold_core::{Fingerprint, ServerName, ToolId};
use toolfold_store::cluster::{Cluster, NewerManifest, Topic, Versions};
use toolfold_store::{Store, StoreError};
use toolfold_upstream::Manifest;
use tracing::{debug, info, warn};

use crate::gateway::Inner;
use crate::usage::{ASKED, AT_LEAST};
use crate::writer::News;

/// How often it is looked, whether or not anybody said that something changed.
const LOOK: Duration = Duration::from_secs(5);
/// What came within this came at once.
const GATHER: Duration = Duration::from_millis(20);
/// How long who lists a server has it to themselves, and how long the others wait to hear of it.
const LISTING: Duration = Duration::from_secs(15);
const PATIENCE: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_millis(200);

/// A server in one configuration.
pub(crate) type Sought = (ServerName, Fingerprint);

/// What another replica heard from a server.
pub(crate) struct Followed {
    pub(crate) server: ServerName,
    pub(crate) key: Fingerprint,
    pub(crate) manifest: Arc<Manifest>,
}

/// Begins to follow, where the store is one that is shared; where to say which servers there are. `before` is how often what replicas
/// share had changed when decisions and logins were read.
pub(crate) fn follow(
    store: &Arc<Store>,
    inner: Weak<Inner>,
    events: mpsc::WeakUnboundedSender<News>,
    before: Option<Versions>,
) -> Option<watch::Sender<Vec<Sought>>> {
    let cluster = store.cluster()?;
    if let Some(inner) = inner.upgrade() {
        inner.gate.turnstile.slices.share(cluster.clone());
    }
    let (wanted, wants) = watch::channel(Vec::new());
    let (manifests, used) = (HashMap::new(), None);
    let following = Following { cluster, inner, events, seen: before, begun: false, manifests, used };
    tokio::spawn(following.run(wants));
    Some(wanted)
}

struct Following {
    cluster: Cluster,
    inner: Weak<Inner>,
    events: mpsc::WeakUnboundedSender<News>,
    /// `None`: everything is to be looked at, as after the database was away.
    seen: Option<Versions>,
    /// Whether lists and tokens have been read since this began, and since other servers are wanted.
    begun: bool,
    /// The version of each list that was last seen.
    manifests: HashMap<Sought, i64>,
    /// The most used tools, and of which day.
    used: Option<(i64, Vec<String>)>,
}

impl Following {
    /// Until the gateway is gone, or its store closed.
    async fn run(mut self, mut wanted: watch::Receiver<Vec<Sought>>) {
        let mut hints = self.cluster.changes();
        let mut away = false;
        loop {
            let servers = wanted.borrow_and_update().clone();
            match self.look(&servers).await {
                Ok(()) if away => info!("the database is back"),
                Ok(()) => {}
                Err(StoreError::Closed) => return,
                Err(error) => {
                    if !away {
                        warn!("going on with what is known: {error}");
                    }
                    self.seen = None;
                }
            }
            away = self.seen.is_none();
            if let Some(inner) = self.inner.upgrade() {
                inner.gate.turnstile.slices.set_away(away);
            }
            tokio::select! {
                _ = hints.recv() => {}
                () = tokio::time::sleep(LOOK) => {}
                changed = wanted.changed() => match changed {
                    Ok(()) => self.begun = false,
                    Err(_) => return,
                },
            }
            tokio::time::sleep(GATHER).await;
            hints = hints.resubscribe();
            if self.inner.strong_count() == 0 {
                return;
            }
        }
    }

    async fn look(&mut self, servers: &[Sought]) -> Result<(), StoreError> {
        let now = self.cluster.versions().await?;
        let is_new = |seen: &Option<Versions>, change: &Topic| {
            seen.as_ref().is_none_or(|seen| seen.of(change) != now.of(change))
        };
        if !self.begun || is_new(&self.seen, &Topic::Tokens) {
            self.tokens().await?;
        }
        if !self.begun || is_new(&self.seen, &Topic::Manifests) {
            self.lists(servers).await?;
        }
        self.begun = true;
        self.most_used().await?;
        let replicas = self.cluster.replicas().await?;
        if let Some(inner) = self.inner.upgrade() {
            inner.gate.turnstile.slices.count(replicas.iter().map(|replica| replica.silent));
        }
        if is_new(&self.seen, &Topic::Pins) {
            let (done, _) = oneshot::channel();
            self.tell(News::Recheck(done));
        }
        if is_new(&self.seen, &Topic::Logins) {
            self.logins();
        }
        self.seen = Some(now);
        Ok(())
    }

    async fn tokens(&self) -> Result<(), StoreError> {
        let tokens = self.cluster.all_tokens().await?.into_iter().collect();
        if let Some(inner) = self.inner.upgrade() {
            inner.store.set_tokens(tokens);
        }
        Ok(())
    }

    /// Takes over what others heard, without asking the servers.
    async fn lists(&mut self, servers: &[Sought]) -> Result<(), StoreError> {
        self.manifests.retain(|known, _| servers.contains(known));
        let version = |wanted: &Sought| self.manifests.get(wanted).copied().unwrap_or_default();
        let known = servers.iter().map(|wanted| (wanted.0.clone(), wanted.1, version(wanted))).collect();
        for NewerManifest { manifest: stored, version } in self.cluster.newer_manifests(known).await? {
            let (server, key, json) = (stored.server, stored.config_key, stored.json);
            self.manifests.insert((server.clone(), key), version);
            // Some megabytes of JSON: not on a thread that answers somebody.
            let read = spawn_blocking(move || serde_json::from_str::<Manifest>(&json)).await;
            match read {
                Ok(Ok(manifest)) => self.tell(News::Followed(Followed { server, key, manifest: Arc::new(manifest) })),
                _ => debug!(%server, "what another replica heard from it cannot be read"),
            }
        }
        Ok(())
    }

    /// All replicas list the same tools, so what is used most comes from one figure that changes once a day.
    async fn most_used(&mut self) -> Result<(), StoreError> {
        let wanted = self.inner.upgrade().is_some_and(|inner| inner.snapshot.load().config.pin_used);
        if !wanted {
            self.used = None;
            return Ok(());
        }
        let used = self.cluster.used_of_the_day(AT_LEAST, ASKED).await?;
        if self.used.as_ref() != Some(&used) {
            self.tell(News::Used(used.1.iter().filter_map(|id| ToolId::parse(id)).collect()));
            self.used = Some(used);
        }
        Ok(())
    }

    /// Somebody has logged in to a server, or out, elsewhere.
    fn logins(&self) {
        let Some(inner) = self.inner.upgrade() else { return };
        let sources: Vec<_> = inner.snapshot.load().sources().map(|(_, source)| source.clone()).collect();
        tokio::spawn(async move {
            for source in sources {
                source.look_for_login().await;
            }
        });
    }

    fn tell(&self, news: News) {
        if let Some(events) = self.events.upgrade() {
            // Nobody there is fine: it is over.
            let _ = events.send(news);
        }
    }
}

/// Of servers that nothing is known of, those that another replica is listing just now are waited for, and not listed by us too:
/// what was heard of them by then.
pub(crate) async fn heard_by_others(store: &Store, unknown: Vec<Sought>) -> HashMap<Sought, String> {
    let mut heard = HashMap::new();
    let Some(cluster) = store.cluster().filter(|_| !unknown.is_empty()) else { return heard };
    let mut chance = [0; 8];
    // Without random numbers the process number has to do.
    let _ = getrandom::fill(&mut chance);
    let me = format!("{}-{:016x}", std::process::id(), u64::from_ne_bytes(chance));
    let mut awaited = unknown;
    let until = tokio::time::Instant::now() + PATIENCE;
    loop {
        let mut theirs = Vec::new();
        for wanted in awaited {
            let name = format!("list/{}/{}", wanted.0, wanted.1);
            match cluster.try_lease(&name, &me, LISTING).await {
                Ok(held) if held.holder != me => theirs.push(wanted),
                // Ours to list; or nobody can say, and then everybody is.
                _ => {}
            }
        }
        let known = theirs.iter().map(|(server, key)| (server.clone(), *key, 0)).collect();
        for NewerManifest { manifest, .. } in cluster.newer_manifests(known).await.unwrap_or_default() {
            heard.insert((manifest.server, manifest.config_key), manifest.json);
        }
        awaited = theirs.into_iter().filter(|wanted| !heard.contains_key(wanted)).collect();
        if awaited.is_empty() || tokio::time::Instant::now() > until {
            return heard;
        }
        tokio::time::sleep(AGAIN).await;
    }
}
