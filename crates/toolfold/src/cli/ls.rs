//! `toolfold ls`: what is in a node; without one, what there is to begin with.

use clap::Args;
use serde_json::json;
use toolfold_catalog::{Catalog, Node};
use toolfold_disclosure::level::summary;

use super::open::with_gateway;
use super::output::{plain, print, print_json, table};
use super::{Common, Fail};

#[derive(Args)]
pub(crate) struct Ls {
    /// A node such as `Coding/Testing`, `Servers/github` or just `github` [default: all that are at the root]
    path: Option<String>,
}

impl Ls {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        with_gateway(common, async |_, snapshot| {
            let node = node_at(&snapshot.catalog, self.path.as_deref().unwrap_or_default())?;
            let own = node.own_entries();
            let own = || own.iter().map(|&place| snapshot.catalog.entry(place));
            if common.json {
                let tools: Vec<_> =
                    own().map(|entry| json!({"tool": entry.id.to_string(), "summary": summary(entry)})).collect();
                let nodes: Vec<_> = node.children.iter().map(node_json).collect();
                return print_json(&json!({"path": node.path, "nodes": nodes, "tools": tools}));
            }
            let mut rows: Vec<Vec<String>> = node
                .children
                .iter()
                .filter(|child| !child.entries.is_empty() || !child.children.is_empty())
                .map(|child| vec![format!("{}/", child.name()), snapshot.catalog.counted(child), plain(&child.summary)])
                .collect();
            rows.extend(own().map(|entry| vec![plain(&entry.id.to_string()), plain(&summary(entry))]));
            if rows.is_empty() {
                return Err(Fail::nothing(
                    "There is nothing here yet.\n\nhint: `toolfold status` tells how the servers are",
                ));
            }
            print(&table(&rows))
        })
    }
}

fn node_json(node: &Node) -> serde_json::Value {
    json!({"path": node.path, "summary": node.summary, "tags": node.tags, "tools": node.entries.len()})
}

/// The node that a path means, as somebody types it; the root for none.
pub(crate) fn node_at<'a>(catalog: &'a Catalog, path: &str) -> Result<&'a Node, Fail> {
    let path: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    catalog.node(&path).map_err(|nearest| {
        let hint = match &nearest[..] {
            [] => "`toolfold ls` shows what there is".to_owned(),
            nearest => format!("the nearest is {:?}", nearest.join("/")),
        };
        Fail::nothing(format!("There is no node {:?}.\n\nhint: {hint}", path.join("/")))
    })
}
