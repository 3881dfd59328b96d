//! `compact`: two tools in front of everything. `find_tools` browses, searches and describes; `call_tool` calls.
//!
//! Every byte of the two definitions is paid for in every conversation, which is why they are text here and not built:
//! at most 200 tokens, always the same.

use serde_json::json;
use toolfold_core::{Code, Kind, Refusal};

use super::lookup::{DEFAULT_LIMIT, LARGEST_LIMIT};
use super::request::Arguments;
use super::{Action, Browse, Describe, Meta, Search, View, call_through, clipped, node, not_found};
use crate::cursor::Cursor;
use crate::level::Level;

const FIND: &str = "find_tools";
const CALL: &str = super::CALL;

pub(super) const DEFINITIONS: [&str; 2] = [
    r#"{"name":"find_tools","description":"Find tools. query: a short phrase naming service and action, one step at a time. No arguments: overview. tool: id or list, for details; detail \"full\": its schema (when a signature shows ~).","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"path":{"type":"array","items":{"type":"string"}},"tool":{},"parameter":{"type":"string"},"detail":{"type":"string"},"kind":{"type":"string"},"limit":{"type":"integer"},"cursor":{"type":"string"}}},"_meta":{"anthropic/alwaysLoad":true}}"#,
    r#"{"name":"call_tool","description":"Call a tool that find_tools showed.","inputSchema":{"type":"object","properties":{"tool":{"type":"string"},"arguments":{"type":"object"}},"required":["tool"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
];

pub(super) const RULES: &str = "Tools are behind find_tools. Do not assume that a tool exists: search first, with a short phrase \
    naming service and action, one step at a time; when unsure, browse by path. A signature with ~ is not complete: \
    read the tool with detail \"full\" before calling it. When refused, follow the hints and next_action.";

const MOST_TOOLS: usize = 20;

pub(super) fn meta(name: &str) -> Option<Meta> {
    match name {
        FIND => Some(|view, _, given| find(view, &given)),
        CALL => Some(|view, _, given| call_tool(view, given)),
        _ => None,
    }
}

fn call_tool(view: &View<'_>, mut given: Arguments) -> Result<Action, Refusal> {
    let key = if given.has("tool") { "tool" } else { "name" };
    match given.text(key)?.as_deref() {
        Some(FIND) => {
            let inner = given.take_inner(key);
            find(view, &Arguments::read(inner.as_ref())?)
        }
        Some(CALL) => {
            Err(Refusal::new(Code::InvalidRequest, "call_tool cannot call itself: name the tool to be called.")
                .next(FIND, json!({})))
        }
        _ => call_through(view, given, CALL, &["tool", "name"], FIND),
    }
}

fn find(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    if let Some(cursor) = given.text("cursor")? {
        return resume(view, given, &cursor);
    }
    let names = given.texts("tool")?;
    if !names.is_empty() {
        return describe(view, given, names);
    }
    let limit = |usual: usize| Ok::<_, Refusal>(given.number("limit")?.unwrap_or(usual).clamp(1, LARGEST_LIMIT));
    let path = node(view, &given.path("path")?)?.path.clone();
    let kind = kind(given)?;
    let detail = given.text("detail")?.map_or(Ok(Level::Signature), |name| level(&name))?;
    Ok(match given.text("query")? {
        Some(query) => {
            let query = clipped(&query);
            Action::Search(Search { query, path, kind, detail, limit: limit(DEFAULT_LIMIT)?, offset: 0 })
        }
        None => Action::Browse(Browse { path, kind, limit: limit(LARGEST_LIMIT)?, offset: 0 }),
    })
}

/// The next page. A cursor says by itself what it continues; a query beside it must be the same one.
fn resume(view: &View<'_>, given: &Arguments, cursor: &str) -> Result<Action, Refusal> {
    let query = given.text("query")?.map(|query| clipped(&query));
    let again = || query.as_ref().map_or(json!({}), |query| json!({"query": query}));
    let refuse = |message: &str| Refusal::new(Code::InvalidCursor, message).next(FIND, again());
    let cursor = Cursor::decode(cursor)
        .ok_or_else(|| refuse("This cursor was not given out by find_tools. Ask again without it."))?;
    if query.as_ref().is_some_and(|query| *query != cursor.query) {
        return Err(refuse("This cursor belongs to another query. Ask again without it."));
    }
    let path = match view.catalog.node(&cursor.path) {
        Ok(node) => node.path.clone(),
        Err(_) => return Err(refuse("The node this cursor is about is gone. Ask again without the cursor.")),
    };
    let Cursor { query, kind, detail, limit, offset, .. } = cursor;
    Ok(if query.is_empty() {
        Action::Browse(Browse { path, kind, limit, offset })
    } else {
        Action::Search(Search { query, path, kind, detail, limit, offset })
    })
}

fn describe(view: &View<'_>, given: &Arguments, names: Vec<String>) -> Result<Action, Refusal> {
    let detail = given.text("detail")?.map_or(Ok(Level::Details), |name| level(&name))?;
    let parameter = given.text("parameter")?;
    let (mut tools, mut missing) = (Vec::new(), Vec::new());
    for name in names.iter().take(MOST_TOOLS) {
        match view.catalog.resolve(name) {
            Ok(entry) if tools.contains(&entry) => {}
            Ok(entry) => tools.push(entry),
            Err(unresolved) => missing.push(not_found(name, unresolved)),
        }
    }
    match (tools.is_empty(), missing.first()) {
        (true, Some(refusal)) if missing.len() == 1 => Err(refusal.clone()),
        _ => Ok(Action::Describe(Describe { tools, missing, parameter, detail })),
    }
}

fn kind(given: &Arguments) -> Result<Option<Kind>, Refusal> {
    let Some(name) = given.text("kind")? else { return Ok(None) };
    let lower = name.to_lowercase();
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    if matches!(singular, "any" | "all") {
        return Ok(None);
    }
    serde_json::from_value(json!(singular)).map(Some).map_err(|_| {
        Refusal::new(Code::InvalidRequest, "`kind` is one of the hints, or left out for all of them.")
            .hints(["tool", "agent", "skill", "prompt", "resource"].map(String::from))
    })
}

fn level(name: &str) -> Result<Level, Refusal> {
    Level::parse(name).ok_or_else(|| {
        Refusal::new(Code::InvalidRequest, "`detail` is one of the hints.")
            .hints(Level::ALL.map(|level| level.as_str().to_owned()))
    })
}
