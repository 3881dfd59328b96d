//! `levels`: browse, decide, dive in. The arguments given say the level: none, a tool, a tool and more.
//!
//! A group is a server or any node, by its path. With `groups = "split"` every server has a discovery tool of its own;
//! only servers, because they are few and what a person has chosen.

use serde_json::{Value, json};
use toolfold_catalog::{Node, SERVERS};
use toolfold_core::{Code, Entry, Kind, Next, Refusal, exposed_name, words};
use toolfold_wire::{Object, Raw};

use super::lookup::{call_through, node, path_of, spelling, tool};
use super::request::Arguments;
use super::result::json_result;
use super::table::{ByServer, Calling, Listed, Meta, Table};
use super::{Action, Browse, Describe, View, noted};
use crate::answer::{LEFT_OUT, no_parameter, roots, several};
use crate::cursor::Cursor;
use crate::level::{Level, details_page, full_page_within, lines, marked_summary, parameter_page_within};
use crate::tokens;

const DISCOVER: &str = "discover_tools";
const AGENTS: &str = "discover_agents";
const CALL: &str = "call_tool";

const CALLING: Calling =
    Calling { name: CALL, keys: &["tool", "name"], arguments: "arguments", always: &[], finder: DISCOVER };

pub(super) static TABLE: Table = Table {
    rules: "Tools are revealed step by step with the discover tools. Do not assume that a tool exists: \
    browse first, then a group. When unsure between tools, ask for the details of each. Never call a tool without its \
    details; detail \"full\" or a parameter shows more where they are not enough. Then call_tool. When refused, follow \
    the hints and next_action.",
    metas: &[
        Meta {
            name: DISCOVER,
            definition: r#"{"name":"discover_tools","description":"No arguments: what there is. group: its tools. tool: details; with detail \"full\": everything; with parameter: that one.","inputSchema":{"type":"object","properties":{"group":{"type":"string"},"tool":{"type":"string"},"parameter":{"type":"string"},"detail":{"type":"string","enum":["full"]},"cursor":{"type":"string"}}},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Joined,
            ask: |asking, given| discover(asking.view, &given, &given.path("group")?),
        },
        Meta {
            name: AGENTS,
            definition: r#"{"name":"discover_agents","description":"Agents to delegate to. agent: details; with detail \"full\": everything.","inputSchema":{"type":"object","properties":{"agent":{"type":"string"},"detail":{"type":"string","enum":["full"]}}},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |_, given| agents(&given),
        },
        Meta {
            name: CALL,
            definition: r#"{"name":"call_tool","description":"Call a tool by its name.","inputSchema":{"type":"object","properties":{"tool":{"type":"string"},"arguments":{"type":"object"}},"required":["tool"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |asking, given| call_through(asking, given, &CALLING),
        },
    ],
    by_server: Some(ByServer {
        name: split_name,
        definition: split_definition,
        could_be: |name| name.starts_with("discover_") && name.ends_with("_tools"),
        ask: |asking, server, given| discover(asking.view, &given, &[SERVERS.to_owned(), server.to_string()]),
    }),
    call: Some(CALLING),
    next: |next| Some(self::next(next)),
};

/// Tools that are looked at for whether all of them fit.
const MOST_AT_ONCE: usize = 100;
/// Tokens for where to go on.
const REMARKS: usize = 40;

fn next(next: &Next) -> (&'static str, Value) {
    match next {
        Next::Overview | Next::Search { .. } => (DISCOVER, json!({})),
        Next::Browse { path } => (DISCOVER, json!({"group": path.join("/")})),
        Next::Describe { tool, .. } => (DISCOVER, json!({"tool": tool})),
        Next::Agents => (AGENTS, json!({})),
    }
}

fn split_name(server: &str) -> String {
    exposed_name(None, &format!("discover_{}_tools", server.replace('-', "_")))
}

fn split_definition(server: &str) -> Raw {
    let text = json!({"type": "string"});
    let properties =
        json!({"tool": text, "parameter": text, "detail": {"type": "string", "enum": ["full"]}, "cursor": text});
    let description =
        "No arguments: its tools. tool: details; with detail \"full\": everything; with parameter: that one.";
    Object::new()
        .with("name", &split_name(server))
        .with("description", description)
        .with("inputSchema", &json!({"type": "object", "properties": properties}))
        .with("annotations", &json!({"readOnlyHint": true}))
        .with("_meta", &json!({"anthropic/alwaysLoad": true}))
        .to_raw()
}

fn discover(view: &View<'_>, given: &Arguments, group: &[String]) -> Result<Action, Refusal> {
    let Some(name) = given.text("tool")? else {
        let from = given.text("cursor")?.map(|cursor| resumed(&cursor)).transpose()?;
        let (path, offset) = from.unwrap_or_else(|| (group.to_vec(), 0));
        return Ok(Action::Browse(Browse { offset, ..Browse::at(path_of(view, path)) }, browse));
    };
    let detail = if wants_all(given)? { Level::Full } else { Level::Details };
    let parameters = given.names("parameter")?;
    Ok(Action::Describe(Describe { parameters, ..Describe::one(spelling(&name), detail) }, describe))
}

/// Where a cursor goes on: the group and the place in it.
fn resumed(cursor: &str) -> Result<(Vec<String>, usize), Refusal> {
    let wrong = || {
        Refusal::new(Code::InvalidCursor, "This cursor was not given out here. Ask without it.").next(Next::Overview)
    };
    Cursor::decode(cursor).map(|cursor| (cursor.path, cursor.offset)).ok_or_else(wrong)
}

fn describe(view: &View<'_>, describe: &Describe) -> Result<Raw, Refusal> {
    let position = tool(view, &describe.names[0])?;
    let (entry, shown) = (view.entry(position), view.exposed(position));
    let paths = describe.parameters.as_slice();
    let page = |path: &str, most: usize| {
        let page = parameter_page_within(entry, shown, path, most, paths.len() == 1);
        page.map_err(|nearest| no_parameter(entry, path, nearest))
    };
    Ok(json_result(&match paths {
        [] if describe.detail == Level::Full => full_page_within(entry, shown, view.budget()),
        [] => details_page(entry, shown),
        [only] => page(only, view.budget())?,
        paths => {
            let (mut told, left_out) = several(paths, view.budget(), page, Refusal::to_json, cost)?;
            if !left_out.is_empty() {
                told.push(json!({"left_out": left_out, "note": LEFT_OUT}));
            }
            told.into()
        }
    }))
}

fn wants_all(given: &Arguments) -> Result<bool, Refusal> {
    let detail = given.name("detail")?.unwrap_or_default().to_lowercase();
    match detail.as_str() {
        "" | "2" | "details" | "1" | "summary" => Ok(false),
        "full" | "3" => Ok(true),
        _ => Err(Refusal::new(Code::InvalidRequest, "`detail` is \"full\", or left out.").hint("full")),
    }
}

/// Level 1: the tools of a group, or of all; where that is too much to look through, as many as the budget allows, then the
/// groups, and where to go on.
fn browse(view: &View<'_>, browse: &Browse) -> Result<Raw, Refusal> {
    let node = node(view, &browse.path)?;
    let all = tools_in(view, node);
    let line = |&at: &usize| json!({"name": view.exposed(at), "summary": marked_summary(view.entry(at))});
    if all.len() <= MOST_AT_ONCE && browse.offset == 0 {
        let tools: Vec<Value> = all.iter().map(line).collect();
        if tools.iter().map(cost).sum::<usize>() <= view.budget() {
            return Ok(json_result(&noted(view, json!({"tools": tools}))));
        }
    }
    let rest = all.get(browse.offset..).unwrap_or_default();
    if rest.is_empty() && browse.offset > 0 {
        return Err(nothing_behind(&browse.path));
    }
    let groups = if browse.offset == 0 { groups(view, node) } else { Vec::new() };
    let budget = view.budget().saturating_sub(REMARKS);
    let tools = first(rest.iter().map(line), if groups.is_empty() { budget } else { budget / 2 });
    let spent: usize = tools.iter().map(cost).sum();
    let shown = browse.offset + tools.len();
    let mut answer = json!({"tools": tools});
    if !groups.is_empty() {
        answer["groups"] = named(groups, budget.saturating_sub(spent)).into();
    }
    if shown < all.len() {
        let path = browse.path.clone();
        let cursor = Cursor {
            query: String::new(),
            path,
            kind: None,
            detail: Level::Summary,
            limit: 1,
            offset: shown,
            tags: vec![],
        };
        answer["more"] = json!(all.len() - shown);
        answer["cursor"] = json!(cursor.encode());
    }
    Ok(json_result(&noted(view, answer)))
}

/// Pinned ones first, where everything is asked for.
fn tools_in(view: &View<'_>, node: &Node) -> Vec<usize> {
    let pins: Vec<usize> = if node.path.is_empty() { view.pins().collect() } else { Vec::new() };
    let others = view.node(&node.path).into_iter().flat_map(|node| view.entries_in(node));
    let others = others.filter(|at| view.entry(*at).is_tool() && !pins.contains(at));
    pins.iter().copied().chain(others).collect()
}

fn groups(view: &View<'_>, node: &Node) -> Vec<Value> {
    let Ok(node) = view.node(&node.path) else { return Vec::new() };
    let below: Vec<&Node> =
        if node.path.is_empty() { roots(view, node).collect() } else { view.children(node).collect() };
    below.iter().map(|node| json!({"name": node.path.join("/"), "summary": node.summary})).collect()
}

/// What was given out with a catalog that is another now.
fn nothing_behind(path: &[String]) -> Refusal {
    let message = "There is nothing behind this cursor any more: what is served has changed. Ask without it.";
    Refusal::new(Code::InvalidCursor, message).next(Next::Browse { path: path.to_vec() })
}

/// All of them, with what is said of each as far as there are tokens for it.
fn named(mut groups: Vec<Value>, budget: usize) -> Vec<Value> {
    let mut left = budget.saturating_sub(groups.iter().map(|group| cost(&json!({"name": group["name"]}))).sum());
    for group in &mut groups {
        let bare = json!({"name": group["name"]});
        match left.checked_sub(cost(group) - cost(&bare)) {
            Some(rest) => left = rest,
            None => *group = bare,
        }
    }
    groups
}

/// As many as there are tokens for, at least one.
fn first(items: impl Iterator<Item = Value>, budget: usize) -> Vec<Value> {
    let mut left = budget;
    let mut kept = Vec::new();
    for item in items {
        let cost = cost(&item);
        if cost > left && !kept.is_empty() {
            break;
        }
        left = left.saturating_sub(cost);
        kept.push(item);
    }
    kept
}

fn cost(item: &Value) -> usize {
    tokens::count(&item.to_string()) + 1
}

fn agents(given: &Arguments) -> Result<Action, Refusal> {
    Ok(match given.name("agent")? {
        Some(name) => {
            let detail = if wants_all(given)? { Level::Full } else { Level::Details };
            Action::Describe(Describe::one(name, detail), agent)
        }
        None => Action::Browse(Browse { kind: Some(Kind::Agent), ..Browse::at(Vec::new()) }, list_agents),
    })
}

fn all_agents<'a>(view: &View<'a>) -> Vec<&'a Entry> {
    view.entries().map(|at| &**view.entry(at)).filter(|entry| entry.kind == Kind::Agent).collect()
}

fn list_agents(view: &View<'_>, _: &Browse) -> Result<Raw, Refusal> {
    let line = |entry: &Entry| json!({"name": entry.name(), "summary": lines(entry).summary});
    Ok(json_result(&all_agents(view).into_iter().map(line).collect::<Vec<_>>()))
}

fn agent(view: &View<'_>, describe: &Describe) -> Result<Raw, Refusal> {
    let (all, name) = (all_agents(view), describe.names[0].as_str());
    let named = |entry: &&&Entry| entry.name() == name || entry.id.to_string() == name;
    let loosely = |entry: &&&Entry| entry.name().eq_ignore_ascii_case(name);
    let Some(entry) = all.iter().find(named).or_else(|| all.iter().find(loosely)) else {
        return Err(view.withheld(name).unwrap_or_else(|| no_agent(&all, name)));
    };
    let wanted: &[&str] = if describe.detail == Level::Full {
        &[
            "name",
            "description",
            "whenToUse",
            "capabilities",
            "constraints",
            "systemPrompt",
            "tools",
            "prohibitedTools",
            "examples",
        ]
    } else {
        &["name", "description", "whenToUse", "capabilities", "constraints"]
    };
    let known = wanted.iter().map(|key| (key.to_string(), entry.member(key))).filter(|(_, value)| !value.is_null());
    Ok(json_result(&known.collect::<serde_json::Map<_, _>>()))
}

fn no_agent(all: &[&Entry], name: &str) -> Refusal {
    let shown: String = name.chars().take(100).collect();
    let mut refusal = Refusal::new(Code::ToolNotFound, format!("There is no agent called {shown:?}."));
    if let Some(near) = words::nearest(name, all.iter().map(|entry| entry.name())) {
        refusal = refusal.hint(near);
    }
    refusal.next(Next::Agents)
}
