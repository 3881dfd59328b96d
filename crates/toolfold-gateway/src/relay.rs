//! What other replicas want of this one: of servers that run here alone, and results that are kept here. See `tenancy.rs` for whose a server is, and `gate/relay.rs` for why
//! nothing is asked of them that is asked of clients.

use std::collections::BTreeSet;
use std::sync::Arc;

use toolfold_core::{Principal, ServerName};
use toolfold_results::{Handle, Shelved};
use toolfold_upstream::MANIFEST;
use toolfold_wire::{Object, Raw, RpcError};

use crate::gate::{Watch, sent_back};
use crate::gateway::Inner;
use crate::request::{LogLevel, Request};
use crate::results::OtherShelves;
use crate::snapshot::Snapshot;

/// The far side of the gate, for transports that have made sure that a replica asks.
pub struct Relay<'a> {
    pub(crate) inner: &'a Arc<Inner>,
}

impl Relay<'_> {
    /// Whether the server runs here, under the lease with this fence.
    pub async fn takes(&self, server: &ServerName, fence: i64) -> bool {
        match &self.inner.tenancy {
            Some(tenancy) => tenancy.takes(server, fence).await,
            None => false,
        }
    }

    /// Others may have what runs here.
    pub fn hand_over(&self) {
        if let Some(tenancy) = &self.inner.tenancy {
            tenancy.hand_over();
        }
    }

    /// Answers a request for the server itself.
    pub async fn answer(&self, server: &ServerName, request: Request) -> Result<Raw, RpcError> {
        let request = Request { relayed: true, ..request };
        self.inner.gate.relay(&self.snapshot(), server, &request).await.map_err(sent_back)
    }

    pub async fn notify(&self, server: &ServerName, method: &str, params: Option<Raw>) {
        self.inner.gate.relay_word(&self.snapshot(), server, method, params).await;
    }

    /// What the server says of itself, once it has.
    pub async fn manifest(&self, server: &ServerName) -> Result<Raw, RpcError> {
        self.inner.waiting.heard_of(&BTreeSet::from([server.clone()])).await;
        let manifest = self.snapshot().source(server).and_then(|source| source.manifest());
        let manifest = manifest.ok_or_else(|| RpcError::internal("The server has not said yet what it offers."))?;
        Ok(Object::new().with(MANIFEST, &*manifest).to_raw())
    }

    /// Watches a resource of the server until the answer is dropped.
    pub async fn watch(&self, server: &ServerName, uri: &str, request: &Request) -> Result<Watch, RpcError> {
        self.inner.gate.relay_watch(&self.snapshot(), server, uri, request).await.map_err(sent_back)
    }

    pub fn set_log_level(&self, server: &ServerName, level: LogLevel) {
        self.inner.gate.relay_log_level(&self.snapshot(), server, level.as_str());
    }

    /// How to ask the other replicas for results that they keep.
    pub fn ask_for_results(&self, others: Arc<dyn OtherShelves>) {
        self.inner.results.ask(others);
    }

    /// A result that is kept here for somebody.
    pub async fn kept(&self, principal: &Principal, handle: &str) -> Option<Shelved> {
        let config = self.snapshot().config.clone();
        self.inner.results.get_here(&config, principal, &Handle::spelled(handle)).await
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.snapshot.load_full()
    }
}
