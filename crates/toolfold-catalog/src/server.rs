//! One server's part of the catalog. It is read once, when the server's list arrives, and shared by every catalog after
//! that: a change of one server never reads another one again.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use toolfold_core::{BadDefinition, Entry, Kind, ServerName};
use toolfold_wire::Raw;

use crate::common;
use crate::offer::{self, Extras};

/// What a server said about itself and its tools.
#[derive(Debug, Clone)]
pub struct ServerSource {
    pub name: ServerName,
    /// Whether its tools are shown as `server__tool`; bare names otherwise.
    pub prefix: bool,
    pub title: Option<String>,
    pub instructions: Option<String>,
    pub tools: Vec<Raw>,
}

/// A server's entries, in its own order, each name once.
#[derive(Debug)]
pub struct ServerTools {
    pub name: ServerName,
    pub prefix: bool,
    pub title: Option<String>,
    pub instructions: Option<String>,
    pub entries: Vec<Arc<Entry>>,
    /// Prompts and resources, which are found and not listed.
    pub offered: Vec<Arc<Entry>>,
}

/// A definition that could not be used. The rest of its server's list serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    pub server: ServerName,
    /// Its place in the server's list.
    pub index: usize,
    pub why: BadDefinition,
}

impl ServerTools {
    /// Agents or skills, which come from files and not from a server: `about` is what their node says.
    pub fn documents(name: ServerName, about: &str, entries: Vec<Arc<Entry>>) -> ServerTools {
        ServerTools {
            name,
            prefix: true,
            title: None,
            instructions: Some(about.to_owned()),
            entries,
            offered: Vec::new(),
        }
    }

    pub fn read(source: ServerSource) -> (ServerTools, Vec<SetAside>) {
        let mut entries = Vec::with_capacity(source.tools.len());
        let mut set_aside = Vec::new();
        let mut names = HashSet::new();
        for (index, definition) in source.tools.iter().enumerate() {
            let read = Entry::tool(&source.name, definition).and_then(|entry| {
                if names.insert(entry.name().to_owned()) { Ok(entry) } else { Err(BadDefinition::twice(entry.name())) }
            });
            match read {
                Ok(entry) => entries.push(Arc::new(entry)),
                Err(why) => set_aside.push(SetAside { server: source.name.clone(), index, why }),
            }
        }
        common::leave_out(&mut entries);
        common::tell_apart(&mut entries);
        let ServerSource { name, prefix, title, instructions, .. } = source;
        (ServerTools { name, prefix, title, instructions, entries, offered: Vec::new() }, set_aside)
    }

    /// The same server as if it had these entries alone; `None` where it would have none. What many of its tools say is
    /// found out anew: it must not tell of those that are left out.
    pub fn only(self: &Arc<Self>, keep: impl Fn(&Entry) -> bool) -> Option<Arc<ServerTools>> {
        let kept =
            |entries: &[Arc<Entry>]| -> Vec<Arc<Entry>> { entries.iter().filter(|e| keep(e)).cloned().collect() };
        let (mut entries, offered) = (kept(&self.entries), kept(&self.offered));
        if (entries.len(), offered.len()) == (self.entries.len(), self.offered.len()) {
            return Some(self.clone());
        }
        if entries.is_empty() && offered.is_empty() {
            return None;
        }
        for entry in entries.iter_mut().filter(|entry| entry.own.is_some() || entry.alike.is_some()) {
            let entry = Arc::make_mut(entry);
            (entry.own, entry.alike, entry.lines) = (None, None, OnceLock::new());
        }
        common::leave_out(&mut entries);
        common::tell_apart(&mut entries);
        let (title, instructions) = (self.title.clone(), self.instructions.clone());
        Some(Arc::new(ServerTools {
            name: self.name.clone(),
            prefix: self.prefix,
            title,
            instructions,
            entries,
            offered,
        }))
    }

    /// The server is an agent, and what can be called of it is the agent.
    pub fn are_agents(&mut self) {
        for entry in &mut self.entries {
            Arc::make_mut(entry).kind = Kind::Agent;
        }
    }

    /// Adds what it offers beside tools.
    pub fn offer(&mut self, offer: &Extras<'_>) {
        self.offered = offer::entries(&self.name, self.prefix, offer, &self.entries);
    }

    /// Gives tools other names as well: an alias and the name of its tool each. A tool that is not there needs none.
    pub fn answer_to<'a>(&mut self, aliases: impl IntoIterator<Item = (&'a String, &'a String)>) {
        for (alias, tool) in aliases {
            if let Some(entry) = self.entries.iter_mut().find(|entry| entry.name() == tool) {
                Arc::make_mut(entry).answer_to(alias);
            }
        }
    }
}
