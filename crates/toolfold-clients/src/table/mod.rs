//! The table of clients: where each keeps its servers and how it spells one. `import`, `install`, recognising a file and
//! the document of clients all read this and nothing else; a new client is a row.

mod document;
mod places;
mod rows;
mod rows_editors;

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::edit::{Shape, Slot};
use crate::environment::Environment;
use crate::format::FileFormat;
pub use document::{document, snippets};
pub use places::{Base, FilePlace, Rank};

/// What Toolfold is called in a client's file.
pub const ENTRY_NAME: &str = "toolfold";

#[derive(Debug)]
pub struct KnownClient {
    /// As typed: `claude-code`.
    pub id: &'static str,
    pub name: &'static str,
    /// The program, where it has one that can be asked.
    pub program: Option<&'static str>,
    /// Folders below the home whose being there says that the client is.
    pub signs: &'static [&'static str],
    pub user: &'static [FilePlace],
    /// Relative to the project's folder.
    pub project: &'static [&'static str],
    pub format: FileFormat,
    /// Paths to the servers; all are read, the first is written to unless a later one is in use.
    pub containers: &'static [&'static [&'static str]],
    pub shape: Shape,
    pub spelling: Spelling,
    pub variables: Variables,
    pub passes: Passes,
    /// The key of the time a call may take, and its unit.
    pub timeout: Option<(&'static str, TimeUnit)>,
    pub status: Option<Status>,
    pub allow: Option<Allow>,
    /// Where it has rules about tools.
    pub rules: Option<RuleFile>,
    /// Whether `install` writes it; otherwise it is only read.
    pub is_written: bool,
    pub evidence: Evidence,
    /// What a person who uses Toolfold there should know.
    pub notes: &'static [&'static str],
}

/// How an entry is written. Reading is more generous: every spelling is understood everywhere.
#[derive(Debug, Clone, Copy)]
pub struct Spelling {
    /// Key, then the word for a program and for a URL; an empty word: the key is left out.
    pub kind: Option<(&'static str, &'static str, &'static str)>,
    pub command: &'static str,
    /// `None`: the arguments are in the same list as the command.
    pub args: Option<&'static str>,
    /// `None`: a URL cannot be written.
    pub url: Option<&'static str>,
    /// Everything but `extra` is a level deeper, below this key.
    pub nested: Option<&'static str>,
    pub extra: &'static [(&'static str, Extra)],
}

/// A key that a client wants beside the usual ones.
#[derive(Debug, Clone, Copy)]
pub enum Extra {
    True,
    Name,
    Number(u32),
    /// `["*"]`
    Everything,
}

/// How a client writes "the value of this variable".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variables {
    /// What is written is meant.
    Nothing,
    /// `${V}` and `${V:-d}`
    Braces,
    /// The same, and `$V`.
    Dollar,
    /// `${env:V}`, `${userHome}`, `${workspaceFolder}`, and with an editor's questions `${input:id}`.
    Editor,
    /// `{env:V}` and `{file:P}`
    Curly,
    /// A text from somewhere: every spelling but `$V` alone.
    Any,
}

/// Whether what a client starts has the client's own variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passes {
    /// All of them, as far as is known.
    Everything,
    /// A few, and those that this key of an entry lists.
    Listed(&'static str),
    /// None that looks like a secret, unless this key of an entry says that its value is its value.
    Mapped(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    Seconds,
    Milliseconds,
}

/// The client's own word on whether it reaches a server.
#[derive(Debug, Clone, Copy)]
pub struct Status {
    pub arguments: &'static [&'static str],
    pub proof: Proof,
    /// Whether it starts the server, or only reads the file.
    pub connects: bool,
}

#[derive(Debug, Clone, Copy)]
pub enum Proof {
    /// The line that names Toolfold has this in it.
    Line(&'static str),
    ExitCode,
}

/// How `find_tools` is let through without a question. Never `call_tool`.
#[derive(Debug, Clone, Copy)]
pub enum Allow {
    /// A key of the entry, and a list that names the tool.
    ToolList(&'static str),
    /// A table of the entry: tool, key, value.
    ToolTable(&'static str, &'static str, &'static str),
    /// A line in a list of another JSON file.
    Listed { file: FilePlace, container: &'static [&'static str], item: &'static str },
}

/// A host's file of rules about tools.
#[derive(Debug)]
pub struct RuleFile {
    /// The first that is there, else the first.
    pub files: &'static [FilePlace],
    pub format: FileFormat,
    pub form: RuleForm,
}

/// How a host's rules name tools. Exact names alone: hosts have had patterns that matched too much, or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleForm {
    /// `permissions.allow`, `.ask` and `.deny`: `mcp__toolfold__find_tools`.
    Lists,
    /// `mcpAllowlist`: `toolfold:find_tools`.
    AllowList,
    /// A table that says of each tool whether it can go without a question.
    Flags,
    /// `approval_mode` of each tool, in the entry of the server.
    ToolModes,
    /// `[[rule]]`, which can also look at arguments.
    Policies,
}

impl RuleFile {
    pub(crate) fn path(&self, environment: &Environment) -> Option<PathBuf> {
        self.files.iter().find_map(|file| file.paths(environment).into_iter().next())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// Tried with the program itself.
    Tested,
    /// From its documentation.
    Documented,
}

/// Every client, in the order in which people are shown them.
pub fn clients() -> impl Iterator<Item = &'static KnownClient> {
    rows::ROWS.iter().chain(rows_editors::ROWS)
}

pub fn client(id: &str) -> Option<&'static KnownClient> {
    clients().find(|client| client.id == id)
}

/// What an entry that leads to Toolfold says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// Start this program, with these arguments; it wants to see these variables, where they are set.
    Start { command: String, args: Vec<String>, variables: Vec<String> },
    /// Toolfold runs already, here.
    Reach { url: String },
}

impl KnownClient {
    pub fn slot(&self, container: &[&str], name: &str) -> Slot {
        let container = container.iter().map(|key| (*key).to_owned()).collect();
        Slot { container, shape: self.shape, name: name.to_owned() }
    }

    /// The paths to the servers of a file: those that are there.
    pub(crate) fn containers_in<'c>(&'c self, root: &'c Value) -> impl Iterator<Item = &'static [&'static str]> + 'c {
        let is_there = move |path: &[&str]| {
            let found = path.iter().try_fold(root, |value, key| value.get(key));
            found.is_some_and(|value| value.is_object() || value.is_array())
        };
        self.containers.iter().copied().filter(move |path| is_there(path) && !self.is_entry(root, path))
    }

    /// opencode's servers are in `mcp`, or one deeper in `mcp.servers`, which may also be a server of that name.
    fn is_entry(&self, root: &Value, path: &[&str]) -> bool {
        let nested = self.containers.iter().any(|other| other.len() < path.len() && path.starts_with(other));
        let value = path.iter().try_fold(root, |value, key| value.get(key));
        nested
            && value.is_some_and(|value| {
                ["command", "url", "type"].iter().any(|key| value.get(key).is_some_and(|v| !v.is_object()))
            })
    }

    /// Where Toolfold's entry belongs in a file.
    pub fn own_slot(&self, root: &Value) -> Slot {
        let used = self.containers_in(root).last();
        self.slot(used.or(self.containers.first().copied()).unwrap_or_default(), ENTRY_NAME)
    }

    /// The entry; `None` where the client takes no URL.
    pub fn entry(&self, way: &Way, allow_search: bool) -> Option<Value> {
        let spelling = &self.spelling;
        let mut inner = Map::new();
        let kind = |word: fn(&(&'static str, &'static str, &'static str)) -> &'static str| {
            spelling.kind.as_ref().map(|kind| (kind.0, word(kind))).filter(|(_, word)| !word.is_empty())
        };
        match way {
            Way::Start { command, args, variables } => {
                inner.extend(kind(|kind| kind.1).map(|(key, word)| (key.to_owned(), json!(word))));
                match spelling.args {
                    Some(key) => {
                        inner.insert(spelling.command.to_owned(), json!(command));
                        inner.insert(key.to_owned(), json!(args));
                    }
                    None => {
                        let all: Vec<&String> = std::iter::once(command).chain(args).collect();
                        inner.insert(spelling.command.to_owned(), json!(all));
                    }
                }
                inner.extend(self.passing(variables));
            }
            Way::Reach { url } => {
                inner.extend(kind(|kind| kind.2).map(|(key, word)| (key.to_owned(), json!(word))));
                inner.insert(spelling.url?.to_owned(), json!(url));
            }
        }
        let mut entry = Map::new();
        for (key, extra) in spelling.extra.iter().filter(|(_, extra)| matches!(extra, Extra::Name)) {
            entry.insert((*key).to_owned(), extra.value());
        }
        match spelling.nested {
            Some(key) => drop(entry.insert(key.to_owned(), Value::Object(inner))),
            None => entry.extend(inner),
        }
        for (key, extra) in spelling.extra.iter().filter(|(_, extra)| !matches!(extra, Extra::Name)) {
            entry.insert((*key).to_owned(), extra.value());
        }
        match self.allow.filter(|_| allow_search) {
            Some(Allow::ToolList(key)) => drop(entry.insert(key.to_owned(), json!(["find_tools"]))),
            Some(Allow::ToolTable(table, key, value)) => {
                drop(entry.insert(table.to_owned(), json!({"find_tools": {key: value}})));
            }
            _ => {}
        }
        Some(Value::Object(entry))
    }

    /// The key that makes it hand these variables on.
    fn passing(&self, variables: &[String]) -> Option<(String, Value)> {
        if variables.is_empty() {
            return None;
        }
        match self.passes {
            Passes::Everything => None,
            Passes::Listed(key) => Some((key.to_owned(), json!(variables))),
            Passes::Mapped(key) => {
                let same = |name: &String| (name.clone(), json!(format!("${{{name}}}")));
                Some((key.to_owned(), Value::Object(variables.iter().map(same).collect())))
            }
        }
    }

    /// Those of the variables that its entry does not hand on.
    pub(crate) fn withheld(&self, entry: &Value, variables: &[String]) -> Vec<String> {
        let is_passed = |name: &String| match self.passes {
            Passes::Everything => true,
            Passes::Listed(key) => {
                entry.get(key).and_then(Value::as_array).is_some_and(|names| names.contains(&json!(name)))
            }
            Passes::Mapped(key) => entry.get(key).is_some_and(|map| map.get(name).is_some()),
        };
        // Where Toolfold runs already, the client gives it nothing.
        let is_started = entry.get(self.spelling.command).is_some();
        variables.iter().filter(|name| is_started && !is_passed(name)).cloned().collect()
    }
}

impl Extra {
    fn value(self) -> Value {
        match self {
            Extra::True => json!(true),
            Extra::Name => json!(ENTRY_NAME),
            Extra::Number(number) => json!(number),
            Extra::Everything => json!(["*"]),
        }
    }
}
