//! What every request is answered from: a catalog, its index, the configuration, and what hangs on them. A request takes
//! one snapshot at the top, and another in its place only where it had to wait for a server; the servers it may call are part of
//! it, so that one which is being replaced lives until the last call to it has ended.
//!
//! What a reader would get wrong: nobody outside of this crate sees one. They see a [`Scope`](crate::Scope) of it, which is
//! what exists for whoever asks.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use toolfold_access::{Extent, Grant, Reason, Rules};
use toolfold_catalog::Catalog;
use toolfold_config::Config;
use toolfold_core::{Absent, Doors, Entry, Groups, ServerName, Surface, ToolId};
use toolfold_disclosure::{View, tokens, tools};
use toolfold_index::{Index, Placement};
use toolfold_upstream::Manifest;
use toolfold_wire::{Object, Raw, raw};

use crate::change::Change;
use crate::claims::Claims;
use crate::gate::Source;
use crate::offers::Offers;
use crate::portions::Portions;
use crate::share::Portion;
use crate::trust::{Held, Quarantine};
use crate::usage::{MOST_PINNED, MOST_TOKENS};

/// Everything is shared with the snapshots before and after it: what did not change is not built again.
#[derive(Clone)]
pub(crate) struct Snapshot {
    pub(crate) config: Arc<Config>,
    pub(crate) rules: Rules,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) index: Arc<Index>,
    /// How the catalog's capabilities came about: what the next snapshot need not find out again.
    pub(crate) placement: Arc<Placement>,
    pub(crate) offers: Arc<Offers>,
    /// What those are made of.
    pub(crate) parts: Arc<[Offerer]>,
    pub(crate) claims: Arc<Claims>,
    sources: Arc<BTreeMap<ServerName, Source>>,
    /// What is there and not served.
    pub(crate) quarantine: Arc<Quarantine>,
    /// Servers that are configured and have nothing in the catalog.
    pub(crate) absent: Arc<[Absent]>,
    pub(crate) failing: Failing,
    /// Meta-tools that call only some tools; of servers that exist here.
    pub(crate) doors: Arc<Doors>,
    /// Positions of the pinned tools in the catalog, and what was called most.
    pins: Arc<[usize]>,
    used: Arc<[ToolId]>,
    /// Rendered once for whoever has loaded nothing; for each surface without sessions and with.
    lists: Arc<[[OnceLock<Raw>; 2]; Surface::ALL.len()]>,
    /// What it is a share of, where it is not the whole.
    pub(crate) share: Option<Portion>,
    pub(crate) shares: Arc<Portions>,
}

/// Why servers failed the last time that they were tried, those included whose tools are remembered and found all the same.
pub(crate) type Failing = Arc<BTreeMap<ServerName, String>>;

/// What a server said it offers beside tools.
#[derive(Clone)]
pub(crate) struct Offerer {
    pub(crate) server: ServerName,
    pub(crate) prefix: bool,
    pub(crate) manifest: Arc<Manifest>,
}

/// What the writer has built and a snapshot is made of.
pub(crate) struct Built {
    pub(crate) config: Arc<Config>,
    pub(crate) catalog: Catalog,
    pub(crate) index: Index,
    pub(crate) placement: Placement,
    pub(crate) offers: Offers,
    pub(crate) parts: Vec<Offerer>,
    pub(crate) claims: Claims,
    pub(crate) sources: BTreeMap<ServerName, Source>,
    pub(crate) quarantine: Quarantine,
}

impl Snapshot {
    pub(crate) fn new(built: Built, used: &[ToolId], (absent, failing): (Vec<Absent>, Failing)) -> Self {
        let Built { config, catalog, index, placement, offers, parts, claims, sources, quarantine } = built;
        Snapshot {
            doors: Arc::new(config.doors.clone()),
            pins: pins(&catalog, &config, used).into(),
            used: used.into(),
            rules: Rules::new(config.rules.clone()),
            config,
            catalog: Arc::new(catalog),
            index: Arc::new(index),
            placement: Arc::new(placement),
            offers: Arc::new(offers),
            parts: parts.into(),
            claims: Arc::new(claims),
            sources: Arc::new(sources),
            quarantine: Arc::new(quarantine),
            absent: absent.into(),
            failing,
            lists: Arc::default(),
            share: None,
            shares: Arc::default(),
        }
    }

    /// A share of this one: what hangs on the catalog is that of the share.
    pub(crate) fn narrowed_to(
        &self,
        share: Portion,
        (catalog, index, placement): (Arc<Catalog>, Arc<Index>, Arc<Placement>),
        (parts, claims, offers): (Vec<Offerer>, Claims, Offers),
        quarantine: Quarantine,
        doors: Doors,
    ) -> Snapshot {
        let sources = self.sources.iter().filter(|(name, _)| share.has(name));
        let absent = self.absent.iter().filter(|absent| share.has(&absent.server));
        Snapshot {
            doors: Arc::new(doors),
            pins: pins(&catalog, &self.config, &self.used).into(),
            used: self.used.clone(),
            config: self.config.clone(),
            rules: self.rules.clone(),
            offers: Arc::new(offers),
            parts: parts.into(),
            claims: Arc::new(claims),
            sources: Arc::new(sources.map(|(name, source)| (name.clone(), source.clone())).collect()),
            quarantine: Arc::new(quarantine),
            absent: absent.cloned().collect(),
            failing: self.failing.clone(),
            catalog,
            index,
            placement,
            lists: Arc::default(),
            share: Some(share),
            shares: Arc::default(),
        }
    }

    /// Before anything is known.
    pub(crate) fn empty(config: Config, sources: BTreeMap<ServerName, Source>) -> Self {
        let catalog = Catalog::empty();
        let index = Index::build(&catalog);
        let (placement, offers) = (Placement::default(), Offers::default());
        let quarantine = Quarantine::default();
        let (parts, claims) = (Vec::new(), Claims::default());
        let config = Arc::new(config);
        let built = Built { config, catalog, index, placement, offers, parts, claims, sources, quarantine };
        Snapshot::new(built, &[], Default::default())
    }

    /// The same with other servers missing.
    pub(crate) fn missing(&self, absent: Vec<Absent>, failing: Failing) -> Arc<Self> {
        let shares = Arc::default();
        let next = Arc::new(Snapshot { absent: absent.into(), failing, shares, ..self.clone() });
        next.take_over_shares(self);
        next
    }

    /// The same share of another whole, which differs in what is missing.
    pub(crate) fn missing_of(&self, whole: &Arc<Snapshot>) -> Option<Snapshot> {
        let share = self.share.as_ref()?.of(whole);
        let absent = whole.absent.iter().filter(|absent| share.has(&absent.server)).cloned().collect();
        Some(Snapshot { absent, failing: whole.failing.clone(), share: Some(share), ..self.clone() })
    }

    /// The same with another index of the same catalog.
    pub(crate) fn searched_by(&self, index: Index) -> Self {
        Snapshot { index: Arc::new(index), shares: Arc::default(), ..self.clone() }
    }

    pub(crate) fn view<'a>(&'a self, session: bool, loaded: &'a [usize]) -> View<'a> {
        View::new(&self.catalog, &self.index, self.config.budget)
            .pinned(&self.pins)
            .having_loaded(loaded)
            .in_session(session)
            .with_settings(self.config.settings)
            .preferring(&self.config.prefer)
            .with_doors(&self.doors)
            .missing(&self.absent)
            .reading_with(crate::reader::reader(&self.config))
            .without(&*self.quarantine)
    }

    pub(crate) fn source(&self, server: &ServerName) -> Option<&Source> {
        self.sources.get(server)
    }

    pub(crate) fn sources(&self) -> impl Iterator<Item = (&ServerName, &Source)> {
        self.sources.iter()
    }

    /// What is held that has this address, whosever it is. An address that a rule forbids by itself does not exist, whatever
    /// template could have made it.
    pub(crate) fn held_address(&self, uri: &str) -> Option<&Held> {
        let forbidden = |grant: Grant| grant.level == Extent::Nothing && matches!(grant.reason, Reason::Rule(_));
        self.quarantine.address(uri, |server, uri| !forbidden(self.decision_on_resource(server, uri)))
    }

    /// By whatever name: what was forbidden stays so when it is renamed.
    pub(crate) fn forbids(&self, entry: &Entry) -> bool {
        let names = || entry.aliases.iter().map(String::as_str).chain([entry.name()]);
        let server = self.config.servers.get(entry.server());
        server.is_some_and(|server| server.forbid.iter().any(|pattern| names().any(|name| pattern.matches(name))))
    }

    /// Whether its server's own `forbid` is why an entry may not be called.
    pub(crate) fn forbids_any(&self, entry: Option<&Arc<Entry>>) -> bool {
        entry.is_some_and(|entry| self.forbids(entry))
    }

    /// Whether it is in every list.
    pub(crate) fn is_pinned(&self, entry: &Entry) -> bool {
        self.pins.iter().any(|&pin| self.catalog.entry(pin).id == entry.id)
    }

    /// Where these tools are, those that are still there.
    pub(crate) fn positions(&self, ids: &[ToolId]) -> Vec<usize> {
        ids.iter().filter_map(|id| self.catalog.position(id)).collect()
    }

    /// The result of `tools/list`.
    pub(crate) fn tool_list(&self, surface: Surface, session: bool, loaded: &[ToolId]) -> Raw {
        let list = |loaded: &[usize]| raw(&Object::new().with("tools", &tools(surface, &self.view(session, loaded))));
        if !loaded.is_empty() {
            return list(&self.positions(loaded));
        }
        let slot = Surface::ALL.iter().position(|known| *known == surface).unwrap_or(0);
        self.lists[slot][usize::from(session)].get_or_init(|| list(&[])).clone()
    }

    /// Whether a tool list of this surface says the same whatever is in the catalog.
    pub(crate) fn has_fixed_list(&self, surface: Surface) -> bool {
        let split = surface == Surface::Levels && self.config.settings.groups == Groups::Split;
        // Whether a server exists for somebody may hang on what it has.
        let doors = self.share.is_some() && !self.config.doors.servers.is_empty();
        surface != Surface::Direct && !split && !doors && self.config.pin.is_empty() && !self.config.pin_used
    }

    /// What clients of the snapshot before must be told.
    pub(crate) fn changes_since(&self, before: &Snapshot) -> Vec<Change> {
        let mut changes = Vec::new();
        let pinned = |snapshot: &Snapshot| -> Vec<_> {
            snapshot.pins.iter().map(|&pin| snapshot.catalog.entry(pin).definition.clone()).collect()
        };
        let own = self.split_servers() != before.split_servers() || self.doors != before.doors;
        let pinned = own || pinned(self) != pinned(before);
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
        let split = self.config.settings.groups == Groups::Split;
        self.catalog.servers().iter().filter(|_| split).map(|server| &server.name).collect()
    }

    /// Whether any definition or exposed name differs.
    fn direct_list_differs(&self, before: &Snapshot) -> bool {
        let tools = |snapshot: &Snapshot| -> Vec<usize> {
            (0..snapshot.catalog.len()).filter(|place| snapshot.catalog.entry(*place).is_tool()).collect()
        };
        let (new, old) = (tools(self), tools(before));
        let differ = |(new, old): (&usize, &usize)| {
            let (a, b) = (self.catalog.entry(*new), before.catalog.entry(*old));
            // Entries are shared between catalogs, so most comparisons are of two equal pointers.
            let same = Arc::ptr_eq(a, b) || a.definition == b.definition;
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
