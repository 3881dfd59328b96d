//! What exists for one set of rights: a snapshot of its own, out of the part of the whole one that may be seen.
//!
//! What a reader would get wrong: this is no filter in front of the whole. A share has its own catalog and index, built as
//! if the rest were not there, so that nothing in an answer can tell of it: not how rare a word is, not how a tool's name
//! had to be cut, not which node is empty, nor whose an address is. What takes time in that was done for the whole: entries
//! are analysed once, servers that are seen whole are placed once.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

use toolfold_access::{Extent, Grant, Rights, Subject};
use toolfold_catalog::{Catalog, ServerTools};
use toolfold_core::{Doors, Entry, Kind, Principal, RiskClass, ServerName};
use toolfold_disclosure::is_reserved_beside;
use toolfold_index::{Index, Placement};
use toolfold_trust::What;
use toolfold_upstream::Manifest;
use toolfold_wire::{Object, Raw};

use crate::decisions::is_forbidden;
use crate::offers::{Offering, Offers, addresses, claimed};
use crate::snapshot::{Offerer, Snapshot};
use crate::trust::{Held, Quarantine};

/// What a snapshot is a share of.
#[derive(Clone)]
pub(crate) struct Portion {
    pub(crate) rights: Rights,
    /// Of every entry, by position.
    pub(crate) decisions: Arc<[Grant]>,
    /// Servers that exist.
    pub(crate) servers: Arc<BTreeSet<ServerName>>,
    /// Positions in the whole of what is seen.
    seen: Arc<[u32]>,
    /// Templates of addresses that a rule forbids: so are the addresses that they make.
    pub(crate) shut: Arc<[(ServerName, String, Grant)]>,
    /// Of what it is a share. Weak: the whole keeps its shares.
    pub(crate) whole: Weak<Snapshot>,
}

impl Portion {
    pub(crate) fn has(&self, server: &ServerName) -> bool {
        self.servers.contains(server)
    }

    /// The same of another whole, with the same catalog.
    pub(crate) fn of(&self, whole: &Arc<Snapshot>) -> Portion {
        Portion { whole: Arc::downgrade(whole), ..self.clone() }
    }
}

impl Snapshot {
    /// Keeps the shares of one that differs in nothing but what is missing.
    pub(crate) fn take_over_shares(self: &Arc<Self>, before: &Snapshot) {
        self.shares.take_over(&before.shares, |share| share.missing_of(self));
    }

    /// Builds what those will ask for who have asked of the snapshot before, so that nobody waits for it.
    pub(crate) fn prepare(self: &Arc<Self>, before: &Snapshot) {
        if self.rules == before.rules {
            before.shares.recent().iter().for_each(|rights| drop(self.share(rights)));
        }
    }

    /// What of this exists for somebody. Takes a while where nobody with the same rights has asked before.
    pub(crate) fn seen_by(self: &Arc<Self>, principal: &Principal) -> Arc<Snapshot> {
        match self.rules.rights(principal) {
            None => self.clone(),
            Some(rights) => self.share(&rights),
        }
    }

    /// Whether [`Snapshot::seen_by`] takes no time.
    pub(crate) fn is_ready_for(&self, principal: &Principal) -> bool {
        self.rules.rights(principal).is_none_or(|rights| self.shares.find(&rights).is_some())
    }

    pub(crate) fn share(self: &Arc<Self>, rights: &Rights) -> Arc<Snapshot> {
        self.shares.get(rights, || self.narrowed(rights))
    }

    fn narrowed(self: &Arc<Self>, rights: &Rights) -> Snapshot {
        let decided = self.decided(rights);
        let sees = |entry: &Entry| {
            self.catalog.position(&entry.id).is_some_and(|position| decided[position].level > Extent::Nothing)
        };
        let servers: Vec<Arc<ServerTools>> =
            self.catalog.servers().iter().filter_map(|server| self.part_of(server, rights, &sees)).collect();
        let doors = self.doors_among(rights, &servers);
        let seen_at: Arc<[u32]> =
            (0u32..).zip(&decided).filter(|(_, grant)| grant.level > Extent::Nothing).map(|(at, _)| at).collect();
        let searched = self.searched(servers, &seen_at, &doors);
        let catalog = &searched.0;
        let positions: Vec<usize> =
            catalog.entries().iter().filter_map(|entry| self.catalog.position(&entry.id)).collect();
        let parts: Vec<Offerer> = self.parts.iter().filter_map(|part| self.part_offered(part, rights)).collect();
        let exists = |server: &ServerName| {
            let offers = || parts.iter().any(|part| part.server == *server && part.offers_something());
            catalog.server(server).is_some() || self.rules.sees_all_of(rights, server) || offers()
        };
        let all = self.sources().map(|(name, _)| name).chain(self.config.unusable.keys());
        let seen: BTreeSet<ServerName> = all.filter(|name| exists(name)).cloned().collect();
        let parts: Vec<Offerer> = parts.into_iter().filter(|part| seen.contains(&part.server)).collect();
        let claims = self.claims.among(parts.iter().map(|part| (&part.server, claimed(&part.manifest, part.prefix))));
        let offers = Offers::merge(parts.iter().map(Offerer::offering).collect(), &claims, seen.clone());
        let quarantine = self.quarantine_for(rights, catalog, &seen);
        let decisions: Arc<[Grant]> = positions.iter().map(|position| decided[*position]).collect();
        let share = Portion {
            rights: rights.clone(),
            decisions,
            servers: Arc::new(seen),
            seen: seen_at,
            shut: self.templates_shut(rights),
            whole: Arc::downgrade(self),
        };
        self.narrowed_to(share, searched, (parts, claims, offers), quarantine, doors)
    }

    /// The catalog of these servers and what searches it. Where nothing is left out, those of the whole; those of another share
    /// where that has the same, by whatever rules.
    fn searched(
        &self,
        servers: Vec<Arc<ServerTools>>,
        seen: &[u32],
        doors: &Doors,
    ) -> (Arc<Catalog>, Arc<Index>, Arc<Placement>) {
        let all = self.catalog.servers();
        if servers.len() == all.len() && servers.iter().zip(all).all(|(kept, whole)| Arc::ptr_eq(kept, whole)) {
            return (self.catalog.clone(), self.index.clone(), self.placement.clone());
        }
        let is_like = |other: &Snapshot| {
            let names =
                |servers: &[Arc<ServerTools>]| servers.iter().map(|server| server.name.clone()).collect::<Vec<_>>();
            other.share.as_ref().is_some_and(|share| *share.seen == *seen)
                && *other.doors == *doors
                && names(other.catalog.servers()) == names(&servers)
        };
        if let Some(other) = self.shares.alike(is_like) {
            return (other.catalog.clone(), other.index.clone(), other.placement.clone());
        }
        let catalog = Catalog::merge_beside(self.catalog.number(), servers, |name| is_reserved_beside(doors, name));
        let positions: Vec<usize> =
            catalog.entries().iter().filter_map(|entry| self.catalog.position(&entry.id)).collect();
        let index = self.index.part(&catalog, &positions);
        let placement = self.placement.update(&self.config.nodes, &catalog, &index);
        (Arc::new(placement.apply(catalog)), Arc::new(index), Arc::new(placement))
    }

    /// The doors to servers that have a tool here, or of which whatever they have would be seen.
    fn doors_among(&self, rights: &Rights, servers: &[Arc<ServerTools>]) -> Doors {
        let exists = |name: &&ServerName| {
            let has = servers.iter().any(|server| server.name == **name && server.entries.iter().any(|e| e.is_tool()));
            has || self.rules.sees_all_of(rights, name)
        };
        let Doors { by_risk, servers } = &self.config.doors;
        Doors { by_risk: *by_risk, servers: servers.iter().filter(exists).cloned().collect() }
    }

    /// What is left of a server; one without entries stays where all that it could have would be seen.
    fn part_of(
        &self,
        server: &Arc<ServerTools>,
        rights: &Rights,
        sees: &dyn Fn(&Entry) -> bool,
    ) -> Option<Arc<ServerTools>> {
        let empty = server.entries.is_empty() && server.offered.is_empty();
        if empty && !self.rules.sees_all_of(rights, &server.name) {
            return None;
        }
        server.only(sees)
    }

    fn part_offered(&self, part: &Offerer, rights: &Rights) -> Option<Offerer> {
        let sees = |kind: Kind, key: &str, raw: &Raw| {
            let name = Object::parse(raw).and_then(|object| object.string(key)).unwrap_or_default();
            self.rules.decide(rights, &Subject::offered(&part.server, kind, &name)).level > Extent::Nothing
        };
        let whole = &part.manifest;
        let kept = |all: &[Raw], kind: Kind, key: &str| -> Vec<Raw> {
            all.iter().filter(|raw| sees(kind, key, raw)).cloned().collect()
        };
        let prompts = kept(&whole.prompts, Kind::Prompt, "name");
        let resources = kept(&whole.resources, Kind::Resource, "uri");
        let templates = kept(&whole.templates, Kind::Resource, "uriTemplate");
        let lengths = (prompts.len(), resources.len(), templates.len());
        if lengths == (whole.prompts.len(), whole.resources.len(), whole.templates.len()) {
            return Some(part.clone());
        }
        let manifest = Arc::new(Manifest { prompts, resources, templates, ..Manifest::clone(whole) });
        Some(Offerer { manifest, ..part.clone() })
    }

    fn templates_shut(&self, rights: &Rights) -> Arc<[(ServerName, String, Grant)]> {
        let of = |part: &Offerer| {
            let templates = addresses(&part.manifest.templates, "uriTemplate").into_iter();
            let decided = templates.map(|template| {
                let grant = self.rules.decide(rights, &Subject::offered(&part.server, Kind::Resource, &template));
                (part.server.clone(), template, grant)
            });
            decided.filter(|(_, _, grant)| is_forbidden(grant)).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(of).collect()
    }

    fn quarantine_for(&self, rights: &Rights, catalog: &Catalog, seen: &BTreeSet<ServerName>) -> Quarantine {
        let sees = |held: &&Arc<Held>| {
            let kind = match held.offer.what {
                What::Server => return seen.contains(&held.server),
                What::Tool => Kind::Tool,
                What::Prompt => Kind::Prompt,
                What::Resource | What::Template => Kind::Resource,
                What::Agent => Kind::Agent,
                What::Skill => Kind::Skill,
            };
            let risk = match kind {
                // What is held is not believed when it says that it is harmless.
                Kind::Tool => RiskClass::Destructive,
                _ => RiskClass::Read,
            };
            let subject = Subject { risk, ..Subject::offered(&held.server, kind, &held.offer.name) };
            self.rules.decide(rights, &subject).level > Extent::Nothing
        };
        let all = catalog.len() == self.catalog.len();
        let told = |held: &Arc<Held>| if all { held.clone() } else { Arc::new(held.without_reason()) };
        let held = self.quarantine.held.iter().filter(sees).map(told).collect();
        let review = self.quarantine.review();
        let shown = |(server, id): &&(ServerName, String)| {
            seen.contains(server) && catalog.entries().iter().any(|entry| entry.id.to_string() == *id)
        };
        Quarantine::of(held, review.iter().filter(shown).cloned().collect())
    }
}

impl Offerer {
    pub(crate) fn offering(&self) -> Offering<'_> {
        Offering { server: &self.server, prefix: self.prefix, manifest: &self.manifest }
    }

    fn offers_something(&self) -> bool {
        let Manifest { prompts, resources, templates, .. } = &*self.manifest;
        !prompts.is_empty() || !resources.is_empty() || !templates.is_empty()
    }
}
