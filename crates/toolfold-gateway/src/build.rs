//! The next snapshot, out of what is known of the servers. Done aside: with many thousand tools it takes a while, and
//! meanwhile everybody is answered from the one there is.

use std::sync::Arc;

use toolfold_catalog::{Catalog, ServerTools};
use toolfold_config::Config;
use toolfold_core::{Absent, ServerName, ToolId};
use toolfold_disclosure::is_reserved_beside;
use toolfold_upstream::Manifest;

use crate::change::Change;
use crate::claims::{Claimant, Claims};
use crate::gate::Source;
use crate::offers::{Offers, claimed};
use crate::snapshot::{Built, Failing, Offerer, Snapshot};
use crate::trust::{Held, Quarantine};

/// Everything that a snapshot is built from, shared with whoever else holds it.
pub(crate) struct Plan {
    pub(crate) number: u64,
    pub(crate) config: Arc<Config>,
    pub(crate) servers: Vec<Part>,
    pub(crate) used: Vec<ToolId>,
    pub(crate) absent: Vec<Absent>,
    pub(crate) failing: Failing,
    pub(crate) before: Arc<Snapshot>,
    pub(crate) claims: Claims,
    /// Who came at once with whom, for the question who had an address first.
    pub(crate) wave: u64,
}

/// What came of it.
pub(crate) struct Finished {
    pub(crate) next: Arc<Snapshot>,
    /// What clients must be told.
    pub(crate) changes: Vec<Change>,
    pub(crate) claims: Claims,
    /// Addresses that a server named and another had already.
    pub(crate) late: Vec<(ServerName, String)>,
}

/// One server's part in it.
pub(crate) struct Part {
    pub(crate) name: ServerName,
    pub(crate) source: Source,
    pub(crate) prefix: bool,
    pub(crate) tools: Option<Arc<ServerTools>>,
    /// What serves of its list.
    pub(crate) manifest: Option<Arc<Manifest>>,
    /// What it said, all of it.
    pub(crate) listed: Option<Arc<Manifest>>,
    pub(crate) held: Vec<Arc<Held>>,
    pub(crate) review: Vec<String>,
}

impl Plan {
    pub(crate) fn build(mut self) -> Finished {
        let late = self.settle_claims();
        let tools = self.servers.iter().filter_map(|part| part.tools.clone());
        let catalog = Catalog::merge_beside(self.number, tools, |name| is_reserved_beside(&self.config.doors, name));
        let index = self.before.index.update(&catalog);
        let placement = self.before.placement.update(&self.config.nodes, &catalog, &index);
        let catalog = placement.apply(catalog);
        let parts = self.servers.iter().filter_map(|part| {
            let manifest = part.manifest.clone()?;
            Some(Offerer { server: part.name.clone(), prefix: part.prefix, manifest })
        });
        let parts: Vec<Offerer> = parts.collect();
        let names = self.servers.iter().map(|part| &part.name).chain(self.config.unusable.keys());
        let offers =
            Offers::merge(parts.iter().map(Offerer::offering).collect(), &self.claims, names.cloned().collect());
        // Kept where somebody may see less than all, and then has to be told anew whose each address is.
        let claims = if self.config.rules.is_empty() { Claims::default() } else { self.claims.clone() };
        let sources = self.servers.iter().map(|part| (part.name.clone(), part.source.clone())).collect();
        let held = self.servers.iter().flat_map(|part| part.held.iter().cloned()).collect();
        let review = |part: &Part| part.review.iter().map(|id| (part.name.clone(), id.clone())).collect::<Vec<_>>();
        let review = self.servers.iter().flat_map(review).collect();
        let quarantine = Quarantine::of(held, review);
        let built =
            Built { config: self.config, catalog, index, placement, offers, parts, claims, sources, quarantine };
        let next = Arc::new(Snapshot::new(built, &self.used, (self.absent, self.failing)));
        next.prepare(&self.before);
        let changes = Change::between(&self.before, &next);
        Finished { next, changes, claims: self.claims, late }
    }

    /// Whose each address is.
    fn settle_claims(&mut self) -> Vec<(ServerName, String)> {
        let claimants: Vec<Claimant<'_>> = self.servers.iter().filter_map(claimant).collect();
        self.claims.update(&claimants, self.wave)
    }
}

/// What a server says it has.
fn claimant(part: &Part) -> Option<Claimant<'_>> {
    let (served, listed) = (part.manifest.as_ref()?, part.listed.as_ref()?);
    Some(Claimant { server: &part.name, addresses: claimed(served, part.prefix), second: &listed.second })
}
