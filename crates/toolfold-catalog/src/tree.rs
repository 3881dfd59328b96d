//! The tree of one catalog: capabilities as whoever knows meanings has sorted them, and every server with its entries.

use std::sync::Arc;

use toolfold_core::Entry;

use crate::node::{Node, SERVERS};
use crate::server::ServerTools;

const LONGEST_SUMMARY: usize = 100;
const NAMES_SHOWN: usize = 4;

/// A capability and what belongs to it. What is said of a node by several shelves, the last one says.
#[derive(Debug, Clone, Default)]
pub struct Shelf {
    pub path: Vec<String>,
    pub summary: String,
    pub tags: Vec<String>,
    pub aliases: Vec<String>,
    /// Positions in the catalog, in any order. What is below belongs to it without being named here.
    pub entries: Vec<usize>,
    /// Those of its entries that fit nowhere better.
    pub homes: Vec<usize>,
}

/// The tree without capabilities.
pub(crate) fn of_servers(servers: &[Arc<ServerTools>], entries: &[Arc<Entry>]) -> Node {
    let all: Vec<usize> = (0..entries.len()).collect();
    let servers = Node {
        path: vec![SERVERS.to_owned()],
        summary: "every tool, by the server it belongs to".to_owned(),
        children: servers.iter().map(|server| of_server(server, entries)).collect(),
        entries: all.clone(),
        ..Node::default()
    };
    Node { children: vec![servers], entries: all, ..Node::default() }
}

/// The tree with these capabilities in front of the servers, in the order in which they are first named.
pub(crate) fn with_shelves(mut root: Node, shelves: Vec<Shelf>) -> Node {
    let mut servers = std::mem::take(&mut root.children);
    servers.retain(|child| child.name() == SERVERS);
    for shelf in shelves {
        let node = grown(&mut root, &shelf.path);
        node.entries.extend(shelf.entries);
        (node.summary, node.tags, node.aliases) = (shelf.summary, shelf.tags, shelf.aliases);
    }
    root.children.iter_mut().for_each(gather);
    root.children.extend(servers);
    root
}

/// The node at a path, with whatever was missing on the way to it.
fn grown<'a>(root: &'a mut Node, path: &[String]) -> &'a mut Node {
    path.iter().enumerate().fold(root, |node, (depth, name)| {
        let place = node.children.iter().position(|child| child.name() == name).unwrap_or_else(|| {
            node.children.push(Node { path: path[..=depth].to_vec(), ..Node::default() });
            node.children.len() - 1
        });
        &mut node.children[place]
    })
}

/// What is below a node is in it too.
fn gather(node: &mut Node) {
    for child in &mut node.children {
        gather(child);
        node.entries.extend(&child.entries);
    }
    node.entries.sort_unstable();
    node.entries.dedup();
}

fn of_server(server: &ServerTools, entries: &[Arc<Entry>]) -> Node {
    let start = entries.partition_point(|entry| entry.id.server < server.name);
    Node {
        path: vec![SERVERS.to_owned(), server.name.to_string()],
        summary: summary(server),
        entries: (start..start + server.entries.len()).collect(),
        ..Node::default()
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
