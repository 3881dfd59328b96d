//! Header values and the parameters that tools want repeated in headers.

use proptest::prelude::*;
use serde_json::json;
use toolfold_wire::{Object, decode_header, encode_header, name_of, parameter_headers, raw_of};

#[test]
fn plain_text_travels_as_it_is_and_the_rest_is_wrapped() {
    assert_eq!(encode_header("us-west 1"), "us-west 1");
    assert_eq!(encode_header("naïve"), "=?base64?bmHDr3Zl?=");
    assert_eq!(encode_header(" padded"), "=?base64?IHBhZGRlZA==?=");
    assert_eq!(encode_header("=?base64?eA==?="), "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
    assert_eq!(decode_header("=?base64?!?="), None);
}

#[test]
fn names_come_from_where_the_method_has_them() {
    let params = Object::parse(&raw_of(r#"{"name":"n","uri":"u","taskId":"t"}"#).unwrap()).unwrap();
    let name = |method| name_of(method, Some(&params));
    assert_eq!(name("tools/call").as_deref(), Some("n"));
    assert_eq!(name("resources/read").as_deref(), Some("u"));
    assert_eq!(name("tasks/get").as_deref(), Some("t"));
    assert_eq!(name("tools/list"), None);
}

#[test]
fn annotations_are_honoured_where_they_may_stand() {
    let schema = json!({"properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "filter": {"type": "object", "properties": {"deep": {"type": "integer", "x-mcp-header": "Deep"}}},
        "plain": {"type": "string", "default": {"x-mcp-header": "not an annotation"}},
    }});
    let found = parameter_headers(&schema).unwrap();
    let values: Vec<_> = found
        .iter()
        .map(|header| {
            (header.header.as_str(), header.value(&Object::of(&json!({"region": "eu", "filter": {"deep": 3}}))))
        })
        .collect();
    assert_eq!(values, [("mcp-param-region", Some("eu".into())), ("mcp-param-deep", Some("3".into()))]);
    assert_eq!(found[0].value(&Object::of(&json!({"region": null}))), None);
    assert_eq!(found[0].value(&Object::of(&json!({"region": ["eu"]}))), None);
    assert_eq!(found[1].value(&Object::of(&json!({"filter": "deep"}))), None);
}

#[test]
fn annotations_elsewhere_are_refused_with_a_reason() {
    let refused = |schema: serde_json::Value| parameter_headers(&schema).unwrap_err().to_string();
    let property = |annotation: serde_json::Value, kind: &str| json!({"properties": {"p": {"type": kind, "x-mcp-header": annotation}}});
    assert!(refused(json!({"x-mcp-header": "A"})).contains("schema itself"));
    assert!(refused(property(json!(""), "string")).contains("not a header name"));
    assert!(refused(property(json!("a b"), "string")).contains("not a header name"));
    assert!(refused(property(json!(7), "string")).contains("not a header name"));
    assert!(refused(property(json!("A"), "number")).contains("string, integer or boolean"));
    assert!(
        refused(json!({"properties": {"p": {"items": {"type": "string", "x-mcp-header": "A"}}}}))
            .contains("properties alone")
    );
    assert!(refused(json!({"$defs": {"p": {"type": "string", "x-mcp-header": "A"}}})).contains("properties alone"));
    let twice = json!({"properties": {
        "a": {"type": "string", "x-mcp-header": "X"},
        "b": {"type": "string", "x-mcp-header": "x"},
    }});
    assert!(refused(twice).contains("two properties"));
}

proptest! {
    #[test]
    fn any_text_survives_as_a_header(text in ".*") {
        let encoded = encode_header(&text);
        prop_assert!(encoded.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        let back = decode_header(&encoded);
        prop_assert_eq!(back.as_deref(), Some(text.as_str()));
    }
}
