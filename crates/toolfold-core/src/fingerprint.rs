//! What a tool is, in 32 bytes: approval, remembered vectors and "has it changed?" all hang on this.

use std::fmt;

use serde_json::Value;
use sha2::{Digest, Sha256};
use toolfold_wire::Object;

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// SHA-256 over the canonical form of everything a model or an approver decides on: name, description, schemas.
    /// The order of keys does not matter, annotations and titles do not either.
    pub fn of_tool(name: &str, definition: &Object) -> Self {
        let mut canonical = String::new();
        write_canonical(&Value::from(name), &mut canonical);
        for key in ["description", "inputSchema", "outputSchema"] {
            canonical.push('\n');
            write_canonical(&definition.read::<Value>(key).unwrap_or_default(), &mut canonical);
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
                out.push_str(&Value::from(key.as_str()).to_string());
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
