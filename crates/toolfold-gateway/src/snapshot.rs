//! What every request is answered from: a catalog, its index, and what hangs on them. A request takes one snapshot at
//! the top and never a second one; the servers it may call are part of it, so that one which is being replaced lives
//! until the last call to it has ended.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use toolfold_catalog::Catalog;
use toolfold_config::Config;
use toolfold_core::{Groups, ServerName, Surface, SurfaceSettings, ToolId};
use toolfold_disclosure::{View, tokens, tools};
use toolfold_index::{Index, Placement};
use toolfold_wire::{Object, Raw, raw};

use crate::change::Change;
use crate::offers::Offers;
use crate::source::Source;
use crate::usage::{MOST_PINNED, MOST_TOKENS};

pub struct Snapshot {
    pub catalog: Catalog,
    pub index: Index,
    /// How the catalog's capabilities came about: what the next snapshot need not find out again.
    pub(crate) placement: Placement,
    /// Positions of the pinned tools in the catalog.
    pub pins: Vec<usize>,
    pub budget: usize,
    pub settings: SurfaceSettings,
    pub(crate) offers: Offers,
    pub(crate) sources: BTreeMap<ServerName, Source>,
    /// For each surface: without sessions and with.
    lists: [[OnceLock<Raw>; 2]; Surface::ALL.len()],
}

impl Snapshot {
    pub(crate) fn new(
        catalog: Catalog,
        index: Index,
        placement: Placement,
        config: &Config,
        used: &[ToolId],
        offers: Offers,
        sources: BTreeMap<ServerName, Source>,
    ) -> Self {
        let pins = pins(&catalog, config, used);
        let (budget, settings) = (config.budget, config.settings);
        Snapshot { catalog, index, placement, pins, budget, settings, offers, sources, lists: Default::default() }
    }

    pub(crate) fn empty(config: &Config) -> Self {
        let catalog = Catalog::empty();
        let index = Index::build(&catalog);
        Snapshot::new(catalog, index, Placement::default(), config, &[], Offers::default(), BTreeMap::new())
    }

    pub fn view(&self) -> View<'_> {
        self.view_of(false, &[])
    }

    /// The view of a client that has loaded these.
    pub fn view_of<'a>(&'a self, session: bool, loaded: &'a [usize]) -> View<'a> {
        View::new(&self.catalog, &self.index, self.budget)
            .pinned(&self.pins)
            .having_loaded(loaded)
            .in_session(session)
            .with_settings(self.settings)
    }

    /// Where these tools are, those that are still there.
    pub(crate) fn positions(&self, ids: &[ToolId]) -> Vec<usize> {
        ids.iter().filter_map(|id| self.catalog.position(id)).collect()
    }

    /// The result of `tools/list`: rendered once per surface and snapshot for whoever has loaded nothing.
    pub fn tool_list(&self, surface: Surface, session: bool, loaded: &[ToolId]) -> Raw {
        let list =
            |loaded: &[usize]| raw(&Object::new().with("tools", &tools(surface, &self.view_of(session, loaded))));
        if !loaded.is_empty() {
            return list(&self.positions(loaded));
        }
        let slot = Surface::ALL.iter().position(|known| *known == surface).unwrap_or(0);
        self.lists[slot][usize::from(session)].get_or_init(|| list(&[])).clone()
    }

    /// What clients of the snapshot before must be told.
    pub(crate) fn changes_since(&self, before: &Snapshot) -> Vec<Change> {
        let mut changes = Vec::new();
        let pinned = |snapshot: &Snapshot| -> Vec<_> {
            snapshot.pins.iter().map(|&pin| snapshot.catalog.entries()[pin].definition.get().to_owned()).collect()
        };
        let pinned = pinned(self) != pinned(before) || self.split_servers() != before.split_servers();
        if pinned || self.direct_list_differs(before) {
            changes.push(Change::Tools { pinned });
        }
        if self.offers.prompts != before.offers.prompts {
            changes.push(Change::Prompts);
        }
        if self.offers.resources != before.offers.resources || self.offers.templates != before.offers.templates {
            changes.push(Change::Resources);
        }
        changes
    }

    /// The servers that are themselves part of a tool list.
    fn split_servers(&self) -> Vec<&ServerName> {
        let split = self.settings.groups == Groups::Split;
        self.catalog.servers().iter().filter(|_| split).map(|server| &server.name).collect()
    }

    /// Whether any definition or exposed name differs.
    fn direct_list_differs(&self, before: &Snapshot) -> bool {
        let tools = |snapshot: &Snapshot| -> Vec<usize> {
            (0..snapshot.catalog.len()).filter(|place| snapshot.catalog.entry(*place).is_tool()).collect()
        };
        let (new, old) = (tools(self), tools(before));
        let differ = |(new, old): (&usize, &usize)| {
            let (a, b) = (&self.catalog.entry(*new).definition, &before.catalog.entry(*old).definition);
            let same = a.get() == b.get();
            !same || self.catalog.exposed(*new) != before.catalog.exposed(*old)
        };
        new.len() != old.len() || new.iter().zip(&old).any(differ)
    }
}

/// The tools that are pinned by name, then those by use for which there is room. Each once, however it is spelled.
fn pins(catalog: &Catalog, config: &Config, used: &[ToolId]) -> Vec<usize> {
    let mut pins: Vec<usize> = Vec::new();
    let named = config.pin.iter().filter_map(|spelling| catalog.resolve(spelling).ok());
    for pin in named.filter(|position| catalog.entry(*position).is_tool()) {
        if !pins.contains(&pin) {
            pins.push(pin);
        }
    }
    let (most, mut left) = (pins.len() + MOST_PINNED, MOST_TOKENS);
    for pin in used.iter().filter(|_| config.pin_used).filter_map(|id| catalog.position(id)) {
        let cost = tokens::count(catalog.entry(pin).definition.get());
        if pins.len() < most && cost <= left && !pins.contains(&pin) {
            left -= cost;
            pins.push(pin);
        }
    }
    pins
}
