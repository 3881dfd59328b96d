//! `toolfold tree`: everything, as a tree. From the root, servers are only named: their tools stand above already.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolfold_catalog::{Node, SERVERS};
use toolfold_core::{Entry, shown_line};
use toolfold_disclosure::View;
use toolfold_disclosure::level::summary;

use super::Fail;
use super::ask::Answer;
use super::ls::{node_at, whole};
use super::output::{Style, as_json};

#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct Tree {
    /// Begin at this node
    path: Option<String>,
    /// Leave out what each tool does
    #[arg(long)]
    names: bool,
}

impl Tree {
    pub(crate) fn answer(&self, view: &View<'_>, style: Style) -> Result<Answer, Fail> {
        let node = node_at(view, self.path.as_deref().unwrap_or_default())?;
        if style.json {
            return Ok(whole(view, node, Answer::new(as_json(&tree_json(view, node))?)));
        }
        let mut text = String::new();
        self.draw(view, node, 0, style, &mut text);
        Ok(whole(view, node, Answer::new(text)))
    }

    fn draw<'a>(&self, view: &View<'a>, node: &'a Node, depth: usize, style: Style, text: &mut String) {
        let indent = "  ".repeat(depth);
        let inner = if node.path.is_empty() {
            depth
        } else {
            let (name, summary) = (shown_line(node.name()), shown_line(&node.summary));
            text.push_str(&format!("{indent}{}  {}\n", style.bold(&name), style.dim(&summary)));
            depth + 1
        };
        if node.name() == SERVERS && depth == 0 && self.path.is_none() {
            let servers = view.children(node).map(|server| server_line(view, server, style));
            return servers.for_each(|line| text.push_str(&format!("{}{line}\n", "  ".repeat(inner))));
        }
        view.children(node).for_each(|child| self.draw(view, child, inner, style, text));
        for place in view.own_entries(node) {
            let entry = view.entry(place);
            let about = if self.names { String::new() } else { format!(" — {}", shown_line(&summary(entry))) };
            text.push_str(&format!("{}{}{about}\n", "  ".repeat(inner), shown_line(&shown_name(node, entry))));
        }
    }
}

/// The bare name where the server is known from above.
fn shown_name(node: &Node, entry: &Entry) -> String {
    let within_server = node.path.first().is_some_and(|root| root == SERVERS);
    if within_server { entry.name().to_owned() } else { entry.id.to_string() }
}

fn server_line<'a>(view: &View<'a>, server: &'a Node, style: Style) -> String {
    format!("{}  {}", style.bold(&shown_line(server.name())), style.dim(&view.counted(server)))
}

fn tree_json<'a>(view: &View<'a>, node: &'a Node) -> Value {
    json!({
        "path": node.path,
        "summary": node.summary,
        "tags": node.tags,
        "nodes": view.children(node).map(|child| tree_json(view, child)).collect::<Vec<_>>(),
        "tools": view.own_entries(node).into_iter().map(|place| view.entry(place).id.to_string()).collect::<Vec<_>>(),
    })
}
