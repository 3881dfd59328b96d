//! What each keyword says, where editions of the specification differ or implementations do.

use serde_json::{Value, json};
use toolfold_core::Fuel;
use toolfold_schema::{Schema, Unusable};

fn prepare(schema: &Value) -> Result<Schema, Unusable> {
    Schema::prepare(schema.clone(), &Fuel::new(100_000))
}

fn check(schema: Value, fits: &[Value], does_not: &[Value]) {
    let ready = prepare(&schema).unwrap();
    for (values, wanted) in [(fits, true), (does_not, false)] {
        for value in values {
            assert_eq!(ready.is_valid(value, &Fuel::new(100_000)), Ok(wanted), "{value} against {schema}");
        }
    }
}

#[test]
fn numbers() {
    check(json!({"type": "integer"}), &[json!(1), json!(1.0), json!(1e30)], &[json!(1.5), json!("1")]);
    let four = "http://json-schema.org/draft-04/schema#";
    check(json!({"$schema": four, "type": "integer"}), &[json!(1)], &[json!(1.0)]);
    check(json!({"$schema": four, "minimum": 1, "exclusiveMinimum": true}), &[json!(2)], &[json!(1)]);
    check(json!({"multipleOf": 0.01}), &[json!(4.35), json!(0), json!(1e300)], &[json!(4.355)]);
    check(
        json!({"maximum": 9_007_199_254_740_992_u64}),
        &[json!(9_007_199_254_740_992_u64)],
        &[json!(9_007_199_254_740_993_u64)],
    );
    check(json!({"const": 1}), &[json!(1.0)], &[json!(true), json!("1")]);
}

#[test]
fn references() {
    let tree = json!({"$id": "http://x.example/tree", "$dynamicAnchor": "node", "type": "object",
        "properties": {"children": {"type": "array", "items": {"$dynamicRef": "#node"}}}});
    let strict = json!({"$id": "http://x.example/strict", "$dynamicAnchor": "node", "$ref": "tree",
        "unevaluatedProperties": false, "$defs": {"tree": tree}});
    check(strict, &[json!({"children": [{"children": []}]})], &[json!({"children": [{"daat": 1}]}), json!({"x": 1})]);
    check(
        json!({"$ref": "#thing", "$defs": {"a": {"$anchor": "thing", "type": "string"}}}),
        &[json!("x")],
        &[json!(1)],
    );
    check(json!({"$ref": "#/%24defs/a~1b", "$defs": {"a/b": {"type": "string"}}}), &[json!("x")], &[json!(1)]);
    let seven = "http://json-schema.org/draft-07/schema#";
    let beside = json!({"$ref": "#/definitions/a", "type": "string"});
    check(json!({"$schema": seven, "properties": {"x": beside}, "definitions": {"a": {}}}), &[json!({"x": 1})], &[]);
    check(json!({"properties": {"x": beside}, "definitions": {"a": {}}}), &[json!({"x": "s"})], &[json!({"x": 1})]);
}

#[test]
fn a_reference_out_of_the_document_takes_anything_and_is_noted() {
    let schema = json!({"properties": {"a": {"$ref": "https://example.org/s.json"}, "b": {"type": "string"}}});
    check(schema.clone(), &[json!({"a": 1})], &[json!({"a": 1, "b": 1})]);
    assert_eq!(prepare(&schema).unwrap().notes().len(), 1);
}

#[test]
fn a_pattern_is_one_of_javascript() {
    check(json!({"pattern": "^\\d+$"}), &[json!("12")], &[json!("١٢"), json!("x")]);
    check(json!({"pattern": "^[\\w.-]+@[a-z]+\\.\\u0063om$"}), &[json!("a.b@c.com")], &[json!("a b@c.com")]);
    check(json!({"pattern": "^(?!x)"}), &[json!("x")], &[]);
}

#[test]
fn format_says_nothing() {
    check(json!({"format": "email"}), &[json!("nobody")], &[]);
}

#[test]
fn what_is_no_schema_is_refused() {
    for schema in [
        json!({"type": "sting"}),
        json!({"properties": [1]}),
        json!({"required": "x"}),
        json!({"minLength": -1}),
        json!({"multipleOf": 0}),
        json!({"items": 5}),
        json!({"allOf": {}}),
        json!([]),
    ] {
        assert!(matches!(prepare(&schema), Err(Unusable::Malformed(_))), "{schema}");
    }
}

#[test]
fn a_problem_says_what_and_where() {
    let schema = json!({
        "properties": {"list": {"items": {"type": ["integer", "null"]}}, "kind": {"enum": ["a", "b", "c", "d"]}},
        "required": ["name"], "additionalProperties": false, "maxProperties": 2,
    });
    let value = json!({"list": [1, "x"], "kind": "e", "a/b": 1});
    let ready = prepare(&schema).unwrap();
    let said: Vec<String> = ready
        .problems(&value, 10, &Fuel::new(10_000))
        .unwrap()
        .iter()
        .map(|problem| format!("{} {} {}", problem.at, problem.text("it"), problem.schema.to_string().len()))
        .collect();
    let whole = schema.to_string().len();
    assert_eq!(
        said,
        [
            format!(" it has more than 2 properties {whole}"),
            "/list/1 it is not of types \"integer\", \"null\" 27".to_owned(),
            "/kind it is not one of \"a\", \"b\" or 2 other candidates 26".to_owned(),
            format!(" Additional properties are not allowed ('a/b' was unexpected) {whole}"),
            format!(" \"name\" is a required property {whole}"),
        ]
    );
}
