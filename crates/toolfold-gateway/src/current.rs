//! The newest snapshot, and what of it exists for whom. It is swapped as a whole: whoever took one keeps it.

use std::ops::Deref;
use std::sync::Arc;

use arc_swap::ArcSwap;
use toolfold_access::Rights;
use toolfold_core::Principal;

use crate::call::beside;
use crate::snapshot::Snapshot;

pub(crate) struct Current(ArcSwap<Snapshot>);

impl Current {
    pub(crate) fn new(first: Snapshot) -> Self {
        Current(ArcSwap::from_pointee(first))
    }

    /// What exists for somebody, now.
    pub(crate) fn seen(&self, principal: &Principal) -> Arc<Snapshot> {
        let snapshot = self.load_full();
        if snapshot.rules.is_empty() {
            return snapshot;
        }
        beside(!snapshot.is_ready_for(principal), || snapshot.seen_by(principal))
    }

    /// The rights of somebody who may not see whatever there is.
    pub(crate) fn limited(&self, principal: &Principal) -> Option<Rights> {
        let snapshot = self.load();
        snapshot.rules.rights(principal).filter(|rights| !snapshot.rules.sees_everything(rights))
    }
}

impl Deref for Current {
    type Target = ArcSwap<Snapshot>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
