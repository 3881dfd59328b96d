//! The snapshot every request is answered from. Building one copies pointers, not definitions.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolfold_core::{Entry, Kind, ServerName, ToolId};

use crate::exposed::expose;
use crate::node::Node;
use crate::resolve::{self, Unresolved};
use crate::server::ServerTools;
use crate::tree::{self, Shelf};

#[derive(Debug)]
pub struct Catalog {
    number: u64,
    servers: Vec<Arc<ServerTools>>,
    entries: Vec<Arc<Entry>>,
    exposed: Vec<Box<str>>,
    /// Positions, sorted by exposed name.
    by_exposed: Vec<u32>,
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
        let by_name: BTreeMap<ServerName, Arc<ServerTools>> =
            servers.into_iter().map(|server| (server.name.clone(), server)).collect();
        let servers: Vec<Arc<ServerTools>> = by_name.into_values().collect();
        let mut entries: Vec<Arc<Entry>> = servers.iter().flat_map(|server| server.entries.iter().cloned()).collect();
        entries.sort_by(|a, b| a.id.cmp(&b.id));
        let exposed = expose(&entries, &servers);
        let mut by_exposed: Vec<u32> = (0..entries.len() as u32).collect();
        by_exposed.sort_by_key(|position| &exposed[*position as usize]);
        let root = tree::of_servers(&servers, &entries);
        let homes = vec![None; entries.len()];
        Catalog { number, servers, entries, exposed, by_exposed, root, homes }
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

    /// By id; an entry's position in here is how the index and the surfaces speak of it.
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
        self.entries.binary_search_by(|entry| entry.id.cmp(id)).ok()
    }

    pub fn get(&self, id: &ToolId) -> Option<&Arc<Entry>> {
        self.position(id).map(|position| &self.entries[position])
    }

    /// The name a model sees when the tool itself is in its list.
    pub fn exposed(&self, position: usize) -> &str {
        &self.exposed[position]
    }

    pub(crate) fn position_of_exposed(&self, name: &str) -> Option<usize> {
        let found = self.by_exposed.binary_search_by(|position| (*self.exposed[*position as usize]).cmp(name)).ok()?;
        Some(self.by_exposed[found] as usize)
    }

    /// The entry that a spelling means: its id, its exposed name, its bare name, an alias, or a variant of these in
    /// case and punctuation, as long as only one entry can be meant.
    pub fn resolve(&self, spelling: &str) -> Result<usize, Unresolved> {
        resolve::resolve(self, spelling)
    }

    pub fn root(&self) -> &Node {
        &self.root
    }

    /// The node at a path, or the nearest path that exists. Case does not matter. A path may begin with the name of a
    /// server, with an alias, or with the name of any capability that only one has.
    pub fn node(&self, path: &[String]) -> Result<&Node, Vec<String>> {
        self.root.find(path)
    }

    /// As [`Catalog::node`], but never a server, whatever the servers are called.
    pub fn capability(&self, path: &[String]) -> Option<&Node> {
        self.root.find_capability(path)
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
