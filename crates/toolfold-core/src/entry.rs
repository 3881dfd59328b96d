//! What can be discovered. An entry keeps its definition as the raw JSON its server sent: everything shown to a model
//! is derived from that text when it is asked for, so three thousand tools cost three thousand strings.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolfold_wire::Object;

use crate::fingerprint::Fingerprint;
use crate::name::{ServerName, ToolId};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Tool,
    Agent,
    Skill,
    Prompt,
    Resource,
}

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
    pub hints: Hints,
    pub fingerprint: Fingerprint,
    /// The definition as the server sent it.
    pub definition: Arc<RawValue>,
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
    pub fn tool(server: &ServerName, definition: &RawValue) -> Result<Entry, String> {
        let object = Object::parse(definition).ok_or("is not a JSON object")?;
        let name: String = object.string("name").ok_or("has no name")?;
        if name.is_empty() {
            return Err("has an empty name".into());
        }
        match object.get("inputSchema").map(RawValue::get) {
            None | Some("null") => return Err(format!("{name:?} has no inputSchema")),
            Some(schema) if !schema.starts_with('{') => {
                return Err(format!("{name:?} has an inputSchema that is not an object"));
            }
            Some(_) => {}
        }
        let annotations = object.object("annotations").unwrap_or_default();
        Ok(Entry {
            fingerprint: Fingerprint::of_tool(&name, &object),
            id: ToolId::new(server.clone(), name),
            kind: Kind::Tool,
            title: object.string("title").or_else(|| annotations.string("title")),
            description: object.string("description").unwrap_or_default(),
            hints: Hints {
                read_only: annotations.read("readOnlyHint"),
                destructive: annotations.read("destructiveHint"),
                idempotent: annotations.read("idempotentHint"),
            },
            definition: Arc::from(definition.to_owned()),
        })
    }

    /// An agent or a skill from its definition: something to be read, that nobody calls.
    pub fn document(server: &ServerName, kind: Kind, definition: &RawValue) -> Result<Entry, String> {
        let object = Object::parse(definition).ok_or("is not a JSON object")?;
        let name: String = object.string("name").filter(|name| !name.is_empty()).ok_or("has no name")?;
        Ok(Entry {
            fingerprint: Fingerprint::of_text(definition.get()),
            id: ToolId::new(server.clone(), name),
            kind,
            title: object.string("title"),
            description: object.string("description").unwrap_or_default(),
            hints: Hints::default(),
            definition: Arc::from(definition.to_owned()),
        })
    }

    /// Whether it can be called at all.
    pub fn is_tool(&self) -> bool {
        self.kind == Kind::Tool
    }

    pub fn server(&self) -> &ServerName {
        &self.id.server
    }

    pub fn name(&self) -> &str {
        &self.id.tool
    }

    /// A member of the definition, parsed. `null` where it is missing.
    pub fn member(&self, key: &str) -> serde_json::Value {
        Object::parse(&self.definition).and_then(|object| object.read(key)).unwrap_or_default()
    }

    pub fn input_schema(&self) -> serde_json::Value {
        self.member("inputSchema")
    }

    pub fn output_schema(&self) -> serde_json::Value {
        self.member("outputSchema")
    }
}
