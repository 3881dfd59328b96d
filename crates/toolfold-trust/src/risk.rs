//! What serves in place of a changed definition: the one that was accepted, with no less risk than the new one declares.
//!
//! What a reader would get wrong: which way is up differs between the hints, and a missing one counts as the protocol says:
//! not read-only, destructive, not idempotent, open to the world.

use toolfold_core::Fingerprint;
use toolfold_wire::{Object, Raw};

/// A hint, and the value of it that promises something.
const PROMISES: [(&str, bool); 4] =
    [("readOnlyHint", true), ("destructiveHint", false), ("idempotentHint", true), ("openWorldHint", false)];

/// What becomes of a definition that changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Succession {
    /// The new one promises less than the old one and differs in nothing else: that holds at once.
    New,
    /// This serves: the old one, without the promises that the new one does not make.
    Old(Raw),
}

/// The definition to serve while `new` is held and `old` was accepted.
///
/// What somebody says outright weighs more than what a missing hint stands for: one that declares the grave value where there
/// was none declares more than was known.
pub fn succeed(old: &Raw, new: &Raw) -> Succession {
    let (Some(mut served), Some(offered)) = (Object::parse(old), Object::parse(new)) else {
        return Succession::Old(old.clone());
    };
    let (before, now) =
        (served.object("annotations").unwrap_or_default(), offered.object("annotations").unwrap_or_default());
    let graver = PROMISES.iter().filter(|(hint, promise)| {
        let (was, is): (Option<bool>, Option<bool>) = (before.read(hint), now.read(hint));
        match was == Some(*promise) {
            true => is != Some(*promise),
            false => was.is_none() && is == Some(!promise),
        }
    });
    let mut annotations = before.clone();
    let mut count = 0;
    for (hint, promise) in graver {
        // As the new one says it: left out where it is left out.
        match now.get(hint) {
            Some(_) => drop(annotations.set(hint, &!promise)),
            None => drop(annotations.remove(hint)),
        }
        count += 1;
    }
    if count == 0 {
        return Succession::Old(old.clone());
    }
    match annotations.is_empty() && !offered.contains("annotations") {
        true => drop(served.remove("annotations")),
        false => drop(served.set("annotations", &annotations)),
    }
    if Fingerprint::of_definition(&served) == Fingerprint::of_definition(&offered) {
        return Succession::New;
    }
    Succession::Old(served.to_raw())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolfold_wire::raw;

    use super::*;

    fn tool(annotations: Value, description: &str) -> Raw {
        let mut tool = json!({"name": "t", "description": description, "inputSchema": {"type": "object"}});
        if !annotations.is_null() {
            tool["annotations"] = annotations;
        }
        raw(&tool)
    }

    /// The hints that serve; `None`: those of the new one, with all the rest of it.
    fn served(old: Value, new: Value, description: &str) -> Option<Value> {
        match succeed(&tool(old, "Old."), &tool(new, description)) {
            Succession::New => None,
            Succession::Old(raw) => {
                let definition: Value = serde_json::from_str(raw.get()).unwrap();
                assert_eq!(definition["description"], "Old.");
                Some(definition["annotations"].clone())
            }
        }
    }

    #[test]
    fn less_risk_waits_and_more_risk_does_not() {
        let (safe, grave) = (json!({"readOnlyHint": true}), json!({"readOnlyHint": false}));
        assert_eq!(served(grave.clone(), safe.clone(), "Old."), Some(grave.clone()));
        assert_eq!(served(safe.clone(), grave.clone(), "Old."), None);
        assert_eq!(served(safe.clone(), grave.clone(), "New."), Some(grave));
        assert_eq!(served(safe.clone(), Value::Null, "New."), Some(Value::Null));
        assert_eq!(served(safe.clone(), Value::Null, "Old."), None);
        assert_eq!(served(safe.clone(), safe.clone(), "New."), Some(safe));
        assert_eq!(served(Value::Null, json!({"destructiveHint": false}), "Old."), Some(Value::Null));
    }

    #[test]
    fn a_danger_that_is_said_outright_holds_where_nothing_was_said_before() {
        let grave = json!({"destructiveHint": true});
        assert_eq!(served(Value::Null, grave.clone(), "Old."), None);
        assert_eq!(served(Value::Null, grave.clone(), "New."), Some(grave));
        let titled = json!({"title": "T"});
        let both = json!({"title": "Other", "readOnlyHint": false});
        assert_eq!(served(titled, both, "Old."), Some(json!({"title": "T", "readOnlyHint": false})));
    }

    #[test]
    fn each_hint_has_its_own_direction() {
        let promising =
            json!({"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false});
        let grave =
            json!({"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true});
        assert_eq!(served(promising.clone(), grave.clone(), "New."), Some(grave.clone()));
        assert_eq!(served(grave.clone(), promising, "New."), Some(grave));
        let mixed = served(
            json!({"readOnlyHint": true, "destructiveHint": true, "title": "T"}),
            json!({"readOnlyHint": "no", "destructiveHint": false}),
            "New.",
        );
        assert_eq!(mixed, Some(json!({"readOnlyHint": false, "destructiveHint": true, "title": "T"})));
    }
}
