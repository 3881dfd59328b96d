//! What can be discovered. An entry keeps its definition as the raw JSON its server sent: everything shown to a model
//! is derived from that text when it is asked for, so three thousand tools cost three thousand strings. Only the one line
//! that searches show is kept, once it has been shown.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolfold_wire::{Object, Raw};

use crate::fingerprint::Fingerprint;
use crate::name::{ServerName, ToolId};
use crate::words;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Tool,
    Agent,
    Skill,
    Prompt,
    Resource,
}

/// Bytes of a definition whose tags are looked for.
const LARGEST_TAGGED: usize = 512 * 1024;

/// What a server says of a tool's effects. Untrusted: good for filters and for display, never for permission.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hints {
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub id: ToolId,
    pub kind: Kind,
    pub title: Option<String>,
    pub description: String,
    /// The description without what its server says of many tools, where that is less; see [`Entry::own_description`].
    pub own: Option<Box<str>>,
    /// What some others of its server begin with as well, where it goes on: what comes behind tells it from them.
    pub alike: Option<Alike>,
    pub hints: Hints,
    /// Other names it answers to: those a person gave it, and those it had before. What its definition calls aliases is
    /// the server's own word and good for search alone.
    pub aliases: Vec<String>,
    pub fingerprint: Fingerprint,
    /// Whether its definition has an `outputSchema`: asked with every call, so it is not read from the definition then.
    pub promises_output: bool,
    /// Whether it may want parameters repeated in headers; likewise.
    pub wants_headers: bool,
    /// The definition as the server sent it.
    pub definition: Raw,
    /// What answers say of it, made when it is first shown. Entries are shared between catalogs, so an entry that stays
    /// is read once, however often the others change.
    pub lines: OnceLock<Lines>,
}

/// The beginning of an own description that others have too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alike {
    pub bytes: usize,
    /// A phrase may be over there in all of them.
    pub is_phrase: bool,
}

/// An entry in one line, and what each form of that line costs. Whoever shows entries makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    /// Without the parentheses; `None` of what cannot be called.
    pub signature: Option<Box<str>>,
    pub summary: Box<str>,
    /// Whether it may destroy something or show it to everybody.
    pub grave: bool,
    /// Tokens of the line with signature and summary, with the summary, and with the id alone.
    pub costs: [u32; 3],
}

/// Why a definition is none that could be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDefinition {
    #[error("is not a JSON object")]
    NoObject,
    #[error("has no name")]
    NoName,
    #[error("has an empty name")]
    EmptyName,
    #[error("{0:?} has no inputSchema")]
    NoSchema(String),
    #[error("{0:?} has an inputSchema that is not an object")]
    OddSchema(String),
    #[error("{0:?} is there twice; the first one serves")]
    Twice(String),
}

impl BadDefinition {
    /// Of a name as much as anybody reads.
    fn of(kind: fn(String) -> BadDefinition, name: &str) -> BadDefinition {
        kind(name.chars().take(100).collect())
    }

    pub fn twice(name: &str) -> BadDefinition {
        BadDefinition::of(BadDefinition::Twice, name)
    }
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Tool => "tool",
            Kind::Agent => "agent",
            Kind::Skill => "skill",
            Kind::Prompt => "prompt",
            Kind::Resource => "resource",
        }
    }
}

impl Entry {
    /// A tool from its definition; the reason where it is not one that could ever be called.
    pub fn tool(server: &ServerName, definition: &Raw) -> Result<Entry, BadDefinition> {
        let object = Object::parse(definition).ok_or(BadDefinition::NoObject)?;
        let name: String = object.string("name").ok_or(BadDefinition::NoName)?;
        if name.is_empty() {
            return Err(BadDefinition::EmptyName);
        }
        match object.get("inputSchema").map(Raw::get) {
            None | Some("null") => return Err(BadDefinition::of(BadDefinition::NoSchema, &name)),
            Some(schema) if !schema.starts_with('{') => {
                return Err(BadDefinition::of(BadDefinition::OddSchema, &name));
            }
            Some(_) => {}
        }
        let annotations = object.object("annotations").unwrap_or_default();
        Ok(Entry {
            fingerprint: Fingerprint::of_definition(&object),
            promises_output: object.contains("outputSchema"),
            wants_headers: definition.get().contains("x-mcp-header"),
            id: ToolId::new(server.clone(), name),
            kind: Kind::Tool,
            aliases: Vec::new(),
            title: object.string("title").or_else(|| annotations.string("title")),
            description: object.string("description").unwrap_or_default(),
            own: None,
            alike: None,
            hints: Hints {
                read_only: annotations.read("readOnlyHint"),
                destructive: annotations.read("destructiveHint"),
                idempotent: annotations.read("idempotentHint"),
            },
            definition: definition.detached(),
            lines: OnceLock::new(),
        })
    }

    /// An agent or a skill from its definition: something to be read, that nobody calls.
    pub fn document(server: &ServerName, kind: Kind, definition: &Raw) -> Result<Entry, BadDefinition> {
        let object = Object::parse(definition).ok_or(BadDefinition::NoObject)?;
        let name: String = object.string("name").filter(|name| !name.is_empty()).ok_or(BadDefinition::NoName)?;
        Ok(Entry {
            fingerprint: Fingerprint::of_definition(&object),
            promises_output: object.contains("outputSchema"),
            wants_headers: definition.get().contains("x-mcp-header"),
            id: ToolId::new(server.clone(), name),
            kind,
            title: object.string("title"),
            description: object.string("description").unwrap_or_default(),
            own: None,
            alike: None,
            hints: Hints::default(),
            aliases: Vec::new(),
            definition: definition.detached(),
            lines: OnceLock::new(),
        })
    }

    /// Whether it can be called at all: a tool, or an agent that says what calling it does. One in a file says nothing of
    /// the kind: it is read.
    pub fn is_tool(&self) -> bool {
        self.kind == Kind::Tool || (self.kind == Kind::Agent && self.hints.read_only.is_some())
    }

    /// Whether it is known that calling it changes nothing: prompts and resources are read, and a tool says so itself. One that
    /// says nothing, or two things at once, is not known to.
    pub fn only_reads(&self) -> bool {
        !self.is_tool() || (self.hints.read_only == Some(true) && self.hints.destructive != Some(true))
    }

    pub fn server(&self) -> &ServerName {
        &self.id.server
    }

    pub fn name(&self) -> &str {
        &self.id.tool
    }

    /// What the description says of this entry and not of many others of its server. For lines and for search; who asks
    /// for the description gets all of it.
    pub fn own_description(&self) -> &str {
        self.own.as_deref().unwrap_or(&self.description)
    }

    /// What its description begins with that some others of its server begin with too; nothing where it says no more than they.
    pub fn alike(&self) -> &str {
        let bytes = self.alike.map_or(0, |alike| alike.bytes);
        self.own_description().get(..bytes).unwrap_or_default()
    }

    /// Gives it another name, unless it has that one or there is nothing to it.
    pub fn answer_to(&mut self, alias: &str) {
        let known = alias == self.name() || self.aliases.iter().any(|known| known == alias);
        if !known && !words::split(alias).is_empty() {
            self.aliases.push(alias.to_owned());
        }
    }

    /// What its definition says in other words: `tags` and `aliases`. Nothing of one that is too large to be read for
    /// every search that finds it.
    pub fn tags(&self) -> Vec<String> {
        if self.definition.get().len() > LARGEST_TAGGED {
            return Vec::new();
        }
        listed(&self.definition, ["tags", "aliases"])
    }

    /// Description and schemas in 32 bytes: a tool that was only renamed has the same.
    pub fn nameless(&self) -> Fingerprint {
        Fingerprint::of_work(&Object::parse(&self.definition).unwrap_or_default())
    }

    /// A member of the definition, parsed. `null` where it is missing.
    pub fn member(&self, key: &str) -> Value {
        Object::parse(&self.definition).and_then(|object| object.read(key)).unwrap_or_default()
    }

    pub fn input_schema(&self) -> Value {
        self.member("inputSchema")
    }

    pub fn output_schema(&self) -> Value {
        self.member("outputSchema")
    }
}

/// The texts of the lists of these names, in the definition itself, in its `_meta`, and in what a framework keeps under a
/// name of its own in there.
fn listed<const N: usize>(definition: &Raw, keys: [&str; N]) -> Vec<String> {
    // Few have one, and reading it all is dear.
    if !keys.iter().any(|key| definition.get().contains(key)) {
        return Vec::new();
    }
    let definition: Value = serde_json::from_str(definition.get()).unwrap_or_default();
    let meta = definition.get("_meta").and_then(Value::as_object);
    let inner = meta.into_iter().flat_map(|meta| meta.values());
    let holders: Vec<&Value> = std::iter::once(&definition).chain(definition.get("_meta")).chain(inner).collect();
    let lists = keys.iter().flat_map(|key| holders.iter().filter_map(move |holder| holder.get(*key)?.as_array()));
    lists.flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
