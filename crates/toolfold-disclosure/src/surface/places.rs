//! Where entries stand: their nodes, and the category, tags and path that follow from them.

use toolfold_catalog::{Node, SERVERS};
use toolfold_core::words;

use super::View;

const MOST_TAGS: usize = 6;

pub(super) struct Places<'a> {
    view: View<'a>,
}

impl<'a> Places<'a> {
    pub(super) fn of(view: &View<'a>) -> Places<'a> {
        Places { view: *view }
    }

    /// The deepest nodes an entry is in: the one it fits best first, its server last.
    pub(super) fn nodes(&self, position: usize) -> Vec<&'a Node> {
        let mut nodes = Vec::new();
        for root in &self.view.root().children {
            if root.name() == SERVERS {
                // One of perhaps hundreds, whose name is known.
                nodes.extend(root.child(self.view.entry(position).server().as_str()));
            } else if root.holds(position) {
                deepest(root, position, &mut nodes);
            }
        }
        let home = self.view.home(position);
        nodes.sort_by_key(|node| (is_of_servers(node), home != Some(node.path.as_slice())));
        nodes
    }

    /// The path of an entry: below `within` where it stands there too.
    pub(super) fn path(&self, position: usize, within: &[String]) -> Vec<String> {
        let nodes = self.nodes(position);
        let node = nodes.iter().find(|node| node.path.starts_with(within)).or(nodes.first());
        node.map(|node| node.path.clone()).unwrap_or_default()
    }

    /// The root of the capability that an entry fits best; its server's name where there are only servers.
    pub(super) fn category(&self, position: usize) -> String {
        let home = self.view.home(position).and_then(|home| home.first());
        home.map_or_else(|| self.view.entry(position).server().to_string(), String::clone)
    }

    /// Its own tags, then what its nodes are tagged with, then the words of its name.
    pub(super) fn tags(&self, position: usize) -> Vec<String> {
        let mut tags: Vec<String> = Vec::new();
        let of_nodes = self.nodes(position).into_iter().flat_map(|node| node.tags.iter().map(|tag| tag.to_lowercase()));
        let entry = self.view.entry(position);
        let own = entry.tags().into_iter().map(|tag| tag.to_lowercase());
        for tag in own.chain(of_nodes).chain(words::split(entry.name())) {
            if !tags.contains(&tag) && tags.len() < MOST_TAGS {
                tags.push(tag);
            }
        }
        tags
    }
}

/// Goes down only where the entry is: most of a tree holds none of it.
fn deepest<'a>(node: &'a Node, position: usize, found: &mut Vec<&'a Node>) {
    let before = found.len();
    node.children.iter().filter(|child| child.holds(position)).for_each(|child| deepest(child, position, found));
    if found.len() == before {
        found.push(node);
    }
}

fn is_of_servers(node: &Node) -> bool {
    node.path.first().is_some_and(|root| root == SERVERS)
}
