//! Ranked entries, one line each; and what to say when there are none.

use toolfold_catalog::{Node, SERVERS};
use toolfold_core::{Code, Next, Refusal, ServerName};
use toolfold_index::{Filter, Found, Query};
use toolfold_wire::Raw;

use super::browse::{empty, with_note};
use super::budget::{Item, cost, fit};
use super::more;
use crate::cursor::Cursor;
use crate::surface::{Search, note, text_result};
use crate::view::View;

/// Below this the best hit is a guess.
pub const DOUBTFUL: f32 = 0.3;
pub const DOUBT: &str = "No close match. The nearest:";
const NODES_NAMED: usize = 12;
const NODES_HINTED: usize = 3;

pub(crate) fn search(view: &View<'_>, search: &Search) -> Result<Raw, Refusal> {
    let node = view.node(&search.path).unwrap_or_else(|_| view.root());
    let within = (!node.path.is_empty()).then_some(node.entries.as_slice());
    let found = find(view, search, within);
    if found.total == 0 {
        return nothing(view, search, node).map(|text| text_result(&text));
    }
    if found.hits.is_empty() {
        let message = "There is nothing behind this cursor any more: what is served has changed. Ask again without it.";
        return Err(Refusal::new(Code::InvalidCursor, message).next(Next::Search { query: search.query.clone() }));
    }
    Ok(text_result(&page(view, search, &found)))
}

fn find(view: &View<'_>, search: &Search, within: Option<&[usize]>) -> Found {
    let filter = Filter { within, kind: search.kind, ..Filter::default() };
    let query = Query { text: &search.query, filter, limit: search.limit, offset: search.offset, ..Query::default() };
    view.search(query)
}

fn page(view: &View<'_>, search: &Search, found: &Found) -> String {
    let doubtful = search.offset == 0 && found.hits[0].confidence < DOUBTFUL;
    let item = |hit: &toolfold_index::Hit| {
        let copies = if hit.copies > 0 { format!(" (+{} like it)", hit.copies) } else { String::new() };
        Item::entry(view.entry(hit.entry), search.detail, copies)
    };
    let items: Vec<Item<'_>> = found.hits.iter().map(item).collect();
    let rest = |shown: usize| {
        let offset = search.offset + shown;
        let left = found.total.saturating_sub(offset);
        let Search { query, path, kind, detail, limit, .. } = search.clone();
        (left > 0).then(|| more(&Cursor { query, path, kind, detail, limit, offset, tags: Vec::new() }.encode(), left))
    };
    let note = note(view).filter(|_| search.offset == 0);
    // Room for a cursor is kept whether or not one is needed.
    let reserved = rest(1).map_or(0, |line| cost(&line) + 2)
        + if doubtful { cost(DOUBT) } else { 0 }
        + note.as_deref().map_or(0, cost);
    let mut text = if doubtful { vec![DOUBT.to_owned()] } else { Vec::new() };
    let shown = fit(&items, view.budget().saturating_sub(reserved));
    let rest = rest(shown.len());
    text.extend(shown);
    text.extend(rest);
    text.extend(note);
    text.join("\n")
}

/// Nothing matched: where something would, or what there is at all.
fn nothing(view: &View<'_>, search: &Search, node: &Node) -> Result<String, Refusal> {
    if !node.path.is_empty() {
        return Err(not_in_node(view, search, node));
    }
    if view.is_empty() {
        return Ok(empty(view));
    }
    let nearest = nearest_nodes(view, search);
    let names: Vec<&str> = view.servers().map(ServerName::as_str).take(NODES_NAMED + 1).collect();
    let more = if names.len() > NODES_NAMED { ", …" } else { "" };
    let names = names[..names.len().min(NODES_NAMED)].join(", ");
    let nodes = if nearest.is_empty() { String::new() } else { format!(" Nearest nodes: {}.", nearest.join(", ")) };
    let text = format!(
        "No tool here fits {:?}.{nodes} Try other words for service and action, or browse with path. Servers: {names}{more}",
        search.query
    );
    Ok(with_note(view, text))
}

/// Where the best of what is no answer is at home.
fn nearest_nodes(view: &View<'_>, search: &Search) -> Vec<String> {
    let query = Query { text: &search.query, limit: NODES_NAMED, ..Query::default() };
    let hits = view.rank(query).hits;
    let mut nodes: Vec<String> = Vec::new();
    for path in hits.iter().filter_map(|hit| view.home(hit.entry)).map(|home| home.join("/")) {
        if !nodes.contains(&path) && nodes.len() < NODES_HINTED {
            nodes.push(path);
        }
    }
    nodes
}

/// Why there is nothing, and where there would be.
pub(crate) fn not_in_node(view: &View<'_>, search: &Search, node: &Node) -> Refusal {
    let elsewhere = find(view, &Search { limit: 20, offset: 0, ..search.clone() }, None);
    let mut hints: Vec<String> = Vec::new();
    for hit in &elsewhere.hits {
        let server = [SERVERS, view.entry(hit.entry).server().as_str()].join("/");
        for path in view.home(hit.entry).map(|home| home.join("/")).into_iter().chain([server]) {
            if !hints.contains(&path) && hints.len() < NODES_HINTED {
                hints.push(path);
            }
        }
    }
    let place = if node.path.is_empty() { "the catalog".to_owned() } else { node.path.join("/") };
    let message = if hints.is_empty() {
        format!("Nothing in {place} matches {:?}, nor anything elsewhere. Try other words.", search.query)
    } else {
        format!("Nothing in {place} matches {:?}. The nodes in the hints have matches.", search.query)
    };
    let next = if hints.is_empty() {
        Next::Browse { path: node.path.clone() }
    } else {
        Next::Search { query: search.query.clone() }
    };
    Refusal::new(Code::NoMatchInCategory, message).hints(hints).next(next)
}
