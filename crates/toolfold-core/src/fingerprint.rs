//! What an entry is, in 32 bytes: approval, compiled schemas and "has it changed?" all hang on this.
//!
//! What a reader would get wrong: nothing is left out. A title, an annotation or a word in `_meta` is read by a model or
//! decides how it is warned, so one that changes makes another entry of it. A member that a later one of the same name stands for
//! counts too: clients get the text, and not every one of them takes the last.

use std::fmt;

use serde_json::Value;
use sha2::{Digest, Sha256};
use toolfold_wire::{Object, Raw};

use crate::written::Written;

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// SHA-256 over the canonical form of a whole definition. The order of keys and white space do not matter.
    pub fn of_definition(definition: &Object) -> Self {
        let members = definition.repeated().chain(definition.iter());
        Fingerprint::of_members(members.map(|(key, value)| (key, Some(value))).collect())
    }

    /// Of what a tool does and takes, whatever it is called.
    pub fn of_work(definition: &Object) -> Self {
        let of_key = |key| {
            let before = definition.repeated().filter(move |(other, _)| *other == key).map(|(_, value)| Some(value));
            before.chain([definition.get(key)]).map(move |value| (key, value))
        };
        Fingerprint::of_members(["description", "inputSchema", "outputSchema"].into_iter().flat_map(of_key).collect())
    }

    fn of_members(mut members: Vec<(&str, Option<&Raw>)>) -> Self {
        // Of those of one name the order says which one counts, and stays.
        members.sort_by_key(|(key, _)| *key);
        let mut canonical = String::new();
        for (key, value) in members {
            write_string(key, &mut canonical);
            canonical.push(':');
            match value.map(|raw| (raw, serde_json::from_str::<Written>(raw.get()))) {
                Some((_, Ok(value))) => write_canonical(&value, &mut canonical),
                // JSON that cannot be read (a number beyond all bounds) counts as it was written.
                Some((raw, Err(_))) => write_string(raw.get(), &mut canonical),
                None => canonical.push_str("null"),
            }
            canonical.push('\n');
        }
        Fingerprint(Sha256::digest(canonical.as_bytes()).into())
    }

    pub fn of_text(text: &str) -> Self {
        Fingerprint(Sha256::digest(text.as_bytes()).into())
    }

    /// One that was written down before.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Fingerprint(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// JSON with sorted keys and no white space. The parser bounds the depth (128), so this recursion is bounded too.
fn write_canonical(value: &Written, out: &mut String) {
    match value {
        Written::Members(members) => {
            let mut members: Vec<&(String, Written)> = members.iter().collect();
            members.sort_by_key(|(key, _)| key);
            out.push('{');
            for (key, value) in members {
                write_string(key, out);
                out.push(':');
                write_canonical(value, out);
                out.push(',');
            }
            out.push('}');
        }
        Written::List(items) => {
            out.push('[');
            for item in items {
                write_canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Written::Text(text) | Written::Unread(text) => write_string(text, out),
        Written::Number(number) => out.push_str(&number.to_string()),
        Written::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Written::Null => out.push_str("null"),
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push_str(&Value::from(text).to_string());
}
