//! What can be browsed: a node, and how a path or one of its other names leads to it. How a tree comes about is in
//! `tree`.
//!
//! What a reader would get wrong: an entry may be in several nodes, so the numbers of entries in the children of a node
//! need not add up to its own.

use toolfold_core::words;

/// The root under which every server has its node.
pub const SERVERS: &str = "Servers";

#[derive(Debug, Clone, Default)]
pub struct Node {
    /// From the root, which is itself the empty path.
    pub path: Vec<String>,
    pub summary: String,
    pub tags: Vec<String>,
    /// Other names for it, each standing for the whole path.
    pub aliases: Vec<String>,
    pub children: Vec<Node>,
    /// Positions in the catalog, ascending: everything in this node and below it.
    pub entries: Vec<usize>,
}

impl Node {
    pub fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    /// The child of that name, whatever its case.
    pub fn child(&self, name: &str) -> Option<&Node> {
        let exact = self.children.iter().find(|child| child.name() == name);
        exact.or_else(|| self.children.iter().find(|child| same(child.name(), name)))
    }

    pub fn holds(&self, position: usize) -> bool {
        self.entries.binary_search(&position).is_ok()
    }

    /// What is in this node and in none of its children.
    pub fn own_entries(&self) -> Vec<usize> {
        let mut below = vec![false; self.entries.last().map_or(0, |last| last + 1)];
        for position in self.children.iter().flat_map(|child| &child.entries) {
            if let Some(below) = below.get_mut(*position) {
                *below = true;
            }
        }
        self.entries.iter().copied().filter(|position| !below[*position]).collect()
    }

    /// This node and everything below it, parents first.
    pub fn walk(&self) -> Vec<&Node> {
        std::iter::once(self).chain(self.children.iter().flat_map(Node::walk)).collect()
    }

    pub(crate) fn find(&self, path: &[String]) -> Result<&Node, Vec<String>> {
        // A person's own names come before ours: a server called `git` is that server, and not an alias.
        self.descend(path)
            .or_else(|| self.child(SERVERS).and_then(|servers| servers.descend(path)))
            .or_else(|| self.descend_from_name(path))
            .ok_or_else(|| self.nearest(path))
    }

    /// As `find`, but never a server.
    pub(crate) fn find_capability(&self, path: &[String]) -> Option<&Node> {
        let servers = |node: &&Node| node.path.first().is_none_or(|root| root != SERVERS);
        self.descend(path).filter(servers).or_else(|| self.descend_from_name(path))
    }

    fn descend(&self, path: &[String]) -> Option<&Node> {
        path.iter().try_fold(self, |node, name| node.child(name).or_else(|| node.aliased(name)))
    }

    /// The child that answers to another name. At the root there may be a server of that name, so nothing there does.
    fn aliased(&self, name: &str) -> Option<&Node> {
        let answers = |child: &&Node| child.aliases.iter().any(|alias| same(alias, name));
        self.children.iter().find(answers).filter(|_| !self.path.is_empty())
    }

    /// The path, where it begins with an alias, or with the name of a capability that no other one has.
    fn descend_from_name(&self, path: &[String]) -> Option<&Node> {
        let (first, rest) = path.split_first()?;
        let capabilities: Vec<&Node> =
            self.children.iter().filter(|child| child.name() != SERVERS).flat_map(Node::walk).collect();
        let by_alias = capabilities.iter().find(|node| node.aliases.iter().any(|alias| same(alias, first)));
        let mut named = capabilities.iter().filter(|node| same(node.name(), first));
        let only = named.next().filter(|_| named.next().is_none());
        by_alias.or(only)?.descend(rest)
    }

    /// The path spelled most like this one: among the children of the node it leads to, then anywhere. Where none is
    /// like it, as far down as it leads.
    fn nearest(&self, path: &[String]) -> Vec<String> {
        let wanted = path.last().map_or("", String::as_str).to_lowercase();
        let leads = (0..path.len()).rev().find_map(|depth| self.descend(&path[..depth])).unwrap_or(self);
        let near = |names: Vec<(String, &Node)>| {
            let near = words::nearest(&wanted, names.iter().map(|(name, _)| name.as_str()))?;
            names.iter().find(|(name, _)| name == near).map(|(_, node)| node.path.clone())
        };
        let named =
            |nodes: Vec<&'_ Node>| near(nodes.into_iter().map(|node| (node.name().to_lowercase(), node)).collect());
        let aliased = || {
            let aliases = |node| Node::aliases(node).map(move |alias| (alias, node));
            near(self.walk().into_iter().flat_map(aliases).collect())
        };
        named(leads.children.iter().collect())
            .or_else(|| named(self.walk()))
            .or_else(aliased)
            .unwrap_or_else(|| leads.path.clone())
    }

    fn aliases(&self) -> impl Iterator<Item = String> {
        self.aliases.iter().map(|alias| alias.to_lowercase())
    }
}

fn same(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}
