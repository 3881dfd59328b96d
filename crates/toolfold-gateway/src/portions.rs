//! The shares of a snapshot that somebody has asked for, and which of them are kept.
//!
//! What a reader would get wrong: a bound on their number alone would be too low for a team of hundreds with rules for each, and
//! too high for a catalog of twenty thousand tools. What is bounded is what they hold.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use toolfold_access::Rights;

use crate::snapshot::Snapshot;

/// So many are kept whatever they hold, and made anew for another snapshot before somebody asks.
const FEW: usize = 64;
/// Entries of all of them together, beyond which no more than those are kept: a share has about a kilobyte for each.
const ENTRIES: usize = 400_000;
const MOST: usize = 4_096;

#[derive(Default)]
pub(crate) struct Portions {
    ready: ArcSwap<HashMap<Rights, Arc<Ready>>>,
    /// Held while one is built: whoever wants one that is not there waits, instead of building it too or taking the cores from it.
    building: Mutex<()>,
    /// How often somebody has asked.
    asked: AtomicU64,
}

struct Ready {
    share: Arc<Snapshot>,
    /// When somebody last asked for it, counted in questions.
    last: AtomicU64,
}

impl Portions {
    pub(crate) fn find(&self, rights: &Rights) -> Option<Arc<Snapshot>> {
        let ready = self.ready.load();
        let found = ready.get(rights)?;
        found.last.store(self.asked.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        Some(found.share.clone())
    }

    /// The share for these rights, built now where there is none.
    pub(crate) fn get(&self, rights: &Rights, build: impl FnOnce() -> Snapshot) -> Arc<Snapshot> {
        if let Some(share) = self.find(rights) {
            return share;
        }
        let _building = self.building.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = self.find(rights) {
            return share;
        }
        let share = Arc::new(build());
        self.keep(rights, share.clone());
        share
    }

    /// One that is like this.
    pub(crate) fn alike(&self, is_like: impl Fn(&Snapshot) -> bool) -> Option<Arc<Snapshot>> {
        self.ready.load().values().find(|ready| is_like(&ready.share)).map(|ready| ready.share.clone())
    }

    /// Those that were asked for last, in that order: as many as are worth building before somebody asks.
    pub(crate) fn recent(&self) -> Vec<Rights> {
        let ready = self.ready.load();
        let mut all: Vec<_> = ready.iter().collect();
        all.sort_by_key(|(_, ready)| Reverse(ready.last.load(Ordering::Relaxed)));
        all.into_iter().take(FEW).map(|(rights, _)| rights.clone()).collect()
    }

    /// Those of another snapshot, each as `change` has it, and as recently asked for as there.
    pub(crate) fn take_over(&self, before: &Portions, change: impl Fn(&Snapshot) -> Option<Snapshot>) {
        let known = before.ready.load();
        let taken = known.iter().filter_map(|(rights, ready)| {
            let last = AtomicU64::new(ready.last.load(Ordering::Relaxed));
            Some((rights.clone(), Arc::new(Ready { share: Arc::new(change(&ready.share)?), last })))
        });
        self.ready.store(Arc::new(taken.collect()));
        self.asked.store(before.asked.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Whoever has been asked for longest ago goes where there is no room.
    fn keep(&self, rights: &Rights, share: Arc<Snapshot>) {
        let mut all = HashMap::clone(&self.ready.load());
        let mut held: usize = share.catalog.len() + all.values().map(|ready| ready.share.catalog.len()).sum::<usize>();
        while all.len() >= MOST || (all.len() >= FEW && held > ENTRIES) {
            let oldest = all.iter().min_by_key(|(_, ready)| ready.last.load(Ordering::Relaxed));
            let Some(oldest) = oldest.map(|(rights, _)| rights.clone()) else { break };
            held -= all.remove(&oldest).map_or(0, |ready| ready.share.catalog.len());
        }
        let last = AtomicU64::new(self.asked.fetch_add(1, Ordering::Relaxed));
        all.insert(rights.clone(), Arc::new(Ready { share, last }));
        self.ready.store(Arc::new(all));
    }
}
