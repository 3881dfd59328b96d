//! `lifecycle`: find, describe, load, see what is loaded.
//!
//! What a reader would get wrong: who has a session gets loaded tools into its list. Who has none is given their
//! definitions and a handle instead, and calls them through `call_tool`.

use serde_json::{Value, json};
use toolfold_core::{Code, Next, Refusal, Surface};
use toolfold_wire::{Object, Raw, raw};

use super::lookup::{found, hundredths, limit, needed_name, spelling, tool};
use super::request::Arguments;
use super::result::{json_result, json_result_with};
use super::table::{Listed, Meta, Table};
use super::two_phase::{CALL_META, CALLING, definition as short_definition};
use super::{Action, Describe, Load, Search, Unknown, View, definition, note, tools};
use crate::level::{Level, marked_summary};
use crate::tokens;

const FIND: &str = "tool_find";
const DESCRIBE: &str = "tool_describe";
const LOAD: &str = "tool_load";
const ACTIVE: &str = "tool_active";

/// Only those without a session have sets to add to and to ask for.
pub(super) static TABLE: Table = Table {
    rules: "Only loaded tools can be seen. Do not assume that a tool exists: tool_find it first, with \
    a short phrase for one step at a time; when unsure, try other words. Never call a tool without knowing its schema: \
    tool_describe shows it. Then tool_load what you need and call it by its name, or with call_tool where that is \
    listed. When refused, follow the hints and next_action.",
    metas: &[
        Meta {
            name: FIND,
            definition: r#"{"name":"tool_find","description":"Search tools by what they do.","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |_, given| Ok(Action::Search(Search::tools(given.query()?, limit(&given)?), matches)),
        },
        Meta {
            name: DESCRIBE,
            definition: r#"{"name":"tool_describe","description":"Get a tool's description and schema.","inputSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |_, given| describe(&given),
        },
        Meta {
            name: LOAD,
            definition: r#"{"name":"tool_load","description":"Load tools, so that they can be called.","inputSchema":{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}}},"required":["names"]},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::InSession,
            ask: |asking, given| load(asking.view, &given),
        },
        Meta {
            name: LOAD,
            definition: r#"{"name":"tool_load","description":"Load tools, so that they can be called.","inputSchema":{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}},"toolset":{"type":"string","description":"Add to this set"}},"required":["names"]},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::WithoutSession,
            ask: |asking, given| load(asking.view, &given),
        },
        Meta {
            name: ACTIVE,
            definition: r#"{"name":"tool_active","description":"List the tools that are loaded.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::InSession,
            ask: |_, given| list_active(&given),
        },
        Meta {
            name: ACTIVE,
            definition: r#"{"name":"tool_active","description":"List the tools that are loaded.","inputSchema":{"type":"object","properties":{"toolset":{"type":"string","description":"From tool_load"}}},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::WithoutSession,
            ask: |_, given| list_active(&given),
        },
        CALL_META,
    ],
    by_server: None,
    call: Some(CALLING),
    next: |next| Some(self::next(next)),
};

/// More names than this in one request are a mistake.
const MOST_NAMES: usize = 128;

fn next(next: &Next) -> (&'static str, Value) {
    match next {
        Next::Overview | Next::Agents => (FIND, json!({"query": ""})),
        Next::Search { query } => (FIND, json!({"query": query})),
        Next::Browse { path } => (FIND, json!({"query": path.last()})),
        Next::Describe { tool, .. } => (DESCRIBE, json!({"name": tool})),
    }
}

fn matches(view: &View<'_>, search: &Search) -> Result<Raw, Refusal> {
    let found = found(view, search)?;
    let matched = |hit: &toolfold_index::Hit| {
        json!({
            "name": view.exposed(hit.entry),
            "description": marked_summary(view.entry(hit.entry)),
            "score": hundredths(hit.confidence),
            "active": view.is_active(hit.entry),
        })
    };
    Ok(json_result_with(&found.hits.iter().map(matched).collect::<Vec<_>>(), note(view)))
}

fn describe(given: &Arguments) -> Result<Action, Refusal> {
    let name = needed_name(given, DESCRIBE, &["name", "tool"])?;
    let shape = |view: &View<'_>, describe: &Describe| {
        let position = tool(view, &describe.names[0])?;
        Ok(json_result(&short_definition(view, position).with("active", &view.is_active(position))))
    };
    Ok(Action::Describe(Describe::one(name, Level::Full), shape))
}

fn list_active(given: &Arguments) -> Result<Action, Refusal> {
    Ok(Action::Active { toolset: given.name("toolset")? })
}

/// All of them or none: an unknown name among them loads nothing.
fn load(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let key = if given.has("names") { "names" } else { "name" };
    let names = given.texts(key)?;
    if names.is_empty() || names.len() > MOST_NAMES {
        let message = format!("{LOAD} needs `names`: from one to {MOST_NAMES} names of tools.");
        return Err(Refusal::new(Code::InvalidRequest, message).next(Next::Overview));
    }
    let (mut tools, mut unknown) = (Vec::new(), Vec::new());
    for name in names {
        match view.resolve(&name) {
            Ok(position) if tools.contains(&position) => {}
            Ok(position) if view.entry(position).is_tool() => tools.push(position),
            _ => unknown.push(spelling(&name)),
        }
    }
    if !unknown.is_empty() {
        return Ok(Action::Unknown(Unknown { names: unknown, loading: true }));
    }
    Ok(Action::Load(Load { tools, toolset: given.name("toolset")?, shape: None }))
}

/// The answer to a load: in a session what is in its list now, without one the definitions and their handle.
pub fn loaded(view: &View<'_>, load: &Load, toolset: Option<&str>) -> Raw {
    let names = |positions: &[usize]| positions.iter().map(|&at| view.exposed(at)).collect::<Vec<_>>();
    let answer = Object::new().with("loaded", &names(&load.tools));
    json_result(&match toolset {
        None => answer.with("active", &names(&view.loaded().collect::<Vec<_>>())),
        Some(handle) => {
            let definitions: Vec<Raw> =
                load.tools.iter().map(|&at| definition(view.entry(at), view.exposed(at))).collect();
            answer.with("toolset", handle).with("tools", &definitions)
        }
    })
}

/// The answer to "what is active": everything a client of this view can call by name, and what that costs it.
pub fn active(view: &View<'_>) -> Raw {
    let listed = tools(Surface::Lifecycle, view);
    let cost: usize = listed.iter().map(|definition| tokens::count(definition.get())).sum();
    let own = listed.len() - view.listed().count();
    let described = |raw: &Raw| {
        let whole = Object::parse(raw).unwrap_or_default();
        json!({"name": whole.string("name"), "description": whole.string("description")})
    };
    let shown = |&at: &usize| json!({"name": view.exposed(at), "description": marked_summary(view.entry(at))});
    let all: Vec<Value> = listed[..own].iter().map(described).chain(view.listed().map(|at| shown(&at))).collect();
    raw(&json!({"content": [
        {"type": "text", "text": json!(all).to_string()},
        {"type": "text", "text": format!("Total active: {} tools (~{cost} tokens)", all.len())},
    ]}))
}
