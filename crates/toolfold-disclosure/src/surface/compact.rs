//! `compact`: two tools in front of everything. `find_tools` browses, searches and describes; `call_tool` calls.
//!
//! Every byte of the two definitions is paid for in every conversation, which is why they are text here and not built:
//! at most 200 tokens, always the same.

use serde_json::{Value, json};
use toolfold_core::{Code, Kind, Next, Refusal};

use super::lookup::{DEFAULT_LIMIT, LARGEST_LIMIT, call_through, path_of, spelling};
use super::request::Arguments;
use super::table::{Calling, Listed, Meta, Table};
use super::{Action, Browse, Describe, Search, View};
use crate::answer::{self, reader};
use crate::cursor::Cursor;
use crate::level::Level;

const FIND: &str = "find_tools";
const CALL: &str = "call_tool";

/// Of this surface and of `code`.
pub(super) const CALLING: Calling =
    Calling { name: CALL, keys: &["tool", "name"], arguments: "arguments", always: &[], finder: FIND };

pub(super) static TABLE: Table = Table {
    rules: "Tools are behind find_tools. Do not assume that a tool exists: search first, with a short phrase \
    naming service and action, one step at a time; when unsure, browse by path. Before calling a tool whose signature \
    shows ~, read it with detail \"full\". When refused, follow the hints and next_action.",
    metas: &[FIND_META, CALL_META],
    by_server: None,
    call: Some(CALLING),
    next,
};

/// Of this surface and of `code`.
pub(super) const FIND_META: Meta = Meta {
    name: FIND,
    definition: r#"{"name":"find_tools","description":"Find tools. query: short English phrase naming service and action, one step at a time. No arguments: overview; path: a node. tool: id or list, for details; detail \"full\": schema (if it shows ~); parameter: only that.","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"path":{"type":"array","items":{"type":"string"}},"tool":{},"parameter":{},"detail":{},"limit":{},"cursor":{}}},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
    listed: Listed::Always,
    ask: |asking, given| find(asking.view, &given),
};

pub(super) const CALL_META: Meta = Meta {
    name: CALL,
    definition: r#"{"name":"call_tool","description":"Call a tool that find_tools showed. fields: JSON paths to keep.","inputSchema":{"type":"object","properties":{"tool":{"type":"string"},"arguments":{"type":"object"},"fields":{}},"required":["tool"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
    listed: Listed::Always,
    ask: |asking, given| call_through(asking, given, &CALLING),
};

pub(super) fn next(next: &Next) -> Option<(&'static str, Value)> {
    let arguments = match next {
        Next::Overview => json!({}),
        Next::Search { query } => json!({"query": query}),
        Next::Browse { path } => json!({"path": path}),
        Next::Describe { tool, full: false } => json!({"tool": tool}),
        Next::Describe { tool, full: true } => json!({"tool": tool, "detail": "full"}),
        Next::Agents => json!({"kind": "agent"}),
    };
    Some((FIND, arguments))
}

const MOST_TOOLS: usize = 20;

fn find(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    if let Some(cursor) = given.text("cursor")? {
        return resume(view, given, &cursor);
    }
    let names = given.texts("tool")?;
    if !names.is_empty() {
        return describe(given, &names);
    }
    let limit = |usual: usize| Ok::<_, Refusal>(given.number("limit")?.unwrap_or(usual).clamp(1, LARGEST_LIMIT));
    let asked = given.path("path")?;
    if view.reader().is_some() && reader::is_path(&asked) && view.node(&asked).is_err() {
        return Ok(Action::Browse(Browse::at(asked), reader::browse));
    }
    let path = path_of(view, asked);
    let kind = kind(given)?;
    let detail = given.text("detail")?.map_or(Ok(Level::Signature), |name| level(&name))?;
    // Who asks for a number or a level gets it.
    let as_needed = given.number("limit")?.is_none() && given.text("detail")?.is_none();
    let query = given.query()?;
    Ok(if query.is_empty() {
        browse(Browse { kind, limit: limit(LARGEST_LIMIT)?, ..Browse::at(path) })
    } else {
        search(Search { path, kind, detail, as_needed, ..Search::tools(query, limit(DEFAULT_LIMIT)?) })
    })
}

fn browse(browse: Browse) -> Action {
    Action::Browse(browse, answer::browse)
}

fn search(search: Search) -> Action {
    Action::Search(search, answer::search)
}

/// The next page. A cursor says by itself what it continues; a query beside it must be the same one.
fn resume(view: &View<'_>, given: &Arguments, cursor: &str) -> Result<Action, Refusal> {
    let query = given.query()?;
    let again = || if query.is_empty() { Next::Overview } else { Next::Search { query: query.clone() } };
    let refuse = |message: &str| Refusal::new(Code::InvalidCursor, message).next(again());
    let cursor = Cursor::decode(cursor)
        .ok_or_else(|| refuse("This cursor was not given out by find_tools. Ask again without it."))?;
    if !query.is_empty() && query != cursor.query {
        return Err(refuse("This cursor belongs to another query. Ask again without it."));
    }
    let path = match view.node(&cursor.path) {
        Ok(node) => node.path.clone(),
        Err(_) => return Err(refuse("The node this cursor is about is gone. Ask again without the cursor.")),
    };
    let Cursor { query, kind, detail, limit, offset, .. } = cursor;
    Ok(if query.is_empty() {
        browse(Browse { kind, limit, offset, ..Browse::at(path) })
    } else {
        search(Search { path, kind, detail, offset, ..Search::tools(query, limit) })
    })
}

fn describe(given: &Arguments, names: &[String]) -> Result<Action, Refusal> {
    let detail = given.text("detail")?.map_or(Ok(Level::Details), |name| level(&name))?;
    let parameters = given.names("parameter")?;
    let names = names.iter().take(MOST_TOOLS).map(|name| spelling(name)).collect();
    Ok(Action::Describe(Describe { names, parameters, detail }, answer::describe))
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
