//! `lifecycle`: find, describe, load, see what is loaded.
//!
//! What a reader would get wrong: who has a session gets loaded tools into its list. Who has none is given their
//! definitions and a handle instead, and calls them through `call_tool`.

use std::borrow::Cow;

use serde_json::{Value, json};
use toolfold_core::Refusal;
use toolfold_wire::{Object, Raw, raw};

use super::next::Wish;
use super::request::Arguments;
use super::two_phase::definition as short_definition;
use super::{Action, Load, Meta, View, definition, found, json_result, limit, needed, not_found, tool, tools};
use crate::level::summary;
use crate::tokens;

const FIND: &str = "tool_find";
const DESCRIBE: &str = "tool_describe";
const LOAD: &str = "tool_load";
const ACTIVE: &str = "tool_active";

const DEFINITIONS: [&str; 4] = [
    r#"{"name":"tool_find","description":"Search tools by what they do.","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
    r#"{"name":"tool_describe","description":"Get a tool's description and schema.","inputSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
    r#"{"name":"tool_load","description":"Load tools, so that they can be called.","inputSchema":{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}},"toolset":{"type":"string","description":"Add to this set"}},"required":["names"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
    r#"{"name":"tool_active","description":"List the tools that are loaded.","inputSchema":{"type":"object","properties":{"toolset":{"type":"string","description":"From tool_load"}}},"_meta":{"anthropic/alwaysLoad":true}}"#,
];

/// What only those without a session need.
const TOOLSETS: [&str; 2] = [
    r#","toolset":{"type":"string","description":"Add to this set"}"#,
    r#","properties":{"toolset":{"type":"string","description":"From tool_load"}}"#,
];

pub(super) fn definitions(view: &View<'_>) -> Vec<Cow<'static, str>> {
    let sets: &[&str] = if view.session { &TOOLSETS } else { &[] };
    let without = |text: &str| sets.iter().fold(text.to_owned(), |text, set| text.replacen(set, "", 1));
    DEFINITIONS.iter().map(|text| without(text).into()).collect()
}

pub(super) const RULES: &str = "Only loaded tools can be seen. Do not assume that a tool exists: tool_find it first, with \
    a short phrase for one step at a time; when unsure, try other words. Never call a tool without knowing its schema: \
    tool_describe shows it. Then tool_load what you need and call it by its name, or with call_tool where that is \
    listed. When refused, follow the hints and next_action.";

/// More names than this in one request are a mistake.
const MOST_NAMES: usize = 128;

pub(super) fn meta(name: &str) -> Option<Meta> {
    match name {
        FIND => Some(|view, _, given| find(view, &given)),
        DESCRIBE => Some(|view, _, given| describe(view, &given)),
        LOAD => Some(|view, _, given| load(view, &given)),
        ACTIVE => Some(|_, _, given| Ok(Action::Active { toolset: given.text("toolset")? })),
        _ => None,
    }
}

pub(super) fn next(wish: &Wish) -> (&'static str, Value) {
    match wish {
        Wish::Anything => (FIND, json!({"query": ""})),
        Wish::Query(query) => (FIND, json!({"query": query})),
        Wish::Path(path) => (FIND, json!({"query": path.last()})),
        Wish::Tool(name) => (DESCRIBE, json!({"name": name})),
    }
}

fn find(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let query = given.text("query")?.unwrap_or_default();
    let found = found(view, &query, &[], limit(given)?)?;
    let matched = |hit: &toolfold_index::Hit| {
        json!({
            "name": view.catalog.exposed(hit.entry),
            "description": summary(view.catalog.entry(hit.entry)),
            "score": super::hundredths(hit.confidence),
            "active": view.is_active(hit.entry),
        })
    };
    Ok(Action::Answer(json_result(&found.hits.iter().map(matched).collect::<Vec<_>>())))
}

fn describe(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let position = tool(view, &needed(given, DESCRIBE, &["name", "tool"])?)?;
    Ok(Action::Answer(json_result(&short_definition(view, position).with("active", &view.is_active(position)))))
}

/// All of them or none: an unknown name among them loads nothing.
fn load(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let key = if given.has("names") { "names" } else { "name" };
    let names = given.texts(key)?;
    let wrong =
        |message: String| Refusal::new(toolfold_core::Code::InvalidRequest, message).next("find_tools", json!({}));
    if names.is_empty() || names.len() > MOST_NAMES {
        return Err(wrong(format!("{LOAD} needs `names`: from one to {MOST_NAMES} names of tools.")));
    }
    let mut tools = Vec::new();
    let mut unknown: Vec<(String, Refusal)> = Vec::new();
    for name in names {
        match tool(view, &name) {
            Ok(position) if tools.contains(&position) => {}
            Ok(position) => tools.push(position),
            Err(refusal) => unknown.push((name, refusal)),
        }
    }
    match unknown.as_slice() {
        [] => Ok(Action::Load(Load { tools, toolset: given.text("toolset")?, answer: None })),
        [(_, refusal)] => {
            Err(Refusal { message: format!("{} Nothing was loaded.", refusal.message), ..refusal.clone() })
        }
        several => Err(several_unknown(several)),
    }
}

fn several_unknown(unknown: &[(String, Refusal)]) -> Refusal {
    let names: Vec<&str> = unknown.iter().map(|(name, _)| name.as_str()).collect();
    let nowhere = toolfold_catalog::Unresolved::Unknown { nearest: Vec::new() };
    let mut refusal = not_found(names[0], nowhere);
    refusal.message = format!("Nothing was loaded: there are no tools called {}.", names.join(", "));
    let hints = unknown.iter().flat_map(|(_, refusal)| refusal.hints.iter().take(2).cloned());
    refusal.hints(hints).details(json!({"unknown": names}))
}

/// The answer to a load: in a session what is in its list now, without one the definitions and their handle.
pub fn loaded(view: &View<'_>, load: &Load, toolset: Option<&str>) -> Raw {
    let names = |positions: &[usize]| positions.iter().map(|&at| view.catalog.exposed(at)).collect::<Vec<_>>();
    let answer = Object::new().with("loaded", &names(&load.tools));
    json_result(&match toolset {
        None => answer.with("active", &names(view.loaded)),
        Some(handle) => {
            let definitions: Vec<Raw> =
                load.tools.iter().map(|&at| definition(view.catalog.entry(at), view.catalog.exposed(at))).collect();
            answer.with("toolset", handle).with("tools", &definitions)
        }
    })
}

/// The answer to "what is active": everything a client of this view can call by name, and what that costs it.
pub fn active(view: &View<'_>) -> Raw {
    let listed = tools(toolfold_core::Surface::Lifecycle, view);
    let cost: usize = listed.iter().map(|definition| tokens::count(definition.get())).sum();
    let own = listed.len() - view.pins.len() - view.newly_loaded().len();
    let described = |raw: &Raw| {
        let whole = Object::parse(raw).unwrap_or_default();
        json!({"name": whole.string("name"), "description": whole.string("description")})
    };
    let shown = |&at: &usize| json!({"name": view.catalog.exposed(at), "description": summary(view.catalog.entry(at))});
    let rest = view.pins.iter().copied().chain(view.newly_loaded());
    let all: Vec<Value> = listed[..own].iter().map(described).chain(rest.map(|at| shown(&at))).collect();
    raw(&json!({"content": [
        {"type": "text", "text": json!(all).to_string()},
        {"type": "text", "text": format!("Total active: {} tools (~{cost} tokens)", all.len())},
    ]}))
}
