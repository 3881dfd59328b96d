//! What every request is answered from: a catalog, its index, and what hangs on them. A request takes one snapshot at
//! the top and never a second one; the servers it may call are part of it, so that one which is being replaced lives
//! until the last call to it has ended.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use toolfold_catalog::Catalog;
use toolfold_core::{ServerName, Surface};
use toolfold_disclosure::{View, tools};
use toolfold_index::Index;
use toolfold_wire::{Object, Raw, raw};

use crate::change::Change;
use crate::offers::Offers;
use crate::source::Source;

pub struct Snapshot {
    pub catalog: Catalog,
    pub index: Index,
    /// Positions of the pinned tools in the catalog.
    pub pins: Vec<usize>,
    pub budget: usize,
    pub(crate) offers: Offers,
    pub(crate) sources: BTreeMap<ServerName, Source>,
    lists: [OnceLock<Raw>; Surface::ALL.len()],
}

impl Snapshot {
    pub(crate) fn new(
        catalog: Catalog,
        index: Index,
        pin: &[String],
        budget: usize,
        offers: Offers,
        sources: BTreeMap<ServerName, Source>,
    ) -> Self {
        let found = pin.iter().filter_map(|spelling| catalog.resolve(spelling).ok());
        let pins = found.filter(|position| catalog.entry(*position).is_tool()).collect();
        Snapshot { catalog, index, pins, budget, offers, sources, lists: Default::default() }
    }

    pub(crate) fn empty(budget: usize) -> Self {
        let catalog = Catalog::empty();
        let index = Index::build(&catalog);
        Snapshot::new(catalog, index, &[], budget, Offers::default(), BTreeMap::new())
    }

    pub fn view(&self) -> View<'_> {
        View { catalog: &self.catalog, index: &self.index, pins: &self.pins, budget: self.budget }
    }

    /// The result of `tools/list`, rendered once per surface and snapshot.
    pub fn tool_list(&self, surface: Surface) -> Raw {
        let slot = Surface::ALL.iter().position(|known| *known == surface).unwrap_or(0);
        self.lists[slot].get_or_init(|| raw(&Object::new().with("tools", &tools(surface, &self.view())))).clone()
    }

    /// What clients of the snapshot before must be told.
    pub(crate) fn changes_since(&self, before: &Snapshot) -> Vec<Change> {
        let mut changes = Vec::new();
        let pinned = |snapshot: &Snapshot| -> Vec<_> {
            snapshot.pins.iter().map(|&pin| snapshot.catalog.entries()[pin].definition.get().to_owned()).collect()
        };
        if self.direct_list_differs(before) {
            changes.push(Change::Tools { pinned: pinned(self) != pinned(before) });
        }
        if self.offers.prompts != before.offers.prompts {
            changes.push(Change::Prompts);
        }
        if self.offers.resources != before.offers.resources || self.offers.templates != before.offers.templates {
            changes.push(Change::Resources);
        }
        changes
    }

    /// Whether any definition or exposed name differs. Entries are shared between snapshots, so most comparisons are
    /// of two equal pointers.
    fn direct_list_differs(&self, before: &Snapshot) -> bool {
        let tools = |snapshot: &Snapshot| -> Vec<usize> {
            (0..snapshot.catalog.len()).filter(|place| snapshot.catalog.entry(*place).is_tool()).collect()
        };
        let (new, old) = (tools(self), tools(before));
        let differ = |(new, old): (&usize, &usize)| {
            let (a, b) = (&self.catalog.entry(*new).definition, &before.catalog.entry(*old).definition);
            let same = Arc::ptr_eq(a, b) || a.get() == b.get();
            !same || self.catalog.exposed(*new) != before.catalog.exposed(*old)
        };
        new.len() != old.len() || new.iter().zip(&old).any(differ)
    }
}
