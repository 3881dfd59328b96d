//! `toolfold tree`: everything, as a tree.

use clap::Args;
use serde_json::{Value, json};
use toolfold_catalog::Node;
use toolfold_disclosure::level::summary;
use toolfold_gateway::Snapshot;

use super::ls::unknown;
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
            let path: Vec<String> = self.path.iter().flat_map(|path| path.split('/')).map(str::to_owned).collect();
            let node = if path.is_empty() {
                snapshot.catalog.root()
            } else {
                snapshot.catalog.node(&path).map_err(|nearest| unknown(&path, &nearest))?
            };
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
        node.children.iter().for_each(|child| self.draw(snapshot, child, inner, text));
        if !node.children.is_empty() {
            return;
        }
        for &place in &node.entries {
            let entry = snapshot.catalog.entry(place);
            let about = if self.names { String::new() } else { format!(" — {}", plain(&summary(entry))) };
            text.push_str(&format!("{}{}{about}\n", "  ".repeat(inner), plain(entry.name())));
        }
    }
}

fn as_json(snapshot: &Snapshot, node: &Node) -> Value {
    let tools: Vec<_> = if node.children.is_empty() { node.entries.clone() } else { Vec::new() };
    json!({
        "path": node.path,
        "summary": node.summary,
        "nodes": node.children.iter().map(|child| as_json(snapshot, child)).collect::<Vec<_>>(),
        "tools": tools.iter().map(|&place| snapshot.catalog.entry(place).id.to_string()).collect::<Vec<_>>(),
    })
}
