//! What servers are for, by their names alone: all that is known of them when a client connects, and the same every time.
//!
//! Each name is put into the tree as if it were a tool's. Roots come before what is below them, so that what is left out for
//! want of room is part of something that is said; how many servers a capability has says how early it is named.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use toolfold_catalog::{Catalog, ServerSource, ServerTools};
use toolfold_core::ServerName;
use toolfold_index::{Index, OTHER, Placement};
use toolfold_wire::raw;

/// The capabilities that these servers have: roots, then nodes below them, of each those of most servers first.
pub(super) fn of(servers: &[&str]) -> Vec<String> {
    let catalog = Catalog::merge(0, servers.iter().filter_map(|name| stand_in(name)));
    let index = Index::build(&catalog);
    let catalog = Placement::default().update(&[], &catalog, &index).apply(catalog);
    let homes = (0..catalog.len()).filter_map(|position| catalog.home(position)).filter(|home| home[0] != OTHER);
    let homes: Vec<&[String]> = homes.collect();
    let roots = counted(homes.iter().filter_map(|home| home.first()));
    let below = counted(homes.iter().filter(|home| home.len() > 1).filter_map(|home| home.last()));
    roots.into_iter().chain(below).collect()
}

/// Each name once, the most frequent first.
fn counted<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    let mut counted: Vec<(&str, usize)> = counts.into_iter().collect();
    counted.sort_by_key(|(name, count)| (usize::MAX - count, *name));
    counted.into_iter().map(|(name, _)| name.to_lowercase()).collect()
}

/// A server with one tool, of which nothing is known but the server's name.
fn stand_in(name: &str) -> Option<Arc<ServerTools>> {
    let server = ServerName::new(name).ok()?;
    let tools = vec![raw(&json!({"name": name, "inputSchema": {}}))];
    let source = ServerSource { name: server, prefix: true, title: None, instructions: None, tools };
    Some(Arc::new(ServerTools::read(source).0))
}
