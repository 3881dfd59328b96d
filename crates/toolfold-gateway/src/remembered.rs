//! What is remembered of servers between runs: their lists, and why they failed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use toolfold_config::{Server, Transport};
use toolfold_core::{Fingerprint, ServerName, StorePlace};
use toolfold_store::{Store, StoredManifest};
use toolfold_upstream::Manifest;
use toolfold_wire::raw;
use tracing::{debug, warn};

use crate::following::heard_by_others;

/// Who has not answered for this long is silent, and not only slow.
const SILENT: Duration = Duration::from_secs(4);

#[derive(Default)]
pub(crate) struct Remembered {
    pub(crate) store: Option<Arc<Store>>,
    manifests: BTreeMap<(ServerName, Fingerprint), Arc<Manifest>>,
    failures: BTreeMap<(ServerName, Fingerprint), String>,
}

impl Remembered {
    /// Opens the store. One that cannot be used costs the memory of the next start, nothing else.
    pub(crate) async fn open(place: Option<&StorePlace>, servers: impl Iterator<Item = &Server>) -> Self {
        let store = match Store::at(place).await {
            Ok(opened) => {
                if let Some(notice) = opened.notice {
                    warn!("{notice}");
                }
                opened.store
            }
            Err(error) => {
                warn!(
                    "going on without a store, so nothing is remembered for the next start: {error}. {}",
                    error.hint()
                );
                return Remembered::default();
            }
        };
        let wanted: Vec<_> = servers.map(|server| (server.name.clone(), config_key(server))).collect();
        let stored = store.load_manifests_of(wanted.clone()).await.unwrap_or_else(|error| {
            warn!("nothing is remembered: {error}");
            Vec::new()
        });
        let failures = store.load_failures(wanted.clone()).await.unwrap_or_else(|error| {
            debug!("failures are not remembered: {error}");
            Vec::new()
        });
        let known = |(server, key): &(ServerName, Fingerprint)| {
            stored.iter().any(|known| known.server == *server && known.config_key == *key)
                || failures.iter().any(|known| known.server == *server && known.config_key == *key)
        };
        let unknown = wanted.into_iter().filter(|wanted| !known(wanted)).collect();
        let heard = heard_by_others(&store, unknown).await.into_iter();
        let heard = heard.map(|((server, config_key), json)| StoredManifest { server, config_key, json });
        let stored: Vec<StoredManifest> = stored.into_iter().chain(heard).collect();
        // Some megabytes of JSON: not on a thread that answers somebody.
        let manifests = tokio::task::spawn_blocking(move || stored.into_iter().filter_map(read).collect()).await;
        let failures = failures.into_iter().map(|failure| ((failure.server, failure.config_key), failure.why));
        Remembered {
            store: Some(Arc::new(store)),
            manifests: manifests.unwrap_or_default(),
            failures: failures.collect(),
        }
    }

    /// What a server said the last time, and why it failed if that is the last that is known.
    pub(crate) fn of(&mut self, server: &Server) -> (Option<Arc<Manifest>>, Option<String>) {
        let key = (server.name.clone(), config_key(server));
        (self.manifests.remove(&key), self.failures.remove(&key))
    }
}

fn read(stored: StoredManifest) -> Option<((ServerName, Fingerprint), Arc<Manifest>)> {
    let manifest = serde_json::from_str::<Manifest>(&stored.json).ok()?;
    Some(((stored.server, stored.config_key), Arc::new(manifest)))
}

/// Keeps a list for the next start. Slow disks must not hold up whoever asks for it, so it is done beside them.
pub(crate) fn remember(store: &Store, server: &Server, manifest: Arc<Manifest>) {
    let (name, key) = (server.name.clone(), config_key(server));
    let saved = store.save_manifest(&name, &key, move || raw(&*manifest).get().to_owned());
    let cleared = store.clear_failure(&name, &key);
    tokio::spawn(async move {
        if let Err(error) = saved.await {
            warn!(server = %name, "its tools could not be remembered for the next start: {error}. {}", error.hint());
        }
        drop(cleared.await);
    });
}

/// Keeps why a server failed, so that the next start does not wait for it.
pub(crate) fn remember_failure(store: &Store, server: &Server, why: &str) {
    let saved = store.save_failure(&server.name, &config_key(server), why);
    let name = server.name.clone();
    tokio::spawn(async move {
        if let Err(error) = saved.await {
            debug!(server = %name, "its failure is not remembered: {error}");
        }
    });
}

/// Keeps who had said nothing when everything was stopped, so long after the start: the next one does not wait for them.
pub(crate) fn remember_silent<'a>(store: &Store, silent: impl Iterator<Item = &'a Arc<Server>>, silent_for: Duration) {
    if silent_for >= SILENT {
        let why = why_silent(silent_for);
        silent.for_each(|server| remember_failure(store, server, &why));
    }
}

/// What is said of a server that has not answered for so long.
pub(crate) fn why_silent(silent_for: Duration) -> String {
    format!("it had not answered after {} s, when it was last tried", silent_for.as_secs())
}

/// Which program or address a manifest was learned from. Values of secrets stay out of it.
pub(crate) fn config_key(server: &Server) -> Fingerprint {
    let text = match &server.transport {
        Transport::Stdio { command, args, env, cwd } => {
            format!("stdio\0{command}\0{}\0{:?}\0{cwd:?}", args.join("\0"), env.keys())
        }
        Transport::Http { url, headers } => format!("http\0{url}\0{:?}", headers.keys()),
        Transport::Api(source) => format!("api\0{}", source.identity()),
        Transport::Agent { card, headers } => format!("agent\0{card}\0{:?}", headers.keys()),
    };
    Fingerprint::of_text(&format!("{text}\0{:?}", server.era))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[tokio::test]
    async fn who_was_silent_is_not_waited_for_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let (command, args, env) = ("never-says-a-word".to_owned(), Vec::new(), BTreeMap::new());
        let server = Server::new(ServerName::new("s").unwrap(), Transport::Stdio { command, args, env, cwd: None });
        let server = Arc::new(server);
        for (seconds, expected) in [(3, None), (15, Some("it had not answered after 15 s, when it was last tried"))] {
            let store = Store::open(Some(&path)).await.unwrap().store;
            remember_silent(&store, std::iter::once(&server), Duration::from_secs(seconds));
            store.close().await;
            let mut remembered = Remembered::open(Some(&path.clone().into()), std::iter::once(&*server)).await;
            assert_eq!(remembered.of(&server).1.as_deref(), expected);
            remembered.store.unwrap().close().await;
        }
    }
}
