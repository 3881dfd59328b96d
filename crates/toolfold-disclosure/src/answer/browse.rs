//! What is in a node: its children with a word about each, and the entries that are in none of them. At the root the
//! servers are named as well, as long as they are few: their names tell a model more than anything else about them.

use serde_json::json;
use toolfold_catalog::{Node, SERVERS};
use toolfold_core::{Code, Refusal};

use super::budget::{cost, fit};
use super::{lines, more};
use crate::cursor::Cursor;
use crate::level::Level;
use crate::surface::{Browse, View};

pub(super) const EMPTY: &str =
    "There are no tools yet: no server is configured, or none has answered so far. Ask again in a moment.";

/// Servers that are named one by one at the root.
const FEW_SERVERS: usize = 12;

pub(crate) fn browse(view: &View<'_>, browse: &Browse) -> Result<String, Refusal> {
    let node = view.catalog.node(&browse.path).map_err(|nearest| unknown_path(view, &browse.path, nearest))?;
    let items = items(view, browse, node);
    if view.catalog.servers().is_empty() {
        return Ok(EMPTY.to_owned());
    }
    if items.is_empty() {
        return Ok(format!("{} has nothing of that kind.", shown(node)));
    }
    let Some(rest) = items.get(browse.offset..).filter(|rest| !rest.is_empty()) else {
        let message = "There is nothing behind this cursor any more: what is served has changed. Ask again without it.";
        return Err(Refusal::new(Code::InvalidCursor, message).next("find_tools", json!({"path": browse.path})));
    };
    Ok(page(view, browse, rest))
}

/// No such node: the nearest one is the hint, or the roots where none is near.
pub(crate) fn unknown_path(view: &View<'_>, asked: &[String], nearest: Vec<String>) -> Refusal {
    let shown: String = asked.join("/").chars().take(200).collect();
    let roots = || view.catalog.root().children.iter().map(|root| root.path.join("/")).collect();
    let hints = if nearest.is_empty() { roots() } else { vec![nearest.join("/")] };
    Refusal::new(Code::UnknownPath, format!("There is no node {shown:?}."))
        .hints(hints)
        .next("find_tools", json!({"path": nearest}))
}

fn items(view: &View<'_>, browse: &Browse, node: &Node) -> Vec<Vec<String>> {
    let wanted = |position: &&usize| browse.kind.is_none_or(|kind| view.catalog.entry(**position).kind == kind);
    let entry = |position: &usize, most: Level| lines(view.catalog.entry(*position), most, "");
    let own = node.own_entries();
    let own = own.iter().filter(wanted).map(|position| entry(position, Level::Summary));
    if node.path.is_empty() {
        let pinned = view.pins.iter().filter(wanted).map(|position| entry(position, Level::Signature));
        return pinned.chain(roots(node).map(|node| of_node(view, node))).chain(own).collect();
    }
    node.children.iter().map(|node| of_node(view, node)).chain(own).collect()
}

/// The nodes that are shown at the root.
pub(crate) fn roots(root: &Node) -> impl Iterator<Item = &Node> {
    root.children.iter().flat_map(|child| {
        let named = child.name() == SERVERS && child.children.len() <= FEW_SERVERS;
        if named { child.children.as_slice() } else { std::slice::from_ref(child) }
    })
}

fn of_node(view: &View<'_>, node: &Node) -> Vec<String> {
    let short = format!("{} — {}", shown(node), view.catalog.counted(node));
    if node.summary.is_empty() { vec![short] } else { vec![format!("{short}: {}", node.summary), short] }
}

fn shown(node: &Node) -> String {
    if node.path.is_empty() { "The catalog".to_owned() } else { node.path.join("/") }
}

fn page(view: &View<'_>, browse: &Browse, rest: &[Vec<String>]) -> String {
    let cursor = |shown: usize| {
        let Browse { path, kind, limit, offset } = browse.clone();
        let cursor = Cursor {
            query: String::new(),
            path,
            kind,
            detail: Level::Summary,
            limit,
            offset: offset + shown,
            tags: Vec::new(),
        };
        (shown < rest.len()).then(|| more(&cursor.encode(), rest.len() - shown))
    };
    let reserved = cursor(1.min(rest.len() - 1)).map_or(0, |line| cost(&line) + 2);
    let asked = &rest[..rest.len().min(browse.limit)];
    let mut lines = fit(asked, view.budget.saturating_sub(reserved));
    let next = cursor(lines.len());
    lines.extend(next);
    lines.join("\n")
}
