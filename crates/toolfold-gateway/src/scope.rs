//! What exists for one client: a snapshot, and what the client has of it. Surfaces, REST, the command line and embedding
//! see the catalog through this alone, so that a scope can be narrower than the catalog without any of them knowing.

use std::sync::Arc;

use toolfold_config::Config;
use toolfold_core::ServerName;
use toolfold_disclosure::View;
use toolfold_index::Learned;

use crate::learning::Learning;
use crate::request::Client;
use crate::snapshot::Snapshot;

/// One snapshot as one client sees it. Whoever holds it sees the same for as long as they do.
#[derive(Clone)]
pub struct Scope {
    pub(crate) snapshot: Arc<Snapshot>,
    learned: Arc<Learned>,
    loaded: Vec<usize>,
    session: bool,
}

impl Scope {
    pub(crate) fn new(snapshot: Arc<Snapshot>, learned: Arc<Learned>, client: &Client) -> Self {
        let loaded = snapshot.positions(&client.loaded());
        Scope { snapshot, learned, loaded, session: client.has_session() }
    }

    /// With what was learned from those who see the same.
    pub(crate) fn seen_by(snapshot: Arc<Snapshot>, learning: &Learning, client: &Client) -> Self {
        let learned = learning.learned(&snapshot);
        Scope::new(snapshot, learned, client)
    }

    pub fn view(&self) -> View<'_> {
        self.snapshot.view(self.session, &self.loaded).having_learned(&self.learned)
    }

    /// Whether a server exists for this client.
    pub fn sees(&self, server: &ServerName) -> bool {
        self.snapshot.is_seen(server)
    }

    pub fn config(&self) -> &Config {
        &self.snapshot.config
    }
}
