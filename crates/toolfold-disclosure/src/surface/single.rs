//! `single`: one meta-tool that searches and executes.

use serde_json::{Value, json};
use toolfold_core::{Code, Next, Refusal};
use toolfold_wire::Raw;

use super::lookup::{needed, through};
use super::request::Arguments;
use super::result::json_result;
use super::table::{Asking, Calling, Listed, Meta, Table};
use super::{Action, Search, View, hybrid, noted};

const NAME: &str = "discover_and_use_tool";

pub(super) static TABLE: Table = Table {
    rules: "More tools than those listed are behind discover_and_use_tool. Do not assume that a tool \
    exists: search first (action \"search\"), with a short phrase for one step at a time; when unsure, try other words. \
    Then run it (action \"execute\"); a refusal for wrong arguments shows the schema. When refused, follow the hints and \
    next_action.",
    metas: &[Meta {
        name: NAME,
        definition: r#"{"name":"discover_and_use_tool","description":"Search for tools, then execute one. search: give query. execute: give tool_name and tool_args.","inputSchema":{"type":"object","properties":{"action":{"type":"string","enum":["search","execute"]},"query":{"type":"string"},"tool_name":{"type":"string"},"tool_args":{"type":"object"}},"required":["action"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
        listed: Listed::Always,
        ask,
    }],
    by_server: None,
    call: Some(Calling {
        name: NAME,
        keys: &["tool_name", "name", "tool"],
        arguments: "tool_args",
        always: &[("action", "execute")],
        finder: "the search",
    }),
    next: |next| Some((NAME, self::next(next))),
};

fn next(next: &Next) -> Value {
    let query = match next {
        Next::Overview | Next::Agents => "",
        Next::Search { query } | Next::Describe { tool: query, .. } => query,
        Next::Browse { path } => path.last().map_or("", String::as_str),
    };
    json!({"action": "search", "query": query})
}

fn ask(asking: &Asking<'_, '_>, mut given: Arguments) -> Result<Action, Refusal> {
    // Who names a tool and forgets the action wants it executed.
    let usual = if given.has("tool_name") { "execute" } else { "search" };
    match given.name("action")?.unwrap_or_else(|| usual.to_owned()).to_lowercase().as_str() {
        "search" => Ok(Action::Search(hybrid::asked(&given)?, tools)),
        "execute" => {
            let name = needed(&given, "The action \"execute\"", &["tool_name", "name", "tool"])?;
            let arguments = ["tool_args", "arguments", "args"].iter().find_map(|key| given.take(key));
            through(asking, NAME, &name, arguments)
        }
        _ => Err(Refusal::new(Code::InvalidRequest, "`action` is one of the hints.")
            .hints(["search", "execute"].map(String::from))),
    }
}

fn tools(view: &View<'_>, search: &Search) -> Result<Raw, Refusal> {
    Ok(json_result(&noted(view, json!({"tools": hybrid::pointers(view, search, false)?}))))
}
