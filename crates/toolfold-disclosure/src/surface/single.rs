//! `single`: one meta-tool that searches and executes.

use serde_json::{Value, json};
use toolfold_core::{Code, Refusal};

use super::next::Wish;
use super::request::Arguments;
use super::{Action, Meta, View, call, hybrid, json_result, needed};

const NAME: &str = "discover_and_use_tool";

pub(super) const DEFINITIONS: [&str; 1] = [
    r#"{"name":"discover_and_use_tool","description":"Search for tools, then execute one. search: give query. execute: give tool_name and tool_args.","inputSchema":{"type":"object","properties":{"action":{"type":"string","enum":["search","execute"]},"query":{"type":"string"},"tool_name":{"type":"string"},"tool_args":{"type":"object"}},"required":["action"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
];

pub(super) const RULES: &str = "More tools than those listed are behind discover_and_use_tool. Do not assume that a tool \
    exists: search first (action \"search\"), with a short phrase for one step at a time; when unsure, try other words. \
    Then run it (action \"execute\"); a refusal for wrong arguments shows the schema. When refused, follow the hints and \
    next_action.";

pub(super) fn meta(name: &str) -> Option<Meta> {
    (name == NAME).then_some(|view, _, given| route(view, given))
}

pub(super) fn next(wish: &Wish) -> (&'static str, Value) {
    let query = match wish {
        Wish::Anything => String::new(),
        Wish::Query(query) | Wish::Tool(query) => query.clone(),
        Wish::Path(path) => path.last().cloned().unwrap_or_default(),
    };
    (NAME, json!({"action": "search", "query": query}))
}

fn route(view: &View<'_>, mut given: Arguments) -> Result<Action, Refusal> {
    // Who names a tool and forgets the action wants it executed.
    let usual = if given.has("tool_name") { "execute" } else { "search" };
    match given.text("action")?.unwrap_or_else(|| usual.to_owned()).to_lowercase().as_str() {
        "search" => Ok(Action::Answer(json_result(&json!({"tools": hybrid::pointers(view, &given, false)?})))),
        "execute" => {
            let name = needed(&given, "The action \"execute\"", &["tool_name", "name", "tool"])?;
            let arguments = ["tool_args", "arguments", "args"].iter().find_map(|key| given.take(key));
            Ok(call(view, &name, arguments))
        }
        _ => Err(Refusal::new(Code::InvalidRequest, "`action` is one of the hints.")
            .hints(["search", "execute"].map(String::from))),
    }
}
