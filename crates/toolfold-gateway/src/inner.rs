//! What the parts of a gateway do together, for whoever holds them without the handle.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::mpsc;
use toolfold_audit::Audit;
use toolfold_core::Principal;
use toolfold_telemetry::Readings;

use crate::gateway::Inner;
use crate::request::Client;
use crate::scope::Scope;
use crate::snapshot::Snapshot;
use crate::writer::News;

impl Inner {
    pub(crate) fn metrics(&self) -> String {
        let audit = self.gate.recording.audit();
        let (discovered, direct) = audit.map_or((0, 0), Audit::found);
        let audit_lag = audit.map_or(0, |audit| audit.waiting() + audit.missed());
        let held = self.gate.instruments.held.load(Ordering::Relaxed);
        self.gate.instruments.meter.text(Readings { discovered, direct, audit_lag, held })
    }

    /// What exists for somebody, now.
    pub(crate) fn seen(&self, principal: &Principal) -> Arc<Snapshot> {
        self.snapshot.seen(principal)
    }

    /// What exists for this client, now.
    pub(crate) fn scope(&self, client: &Client) -> Scope {
        let snapshot = self.seen(&client.principal());
        let learned = self.learning.learned(&snapshot);
        Scope::new(snapshot, learned, client)
    }

    /// Returns once every server that may soon say what it offers, and exists for this principal, has done so or had its time.
    pub(crate) async fn settled(&self, principal: &Principal) {
        self.waiting.published().await;
        if self.waiting.is_settled() {
            return;
        }
        let seen = self.seen(principal);
        self.waiting.settled_of(&|server| seen.is_seen(server)).await;
    }

    /// Where events go, for who must not keep the gateway alive.
    pub(crate) fn events(&self) -> mpsc::WeakUnboundedSender<News> {
        self.events.downgrade()
    }
}
