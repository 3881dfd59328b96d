//! `code`: find tools as in `compact`, then write a program that calls them. What only reads may be called from a program;
//! anything else is called one at a time, where a client asks its person.

use serde_json::{Value, json};
use toolfold_core::{Code, Kind, Refusal, ToolId};
use toolfold_wire::{Object, Raw};

use super::lookup::{LARGEST_LIMIT, found, not_found};
use super::request::Arguments;
use super::result::json_result;
use super::table::{Listed, Meta, Table};
use super::{Action, Describe, Search, View, compact};
use crate::level::{Level, line, lines};

/// The tool that runs a program.
pub const RUN: &str = "run_code";

pub(super) static TABLE: Table = Table {
    rules: "Tools are behind find_tools. Do not assume that a tool exists: search first. For several calls, or to filter large \
    results, write one run_code program with Promise.all; return only what is needed. For a single call, or one that changes \
    something, use call_tool. When refused, follow the hints and next_action.",
    metas: &[
        compact::FIND_META,
        Meta {
            name: RUN,
            definition: r#"{"name":"run_code","description":"Run JavaScript that calls tools: const r = await tools.server.tool({arg: 1}); return r.length. Values are parsed results; failures throw (code, message, hints). Also call(id, args), find(query), describe(id), print(x), show(image), result(handle); input is the argument. Read-only tools, unless allowed. No fetch, files, timers or TypeScript.","inputSchema":{"type":"object","properties":{"code":{"type":"string"},"input":{}},"required":["code"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |_, given| run(given),
        },
        compact::CALL_META,
    ],
    by_server: None,
    call: Some(compact::CALLING),
    next: compact::next,
};

fn run(mut given: Arguments) -> Result<Action, Refusal> {
    let key = ["code", "script"].into_iter().find(|key| given.has(key)).unwrap_or("code");
    let code = given.text(key)?.ok_or_else(|| {
        let message = format!("{RUN} needs `code`: a program in JavaScript that returns its answer.");
        Refusal::new(Code::InvalidRequest, message).hint("return await tools.server.tool({argument: \"value\"})")
    })?;
    Ok(Action::Run { code, input: given.take("input") })
}

/// The search of a program: the best tools, as data.
pub fn finding(query: String, limit: usize) -> Action {
    let limit = limit.clamp(1, LARGEST_LIMIT);
    Action::Search(Search::tools(query, limit), |view, search| {
        let shown = |position: usize| {
            let entry = view.entry(position);
            let lines = lines(entry);
            json!({
                "id": entry.id.to_string(),
                "line": line(entry, lines, Level::Signature),
                "summary": lines.summary,
                "readOnly": entry.hints.read_only == Some(true),
            })
        };
        let hits: Vec<Value> = found(view, search)?.hits.iter().map(|hit| shown(hit.entry)).collect();
        Ok(json_result(&hits))
    })
}

/// The whole of one entry, as data.
pub fn describing(name: String) -> Action {
    Action::Describe(Describe::one(name, Level::Full), |view, describe| {
        let name = describe.names.first().map_or("", String::as_str);
        let position = view.resolve(name).map_err(|unresolved| not_found(view, name, unresolved))?;
        Ok(json_result(&described(view, position)))
    })
}

fn described(view: &View<'_>, position: usize) -> Raw {
    let entry = view.entry(position);
    let mut whole = Object::new().with("id", &entry.id.to_string()).with("kind", entry.kind.as_str());
    for (key, value) in Object::parse(&entry.definition).unwrap_or_default().iter() {
        if !matches!((key, entry.kind), ("name" | "_meta" | "icons", Kind::Tool)) {
            whole.set_raw(key, value.clone());
        }
    }
    whole.to_raw()
}

/// The id that a name in a program means, where it was made one: `tools.my_server.get_it` of `my-server.get-it`.
pub fn written_as(view: &View<'_>, name: &str) -> Option<String> {
    if view.resolve(name).is_ok() {
        return None;
    }
    let (server, tool) = name.split_once('.')?;
    let is_it = |id: &&ToolId| {
        identifier(&id.tool).eq(identifier(tool)) && identifier(id.server.as_str()).eq(identifier(server))
    };
    let mut alike = view.entries().map(|at| &view.entry(at).id).filter(is_it);
    let only = alike.next()?;
    alike.next().is_none().then(|| only.to_string())
}

/// Letter by letter: every tool there is may be compared with, and most differ in the first one.
fn identifier(part: &str) -> impl Iterator<Item = char> {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    part.trim_matches(|c: char| !c.is_ascii_alphanumeric()).chars().map(plain)
}
