//! What a client is told that can be asked for beside tools: only what some server has. Several clients show their model
//! tools of their own for resources as soon as the word is said, which costs more than all of Toolfold's.
//!
//! What a reader would get wrong: a server that has not said yet what it has counts as having everything. A client is told
//! once, at the beginning, and what it was not told of it will never ask for.

use std::sync::Arc;
use std::time::Duration;

use toolfold_core::Principal;
use toolfold_upstream::Manifest;
use toolfold_wire::Object;

use crate::current::Current;
use crate::progress::Waiting;

/// How long a greeting waits for the first snapshot, of what is remembered.
const LONGEST: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advertised {
    pub prompts: bool,
    pub resources: bool,
    pub completions: bool,
    pub logging: bool,
}

impl Advertised {
    pub const ALL: Advertised = Advertised { prompts: true, resources: true, completions: true, logging: true };
    pub const NONE: Advertised = Advertised { prompts: false, resources: false, completions: false, logging: false };

    /// What the servers have that are there, were there the last time, or may soon be.
    pub(crate) async fn to(principal: &Principal, waiting: &Waiting, snapshot: &Current) -> Advertised {
        let published = tokio::time::timeout(LONGEST, waiting.published()).await;
        let snapshot = snapshot.seen(principal);
        if published.is_err() || waiting.open(false).iter().any(|server| snapshot.is_seen(server)) {
            return Advertised::ALL;
        }
        let manifests: Vec<Arc<Manifest>> = match snapshot.share {
            // What servers say of themselves, less what of it does not exist.
            Some(_) => snapshot.parts.iter().map(|part| part.manifest.clone()).collect(),
            None => snapshot.sources().filter_map(|(_, source)| source.manifest()).collect(),
        };
        manifests.iter().fold(Advertised::NONE, |all, manifest| all.or(Advertised::of(manifest)))
    }

    /// A list that is empty and never changes is none, whatever its server says: many libraries say it always.
    fn of(manifest: &Manifest) -> Advertised {
        let can = manifest.capabilities.as_ref().and_then(Object::parse).unwrap_or_default();
        let grows = |part: &str| can.object(part).and_then(|part| part.read("listChanged")).unwrap_or(false);
        let listed = |part: &str, is_empty: bool| can.contains(part) && (!is_empty || grows(part));
        Advertised {
            prompts: listed("prompts", manifest.prompts.is_empty()),
            resources: listed("resources", manifest.resources.is_empty() && manifest.templates.is_empty()),
            completions: can.contains("completions"),
            logging: can.contains("logging"),
        }
    }

    fn or(self, other: Advertised) -> Advertised {
        Advertised {
            prompts: self.prompts || other.prompts,
            resources: self.resources || other.resources,
            completions: self.completions || other.completions,
            logging: self.logging || other.logging,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Advertised {
        let whole = format!(r#"{{"era":"legacy","version":"2025-11-25",{text}}}"#);
        Advertised::of(&serde_json::from_str(&whole).unwrap())
    }

    #[test]
    fn a_word_without_anything_behind_it_is_not_passed_on() {
        let said = r#""capabilities":{"prompts":{"listChanged":false},"resources":{"subscribe":true},"logging":{}}"#;
        assert_eq!(of(said), Advertised { logging: true, ..Advertised::NONE });
        let listed = of(&format!(r#"{said},"templates":[{{"uriTemplate":"x://{{id}}"}}]"#));
        assert!(listed.resources && !listed.prompts);
        assert!(of(r#""capabilities":{"resources":{"listChanged":true}}"#).resources, "there may be some later");
        assert_eq!(of(r#""prompts":[{"name":"ask"}]"#), Advertised::NONE);
    }
}
