//! Schemas that ask for more than there is: the check ends when the fuel does, or says why it has no answer.

use serde_json::{Map, Value, json};
use toolfold_core::{Fuel, Spent, Stop};
use toolfold_schema::{DEEPEST, MOST_PATTERNS, Schema, Undecided, Unusable};

const BUDGET: u64 = 2_000_000;

fn outcome(schema: Value, value: &Value) -> Result<bool, Undecided> {
    Schema::prepare(schema, &Fuel::new(BUDGET)).unwrap().is_valid(value, &Fuel::new(BUDGET))
}

/// Forty definitions, each of which asks twice for the next, in whatever way `refer` does.
fn doubling(refer: fn(usize) -> Value, define: fn(usize, Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for n in 0..40 {
        let next = refer(n + 1);
        definitions.insert(format!("a{n}"), define(n, json!([next, next])));
    }
    definitions.insert("a40".to_owned(), define(40, json!([true])));
    let mut schema = refer(0);
    schema["$defs"] = definitions.into();
    schema
}

#[test]
fn references_that_double_end_with_the_fuel() {
    let pointer = |n: usize| json!({"$ref": format!("#/$defs/a{n}")});
    let anchor = |n: usize| json!({"$ref": format!("#a{n}")});
    let dynamic = |n: usize| json!({"$dynamicRef": format!("#a{n}")});
    let named = |n: usize| json!({"$ref": format!("http://x.example/a{n}")});
    let all = [
        doubling(pointer, |_, next| json!({"allOf": next})),
        doubling(pointer, |_, next| json!({"not": {"not": {"allOf": next}}})),
        doubling(pointer, |_, next| json!({"dependentSchemas": {"x": {"allOf": next}}})),
        doubling(pointer, |_, next| json!({"dependencies": {"x": {"allOf": next}}})),
        doubling(pointer, |_, next| json!({"if": {"allOf": next}, "unevaluatedProperties": false})),
        doubling(anchor, |n, next| json!({"$anchor": format!("a{n}"), "allOf": next})),
        doubling(dynamic, |n, next| json!({"$dynamicAnchor": format!("a{n}"), "allOf": next})),
        doubling(named, |n, next| json!({"$id": format!("http://x.example/a{n}"), "allOf": next})),
    ];
    for schema in all {
        assert_eq!(outcome(schema.clone(), &json!({"x": 1})), Err(Undecided::Spent(Spent::Empty)), "{schema}");
    }
}

#[test]
fn a_circle_is_seen() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"$defs": {"a": {"$anchor": "x", "$ref": "#x"}}, "$ref": "#x"}),
        json!({"$id": "http://x.example/s", "allOf": [{"$ref": "http://x.example/s"}]}),
        json!({"$id": "http://x.example/s", "$ref": "t",
            "$defs": {"a": {"$id": "t", "$ref": "u"}, "b": {"$id": "u", "$ref": "t"}}}),
        json!({"allOf": [{"$ref": "#/%61llOf/0"}]}),
        json!({"$dynamicAnchor": "n", "anyOf": [{"$dynamicRef": "#n"}]}),
        json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": true,
            "allOf": [{"$recursiveRef": "#"}]}),
        json!({"unevaluatedProperties": {"$ref": "#"}, "not": {"$ref": "#"}}),
    ] {
        assert_eq!(outcome(schema.clone(), &json!({})), Err(Undecided::Endless), "{schema}");
    }
}

#[test]
fn depth_has_an_end() {
    let mut definitions = Map::new();
    for n in 0..5000 {
        definitions.insert(format!("d{n}"), json!({"$ref": format!("#/$defs/d{}", n + 1)}));
    }
    definitions.insert("d5000".to_owned(), json!(true));
    let chain = json!({"$ref": "#/$defs/d0", "$defs": definitions});
    assert_eq!(outcome(chain, &json!({})), Err(Undecided::TooDeep));
    // As deep as JSON is read, and a schema that holds itself: far from the end.
    let list = json!({"items": {"allOf": [{"$ref": "#"}]}});
    let deep = (0..DEEPEST / 3 - 1).fold(json!([]), |inner, _| json!([inner]));
    assert_eq!(outcome(list, &deep), Ok(true));
}

#[test]
fn many_slow_patterns_end_with_the_fuel_or_are_not_looked_at() {
    let text = json!("a".repeat(200_000));
    let slow: Vec<Value> = (0..MOST_PATTERNS).map(|n| json!({"pattern": format!("(a?){{40}}a{{40}}b{n}")})).collect();
    assert_eq!(outcome(json!({"anyOf": slow}), &text), Err(Undecided::Spent(Spent::Empty)));
    // Beyond the first hundred, and what only a backtracking engine could do, is let through.
    let around: Vec<Value> = (0..3000).map(|n| json!({"pattern": format!("^(?=a)(a|a?)+{n}\\1?$")})).collect();
    assert_eq!(outcome(json!({"allOf": around}), &json!("b")), Ok(true));
    assert_eq!(outcome(json!({"pattern": "(a{1,1000}){1,1000}"}), &json!("b")), Ok(true));
}

#[test]
fn lists_of_many_values_cost_what_they_are_long() {
    let values: Vec<Value> = (0..100_000).map(|n| json!({"a": n})).collect();
    let schema = Schema::prepare(json!({"uniqueItems": true}), &Fuel::new(BUDGET)).unwrap();
    let fuel = Fuel::new(10 * BUDGET);
    assert_eq!(schema.is_valid(&values.into(), &fuel), Ok(true));
    assert!(fuel.left() > 8 * BUDGET, "{} of {} left", fuel.left(), 10 * BUDGET);
}

#[test]
fn a_cancelled_check_stops() {
    let stop = Stop::default();
    stop.set();
    let schema = Schema::prepare(json!({"type": "object"}), &Fuel::new(BUDGET)).unwrap();
    let fuel = Fuel::stoppable(BUDGET, stop);
    assert_eq!(schema.is_valid(&json!({}), &fuel), Err(Undecided::Spent(Spent::Stopped)));
}

#[test]
fn reading_a_schema_is_counted_too() {
    let large = json!({"properties": (0..100_000).map(|n| (n.to_string(), json!({}))).collect::<Map<_, _>>()});
    assert_eq!(Schema::prepare(large, &Fuel::new(1000)).err(), Some(Unusable::Spent(Spent::Empty)));
}
