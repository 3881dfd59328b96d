//! The snapshot every request is answered from. Building one copies pointers, not definitions.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use toolfold_core::{Entry, Kind, ServerName, ToolId};

use crate::exposed::expose;
use crate::nearest::{self, Outlines};
use crate::node::Node;
use crate::resolve::{self, LONGEST_SPELLING, Unresolved};
use crate::server::ServerTools;
use crate::spelling::Spellings;
use crate::tree::{self, Shelf};

/// Steps. A longer path leads nowhere, and is not followed.
const DEEPEST_PATH: usize = 64;

#[derive(Debug)]
pub struct Catalog {
    number: u64,
    servers: Vec<Arc<ServerTools>>,
    entries: Vec<Arc<Entry>>,
    exposed: Vec<Box<str>>,
    spellings: Spellings,
    /// Made when somebody first asks for a tool that is not there.
    outlines: OnceLock<Outlines>,
    root: Node,
    /// The paths of the capabilities that entries fit best, by position; none without capabilities.
    homes: Vec<Option<Arc<[String]>>>,
}

/// What is different in a newer catalog, by id and fingerprint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    pub added: Vec<ToolId>,
    pub removed: Vec<ToolId>,
    pub changed: Vec<ToolId>,
}

impl Diff {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

impl Catalog {
    pub fn empty() -> Catalog {
        Catalog::merge(0, [])
    }

    /// One catalog of these servers. Of two with the same name the later one serves.
    pub fn merge(number: u64, servers: impl IntoIterator<Item = Arc<ServerTools>>) -> Catalog {
        Catalog::merge_beside(number, servers, |_| false)
    }

    /// As [`Catalog::merge`], beside tools that are not in it: no tool of a server is shown under a name of theirs.
    pub fn merge_beside(
        number: u64,
        servers: impl IntoIterator<Item = Arc<ServerTools>>,
        is_reserved: impl Fn(&str) -> bool,
    ) -> Catalog {
        let by_name: BTreeMap<ServerName, Arc<ServerTools>> =
            servers.into_iter().map(|server| (server.name.clone(), server)).collect();
        let servers: Vec<Arc<ServerTools>> = by_name.into_values().collect();
        let mut entries: Vec<Arc<Entry>> = servers.iter().flat_map(|server| server.entries.iter().cloned()).collect();
        entries.sort_by(|a, b| a.id.cmp(&b.id));
        // Behind all that is in the tree: there the entries of a server are neighbours.
        let listed = entries.len();
        entries.extend(servers.iter().flat_map(|server| server.offered.iter().cloned()));
        entries[listed..].sort_by(|a, b| a.id.cmp(&b.id));
        let exposed = expose(&entries, &servers, &is_reserved);
        let spellings = Spellings::of(&entries, &exposed);
        let root = tree::of_servers(&servers, &entries[..listed]);
        let homes = vec![None; entries.len()];
        Catalog { number, servers, entries, exposed, spellings, outlines: OnceLock::new(), root, homes }
    }

    /// The same catalog with these capabilities to browse, and no others, beside the servers.
    #[must_use]
    pub fn with_shelves(mut self, shelves: Vec<Shelf>) -> Catalog {
        self.homes.fill(None);
        for shelf in &shelves {
            let path: Arc<[String]> = shelf.path.as_slice().into();
            shelf.homes.iter().for_each(|home| self.homes[*home] = Some(path.clone()));
        }
        self.root = tree::with_shelves(self.root, shelves);
        self
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    /// By name.
    pub fn servers(&self) -> &[Arc<ServerTools>] {
        &self.servers
    }

    pub fn server(&self, name: &ServerName) -> Option<&Arc<ServerTools>> {
        let place = self.servers.binary_search_by(|server| server.name.cmp(name)).ok()?;
        self.servers.get(place)
    }

    /// By id, prompts and resources behind the others; an entry's position in here is how the index and the surfaces speak of it.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn entry(&self, position: usize) -> &Arc<Entry> {
        &self.entries[position]
    }

    pub fn position(&self, id: &ToolId) -> Option<usize> {
        self.position_of(id.server.as_str(), &id.tool)
    }

    pub(crate) fn position_of(&self, server: &str, tool: &str) -> Option<usize> {
        let is_it = |position: &usize| {
            let entry = &self.entries[*position];
            entry.server().as_str() == server && entry.name() == tool
        };
        self.spellings.candidates_by_id(server, tool).find(is_it)
    }

    pub fn get(&self, id: &ToolId) -> Option<&Arc<Entry>> {
        self.position(id).map(|position| &self.entries[position])
    }

    /// The name a model sees when the tool itself is in its list.
    pub fn exposed(&self, position: usize) -> &str {
        &self.exposed[position]
    }

    pub(crate) fn spellings(&self) -> &Spellings {
        &self.spellings
    }

    pub(crate) fn outlines(&self) -> &Outlines {
        self.outlines.get_or_init(|| Outlines::of(self))
    }

    /// The entry that a spelling means: its id, its exposed name, its bare name, an alias, or a variant of these in
    /// case and punctuation, as long as only one entry can be meant.
    pub fn resolve(&self, spelling: &str) -> Result<usize, Unresolved> {
        self.resolve_among(spelling, &|_| true)
    }

    /// As [`Catalog::resolve`], where only these entries exist.
    pub fn resolve_among(&self, spelling: &str, admits: &dyn Fn(usize) -> bool) -> Result<usize, Unresolved> {
        resolve::resolve(self, spelling, admits)
    }

    /// Ids of the entries whose names are most like this one, at most five. For an answer that shows them: it looks at
    /// every entry, which a call that names its tool must not pay for.
    pub fn nearest(&self, spelling: &str) -> Vec<String> {
        self.nearest_among(spelling, &|_| true)
    }

    /// As [`Catalog::nearest`], where only these entries exist.
    pub fn nearest_among(&self, spelling: &str, admits: &dyn Fn(usize) -> bool) -> Vec<String> {
        nearest::nearest(self, spelling, admits)
    }

    pub fn root(&self) -> &Node {
        &self.root
    }

    /// The node at a path, or the nearest path that exists. Case does not matter. A path may begin with the name of a
    /// server, with an alias, or with the name of any capability that only one has.
    pub fn node(&self, path: &[String]) -> Result<&Node, Vec<String>> {
        if is_sensible(path) { self.root.find(path) } else { Err(Vec::new()) }
    }

    /// As [`Catalog::node`], but never a server, whatever the servers are called.
    pub fn capability(&self, path: &[String]) -> Option<&Node> {
        if is_sensible(path) { self.root.find_capability(path) } else { None }
    }

    /// The path of the capability that an entry fits best, of all it is in.
    pub fn home(&self, position: usize) -> Option<&[String]> {
        self.homes[position].as_deref()
    }

    /// How much is in a node, in words: `3 tools`, `1 agent`, or `4 entries` where there are several kinds of them.
    pub fn counted(&self, node: &Node) -> String {
        let mut kinds = node.entries.iter().map(|&position| self.entry(position).kind);
        let first = kinds.next().unwrap_or(Kind::Tool);
        match (node.entries.len(), kinds.all(|kind| kind == first)) {
            (1, _) => format!("1 {}", first.as_str()),
            (many, true) => format!("{many} {}s", first.as_str()),
            (many, false) => format!("{many} entries"),
        }
    }

    /// What `newer` has that this one has not, and the other way round.
    pub fn diff(&self, newer: &Catalog) -> Diff {
        let mut diff = Diff::default();
        for entry in &newer.entries {
            match self.get(&entry.id) {
                None => diff.added.push(entry.id.clone()),
                Some(old) if old.fingerprint != entry.fingerprint => diff.changed.push(entry.id.clone()),
                Some(_) => {}
            }
        }
        diff.removed =
            self.entries.iter().filter(|entry| newer.get(&entry.id).is_none()).map(|entry| entry.id.clone()).collect();
        diff
    }
}

fn is_sensible(path: &[String]) -> bool {
    path.len() <= DEEPEST_PATH && path.iter().all(|step| step.len() <= LONGEST_SPELLING)
}
