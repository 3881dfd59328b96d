//! `levels`: browse, decide, dive in. The arguments given say the level: none, a tool, a tool and more.
//!
//! A group is a server or any node, by its path. With `groups = "split"` every server has a discovery tool of its own;
//! only servers, because they are few and what a person has chosen.

use std::borrow::Cow;

use serde_json::{Value, json};
use toolfold_catalog::{Node, SERVERS};
use toolfold_core::{Code, Entry, Groups, Kind, Refusal, exposed_name};

use super::next::Wish;
use super::request::Arguments;
use super::{Action, CALL_DEFINITION, Meta, View, call_through, json_result, node, tool};
use crate::answer::roots;
use crate::level::{details_page, full_page, parameter_page, summary};

const DISCOVER: &str = "discover_tools";
const AGENTS: &str = "discover_agents";
const CALL: &str = "call_tool";

const DEFINITION: &str = r#"{"name":"discover_tools","description":"No arguments: what there is. group: its tools. tool: details; with detail \"full\": everything; with parameter: that one.","inputSchema":{"type":"object","properties":{"group":{"type":"string"},"tool":{"type":"string"},"parameter":{"type":"string"},"detail":{"type":"string","enum":["full"]}}},"_meta":{"anthropic/alwaysLoad":true}}"#;
const AGENTS_DEFINITION: &str = r#"{"name":"discover_agents","description":"Agents to delegate to. agent: details; with detail \"full\": everything.","inputSchema":{"type":"object","properties":{"agent":{"type":"string"},"detail":{"type":"string","enum":["full"]}}},"_meta":{"anthropic/alwaysLoad":true}}"#;

pub(super) const RULES: &str = "Tools are revealed step by step with the discover tools. Do not assume that a tool exists: \
    browse first, then a group. When unsure between tools, ask for the details of each. Never call a tool without its \
    details; detail \"full\" or a parameter shows more where they are not enough. Then call_tool. When refused, follow \
    the hints and next_action.";

/// Tools shown without a group being named.
const MOST_OVERALL: usize = 50;
const MOST_IN_GROUP: usize = 100;

pub(super) fn definitions(view: &View<'_>) -> Vec<Cow<'static, str>> {
    let mut own: Vec<Cow<'static, str>> = match view.settings.groups {
        Groups::Joined => vec![DEFINITION.into()],
        Groups::Split => servers(view).map(|server| split_definition(server).into()).collect(),
    };
    own.extend([AGENTS_DEFINITION.into(), CALL_DEFINITION.into()]);
    own
}

fn servers<'a>(view: &View<'a>) -> impl Iterator<Item = &'a str> {
    let has_tools = |entries: &[std::sync::Arc<Entry>]| entries.iter().any(|entry| entry.is_tool());
    view.catalog.servers().iter().filter(move |server| has_tools(&server.entries)).map(|server| server.name.as_str())
}

fn split_name(server: &str) -> String {
    exposed_name(None, &format!("discover_{}_tools", server.replace('-', "_")))
}

fn split_definition(server: &str) -> String {
    DEFINITION
        .replacen(DISCOVER, &split_name(server), 1)
        .replacen("No arguments: what there is. group: its tools.", "No arguments: its tools.", 1)
        .replacen(r#""group":{"type":"string"},"#, "", 1)
}

pub(super) fn meta(view: &View<'_>, name: &str) -> Option<Meta> {
    match name {
        DISCOVER => Some(|view, _, given| discover(view, &given, given.path("group")?)),
        AGENTS => Some(|view, _, given| agents(view, &given)),
        CALL => Some(|view, _, given| call_through(view, given, CALL, &["tool", "name"], DISCOVER)),
        name if view.settings.groups == Groups::Split && servers(view).any(|server| split_name(server) == name) => {
            Some(|view, name, given| {
                let server = servers(view).find(|server| split_name(server) == name).unwrap_or_default();
                discover(view, &given, vec![SERVERS.to_owned(), server.to_owned()])
            })
        }
        _ => None,
    }
}

pub(super) fn next(wish: &Wish) -> (&'static str, Value) {
    match wish {
        Wish::Anything | Wish::Query(_) => (DISCOVER, json!({})),
        Wish::Path(path) => (DISCOVER, json!({"group": path.join("/")})),
        Wish::Tool(name) => (DISCOVER, json!({"tool": name})),
    }
}

fn discover(view: &View<'_>, given: &Arguments, group: Vec<String>) -> Result<Action, Refusal> {
    let Some(name) = given.text("tool")? else { return browse(view, &group) };
    let position = tool(view, &name)?;
    let (entry, shown) = (view.catalog.entry(position), view.catalog.exposed(position));
    let page = match given.text("parameter")? {
        Some(path) => parameter_page(entry, shown, &path).map_err(|nearest| no_parameter(entry, &path, nearest))?,
        None if wants_all(given)? => full_page(entry, shown),
        None => details_page(entry, shown),
    };
    Ok(Action::Answer(json_result(&page)))
}

fn no_parameter(entry: &Entry, path: &str, nearest: Vec<String>) -> Refusal {
    let shown: String = path.chars().take(100).collect();
    Refusal::new(Code::InvalidRequest, format!("{} has no parameter {shown:?}.", entry.id))
        .hints(nearest)
        .next("find_tools", json!({"tool": entry.id.to_string()}))
}

fn wants_all(given: &Arguments) -> Result<bool, Refusal> {
    let detail = given.text("detail")?.unwrap_or_default().to_lowercase();
    match detail.as_str() {
        "" | "2" | "details" | "1" | "summary" => Ok(false),
        "full" | "3" => Ok(true),
        _ => Err(Refusal::new(Code::InvalidRequest, "`detail` is \"full\", or left out.").hint("full")),
    }
}

/// Level 1: the tools of a group; without one everything, or the groups where that is too much to look through.
fn browse(view: &View<'_>, group: &[String]) -> Result<Action, Refusal> {
    let node = node(view, group)?;
    let all = node.entries.iter().copied().filter(|&at| view.catalog.entry(at).is_tool());
    let all: Vec<usize> = all.collect();
    let overall = group.is_empty();
    let most = if overall { MOST_OVERALL } else { MOST_IN_GROUP };
    let crowded = all.len() > most;
    let shown: Vec<usize> =
        if crowded && overall { view.pins.to_vec() } else { all.iter().copied().take(most).collect() };
    let line = |&at: &usize| json!({"name": view.catalog.exposed(at), "summary": summary(view.catalog.entry(at))});
    let mut answer = json!({"tools": shown.iter().map(line).collect::<Vec<_>>()});
    if crowded {
        let below: Vec<&Node> = if overall { roots(node).collect() } else { node.children.iter().collect() };
        let groups = below.iter().map(|node| json!({"name": node.path.join("/"), "summary": node.summary}));
        answer["groups"] = groups.collect();
        answer["more"] = json!(all.len() - shown.len());
    }
    Ok(Action::Answer(json_result(&answer)))
}

fn agents(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let all: Vec<&Entry> =
        view.catalog.entries().iter().map(|entry| &**entry).filter(|entry| entry.kind == Kind::Agent).collect();
    let Some(name) = given.text("agent")? else {
        let line = |entry: &&Entry| json!({"name": entry.name(), "summary": summary(entry)});
        return Ok(Action::Answer(json_result(&all.iter().map(line).collect::<Vec<_>>())));
    };
    let named = |entry: &&&Entry| entry.name() == name || entry.id.to_string() == name;
    let loosely = |entry: &&&Entry| entry.name().eq_ignore_ascii_case(&name);
    let Some(entry) = all.iter().find(named).or_else(|| all.iter().find(loosely)) else {
        return Err(no_agent(&all, &name));
    };
    let wanted: &[&str] = if wants_all(given)? {
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
    Ok(Action::Answer(json_result(&known.collect::<serde_json::Map<_, _>>())))
}

fn no_agent(all: &[&Entry], name: &str) -> Refusal {
    let shown: String = name.chars().take(100).collect();
    let mut refusal = Refusal::new(Code::ToolNotFound, format!("There is no agent called {shown:?}."));
    if let Some(near) = toolfold_core::words::nearest(name, all.iter().map(|entry| entry.name())) {
        refusal = refusal.hint(near);
    }
    refusal.next(AGENTS, json!({}))
}
