//! `levels`: browse, decide, dive in. The arguments given say the level: none, a tool, a tool and more.
//!
//! A group is a server or any node, by its path. With `groups = "split"` every server has a discovery tool of its own;
//! only servers, because they are few and what a person has chosen.

use serde_json::{Value, json};
use toolfold_catalog::{Node, SERVERS};
use toolfold_core::{Code, Entry, Kind, Next, Refusal, exposed_name, words};
use toolfold_wire::{Object, Raw};

use super::lookup::{call_through, node, spelling, tool};
use super::request::Arguments;
use super::result::json_result;
use super::table::{ByServer, Listed, Meta, Table};
use super::{Action, Browse, Describe, View, noted};
use crate::answer::roots;
use crate::level::{Level, details_page, full_page, lines, parameter_page};

const DISCOVER: &str = "discover_tools";
const AGENTS: &str = "discover_agents";
const CALL: &str = "call_tool";

pub(super) static TABLE: Table = Table {
    rules: "Tools are revealed step by step with the discover tools. Do not assume that a tool exists: \
    browse first, then a group. When unsure between tools, ask for the details of each. Never call a tool without its \
    details; detail \"full\" or a parameter shows more where they are not enough. Then call_tool. When refused, follow \
    the hints and next_action.",
    metas: &[
        Meta {
            name: DISCOVER,
            definition: r#"{"name":"discover_tools","description":"No arguments: what there is. group: its tools. tool: details; with detail \"full\": everything; with parameter: that one.","inputSchema":{"type":"object","properties":{"group":{"type":"string"},"tool":{"type":"string"},"parameter":{"type":"string"},"detail":{"type":"string","enum":["full"]}}},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Joined,
            ask: |asking, given| discover(asking.view, &given, &given.path("group")?),
        },
        Meta {
            name: AGENTS,
            definition: r#"{"name":"discover_agents","description":"Agents to delegate to. agent: details; with detail \"full\": everything.","inputSchema":{"type":"object","properties":{"agent":{"type":"string"},"detail":{"type":"string","enum":["full"]}}},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |_, given| agents(&given),
        },
        Meta {
            name: CALL,
            definition: r#"{"name":"call_tool","description":"Call a tool by its name.","inputSchema":{"type":"object","properties":{"tool":{"type":"string"},"arguments":{"type":"object"}},"required":["tool"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |asking, given| call_through(asking, given, CALL, &["tool", "name"], DISCOVER),
        },
    ],
    by_server: Some(ByServer {
        name: split_name,
        definition: split_definition,
        could_be: |name| name.starts_with("discover_") && name.ends_with("_tools"),
        ask: |asking, server, given| discover(asking.view, &given, &[SERVERS.to_owned(), server.to_string()]),
    }),
    next: |next| Some(self::next(next)),
};

/// Tools shown without a group being named.
const MOST_OVERALL: usize = 50;
const MOST_IN_GROUP: usize = 100;

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
    let properties = json!({"tool": text, "parameter": text, "detail": {"type": "string", "enum": ["full"]}});
    let description =
        "No arguments: its tools. tool: details; with detail \"full\": everything; with parameter: that one.";
    Object::new()
        .with("name", &split_name(server))
        .with("description", description)
        .with("inputSchema", &json!({"type": "object", "properties": properties}))
        .with("_meta", &json!({"anthropic/alwaysLoad": true}))
        .to_raw()
}

fn discover(view: &View<'_>, given: &Arguments, group: &[String]) -> Result<Action, Refusal> {
    let Some(name) = given.text("tool")? else {
        return Ok(Action::Browse(Browse::at(node(view, group)?.path.clone()), browse));
    };
    let detail = if wants_all(given)? { Level::Full } else { Level::Details };
    let parameter = given.name("parameter")?;
    Ok(Action::Describe(Describe { parameter, ..Describe::one(spelling(&name), detail) }, describe))
}

fn describe(view: &View<'_>, describe: &Describe) -> Result<Raw, Refusal> {
    let position = tool(view, &describe.names[0])?;
    let (entry, shown) = (view.entry(position), view.exposed(position));
    let page = match &describe.parameter {
        Some(path) => parameter_page(entry, shown, path).map_err(|nearest| no_parameter(entry, path, nearest))?,
        None if describe.detail == Level::Full => full_page(entry, shown),
        None => details_page(entry, shown),
    };
    Ok(json_result(&page))
}

fn no_parameter(entry: &Entry, path: &str, nearest: Vec<String>) -> Refusal {
    let shown: String = path.chars().take(100).collect();
    Refusal::new(Code::InvalidRequest, format!("{} has no parameter {shown:?}.", entry.id))
        .hints(nearest)
        .next(Next::Describe { tool: entry.id.to_string(), full: false })
}

fn wants_all(given: &Arguments) -> Result<bool, Refusal> {
    let detail = given.name("detail")?.unwrap_or_default().to_lowercase();
    match detail.as_str() {
        "" | "2" | "details" | "1" | "summary" => Ok(false),
        "full" | "3" => Ok(true),
        _ => Err(Refusal::new(Code::InvalidRequest, "`detail` is \"full\", or left out.").hint("full")),
    }
}

/// Level 1: the tools of a group; without one everything, or the groups where that is too much to look through.
fn browse(view: &View<'_>, browse: &Browse) -> Result<Raw, Refusal> {
    let node = node(view, &browse.path)?;
    let all: Vec<usize> = view.entries_in(node).filter(|&at| view.entry(at).is_tool()).collect();
    let overall = browse.path.is_empty();
    let most = if overall { MOST_OVERALL } else { MOST_IN_GROUP };
    let crowded = all.len() > most;
    let shown: Vec<usize> =
        if crowded && overall { view.pins().collect() } else { all.iter().copied().take(most).collect() };
    let line = |&at: &usize| json!({"name": view.exposed(at), "summary": lines(view.entry(at)).summary});
    let mut answer = json!({"tools": shown.iter().map(line).collect::<Vec<_>>()});
    if crowded {
        let below: Vec<&Node> = if overall { roots(view, node).collect() } else { view.children(node).collect() };
        let groups = below.iter().map(|node| json!({"name": node.path.join("/"), "summary": node.summary}));
        answer["groups"] = groups.collect();
        answer["more"] = json!(all.len() - shown.len());
    }
    Ok(json_result(&noted(view, answer)))
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
        return Err(no_agent(&all, name));
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
