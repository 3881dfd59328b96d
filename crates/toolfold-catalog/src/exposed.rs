//! The names a model sees. Nobody may take a name that two could claim: a server that calls its tool like another
//! server's would otherwise receive that one's calls. So all claimants of a name lose it.

use std::collections::HashMap;
use std::sync::Arc;

use toolfold_core::{Entry, ServerName, exposed_name, told_apart};

use crate::server::ServerTools;

/// One name for each entry, in their order, all different, and none that is reserved. (`server__tool` cannot be.)
pub(crate) fn expose(
    entries: &[Arc<Entry>],
    servers: &[Arc<ServerTools>],
    is_reserved: &dyn Fn(&str) -> bool,
) -> Vec<Box<str>> {
    let bare: HashMap<&ServerName, bool> = servers.iter().map(|server| (&server.name, !server.prefix)).collect();
    let mut names: Vec<Name> = entries.iter().map(|entry| Name::new(entry, bare[entry.server()])).collect();
    // A name only ever moves to a later form, so this ends; two rounds are the rule.
    loop {
        let claims = claims(&names);
        let contested = |name: &Name| claims[&name.text] > 1 || is_reserved(&name.text);
        let misleads = |i: usize| names[i].form == 0 && is_of_another(&names[i].text, entries[i].server(), servers);
        let losers: Vec<usize> = (0..names.len()).filter(|&i| contested(&names[i]) || misleads(i)).collect();
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

/// Whether a bare name would be taken for one of another server, whether that has such a tool or not.
fn is_of_another(text: &str, own: &ServerName, servers: &[Arc<ServerTools>]) -> bool {
    servers.iter().map(|server| &server.name).filter(|name| *name != own).any(|name| {
        let head = text.get(..name.as_str().len()).is_some_and(|head| head.eq_ignore_ascii_case(name.as_str()));
        head && text[name.as_str().len()..].starts_with("__")
    })
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

/// The prefixed name with a hash of the id.
fn hashed(entry: &Entry, form: u32) -> String {
    told_apart(entry.server(), entry.name(), &format!("{} {form}", entry.id))
}

fn claims(names: &[Name]) -> HashMap<String, usize> {
    let mut claims = HashMap::with_capacity(names.len());
    for name in names {
        *claims.entry(name.text.clone()).or_insert(0) += 1;
    }
    claims
}
