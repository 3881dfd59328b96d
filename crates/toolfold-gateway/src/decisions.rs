//! What the rules say about single things: an entry, a prompt, an address, a server. What follows for lists and searches is in
//! `share`.

use std::sync::Arc;

use toolfold_access::{Extent, Grant, Reason, Rights, Subject};
use toolfold_catalog::{Catalog, Node, SERVERS};
use toolfold_core::{Entry, Fingerprint, Kind, Principal, ServerName};
use toolfold_wire::Object;

use crate::learning::Learners;
use crate::offers::{Whose, addresses, fits_template};
use crate::snapshot::Snapshot;

/// Whether a rule says so, and not that none grants it.
pub(crate) fn is_forbidden(grant: &Grant) -> bool {
    grant.level == Extent::Nothing && matches!(grant.reason, Reason::Rule(_))
}

/// What somebody may do with everything, seen or not.
impl Snapshot {
    pub(crate) fn decisions_for(&self, principal: &Principal) -> Vec<Grant> {
        match self.rules.rights(principal) {
            None => vec![OPEN; self.catalog.len()],
            Some(rights) => self.decided(&rights),
        }
    }

    pub(crate) fn decided(&self, rights: &Rights) -> Vec<Grant> {
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

    /// The same of a prompt, by the name it has here, where it is seen and may not be used.
    pub(crate) fn scopes_for_prompt(&self, principal: &Principal, name: &str) -> Option<Vec<String>> {
        let owner = self.offers.prompts.owner(name)?;
        let may = self.decision_on_prompt(&owner.server, &owner.original).level == Extent::Call;
        let subject = Subject::offered(&owner.server, Kind::Prompt, &owner.original);
        if may { None } else { self.rules.scopes_wanted(principal, &subject) }
    }

    /// The same of an address or of a template of addresses.
    pub(crate) fn scopes_for_resource(&self, principal: &Principal, uri: &str) -> Option<Vec<String>> {
        let listed = || match self.offers.resource(uri) {
            Whose::One(owner) => Some(owner),
            _ => None,
        };
        let owner = self.offers.templates.owner(uri).cloned().or_else(listed)?;
        let may = self.decision_on_resource(&owner.server, &owner.original).level == Extent::Call;
        let subject = Subject::offered(&owner.server, Kind::Resource, &owner.original);
        if may { None } else { self.rules.scopes_wanted(principal, &subject) }
    }
}

/// An entry's id as rules spell it.
pub(crate) fn ruled_id(entry: &Entry) -> String {
    addressed(entry).map_or_else(|| entry.id.to_string(), |own| format!("{}.{own}", entry.server()))
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
        if is_forbidden(&own) {
            return own;
        }
        let made_by = |(of, template, _): &&(ServerName, String, Grant)| of == server && fits_template(template, uri);
        if let Some((_, _, forbidden)) = share.shut.iter().find(made_by) {
            return *forbidden;
        }
        if own.level == Extent::Call {
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
