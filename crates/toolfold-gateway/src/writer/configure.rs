//! Another configuration: only what differs is started, stopped or changed.

use std::sync::Arc;

use toolfold_audit::EventKind;
use toolfold_config::{AuditMode, Config, changed};
use tracing::info;

use super::{Dirty, Writer};
use crate::recording::Occurrence;
use crate::remembered::config_key;
use crate::usage::most_used;

impl Writer {
    pub(super) async fn configure(&mut self, new: Config) -> Dirty {
        let Some(inner) = self.inner.upgrade() else { return Dirty::Nothing };
        let old = self.config.clone();
        let changes = changed(&old, &new);
        self.house.oauth = Arc::new(new.oauth.clone());
        // Calls under way hold the old snapshot, and with it the server, until they are done.
        changes.removed.iter().for_each(|name| drop(self.servers.remove(name)));
        for name in changes.added.iter().chain(&changes.changed) {
            let Some(server) = new.servers.get(name) else { continue };
            let known = self.servers.remove(name);
            let same_source = old.servers.get(name).is_some_and(|before| config_key(before) == config_key(server));
            let manifest = known.and_then(|known| known.manifest().cloned()).filter(|_| same_source);
            self.add(Arc::new(server.clone()), manifest, None).await;
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
        inner.gate.usage.want(new.pin_used);
        inner.learning.configure(new.learn).await;
        let recording = &inner.gate.recording;
        let applied = || {
            recording
                .happened(Occurrence { about: Some(changes.told()), ..Occurrence::new(EventKind::Config, "applied") })
        };
        // What is switched off is told before, and what is switched on after.
        let off = new.audit.mode == AuditMode::Off;
        if off {
            applied();
        }
        recording.configure(&new).await;
        if !off {
            applied();
        }
        drop(inner);
        self.config = Arc::new(new);
        self.tell_servers();
        self.read_documents().await
    }
}
