//! Programs in files: `[scripts] paths`. Each is a tool of the server `scripts`, with what its front matter says of it as
//! its definition.
//!
//! What a reader would get wrong: the program itself is not in the definition, and its fingerprint is. So a changed program
//! is a changed definition, which is held like any other until somebody has looked at it.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use toolfold_core::{Entry, Fingerprint, Pattern};
use toolfold_script::LONGEST_SOURCE;
use toolfold_wire::{Object, Raw};

use crate::front_matter::{BadDocument, list, members, scalar, split};

/// Where the fingerprint of a program is in its definition.
const MARK: &str = "toolfold/script";

/// All programs that are served, by name.
#[derive(Debug, Default)]
pub(crate) struct StoredScripts(HashMap<String, Stored>);

#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) name: String,
    pub(crate) code: String,
    /// What it may call beside what only reads.
    pub(crate) tools: Vec<Pattern>,
    pub(crate) definition: Raw,
    fingerprint: String,
}

impl StoredScripts {
    pub(crate) fn new(scripts: Vec<Stored>) -> Self {
        StoredScripts(scripts.into_iter().map(|script| (script.name.clone(), script)).collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Stored> {
        self.0.get(name)
    }
}

/// Why a file is no script, in words that follow its name.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadScript {
    #[error(transparent)]
    Document(#[from] BadDocument),
    #[error("has no description: a model would not know what it is for")]
    NoDescription,
    #[error("has an `input` that is no JSON Schema of an object")]
    BadInput,
    #[error("has a name that cannot be used: letters, digits, `_` and `-`, at most 64 of them, can")]
    BadName,
    #[error("is longer than {LONGEST_SOURCE} bytes")]
    TooLong,
    #[error("has no program below its front matter")]
    Empty,
}

impl Stored {
    /// A file: front matter as an agent's has it, or the same inside of a comment so that the file is a program as a whole.
    pub(crate) fn read(text: &str, usual_name: &str) -> Result<Stored, BadScript> {
        let (front, code) = front_of(text)?;
        let members = members(front)?;
        if code.trim().is_empty() {
            return Err(BadScript::Empty);
        }
        if code.len() > LONGEST_SOURCE {
            return Err(BadScript::TooLong);
        }
        let name = scalar(&members, &["name"]).unwrap_or_else(|| usual_name.to_owned());
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
            return Err(BadScript::BadName);
        }
        let description = scalar(&members, &["description"]).ok_or(BadScript::NoDescription)?;
        let tools = list(&members, &["tools", "allow"]);
        let fingerprint = Fingerprint::of_text(&format!("{}\0{code}", tools.join("\0"))).to_string();
        let mut definition = Object::new().with("name", &name).with("description", &description);
        if let Some(title) = scalar(&members, &["title"]) {
            definition.set("title", &title);
        }
        definition.set("inputSchema", &input_schema(members.get("input").or(members.get("inputschema")))?);
        if let Some(output) = members.get("output").or(members.get("outputschema")).filter(|schema| schema.is_object())
        {
            definition.set("outputSchema", output);
        }
        // True because it is enforced: without tools of its own it can call only what reads.
        definition.set("annotations", &json!({"readOnlyHint": tools.is_empty()}));
        let mut mark = json!({"sha256": fingerprint});
        if !tools.is_empty() {
            mark["tools"] = json!(tools);
        }
        definition.set("_meta", &json!({ MARK: mark }));
        let tools = tools.iter().map(|tool| Pattern::new(tool)).collect();
        Ok(Stored { name, code: code.to_owned(), tools, definition: definition.to_raw(), fingerprint })
    }

    /// Whether an entry is of this program, and not of what its file held before.
    pub(crate) fn is_of(&self, entry: &Entry) -> bool {
        entry.member("_meta")[MARK]["sha256"].as_str() == Some(self.fingerprint.as_str())
    }
}

/// The YAML and the program.
fn front_of(text: &str) -> Result<(&str, &str), BadDocument> {
    let plain = text.trim_start_matches('\u{feff}').trim_start();
    match plain.strip_prefix("/*---") {
        Some(inside) => inside.split_once("---*/").ok_or(BadDocument::Unended),
        None => split(text),
    }
}

/// A whole schema, or the properties of one: `query: string`, `limit: {type: integer}`; a `?` after a name makes it optional.
fn input_schema(given: Option<&Value>) -> Result<Value, BadScript> {
    let Some(given) = given.filter(|given| !given.is_null()) else {
        return Ok(json!({"type": "object", "properties": {}}));
    };
    let members = given.as_object().ok_or(BadScript::BadInput)?;
    if members.get("type").and_then(Value::as_str) == Some("object") {
        return Ok(given.clone());
    }
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, schema) in members {
        let plain = name.strip_suffix('?').unwrap_or(name);
        if plain == name {
            required.push(json!(name));
        }
        let schema = match schema {
            Value::String(kind) => json!({"type": kind}),
            Value::Object(_) => schema.clone(),
            _ => return Err(BadScript::BadInput),
        };
        properties.insert(plain.to_owned(), schema);
    }
    Ok(json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}))
}
