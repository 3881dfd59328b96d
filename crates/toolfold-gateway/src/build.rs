//! The next snapshot, out of what is known of the servers. Done aside: with many thousand tools it takes a while, and
//! meanwhile everybody is answered from the one there is.

use std::sync::Arc;

use toolfold_catalog::{Catalog, ServerTools};
use toolfold_config::Config;
use toolfold_core::{Absent, ServerName, ToolId};
use toolfold_upstream::Manifest;

use crate::change::Change;
use crate::claims::Claims;
use crate::gate::Source;
use crate::offers::Offers;
use crate::snapshot::{Built, Offerer, Snapshot};
use crate::trust::{Held, Quarantine};

/// Everything that a snapshot is built from, shared with whoever else holds it.
pub(crate) struct Plan {
    pub(crate) number: u64,
    pub(crate) config: Arc<Config>,
    pub(crate) servers: Vec<Part>,
    pub(crate) used: Vec<ToolId>,
    pub(crate) absent: Vec<Absent>,
    pub(crate) before: Arc<Snapshot>,
}

/// One server's part in it.
pub(crate) struct Part {
    pub(crate) name: ServerName,
    pub(crate) source: Source,
    pub(crate) prefix: bool,
    pub(crate) tools: Option<Arc<ServerTools>>,
    pub(crate) manifest: Option<Arc<Manifest>>,
    pub(crate) held: Vec<Arc<Held>>,
    pub(crate) review: Vec<String>,
}

impl Plan {
    /// The snapshot, and what clients must be told of it.
    pub(crate) fn build(self, claims: &Claims) -> (Arc<Snapshot>, Vec<Change>) {
        let tools = self.servers.iter().filter_map(|part| part.tools.clone());
        let catalog = Catalog::merge_beside(self.number, tools, toolfold_disclosure::is_reserved);
        let index = self.before.index.update(&catalog);
        let placement = self.before.placement.update(&self.config.nodes, &catalog, &index);
        let catalog = placement.apply(catalog);
        let parts = self.servers.iter().filter_map(|part| {
            let manifest = part.manifest.clone()?;
            Some(Offerer { server: part.name.clone(), prefix: part.prefix, manifest })
        });
        let parts: Vec<Offerer> = parts.collect();
        let offers = Offers::merge(parts.iter().map(Offerer::offering).collect(), claims);
        // Kept where somebody may see less than all, and then has to be told anew whose each address is.
        let claims = if self.config.rules.is_empty() { Claims::default() } else { claims.clone() };
        let sources = self.servers.iter().map(|part| (part.name.clone(), part.source.clone())).collect();
        let held = self.servers.iter().flat_map(|part| part.held.iter().cloned()).collect();
        let review = |part: &Part| part.review.iter().map(|id| (part.name.clone(), id.clone())).collect::<Vec<_>>();
        let review = self.servers.iter().flat_map(review).collect();
        let quarantine = Quarantine::of(held, review);
        let built =
            Built { config: self.config, catalog, index, placement, offers, parts, claims, sources, quarantine };
        let next = Arc::new(Snapshot::new(built, &self.used, self.absent));
        next.prepare(&self.before);
        let changes = Change::between(&self.before, &next);
        (next, changes)
    }
}
