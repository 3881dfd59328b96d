//! What exists for one set of rights: a snapshot of its own, out of the part of the whole one that may be seen.
//!
//! What a reader would get wrong: this is no filter in front of the whole. A share has its own catalog and index, built as
//! if the rest were not there, so that nothing in an answer can tell of it: not how rare a word is, not how a tool's name
//! had to be cut, not which node is empty, nor whose an address is. What takes time in that was done for the whole: entries
//! are analysed once, servers that are seen whole are placed once.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use arc_swap::ArcSwap;
use toolfold_access::{Extent, Grant, Reason, Rights, Subject};
use toolfold_catalog::{Catalog, Node, SERVERS, ServerTools};
use toolfold_core::{Doors, Entry, Fingerprint, Kind, Principal, RiskClass, ServerName};
use toolfold_disclosure::is_reserved_beside;
use toolfold_index::{Index, Placement};
use toolfold_trust::What;
use toolfold_upstream::Manifest;
use toolfold_wire::{Object, Raw};

use crate::learning::Learners;
use crate::offers::{Offering, Offers, addresses, fits_template};
use crate::snapshot::{Offerer, Snapshot};
use crate::trust::{Held, Quarantine};

/// Sets of rights whose shares are kept. Whoever has others waits for theirs to be built again.
const MOST: usize = 64;

/// What a snapshot is a share of.
#[derive(Clone)]
pub(crate) struct Portion {
    rights: Rights,
    /// Of every entry, by position.
    decisions: Arc<[Grant]>,
    /// Servers that exist.
    servers: Arc<BTreeSet<ServerName>>,
    /// Of what it is a share. Weak: the whole keeps its shares.
    whole: Weak<Snapshot>,
}

/// The shares of a snapshot that somebody has asked for, the newest last.
#[derive(Default)]
pub(crate) struct Portions {
    ready: ArcSwap<Vec<(Rights, Arc<Snapshot>)>>,
    /// Held while one is built: who wants the same meanwhile waits for it instead of building it too.
    building: Mutex<()>,
}

impl Portions {
    fn find(&self, rights: &Rights) -> Option<Arc<Snapshot>> {
        self.ready.load().iter().find(|(known, _)| known == rights).map(|(_, share)| share.clone())
    }

    pub(crate) fn rights(&self) -> Vec<Rights> {
        self.ready.load().iter().map(|(rights, _)| rights.clone()).collect()
    }

    fn keep(&self, rights: &Rights, share: Arc<Snapshot>) {
        let mut all = Vec::clone(&self.ready.load());
        if all.len() >= MOST {
            all.remove(0);
        }
        all.push((rights.clone(), share));
        self.ready.store(Arc::new(all));
    }
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
        for (rights, share) in before.shares.ready.load().iter() {
            if let Some(share) = share.missing_of(self) {
                self.shares.keep(rights, Arc::new(share));
            }
        }
    }

    /// Builds what those will ask for who have asked of the snapshot before, so that nobody waits for it.
    pub(crate) fn prepare(self: &Arc<Self>, before: &Snapshot) {
        if self.rules == before.rules {
            before.shares.rights().iter().for_each(|rights| drop(self.share(rights)));
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
        if let Some(share) = self.shares.find(rights) {
            return share;
        }
        let _building = self.shares.building.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = self.shares.find(rights) {
            return share;
        }
        let share = Arc::new(self.narrowed(rights));
        self.shares.keep(rights, share.clone());
        share
    }

    fn narrowed(self: &Arc<Self>, rights: &Rights) -> Snapshot {
        let decided = self.decided(rights);
        let sees = |entry: &Entry| {
            self.catalog.position(&entry.id).is_some_and(|position| decided[position].level > Extent::Nothing)
        };
        let servers: Vec<Arc<ServerTools>> =
            self.catalog.servers().iter().filter_map(|server| self.part_of(server, rights, &sees)).collect();
        let doors = self.doors_among(rights, &servers);
        let searched = self.searched(servers, &doors);
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
        let claims = self.claims.among(parts.iter().map(|part| (&part.server, all_addresses(&part.manifest))));
        let offers = Offers::merge(parts.iter().map(Offerer::offering).collect(), &claims);
        let quarantine = self.quarantine_for(rights, catalog, &seen);
        let decisions: Arc<[Grant]> = positions.iter().map(|position| decided[*position]).collect();
        let share = Portion { rights: rights.clone(), decisions, servers: Arc::new(seen), whole: Arc::downgrade(self) };
        self.narrowed_to(share, searched, (parts, claims, offers), quarantine, doors)
    }

    /// The catalog of these servers and what searches it. Where nothing is left out, those of the whole.
    fn searched(&self, servers: Vec<Arc<ServerTools>>, doors: &Doors) -> (Arc<Catalog>, Arc<Index>, Arc<Placement>) {
        let all = self.catalog.servers();
        if servers.len() == all.len() && servers.iter().zip(all).all(|(kept, whole)| Arc::ptr_eq(kept, whole)) {
            return (self.catalog.clone(), self.index.clone(), self.placement.clone());
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

/// What somebody may do with everything, seen or not.
impl Snapshot {
    pub(crate) fn decisions_for(&self, principal: &Principal) -> Vec<Grant> {
        match self.rules.rights(principal) {
            None => vec![OPEN; self.catalog.len()],
            Some(rights) => self.decided(&rights),
        }
    }

    fn decided(&self, rights: &Rights) -> Vec<Grant> {
        let nodes = Nodes::of(&self.catalog, &self.config.rules);
        let decide = |position: usize| {
            let (entry, is_in) = (self.catalog.entry(position), |path: &[String]| nodes.holds(path, position));
            self.rules.decide(rights, &subject(entry, &addressed(entry), &is_in))
        };
        (0..self.catalog.len()).map(decide).collect()
    }

    /// The scopes with which this entry could be called.
    pub(crate) fn scopes_wanted(&self, principal: &Principal, entry: &Entry) -> Option<Vec<String>> {
        let whole = self.share.as_ref()?.whole.upgrade()?;
        let position = whole.catalog.position(&entry.id)?;
        let nodes = Nodes::of(&whole.catalog, &self.config.rules);
        let is_in = |path: &[String]| nodes.holds(path, position);
        self.rules.scopes_wanted(principal, &subject(entry, &addressed(entry), &is_in))
    }
}

/// What a share says of what may be done.
impl Snapshot {
    /// Whether a server exists here at all.
    pub(crate) fn is_seen(&self, server: &ServerName) -> bool {
        match &self.share {
            None => true,
            Some(share) => share.servers.contains(server) || self.rules.sees_all_of(&share.rights, server),
        }
    }

    /// Who learns together: those who see the same. `None`: those who see everything. What is learned from others could tell of
    /// what they see.
    pub(crate) fn learners(&self) -> Option<Learners> {
        let share = self.share.as_ref().filter(|share| !self.rules.sees_everything(&share.rights))?;
        let print = Fingerprint::of_text(&self.rules.spelled(&share.rights));
        print.as_bytes().first_chunk().copied()
    }

    /// What was decided about an entry.
    pub(crate) fn decision(&self, entry: &Entry) -> Grant {
        let Some(share) = &self.share else { return OPEN };
        let position = self.catalog.position(&entry.id);
        position.and_then(|position| share.decisions.get(position)).copied().unwrap_or(NOT_GRANTED)
    }

    /// What was decided about a prompt, by the name its server has for it.
    pub(crate) fn decision_on_prompt(&self, server: &ServerName, name: &str) -> Grant {
        let Some(share) = &self.share else { return OPEN };
        self.rules.decide(&share.rights, &Subject::offered(server, Kind::Prompt, name))
    }

    /// What was decided about an address of a server: by itself, or as one that a template has made.
    pub(crate) fn decision_on_resource(&self, server: &ServerName, uri: &str) -> Grant {
        let Some(share) = &self.share else { return OPEN };
        let decide = |name: &str| self.rules.decide(&share.rights, &Subject::offered(server, Kind::Resource, name));
        let own = decide(uri);
        let forbidden = own.level == Extent::Nothing && matches!(own.reason, Reason::Rule(_));
        if forbidden || own.level == Extent::Call {
            return own;
        }
        let part = self.parts.iter().find(|part| part.server == *server);
        let templates = part.map(|part| addresses(&part.manifest.templates, "uriTemplate")).unwrap_or_default();
        let made = templates.iter().filter(|template| fits_template(template, uri)).map(|template| decide(template));
        made.chain([own]).max_by_key(|decision| decision.level).unwrap_or(own)
    }

    /// Whether a server may be asked whatever somebody likes.
    pub(crate) fn commands(&self, server: &ServerName) -> bool {
        self.share.as_ref().is_none_or(|share| self.rules.commands(&share.rights, server))
    }

    /// What this is a share of. For the record alone.
    pub(crate) fn whole(&self) -> Option<Arc<Snapshot>> {
        self.share.as_ref()?.whole.upgrade()
    }

    /// What the whole has under a spelling that means nothing here, and what was decided about it. For the record alone.
    pub(crate) fn hidden(&self, whole: &Snapshot, spelling: &str) -> Option<(Arc<Entry>, Grant)> {
        let share = self.share.as_ref()?;
        let position = whole.catalog.resolve(spelling).ok()?;
        let entry = whole.catalog.entry(position).clone();
        let nodes = Nodes::of(&whole.catalog, &self.config.rules);
        let is_in = |path: &[String]| nodes.holds(path, position);
        let decision = self.rules.decide(&share.rights, &subject(&entry, &addressed(&entry), &is_in));
        Some((entry, decision))
    }

    /// The rule behind a decision, in words: `rule 3 (line 41)`.
    pub(crate) fn rule_of(&self, decision: Grant) -> Option<String> {
        match decision.reason {
            Reason::Open => None,
            Reason::NotGranted => Some("no rule grants it".to_owned()),
            Reason::Rule(place) => self.rules.get(place).map(ToString::to_string),
        }
    }
}

const OPEN: Grant = Grant { level: Extent::Call, reason: Reason::Open };
const NOT_GRANTED: Grant = Grant { level: Extent::Nothing, reason: Reason::NotGranted };

/// An entry as rules speak of it: a prompt by its own name and a resource by its address, whatever they are called here.
fn subject<'a>(entry: &'a Entry, own: &'a Option<String>, is_in: &'a dyn Fn(&[String]) -> bool) -> Subject<'a> {
    let subject = Subject::entry(entry, is_in);
    match own {
        Some(own) => Subject { name: own, ..subject },
        None => subject,
    }
}

fn addressed(entry: &Entry) -> Option<String> {
    let keys: &[&str] = match entry.kind {
        Kind::Prompt => &["prompt"],
        Kind::Resource => &["uri", "uriTemplate"],
        _ => return None,
    };
    let definition = Object::parse(&entry.definition)?;
    keys.iter().find_map(|key| definition.string(key))
}

fn all_addresses(manifest: &Manifest) -> Vec<String> {
    let mut all = addresses(&manifest.resources, "uri");
    all.extend(addresses(&manifest.templates, "uriTemplate"));
    all
}

/// The nodes that rules name, found once.
struct Nodes<'a>(Vec<(&'a [String], Option<&'a Node>)>);

impl<'a> Nodes<'a> {
    fn of(catalog: &'a Catalog, rules: &'a [toolfold_core::AccessRule]) -> Self {
        let node = |path: &'a Vec<String>| {
            let server = path.first().is_some_and(|first| first.eq_ignore_ascii_case(SERVERS));
            let found = if server { catalog.node(path).ok() } else { catalog.capability(path) };
            (path.as_slice(), found)
        };
        Nodes(rules.iter().flat_map(|rule| &rule.nodes).map(node).collect())
    }

    fn holds(&self, path: &[String], position: usize) -> bool {
        let node = self.0.iter().find(|(known, _)| *known == path).and_then(|(_, node)| *node);
        node.is_some_and(|node| node.holds(position))
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
