//! What other replicas heard from servers that are ours too.

use tokio::task::spawn_blocking;
use toolfold_store::cluster::Versions;
use toolfold_wire::raw;
use tracing::info;

use super::{Dirty, Writer};
use crate::following::{Followed, Sought, follow};
use crate::known::Listed;
use crate::remembered::config_key;

impl Writer {
    /// Where the store is shared with other replicas, what they write there is followed from now on.
    pub(super) fn begin_to_follow(&mut self, before: Option<Versions>) {
        if let (Some(store), Some(events)) = (&self.store, self.events.clone()) {
            self.followed = follow(store, self.inner.clone(), events, before);
        }
        self.tell_servers();
    }

    /// Says whose lists are worth following.
    pub(super) fn tell_servers(&self) {
        if let Some(followed) = &self.followed {
            let configs = self.servers.values().filter_map(|known| known.config.as_ref());
            let wanted: Vec<Sought> = configs.map(|config| (config.name.clone(), config_key(config))).collect();
            followed.send_if_modified(|now| std::mem::replace(now, wanted.clone()) != wanted);
        }
    }

    /// Takes over what another replica heard from a server; it is in the store already.
    pub(super) async fn follow(&mut self, Followed { server, key, manifest }: Followed) -> Dirty {
        let Some(known) = self.servers.get_mut(&server) else { return Dirty::Nothing };
        let Some(config) = known.config.clone().filter(|config| config_key(config) == key) else {
            return Dirty::Nothing;
        };
        let before = known.listed.clone();
        let read = spawn_blocking(move || {
            let same = before
                .as_ref()
                .and_then(|before| before.manifest.as_ref())
                .is_some_and(|known| raw(&**known).get() == raw(&*manifest).get());
            (!same).then(|| Listed::read(&config, manifest, None))
        });
        let Ok(Some(listed)) = read.await else { return Dirty::Nothing };
        info!(%server, "another replica has listed it");
        known.take_list(Some(listed));
        known.tried = true;
        Dirty::Catalog
    }
}
