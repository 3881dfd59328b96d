//! `two-phase`: search, then read a definition. In a session what has been read is listed from then on, so that a client
//! which calls only what is listed can call it.

use serde_json::{Value, json};
use toolfold_core::Refusal;
use toolfold_wire::Object;

use super::hybrid::{self, SEARCH_DEFINITION};
use super::next::Wish;
use super::request::Arguments;
use super::{Action, Load, Meta, View, json_result, needed, tool};

const READ: &str = "get_tool_definition";

pub(super) const DEFINITIONS: [&str; 2] = [
    SEARCH_DEFINITION,
    r#"{"name":"get_tool_definition","description":"Get a tool's definition. The tool can be called by its name then.","inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"From search_tools"}},"required":["name"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
];

pub(super) const RULES: &str = "Tools are behind search_tools. Do not assume that a tool exists: search first, with a \
    short phrase for one step at a time, in a category if one seems right, without it when unsure. Never call a tool \
    without reading it: get_tool_definition shows its schema, and then it can be called by its name. When refused, \
    follow the hints and next_action.";

pub(super) fn meta(name: &str) -> Option<Meta> {
    match name {
        "search_tools" => Some(|view, _, given| hybrid::search(view, &given)),
        READ => Some(|view, _, given| read(view, &given)),
        _ => None,
    }
}

pub(super) fn next(wish: &Wish) -> (&'static str, Value) {
    match wish {
        Wish::Tool(name) => (READ, json!({"name": name})),
        wish => hybrid::next(wish),
    }
}

fn read(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let position = tool(view, &needed(given, READ, &["name", "tool"])?)?;
    let answer = Some(json_result(&definition(view, position)));
    Ok(Action::Load(Load { tools: vec![position], toolset: None, answer }))
}

/// What a tool is called here, what it does, and what it takes.
pub(super) fn definition(view: &View<'_>, position: usize) -> Object {
    let entry = view.catalog.entry(position);
    let mut shown = Object::new().with("name", view.catalog.exposed(position)).with("description", &entry.description);
    if let Some(schema) = Object::parse(&entry.definition).and_then(|mut whole| whole.remove("inputSchema")) {
        shown.set_raw("inputSchema", schema);
    }
    shown
}
