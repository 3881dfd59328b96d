//! Schemas that are put together: what parts, references and rests ask for is in the signature, or the signature has its mark.

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolfold_disclosure::Checker;
use toolfold_disclosure::level::{example, signature};

use crate::fixture::entry;
use crate::reader;

/// The shape of a required parameter with this schema.
fn of(schema: Value) -> String {
    let schema = json!({"type": "object", "properties": {"it": schema}, "required": ["it"], "$defs": {
        "Color": {"type": "string", "enum": ["red", "blue"]},
        "Text": {"type": "string"},
        "Pair": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
    }});
    let entry = entry(schema);
    assert_eq!(reader::misled(&Checker::new(), &entry), None);
    signature(&entry).text
}

#[test]
fn parts_that_all_hold_are_one_type_or_marked() {
    let described = json!({"description": "The color."});
    assert_snapshot!(of(json!({"allOf": [{"$ref": "#/$defs/Color"}, described]})), @r#"it: "red"|"blue""#);
    assert_snapshot!(of(json!({"type": "string", "allOf": [{"enum": ["x", "y"]}, described]})), @r#"it: "x"|"y""#);
    assert_snapshot!(of(json!({"type": "string", "allOf": [{"enum": ["x", "y"]}, {"maxLength": 1}]})), @"it: string~");
    assert_snapshot!(of(json!({"type": "string", "allOf": [described]})), @"it: string");
    assert_snapshot!(of(json!({"type": "string", "allOf": [{"minLength": 9}]})), @"it: string~");
    assert_snapshot!(of(json!({"allOf": [{"$ref": "#/$defs/Text"}], "minLength": 9})), @"it: string~");
    assert_snapshot!(of(json!({"allOf": [{"$ref": "#/$defs/Pair"}, {"required": ["b"]}]})), @"it: {b: string, a?: string}");
    assert_snapshot!(of(json!({"allOf": [described]})), @"it: any");
}

#[test]
fn what_is_asked_for_beside_a_reference_is_marked() {
    assert_snapshot!(of(json!({"$ref": "#/$defs/Text", "minLength": 10})), @"it: string~");
    assert_snapshot!(of(json!({"$ref": "#/$defs/Pair", "required": ["b"]})), @"it: {a?: string, b?: string}~");
    assert_snapshot!(of(json!({"$ref": "#/$defs/Text", "description": "A text.", "default": "x"})), @"it: string");
}

#[test]
fn what_is_not_named_is_what_the_rest_is() {
    assert_snapshot!(of(json!({"type": "object", "required": ["k"], "additionalProperties": {"type": "integer"}})), @"it: {k: int}");
    assert_snapshot!(of(json!({"type": "array", "prefixItems": [{"type": "string"}], "minItems": 3})), @"it: [string]~");
    assert_snapshot!(of(json!({"type": "string", "anyOf": [{"enum": ["x", "y"]}, {"pattern": "^z"}]})), @r#"it: "x"|"y"|string~"#);
    assert_snapshot!(of(json!({"minLength": 9, "anyOf": [{"type": "string"}, {"type": "integer"}]})), @"it: string|int~");
    assert_snapshot!(of(json!({"pattern": "^z"})), @"it: any~");
}

#[test]
fn different_numbers_have_an_end() {
    let most = json!({"type": "array", "items": {"const": i64::MAX}, "uniqueItems": true, "minItems": 2});
    let made = example(&entry(json!({"type": "object", "properties": {"all": most}, "required": ["all"]})));
    assert_eq!(made["all"], json!([i64::MAX, i64::MAX]));
}
