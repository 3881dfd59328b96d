//! `compact`: two tools in front of everything. `find_tools` browses, searches and describes; `call_tool` calls.
//!
//! Every byte of the two definitions is paid for in every conversation, which is why they are text here and not built:
//! at most 200 tokens, always the same.

use serde_json::json;
use serde_json::value::RawValue;
use toolfold_catalog::RESERVED;
use toolfold_core::{Code, Kind, Refusal};
use toolfold_wire::{Raw, raw_of};

use super::request::Arguments;
use super::{Action, Browse, Describe, Search, View, call, definition, not_found};
use crate::cursor::Cursor;
use crate::level::Level;
use crate::tokens;

const FIND: &str = RESERVED[0];
const CALL: &str = RESERVED[1];

const DEFINITIONS: [&str; 2] = [
    r#"{"name":"find_tools","description":"Find tools. query: a short phrase naming service and action, one step at a time. No arguments: overview. tool: id or list, for details; detail \"full\": its schema (when a signature shows ~).","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"path":{"type":"array","items":{"type":"string"}},"tool":{},"parameter":{"type":"string"},"detail":{"type":"string"},"kind":{"type":"string"},"limit":{"type":"integer"},"cursor":{"type":"string"}}},"_meta":{"anthropic/alwaysLoad":true}}"#,
    r#"{"name":"call_tool","description":"Call a tool that find_tools showed.","inputSchema":{"type":"object","properties":{"tool":{"type":"string"},"arguments":{"type":"object"}},"required":["tool"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
];

const RULES: &str = "Tools are behind find_tools. Do not assume that a tool exists: search first, with a short phrase \
    naming service and action, one step at a time; when unsure, browse by path. A signature with ~ is not complete: \
    read the tool with detail \"full\" before calling it. When refused, follow the hints and next_action.";
const MOST_TOKENS: usize = 120;

const DEFAULT_LIMIT: usize = 10;
const LARGEST_LIMIT: usize = 50;
const MOST_TOOLS: usize = 20;
const LONGEST_QUERY: usize = 400;

pub(super) fn tools(view: &View<'_>) -> Vec<Raw> {
    let own = DEFINITIONS.iter().filter_map(|text| raw_of(text).ok());
    let pinned = view.pins.iter().map(|&pin| definition(view.catalog.entry(pin), view.catalog.exposed(pin)));
    own.chain(pinned).collect()
}

/// The rules, and as many servers' names as there is room for.
pub(super) fn instructions(servers: &[&str]) -> String {
    let mut text = RULES.to_owned();
    for (place, name) in servers.iter().enumerate() {
        let before = if place == 0 { "\nServers: " } else { ", " };
        let longer = format!("{text}{before}{name}");
        // Room for the mark that says there are more.
        if tokens::count(&longer) + 2 > MOST_TOKENS {
            return if place == 0 { text } else { format!("{text}, …") };
        }
        text = longer;
    }
    text
}

pub(super) fn route(view: &View<'_>, name: &str, arguments: Option<&RawValue>) -> Action {
    let outcome = match name {
        FIND => find(view, arguments),
        CALL => call_tool(view, arguments),
        _ => return call(view, name, arguments.map(RawValue::to_owned)),
    };
    outcome.unwrap_or_else(Action::Refuse)
}

fn call_tool(view: &View<'_>, arguments: Option<&RawValue>) -> Result<Action, Refusal> {
    let mut given = Arguments::read(arguments)?;
    let key = if given.has("tool") { "tool" } else { "name" };
    let name = given.text(key)?.ok_or_else(no_tool)?;
    let inner = ["arguments", "args", "params", "input"].iter().find_map(|key| given.take(key));
    // A model that puts the arguments beside `tool` instead of inside `arguments` means what it says.
    let inner = inner.or_else(|| given.rest(key));
    match name.as_str() {
        FIND => find(view, inner.as_deref()),
        CALL => Err(Refusal::new(Code::InvalidRequest, "call_tool cannot call itself: name the tool to be called.")
            .next(FIND, json!({}))),
        _ => Ok(call(view, &name, inner)),
    }
}

fn no_tool() -> Refusal {
    Refusal::new(Code::InvalidRequest, "call_tool needs `tool`: the id of a tool, as find_tools shows it.")
        .next(FIND, json!({}))
}

fn find(view: &View<'_>, arguments: Option<&RawValue>) -> Result<Action, Refusal> {
    let given = Arguments::read(arguments)?;
    if let Some(cursor) = given.text("cursor")? {
        return resume(view, &given, &cursor);
    }
    let names = given.texts("tool")?;
    if !names.is_empty() {
        return describe(view, &given, names);
    }
    let limit = |usual: usize| Ok::<_, Refusal>(given.number("limit")?.unwrap_or(usual).clamp(1, LARGEST_LIMIT));
    let path = path(view, &given)?;
    let kind = kind(&given)?;
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

/// A query is a phrase; what goes on for a page is not made better by its end.
fn clipped(query: &str) -> String {
    query.chars().take(LONGEST_QUERY).collect()
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

fn path(view: &View<'_>, given: &Arguments) -> Result<Vec<String>, Refusal> {
    let asked = given.path("path")?;
    match view.catalog.node(&asked) {
        Ok(node) => Ok(node.path.clone()),
        Err(nearest) => Err(unknown_path(&asked, &nearest)),
    }
}

fn unknown_path(asked: &[String], nearest: &[String]) -> Refusal {
    let refusal = Refusal::new(Code::UnknownPath, format!("There is no node {:?}.", asked.join("/")));
    let refusal = if nearest.is_empty() { refusal } else { refusal.hint(nearest.join("/")) };
    refusal.next(FIND, json!({"path": nearest}))
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
