//! What an entry is, in 32 bytes: approval, compiled schemas and "has it changed?" all hang on this.
//!
//! What a reader would get wrong: nothing is left out. A title, an annotation or a word in `_meta` is read by a model or
//! decides how it is warned, so one that changes makes another entry of it.

use std::fmt;

use serde_json::Value;
use sha2::{Digest, Sha256};
use toolfold_wire::Object;

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// SHA-256 over the canonical form of a whole definition. The order of keys and white space do not matter.
    pub fn of_definition(definition: &Object) -> Self {
        let members = definition.iter().map(|(key, _)| key).collect();
        Fingerprint::of_members(definition, members)
    }

    /// Of what a tool does and takes, whatever it is called.
    pub fn of_work(definition: &Object) -> Self {
        Fingerprint::of_members(definition, vec!["description", "inputSchema", "outputSchema"])
    }

    fn of_members(definition: &Object, mut keys: Vec<&str>) -> Self {
        keys.sort_unstable();
        let mut canonical = String::new();
        for key in keys {
            write_string(key, &mut canonical);
            canonical.push(':');
            match (definition.read::<Value>(key), definition.get(key)) {
                (Some(value), _) => write_canonical(&value, &mut canonical),
                // JSON that cannot be read (a number beyond all bounds) counts as it was written.
                (None, Some(raw)) => write_string(raw.get(), &mut canonical),
                (None, None) => canonical.push_str("null"),
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
fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => {
            let mut keys: Vec<&String> = members.keys().collect();
            keys.sort();
            out.push('{');
            for key in keys {
                write_string(key, out);
                out.push(':');
                write_canonical(&members[key], out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push_str(&Value::from(text).to_string());
}
