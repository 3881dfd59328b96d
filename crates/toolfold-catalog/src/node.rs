//! What can be browsed. For now every catalog has one root, `Servers`, with a node for each server; capability nodes
//! join it beside that one, which is why a node has tags and a path of any length.

use std::sync::Arc;

use toolfold_core::{Entry, words};

use crate::server::ServerTools;

/// The root under which every server has its node.
pub const SERVERS: &str = "Servers";

const LONGEST_SUMMARY: usize = 100;
const NAMES_SHOWN: usize = 4;

#[derive(Debug, Clone, Default)]
pub struct Node {
    /// From the root, which is itself the empty path.
    pub path: Vec<String>,
    pub summary: String,
    pub tags: Vec<String>,
    pub children: Vec<Node>,
    /// Positions in the catalog, ascending: everything in this node and below it.
    pub entries: Vec<usize>,
}

impl Node {
    pub(crate) fn root(servers: &[Arc<ServerTools>], entries: &[Arc<Entry>]) -> Node {
        let all: Vec<usize> = (0..entries.len()).collect();
        let children = servers.iter().map(|server| of_server(server, entries)).collect();
        let servers = Node {
            path: vec![SERVERS.to_owned()],
            summary: "every tool, by the server it belongs to".to_owned(),
            tags: Vec::new(),
            children,
            entries: all.clone(),
        };
        Node { children: vec![servers], entries: all, ..Node::default() }
    }

    pub fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    /// The child of that name, whatever its case.
    pub fn child(&self, name: &str) -> Option<&Node> {
        let exact = self.children.iter().find(|child| child.name() == name);
        exact.or_else(|| self.children.iter().find(|child| child.name().to_lowercase() == name.to_lowercase()))
    }

    /// This node and everything below it, parents first.
    pub fn walk(&self) -> Vec<&Node> {
        std::iter::once(self).chain(self.children.iter().flat_map(Node::walk)).collect()
    }

    pub(crate) fn find(&self, path: &[String]) -> Result<&Node, Vec<String>> {
        self.descend(path)
            .or_else(|| self.child(SERVERS).and_then(|servers| servers.descend(path)))
            .ok_or_else(|| self.nearest(path))
    }

    fn descend(&self, path: &[String]) -> Option<&Node> {
        path.iter().try_fold(self, |node, name| node.child(name))
    }

    /// The path spelled most like this one; where none is, as far down as this one leads.
    fn nearest(&self, path: &[String]) -> Vec<String> {
        let wanted = path.last().map_or("", String::as_str).to_lowercase();
        let nodes = self.walk();
        let names: Vec<String> = nodes.iter().map(|node| node.name().to_lowercase()).collect();
        let near = words::nearest(&wanted, names.iter().map(String::as_str));
        if let Some(position) = near.and_then(|near| names.iter().position(|name| name == near)) {
            return nodes[position].path.clone();
        }
        let mut deepest = self;
        for name in path {
            match deepest.child(name) {
                Some(child) => deepest = child,
                None => break,
            }
        }
        deepest.path.clone()
    }
}

fn of_server(server: &ServerTools, entries: &[Arc<Entry>]) -> Node {
    let start = entries.partition_point(|entry| entry.id.server < server.name);
    Node {
        path: vec![SERVERS.to_owned(), server.name.to_string()],
        summary: summary(server),
        tags: Vec::new(),
        children: Vec::new(),
        entries: (start..start + server.entries.len()).collect(),
    }
}

/// What the server says of itself; where it says nothing, the tools it lists first, which are the ones it is for.
fn summary(server: &ServerTools) -> String {
    let said = server.instructions.as_deref().and_then(first_sentence);
    let title = server.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    said.or_else(|| title.filter(|title| title.contains(' ')).map(str::to_owned)).unwrap_or_else(|| {
        let names: Vec<&str> = server.entries.iter().take(NAMES_SHOWN).map(|entry| entry.name()).collect();
        let more = if server.entries.len() > NAMES_SHOWN { ", …" } else { "" };
        clipped(&(names.join(", ") + more))
    })
}

/// The first sentence in one line; `None` where there are no words in it.
fn first_sentence(text: &str) -> Option<String> {
    let line =
        text.lines().map(|line| line.trim_start_matches(['#', '*', '-', ' '])).find(|line| line.contains(' '))?;
    let end = line.find(". ").map_or(line.len(), |dot| dot + 1);
    let sentence = line[..end].trim().trim_end_matches(['.', ':']);
    (!sentence.is_empty()).then(|| clipped(sentence))
}

/// At most a hundred characters, cut between words.
fn clipped(text: &str) -> String {
    let clean: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if clean.chars().count() <= LONGEST_SUMMARY {
        return clean;
    }
    let head: String = clean.chars().take(LONGEST_SUMMARY - 1).collect();
    let cut = head.rfind(' ').filter(|cut| *cut > 0).unwrap_or(head.len());
    format!("{}…", head[..cut].trim_end_matches([',', ';', ' ']))
}
