//! What other servers offer. A definition is judged beside the others: whom it names, and whom it imitates.

use std::collections::{HashMap, HashSet};

use toolfold_catalog::ServerTools;

use crate::lookalike::outline;

/// Share of words that two descriptions have in common.
const ALIKE: f32 = 0.6;
pub(crate) const SAME: f32 = 0.85;
/// Words of a description that are compared.
const MOST_WORDS: usize = 200;
/// Tools of one outline that a new one is compared with.
const MOST_COMPARED: usize = 16;

/// The servers that are known, in the order they came: of two that look alike it is the later one that is reported.
#[derive(Debug, Default)]
pub struct Context {
    servers: Vec<Server>,
    /// Tools by how their names look.
    outlines: HashMap<String, Vec<Tool>>,
    /// Servers by the small name of a tool.
    names: HashMap<String, Vec<usize>>,
}

#[derive(Debug)]
struct Server {
    name: String,
    /// Names, and what may be short for them.
    tools: HashSet<String>,
}

#[derive(Debug)]
struct Tool {
    server: usize,
    name: String,
    words: HashSet<String>,
}

/// Whom a tool imitates.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Likeness<'a> {
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
    /// The names differ, and nobody sees it.
    pub(crate) disguised: bool,
    pub(crate) same: bool,
}

impl Context {
    pub fn new() -> Context {
        Context::default()
    }

    /// All servers of a catalog, in the order given.
    pub fn of<'a>(servers: impl IntoIterator<Item = &'a ServerTools>) -> Context {
        let mut context = Context::new();
        for server in servers {
            let tools = server.entries.iter().filter(|entry| entry.is_tool());
            context.add(server.name.as_str(), tools.map(|entry| (entry.name(), entry.description.as_str())));
        }
        context
    }

    /// A server that came after those before: its tools, each a name and a description.
    pub fn add<'a>(&mut self, server: &str, tools: impl IntoIterator<Item = (&'a str, &'a str)>) {
        let place = self.servers.len();
        let mut names = HashSet::new();
        for (name, description) in tools {
            let tool = Tool { server: place, name: name.to_owned(), words: words(description) };
            self.outlines.entry(outline(name)).or_default().push(tool);
            let servers = self.names.entry(name.to_lowercase()).or_default();
            if servers.last() != Some(&place) {
                servers.push(place);
            }
            names.extend(endings(&name.to_lowercase()).map(str::to_owned));
        }
        self.servers.push(Server { name: server.to_owned(), tools: names });
    }

    /// Whether a server has a tool of this name, or one that it may be short for.
    pub(crate) fn is_own(&self, server: &str, tool: &str) -> bool {
        self.servers.iter().any(|known| known.name == server && known.tools.contains(tool))
    }

    /// The server whose tool a word names, if it is not one of this server's own, and a name that is no everyday word.
    pub(crate) fn owner(&self, server: &str, word: &str) -> Option<&str> {
        let is_distinctive = word.len() >= 7 && word.contains('_');
        let servers = self.names.get(word).filter(|_| is_distinctive)?;
        let others = || servers.iter().map(|place| self.servers[*place].name.as_str());
        if self.is_own(server, word) { None } else { others().next() }
    }

    /// An earlier server's tool that one of this server looks like.
    pub(crate) fn likeness(&self, server: &str, tool: &str, description: &str) -> Option<Likeness<'_>> {
        // Who is not known yet is later than all who are.
        let ours = self.servers.iter().position(|known| known.name == server).unwrap_or(usize::MAX);
        let words = words(description);
        let earlier = self.outlines.get(&outline(tool))?.iter().filter(|other| other.server < ours);
        let mut found = earlier.take(MOST_COMPARED).filter_map(|other| {
            let disguised = plain(&other.name) != plain(tool);
            let shared = shared(&words, &other.words);
            let alike = disguised || shared >= ALIKE;
            let server = self.servers[other.server].name.as_str();
            alike.then_some(Likeness { server, tool: &other.name, disguised, same: shared >= SAME })
        });
        found.next()
    }
}

/// A name and its ends: `update_issue` is short for `jira_update_issue` among the tools of that server.
fn endings(name: &str) -> impl Iterator<Item = &str> {
    let ends = name.match_indices(['_', '-', '.']).map(|(at, _)| &name[at + 1..]);
    std::iter::once(name).chain(ends.take(8))
}

/// A name without what spelling may vary: `readFile` and `read_file` are one word to everybody.
pub(crate) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

pub(crate) fn words(description: &str) -> HashSet<String> {
    let words = description.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.take(MOST_WORDS).map(str::to_lowercase).collect()
}

pub(crate) fn shared(a: &HashSet<String>, b: &HashSet<String>) -> f32 {
    let both = a.intersection(b).count();
    let all = a.len() + b.len() - both;
    if all == 0 { 0.0 } else { both as f32 / all as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> Context {
        let mut context = Context::new();
        context.add("files", [("read_file", "Reads a file and gives its text back.")]);
        context
            .add("other", [("read_file", "Reads a file and gives its text back."), ("rеad_file", "Something else.")]);
        context
    }

    #[test]
    fn the_later_one_imitates() {
        let context = context();
        let text = "Reads a file and gives its text back.";
        assert_eq!(context.likeness("files", "read_file", text), None);
        assert!(context.likeness("other", "read_file", text).unwrap().same);
        assert!(context.likeness("new", "rеad_file", "Anything.").unwrap().disguised);
        assert_eq!(context.likeness("other", "read_file", "Takes pictures of birds in winter."), None);
    }

    #[test]
    fn a_name_belongs_to_another_server_only_if_not_to_this_one() {
        let mut context = context();
        context.add("mail", [("send_email", "Sends."), ("search", "Searches.")]);
        assert_eq!(context.owner("files", "send_email"), Some("mail"));
        assert_eq!(context.owner("mail", "send_email"), None);
        assert_eq!(context.owner("files", "search"), None);
        context.add("post", [("post_send_email", "Sends.")]);
        assert_eq!(context.owner("post", "send_email"), None);
        assert_eq!(context.owner("other", "read_file"), None);
    }
}
