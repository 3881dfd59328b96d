//! What surfaces share when they read a request: names to tools, paths to nodes, queries to hits. Where there is none, a
//! refusal in the words of `compact`; `next.rs` fits it to the surface that was asked.

use serde_json::json;
use toolfold_catalog::{Node, Unresolved};
use toolfold_core::{Code, Kind, Refusal, words};
use toolfold_index::{Filter, Found, Query};
use toolfold_wire::Raw;

use super::request::Arguments;
use super::{Action, Search, View};
use crate::answer::unknown_path;
use crate::level::Level;

pub(super) const DEFAULT_LIMIT: usize = 10;
pub(super) const LARGEST_LIMIT: usize = 50;
const LONGEST_QUERY: usize = 400;

/// A call of a real tool, however it is spelled.
pub(crate) fn call(view: &View<'_>, name: &str, arguments: Option<Raw>) -> Action {
    match view.catalog.resolve(name) {
        Ok(entry) => Action::Call { entry, arguments },
        Err(unresolved) => Action::Refuse(not_found(name, unresolved)),
    }
}

/// A call through a meta-tool: the tool's name is under one of `keys`, its arguments beside it.
pub(super) fn call_through(
    view: &View<'_>,
    mut given: Arguments,
    own: &str,
    keys: &[&str],
    finder: &str,
) -> Result<Action, Refusal> {
    let key = keys.iter().find(|key| given.has(key)).unwrap_or(&keys[0]);
    let name = given.text(key)?.ok_or_else(|| {
        let message = format!("{own} needs `{}`: the name of a tool, as {finder} shows it.", keys[0]);
        Refusal::new(Code::InvalidRequest, message).next("find_tools", json!({}))
    })?;
    let inner = given.take_inner(key);
    Ok(call(view, &name, inner))
}

/// The text under one of these keys, which a meta-tool cannot do without.
pub(super) fn needed(given: &Arguments, own: &str, keys: &[&str]) -> Result<String, Refusal> {
    let key = keys.iter().find(|key| given.has(key)).unwrap_or(&keys[0]);
    given.text(key)?.ok_or_else(|| {
        let message = format!("{own} needs `{}`, a string.", keys[0]);
        Refusal::new(Code::InvalidRequest, message).next("find_tools", json!({}))
    })
}

pub(super) fn limit(given: &Arguments) -> Result<usize, Refusal> {
    Ok(given.number("limit")?.unwrap_or(DEFAULT_LIMIT).clamp(1, LARGEST_LIMIT))
}

/// A query is a phrase; what goes on for a page is not made better by its end.
pub(super) fn clipped(query: &str) -> String {
    query.chars().take(LONGEST_QUERY).collect()
}

pub(super) fn hundredths(confidence: f32) -> f64 {
    (f64::from(confidence) * 100.0).round() / 100.0
}

/// The node at a path; where there is none, a refusal that names the nearest.
pub(super) fn node<'a>(view: &View<'a>, asked: &[String]) -> Result<&'a Node, Refusal> {
    view.catalog.node(asked).map_err(|nearest| unknown_path(view, asked, nearest))
}

/// The best tools for a query in a node; a refusal where the node has none.
pub(super) fn found(view: &View<'_>, query: &str, path: &[String], limit: usize) -> Result<Found, Refusal> {
    let (node, query) = (node(view, path)?, clipped(query));
    let within = (!path.is_empty()).then_some(node.entries.as_slice());
    let filter = Filter { within, kind: Some(Kind::Tool), ..Filter::default() };
    let found = view.search(Query { text: &query, filter, limit, offset: 0, ..Query::default() });
    if found.hits.is_empty() && !path.is_empty() {
        let path = node.path.clone();
        let search = Search { query, path, kind: Some(Kind::Tool), detail: Level::Summary, limit, offset: 0 };
        return Err(crate::answer::not_in_node(view, &search, node));
    }
    Ok(found)
}

/// The tool that a name means. Agents and skills are read elsewhere.
pub(super) fn tool(view: &View<'_>, name: &str) -> Result<usize, Refusal> {
    let position = view.catalog.resolve(name).map_err(|unresolved| not_found(name, unresolved))?;
    let entry = view.catalog.entry(position);
    if entry.is_tool() {
        return Ok(position);
    }
    Err(Refusal::new(
        Code::InvalidRequest,
        format!("{} is not a tool but of the kind {}.", entry.id, entry.kind.as_str()),
    ))
}

pub(crate) fn not_found(name: &str, unresolved: Unresolved) -> Refusal {
    let shown: String = name.chars().take(100).collect();
    let (message, hints) = match unresolved {
        Unresolved::Ambiguous { candidates } => {
            (format!("Several servers have a tool called {shown:?}: use one of the full ids in the hints."), candidates)
        }
        Unresolved::Unknown { nearest } if nearest.is_empty() => {
            (format!("There is no tool called {shown:?}. Search for what it should do."), nearest)
        }
        Unresolved::Unknown { nearest } => (
            format!("There is no tool called {shown:?}. Use one of the hints, or search for what it should do."),
            nearest,
        ),
    };
    let query = words::split(&shown).join(" ");
    let arguments = if query.is_empty() { json!({}) } else { json!({"query": query}) };
    Refusal::new(Code::ToolNotFound, message).hints(hints).next("find_tools", arguments)
}
