//! `toolfold tree`: everything, as a tree. From the root, servers are only named: their tools stand above already.

use clap::Args;
use serde_json::{Value, json};
use toolfold_catalog::{Node, SERVERS};
use toolfold_core::Entry;
use toolfold_disclosure::level::summary;
use toolfold_gateway::Snapshot;

use super::ls::node_at;
use super::open::with_gateway;
use super::output::{bold, dim, plain, print, print_json};
use super::{Common, Fail};

#[derive(Args)]
pub(crate) struct Tree {
    /// Begin at this node
    path: Option<String>,
    /// Leave out what each tool does
    #[arg(long)]
    names: bool,
}

impl Tree {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        with_gateway(common, async |_, snapshot| {
            let node = node_at(&snapshot.catalog, self.path.as_deref().unwrap_or_default())?;
            if common.json {
                return print_json(&as_json(&snapshot, node));
            }
            let mut text = String::new();
            self.draw(&snapshot, node, 0, &mut text);
            print(&text)
        })
    }

    fn draw(&self, snapshot: &Snapshot, node: &Node, depth: usize, text: &mut String) {
        let indent = "  ".repeat(depth);
        let inner = if node.path.is_empty() {
            depth
        } else {
            text.push_str(&format!("{indent}{}  {}\n", bold(&plain(node.name())), dim(&plain(&node.summary))));
            depth + 1
        };
        if node.name() == SERVERS && depth == 0 && self.path.is_none() {
            let servers = node.children.iter().map(|server| server_line(snapshot, server));
            return servers.for_each(|line| text.push_str(&format!("{}{line}\n", "  ".repeat(inner))));
        }
        node.children.iter().for_each(|child| self.draw(snapshot, child, inner, text));
        for place in node.own_entries() {
            let entry = snapshot.catalog.entry(place);
            let about = if self.names { String::new() } else { format!(" — {}", plain(&summary(entry))) };
            text.push_str(&format!("{}{}{about}\n", "  ".repeat(inner), plain(&shown_name(node, entry))));
        }
    }
}

/// The bare name where the server is known from above.
fn shown_name(node: &Node, entry: &Entry) -> String {
    let within_server = node.path.first().is_some_and(|root| root == SERVERS);
    if within_server { entry.name().to_owned() } else { entry.id.to_string() }
}

fn server_line(snapshot: &Snapshot, server: &Node) -> String {
    format!("{}  {}", bold(&plain(server.name())), dim(&snapshot.catalog.counted(server)))
}

fn as_json(snapshot: &Snapshot, node: &Node) -> Value {
    json!({
        "path": node.path,
        "summary": node.summary,
        "tags": node.tags,
        "nodes": node.children.iter().map(|child| as_json(snapshot, child)).collect::<Vec<_>>(),
        "tools": node.own_entries().into_iter().map(|place| snapshot.catalog.entry(place).id.to_string()).collect::<Vec<_>>(),
    })
}
