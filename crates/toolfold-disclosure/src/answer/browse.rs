//! What is in a node: its children with a word about each, or its entries. The root shows one level more, since it has
//! few children and a model that asks it wants to see what there is.

use serde_json::json;
use toolfold_catalog::Node;
use toolfold_core::{Code, Refusal};

use super::budget::{cost, fit};
use super::{lines, more};
use crate::cursor::Cursor;
use crate::level::Level;
use crate::surface::{Browse, View};

pub(super) const EMPTY: &str =
    "There are no tools yet: no server is configured, or none has answered so far. Ask again in a moment.";

pub(crate) fn browse(view: &View<'_>, browse: &Browse) -> Result<String, Refusal> {
    let node = view.catalog.node(&browse.path).map_err(|nearest| {
        Refusal::new(Code::UnknownPath, format!("There is no node {:?}.", browse.path.join("/")))
            .hint(nearest.join("/"))
            .next("find_tools", json!({"path": nearest}))
    })?;
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

fn items(view: &View<'_>, browse: &Browse, node: &Node) -> Vec<Vec<String>> {
    let wanted = |position: &&usize| browse.kind.is_none_or(|kind| view.catalog.entry(**position).kind == kind);
    let entry = |position: &usize, most: Level| lines(view.catalog.entry(*position), most, "");
    if node.path.is_empty() {
        let pinned = view.pins.iter().filter(wanted).map(|position| entry(position, Level::Signature));
        let below = node.children.iter().flat_map(|child| {
            if child.children.is_empty() { std::slice::from_ref(child) } else { child.children.as_slice() }
        });
        return pinned.chain(below.map(|node| of_node(view, node))).collect();
    }
    if node.children.is_empty() {
        return node.entries.iter().filter(wanted).map(|position| entry(position, Level::Summary)).collect();
    }
    node.children.iter().map(|node| of_node(view, node)).collect()
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
