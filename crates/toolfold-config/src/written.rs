//! What a `toolfold.toml` would start and where it would send what, as it was written: for somebody who decides whether to
//! trust it.
//!
//! What a reader would get wrong: a [`crate::Config`] cannot tell. There `${HOME}` is a folder already, and a value out of the
//! environment looks like one that somebody typed. Here nothing is expanded, so that the names of variables are seen and what
//! they hold is not. And a key is shown unless it is known to be harmless, so that one that is new is seen before anybody has
//! thought of it here.

use crate::node::{self, Member, Node, Value};
use crate::report::Report;

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Written {
    pub servers: Vec<WrittenServer>,
    /// Settings beside the servers, but for those that are harmless and name neither a variable nor an address.
    pub elsewhere: Vec<(String, String)>,
}

/// A server or an agent that is not switched off.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct WrittenServer {
    pub name: String,
    /// Programs with their arguments: its own, or those of its tools.
    pub commands: Vec<Vec<String>>,
    pub addresses: Vec<String>,
    pub env: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    /// What else there is: folders, files, logins and where they are asked for, how far it is believed.
    pub more: Vec<(String, String)>,
}

/// Keys of a server that decide neither what is run or read nor where anything goes.
const HARMLESS: [&str; 14] = [
    "aliases",
    "connect_timeout",
    "enabled",
    "era",
    "exclude",
    "forbid",
    "idle_timeout",
    "include",
    "max_message",
    "prefix",
    "run",
    "start",
    "stop_timeout",
    "timeout",
];
/// The same of keys and tables beside the servers.
const HARMLESS_BESIDE: [&str; 13] = [
    "budget", "doors", "format", "groups", "learn", "limits", "nodes", "pin", "prefer", "results", "rules", "search",
    "surface",
];
/// Of these only the programs are of interest, and what names a variable or an address: the rest describes.
const TOOLS: &str = "tools";

/// `None` where the text is no TOML.
pub fn as_written(text: &str) -> Option<Written> {
    let root = node::from_toml(text, &mut Report::default())?;
    let mut written = Written::default();
    for member in members(&root) {
        let name = member.name.as_str();
        if !["servers", "agents"].contains(&name) {
            beside(name, &member.node, &mut written.elsewhere);
            continue;
        }
        for inner in members(&member.node) {
            match inner.node.value {
                Value::Table(_) => written.servers.extend(server(inner)),
                _ => beside(&format!("{name}.{}", inner.name), &inner.node, &mut written.elsewhere),
            }
        }
    }
    Some(written)
}

fn beside(name: &str, node: &Node, elsewhere: &mut Vec<(String, String)>) {
    let is_harmless = HARMLESS_BESIDE.contains(&name);
    leaves(name, node, &mut |key, text| {
        if !is_harmless || leads_out(text) {
            elsewhere.push((key.to_owned(), text.to_owned()));
        }
    });
}

fn server(member: &Member) -> Option<WrittenServer> {
    let mut server = WrittenServer { name: member.name.clone(), ..WrittenServer::default() };
    let mut args = Vec::new();
    for Member { name, node, .. } in members(&member.node) {
        match (name.as_str(), &node.value) {
            ("enabled", Value::Bool(false)) => return None,
            ("command", Value::Text(command)) => server.commands.push(vec![command.clone()]),
            ("args", Value::List(items)) => args = texts(items),
            ("url" | "base_url" | "openapi" | "card", Value::Text(place)) => server.addresses.push(place.clone()),
            ("env", Value::Table(_)) => server.env = pairs(node),
            ("headers", Value::Table(_)) => server.headers = pairs(node),
            _ => {
                let is_harmless = HARMLESS.contains(&name.as_str()) || name == TOOLS;
                leaves(name, node, &mut |key, text| {
                    // Programs are told as such.
                    if (!is_harmless || leads_out(text)) && key != "tools.command" {
                        server.more.push((key.to_owned(), text.to_owned()));
                    }
                });
            }
        }
        if let (TOOLS, Value::List(tools)) = (name.as_str(), &node.value) {
            server.commands.extend(tools.iter().filter_map(command_of));
        }
    }
    if let Some(command) = server.commands.first_mut() {
        command.extend(args);
    }
    Some(server)
}

/// Of a tool that somebody described by hand.
fn command_of(tool: &Node) -> Option<Vec<String>> {
    members(tool).iter().find_map(|member| match (member.name.as_str(), &member.node.value) {
        ("command", Value::List(words)) => Some(texts(words)),
        _ => None,
    })
}

fn members(node: &Node) -> &[Member] {
    match &node.value {
        Value::Table(members) => members,
        _ => &[],
    }
}

fn texts(items: &[Node]) -> Vec<String> {
    items.iter().filter_map(text_of).map(str::to_owned).collect()
}

fn pairs(table: &Node) -> Vec<(String, String)> {
    let pair = |member: &Member| Some((member.name.clone(), text_of(&member.node)?.to_owned()));
    members(table).iter().filter_map(pair).collect()
}

fn text_of(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// Every text and every yes or no below a key, with the whole of its key. The tree is bounded in depth.
fn leaves(key: &str, node: &Node, see: &mut impl FnMut(&str, &str)) {
    match &node.value {
        Value::Text(text) => see(key, text),
        Value::Bool(is_so) => see(key, if *is_so { "true" } else { "false" }),
        Value::List(items) => items.iter().for_each(|item| leaves(key, item, see)),
        Value::Table(members) => {
            members.iter().for_each(|member| leaves(&format!("{key}.{}", member.name), &member.node, see));
        }
        _ => {}
    }
}

/// Whether a text names a variable or an address.
fn leads_out(text: &str) -> bool {
    text.contains("${") || text.contains("://")
}
