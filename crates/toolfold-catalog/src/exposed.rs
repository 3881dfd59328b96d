//! The names a model sees. Nobody may take a name that two could claim: a server that calls its tool like another
//! server's would otherwise receive that one's calls. So all claimants of a name lose it.

use std::collections::HashMap;
use std::sync::Arc;

use toolfold_core::{Entry, Fingerprint, ServerName, exposed_name};

use crate::server::ServerTools;

/// Names of the meta-tools of all surfaces: no tool of a server is shown under one of them. (`server__tool` cannot be
/// one.)
pub const RESERVED: [&str; 25] = [
    "find_tools",
    "call_tool",
    "search_tools",
    "use_tool",
    "get_tool_definition",
    "discover_and_use_tool",
    "tool_find",
    "tool_describe",
    "tool_load",
    "tool_active",
    "discover_tools",
    "discover_agents",
    "list",
    "search_tool_by_category",
    "search_nodes",
    "expand_tool",
    "gateway_search_tools",
    "gateway_get_tool_schema",
    "gateway_get_tool_schemas",
    "gateway_get_tool_categories",
    "gateway_get_tool_tree",
    "gateway_get_tool_stats",
    "gateway_list_tool_names",
    "gateway_get_tools_by_backend",
    "gateway_call_tool",
];

/// Whether a name is a meta-tool's, or could be one of those that are made from the names of servers.
fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || (name.starts_with("discover_") && name.ends_with("_tools"))
}

/// One name for each entry, in their order, all different.
pub(crate) fn expose(entries: &[Arc<Entry>], servers: &[Arc<ServerTools>]) -> Vec<Box<str>> {
    let bare: HashMap<&ServerName, bool> = servers.iter().map(|server| (&server.name, !server.prefix)).collect();
    let mut names: Vec<Name> = entries.iter().map(|entry| Name::new(entry, bare[entry.server()])).collect();
    // A name only ever moves to a later form, so this ends; two rounds are the rule.
    loop {
        let claims = claims(&names);
        let contested = |name: &Name| claims[&name.text] > 1 || is_reserved(&name.text);
        let losers: Vec<usize> = (0..names.len()).filter(|&i| contested(&names[i])).collect();
        // Bare names give way first, so that one of them never costs a prefixed tool its name.
        let bare: Vec<usize> = losers.iter().copied().filter(|&i| names[i].form == 0).collect();
        let moving = if bare.is_empty() { losers } else { bare };
        if moving.is_empty() {
            break;
        }
        for i in moving {
            names[i].give_way(&entries[i]);
        }
    }
    names.into_iter().map(|name| name.text.into_boxed_str()).collect()
}

/// A name and how often it gave way: 0 is bare, 1 prefixed, from 2 on with a hash.
struct Name {
    text: String,
    form: u32,
}

impl Name {
    fn new(entry: &Entry, bare: bool) -> Name {
        // What nobody calls needs no name to be called by. An id has a dot: it is never in a tool's way.
        if !entry.is_tool() {
            return Name { text: entry.id.to_string(), form: 1 };
        }
        let server = (!bare).then(|| entry.server());
        Name { text: exposed_name(server, entry.name()), form: u32::from(!bare) }
    }

    fn give_way(&mut self, entry: &Entry) {
        self.form += 1;
        self.text = match self.form {
            1 => exposed_name(Some(entry.server()), entry.name()),
            form => hashed(entry, form),
        };
    }
}

/// The prefixed name with a hash of the id: the id tells apart what the underscores do not (`a` + `b__c`, `a__b` + `c`).
fn hashed(entry: &Entry, form: u32) -> String {
    let hash = Fingerprint::of_text(&format!("{} {form}", entry.id)).to_string();
    let plain = exposed_name(Some(entry.server()), entry.name());
    format!("{}_{}", &plain[..plain.len().min(55)], &hash[..8])
}

fn claims(names: &[Name]) -> HashMap<String, usize> {
    let mut claims = HashMap::with_capacity(names.len());
    for name in names {
        *claims.entry(name.text.clone()).or_insert(0) += 1;
    }
    claims
}
