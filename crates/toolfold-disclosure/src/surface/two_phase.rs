//! `two-phase`: search, then read a definition. In a session what has been read is listed from then on, so that a client
//! which calls only what is listed can call it.

use serde_json::{Value, json};
use toolfold_core::{Next, Refusal};
use toolfold_wire::{Object, Raw};

use super::hybrid::{self, SEARCH_META};
use super::lookup::{call_through, needed_name};
use super::request::Arguments;
use super::result::json_result;
use super::table::{Calling, Listed, Meta, Table};
use super::{Action, Load, Unknown, View};

const READ: &str = "get_tool_definition";
const CALL: &str = "call_tool";

pub(super) static TABLE: Table = Table {
    rules: "Tools are behind search_tools. Do not assume that a tool exists: search first, with a \
    short phrase for one step at a time, in a category if one seems right, without it when unsure. Never call a tool \
    without reading it: get_tool_definition shows its schema, and then it can be called by its name. When refused, \
    follow the hints and next_action.",
    metas: &[
        SEARCH_META,
        Meta {
            name: READ,
            definition: r#"{"name":"get_tool_definition","description":"Get a tool's definition. The tool can be called by its name then.","inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"From search_tools"}},"required":["name"]},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |asking, given| read(asking.view, &given),
        },
        CALL_META,
    ],
    by_server: None,
    call: Some(CALLING),
    next: |next| Some(self::next(next)),
};

/// Of this surface and of `lifecycle`.
pub(super) const CALLING: Calling =
    Calling { name: CALL, keys: &["tool", "name"], arguments: "arguments", always: &[], finder: "the search" };

/// A list of tools cannot change without a session: what was read or loaded needs another way in.
pub(super) const CALL_META: Meta = Meta {
    name: CALL,
    definition: r#"{"name":"call_tool","description":"Call a tool by its name.","inputSchema":{"type":"object","properties":{"tool":{"type":"string"},"arguments":{"type":"object"}},"required":["tool"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
    listed: Listed::WithoutSession,
    ask: |asking, given| call_through(asking, given, &CALLING),
};

fn next(next: &Next) -> (&'static str, Value) {
    match next {
        Next::Describe { tool, .. } => (READ, json!({"name": tool})),
        next => hybrid::next(next),
    }
}

fn read(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let name = needed_name(given, READ, &["name", "tool"])?;
    Ok(match view.resolve(&name) {
        Ok(position) if view.entry(position).is_tool() => {
            Action::Load(Load { tools: vec![position], toolset: None, shape: Some(shown) })
        }
        _ => Action::Unknown(Unknown { names: vec![name], loading: false }),
    })
}

fn shown(view: &View<'_>, load: &Load) -> Result<Raw, Refusal> {
    let definitions: Vec<Object> = load.tools.iter().map(|position| definition(view, *position)).collect();
    Ok(match definitions.as_slice() {
        [only] => json_result(only),
        several => json_result(&several),
    })
}

/// What a tool is called here, what it does, and what it takes.
pub(super) fn definition(view: &View<'_>, position: usize) -> Object {
    let entry = view.entry(position);
    let mut shown = Object::new().with("name", view.exposed(position)).with("description", &entry.description);
    if let Some(schema) = Object::parse(&entry.definition).and_then(|mut whole| whole.remove("inputSchema")) {
        shown.set_raw("inputSchema", schema);
    }
    shown
}
