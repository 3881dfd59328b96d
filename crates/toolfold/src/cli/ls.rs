//! `toolfold ls`: what is in a node; without one, the servers.

use clap::Args;
use serde_json::json;
use toolfold_catalog::{Node, SERVERS};
use toolfold_disclosure::level::summary;

use super::open::with_gateway;
use super::output::{plain, print, print_json, table};
use super::{Common, Fail};

#[derive(Args)]
pub(crate) struct Ls {
    /// A node such as `github` or `Servers/github` [default: the servers]
    path: Option<String>,
}

impl Ls {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        with_gateway(common, async |_, snapshot| {
            let path: Vec<String> = match &self.path {
                Some(path) => path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect(),
                None => vec![SERVERS.to_owned()],
            };
            let node = snapshot.catalog.node(&path).map_err(|nearest| unknown(&path, &nearest))?;
            let entries = || node.entries.iter().map(|&place| snapshot.catalog.entry(place));
            if common.json {
                let tools: Vec<_> =
                    entries().map(|entry| json!({"tool": entry.id.to_string(), "summary": summary(entry)})).collect();
                let nodes: Vec<_> = node.children.iter().map(node_json).collect();
                return print_json(&json!({"path": node.path, "nodes": nodes, "tools": tools}));
            }
            let mut rows: Vec<Vec<String>> = node
                .children
                .iter()
                .map(|child| vec![format!("{}/", child.name()), snapshot.catalog.counted(child), plain(&child.summary)])
                .collect();
            if node.children.is_empty() {
                rows = entries().map(|entry| vec![plain(&entry.id.to_string()), plain(&summary(entry))]).collect();
            }
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
    json!({"path": node.path, "summary": node.summary, "tools": node.entries.len()})
}

pub(crate) fn unknown(path: &[String], nearest: &[String]) -> Fail {
    Fail::nothing(format!("There is no node {:?}.\n\nhint: the nearest is {:?}", path.join("/"), nearest.join("/")))
}
