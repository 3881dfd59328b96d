//! What a server said of itself, in a form that outlives the process. Definitions are kept as raw JSON: what is odd
//! about one of them is for the catalog to judge, not a reason to lose it here.

use std::collections::{BTreeMap, BTreeSet};

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
    /// Addresses of resources and templates that were another server's when this one first listed them. Added by whoever
    /// compares servers.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub second: BTreeSet<String>,
}

impl Manifest {
    /// Whether a server said the same both times. Names that tools had before were not said by it.
    pub(crate) fn lists_the_same(&self, other: &Manifest) -> bool {
        let same = |one: &[Raw], other: &[Raw]| {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.get() == other.get())
        };
        let text = |raw: &Option<Raw>| raw.as_ref().map(|raw| raw.get().to_owned());
        (self.era, &self.version, &self.instructions) == (other.era, &other.version, &other.instructions)
            && text(&self.server_info) == text(&other.server_info)
            && text(&self.capabilities) == text(&other.capabilities)
            && same(&self.tools, &other.tools)
            && same(&self.prompts, &other.prompts)
            && same(&self.resources, &other.resources)
            && same(&self.templates, &other.templates)
    }
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
