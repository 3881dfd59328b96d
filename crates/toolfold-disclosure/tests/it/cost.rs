//! What a check costs, counted in steps: for an ordinary tool a sliver of what a runtime worker may do at once.

use serde_json::{Map, Value, json};
use toolfold_core::{Fuel, Spent};
use toolfold_disclosure::Checker;
use toolfold_disclosure::arguments::{LONG, MOST_VALUES, QUICK};
use toolfold_wire::{raw, raw_of};

use crate::fixture::entry;

fn ordinary() -> Value {
    json!({
        "type": "object",
        "properties": {
            "owner": {"type": "string", "description": "Who owns it", "minLength": 1},
            "labels": {"type": "array", "items": {"type": "string"}, "maxItems": 20},
            "state": {"enum": ["open", "closed", "all"]},
            "page": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
        },
        "required": ["owner"],
        "additionalProperties": false,
    })
}

#[test]
fn an_ordinary_call_takes_a_sliver_of_what_is_quick() {
    let (checker, entry) = (Checker::new(), entry(ordinary()));
    let arguments = raw(&json!({"owner": "o", "labels": ["a", "b"], "state": "open", "page": 2}));
    for _ in 0..2 {
        let fuel = Fuel::new(QUICK);
        checker.check_within(&entry, Some(arguments.clone()), &fuel).unwrap().unwrap();
        assert!(QUICK - fuel.left() < 500, "{}", QUICK - fuel.left());
    }
}

#[test]
fn what_takes_long_is_not_begun_on_a_worker() {
    let checker = Checker::new();
    // Ten megabytes of one text, and a definition of half a megabyte.
    let long = raw(&json!({"owner": "x".repeat(10 << 20)}));
    assert_eq!(
        checker.check_within(&entry(ordinary()), Some(long.clone()), &Fuel::new(QUICK)).err(),
        Some(Spent::Empty)
    );
    assert_eq!(checker.check(&entry(ordinary()), Some(long.clone())).unwrap(), Some(long));
    let wide: Map<String, Value> = (0..20_000).map(|n| (format!("parameter{n}"), json!({"type": "string"}))).collect();
    let wide = entry(json!({"type": "object", "properties": wide}));
    let arguments = raw_of(r#"{"parameter7": 1}"#).unwrap();
    assert_eq!(checker.check_within(&wide, Some(arguments.clone()), &Fuel::new(QUICK)).err(), Some(Spent::Empty));
    assert!(checker.check(&wide, Some(arguments)).is_err(), "with fuel it is checked");
}

/// Each value takes many times its text in memory: so many are not made into a tree.
#[test]
fn arguments_of_very_many_values_are_let_through() {
    let many = raw_of(&format!(r#"{{"nobody": [{}1]}}"#, "1,".repeat(MOST_VALUES))).unwrap();
    assert_eq!(Checker::new().check(&entry(ordinary()), Some(many.clone())).unwrap(), Some(many));
}

/// Reading a definition for its parameters is bounded too: alternatives of alternatives multiply.
#[test]
fn alternatives_that_multiply_end() {
    let wide: Vec<Value> = (0..200).map(|_| json!({"$ref": "#"})).collect();
    let entry = entry(json!({"type": "object", "anyOf": wide, "oneOf": wide, "properties": {"a": {"anyOf": wide}}}));
    for level in toolfold_disclosure::Level::ALL {
        toolfold_disclosure::level::describe(&entry, level);
    }
    let fuel = Fuel::new(LONG);
    let _ = Checker::new().check_at_length(&entry, Some(raw_of(r#"{"a":"{}","b":null}"#).unwrap()), &fuel);
}

/// What is let through once is not tried again: a second call costs next to nothing.
#[test]
fn a_schema_that_does_not_end_costs_its_fuel_once() {
    let mut definitions = Map::new();
    for n in 0..40 {
        let next = json!({"$ref": format!("#a{}", n + 1)});
        definitions.insert(format!("a{n}"), json!({"$anchor": format!("a{n}"), "allOf": [next, next]}));
    }
    definitions.insert("a40".to_owned(), json!({"$anchor": "a40", "type": "object"}));
    let (checker, entry) = (Checker::new(), entry(json!({"type": "object", "$ref": "#a0", "$defs": definitions})));
    let arguments = raw_of("{}").unwrap();
    assert_eq!(checker.check_within(&entry, Some(arguments.clone()), &Fuel::new(QUICK)).err(), Some(Spent::Empty));
    assert!(checker.check_at_length(&entry, Some(arguments.clone()), &Fuel::new(LONG)).unwrap().is_ok());
    assert!(checker.check_within(&entry, Some(arguments), &Fuel::new(QUICK)).unwrap().is_ok());
    assert_eq!(checker.take_unusable().len(), 1);
}
