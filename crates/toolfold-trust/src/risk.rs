//! What serves in place of a changed definition: the one that was accepted, with no less risk than the new one declares.
//!
//! What a reader would get wrong: which way is up differs between the hints, and a missing one counts as the protocol says:
//! not read-only, destructive, not idempotent, open to the world.

use toolfold_core::Fingerprint;
use toolfold_wire::{Object, Raw};

/// A hint, and the value of it that promises something.
const PROMISES: [(&str, bool); 4] =
    [("readOnlyHint", true), ("destructiveHint", false), ("idempotentHint", true), ("openWorldHint", false)];

/// What a definition says of one hint, the gravest last. What somebody says outright weighs more than what a missing hint stands
/// for: one that declares the grave value where there was none declares more than was known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    #[default]
    Promised,
    Unsaid,
    Grave,
}

/// The risk that an entry has declared since it was accepted, hint by hint, where that is more than it declared then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Raised([Weight; PROMISES.len()]);

/// What becomes of a definition that changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Succession {
    /// The new one promises less than the old one and differs in nothing else: that holds at once.
    New,
    /// This serves: the old one, without the promises that were taken back.
    Old(Raw),
}

impl Raised {
    pub fn is_nothing(self) -> bool {
        self == Raised::default()
    }

    /// As it is written down: two bits for each hint.
    pub fn bits(self) -> u8 {
        self.0.iter().rev().fold(0, |bits, weight| bits << 2 | *weight as u8)
    }

    /// What was written down. What means nothing is taken for the gravest.
    pub fn from_bits(bits: u8) -> Raised {
        Raised(std::array::from_fn(|place| match bits >> (2 * place) & 3 {
            0 => Weight::Promised,
            1 => Weight::Unsaid,
            _ => Weight::Grave,
        }))
    }
}

/// The definition to serve while `new` is held and `old` was accepted, and the risk that has been declared since then, of which
/// `raised` was known before.
pub fn succeed(old: &Raw, new: &Raw, raised: Raised) -> (Succession, Raised) {
    let (Some(mut served), Some(offered)) = (Object::parse(old), Object::parse(new)) else {
        return (Succession::Old(old.clone()), raised);
    };
    let (before, now) =
        (served.object("annotations").unwrap_or_default(), offered.object("annotations").unwrap_or_default());
    let mut annotations = before.clone();
    let mut declared = Raised::default();
    for (place, (hint, promise)) in PROMISES.into_iter().enumerate() {
        let was = weight(&before, hint, promise);
        let is = raised.0[place].max(weight(&now, hint, promise));
        if is <= was {
            continue;
        }
        declared.0[place] = is;
        match is {
            Weight::Grave => drop(annotations.set(hint, &!promise)),
            Weight::Unsaid | Weight::Promised => drop(annotations.remove(hint)),
        }
    }
    if declared.is_nothing() {
        return (Succession::Old(old.clone()), declared);
    }
    match annotations.is_empty() && !offered.contains("annotations") {
        true => drop(served.remove("annotations")),
        false => drop(served.set("annotations", &annotations)),
    }
    if Fingerprint::of_definition(&served) == Fingerprint::of_definition(&offered) {
        return (Succession::New, declared);
    }
    (Succession::Old(served.to_raw()), declared)
}

fn weight(annotations: &Object, hint: &str, promise: bool) -> Weight {
    match annotations.read::<bool>(hint) {
        Some(value) if value == promise => Weight::Promised,
        // What is neither true nor false promises nothing.
        None if !annotations.contains(hint) => Weight::Unsaid,
        _ => Weight::Grave,
    }
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
        match succeed(&tool(old, "Old."), &tool(new, description), Raised::default()).0 {
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

    #[test]
    fn risk_that_was_declared_once_stays_declared() {
        let (safe, grave) = (json!({"readOnlyHint": true}), json!({"readOnlyHint": false}));
        let accepted = tool(safe.clone(), "Old.");
        let (at_once, raised) = succeed(&accepted, &tool(grave.clone(), "Old."), Raised::default());
        assert_eq!(at_once, Succession::New);
        let shown = |new: &Raw| match succeed(&accepted, new, raised) {
            (Succession::Old(raw), still) if still == raised => serde_json::from_str::<Value>(raw.get()).unwrap(),
            other => panic!("{other:?}"),
        };
        let old = json!({"name": "t", "description": "Old.", "inputSchema": {"type": "object"}, "annotations": grave});
        // With another text, and without one.
        assert_eq!(shown(&tool(safe.clone(), "New.")), old);
        assert_eq!(shown(&accepted), old);
        assert_eq!(succeed(&accepted, &tool(old["annotations"].clone(), "Old."), raised), (Succession::New, raised));
        // What was said outright is not unsaid by leaving it out.
        assert_eq!(shown(&tool(Value::Null, "New.")), old);
    }

    #[test]
    fn declared_risk_is_read_as_it_was_written() {
        let weights = [Weight::Promised, Weight::Unsaid, Weight::Grave];
        for a in weights {
            for b in weights {
                let raised = Raised([a, Weight::Grave, Weight::Promised, b]);
                assert_eq!(Raised::from_bits(raised.bits()), raised);
            }
        }
        assert_eq!(Raised::default().bits(), 0);
        assert_eq!(Raised::from_bits(u8::MAX), Raised([Weight::Grave; 4]));
    }
}
