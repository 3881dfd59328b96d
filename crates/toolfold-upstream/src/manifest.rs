//! What a server said of itself, in a form that outlives the process. Definitions are kept as raw JSON: what is odd
//! about one of them is for the catalog to judge, not a reason to lose it here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolfold_wire::{Era, Raw};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Manifest {
    #[serde(with = "era")]
    pub era: Era,
    /// The protocol version agreed on.
    pub version: String,
    #[serde(default)]
    pub server_info: Option<Raw>,
    #[serde(default)]
    pub instructions: Option<String>,
    #[serde(default)]
    pub capabilities: Option<Raw>,
    #[serde(default)]
    pub tools: Vec<Raw>,
    #[serde(default)]
    pub prompts: Vec<Raw>,
    #[serde(default)]
    pub resources: Vec<Raw>,
    #[serde(default)]
    pub templates: Vec<Raw>,
    /// Names that tools had in earlier lists, and what they are called in this one. No server says this: whoever
    /// compares lists adds it.
    #[serde(default)]
    pub old_names: BTreeMap<String, String>,
}

/// `"legacy"` or `"modern"`.
mod era {
    use serde::{Deserialize, Deserializer, Serializer, de};
    use toolfold_wire::Era;

    pub(super) fn serialize<S: Serializer>(era: &Era, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match era {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        })
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Era, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "legacy" => Ok(Era::Legacy),
            "modern" => Ok(Era::Modern),
            other => Err(de::Error::unknown_variant(other, &["legacy", "modern"])),
        }
    }
}
