//! Whatever a document holds, reading it ends; what comes of it are tools that can be listed and asked.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolfold_openapi::{Document, api};

use crate::kit::{at, document};

/// JSON of which the members are those of operations, parameters and schemas.
fn value() -> impl Strategy<Value = Value> {
    let words = [
        "string",
        "object",
        "array",
        "integer",
        "null",
        "query",
        "path",
        "header",
        "cookie",
        "body",
        "form",
        "deepObject",
        "matrix",
        "label",
        "simple",
        "application/json",
        "multipart/form-data",
        "text/plain",
        "#/components/schemas/A",
        "#/components/schemas/B",
        "#/paths",
        "#",
        "other.json#/x",
        "{id}",
        "binary",
        "",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        prop::sample::select(words.to_vec()).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from), object(inner)]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let names = [
        "$ref",
        "type",
        "name",
        "in",
        "schema",
        "content",
        "style",
        "explode",
        "required",
        "parameters",
        "requestBody",
        "responses",
        "200",
        "default",
        "properties",
        "items",
        "allOf",
        "oneOf",
        "anyOf",
        "nullable",
        "enum",
        "operationId",
        "summary",
        "description",
        "tags",
        "application/json",
        "text/plain",
        "servers",
        "url",
        "a",
        "b",
        "id",
        "readOnly",
        "additionalProperties",
        "deprecated",
        "get",
        "post",
    ];
    let name = prop::sample::select(names.to_vec()).prop_map(str::to_owned);
    prop::collection::btree_map(name, inner, 0..6).prop_map(|map| Value::Object(map.into_iter().collect()))
}

proptest! {
    #[test]
    fn any_bytes(bytes in any::<Vec<u8>>(), text in any::<String>()) {
        let _ = (Document::read(&bytes), Document::read(text.as_bytes()));
        let _ = Document::read(format!("openapi: 3.0.0\npaths:\n  /a: {text}").as_bytes());
    }

    #[test]
    fn any_operation(item in object(value()), a in value(), b in value(), given in object(value())) {
        let written = document(json!({"/x/{id}": item.clone(), "/y": {"get": item, "post": a.clone()}}), json!({"A": a, "B": b}));
        let api = api(&Document::read(written.to_string().as_bytes()).unwrap(), &at("https://api.example/v1"));
        let mut names: Vec<&str> = api.tools.iter().map(|tool| tool.name.as_str()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        prop_assert_eq!(names.len(), all, "each has a name of its own");
        for tool in &api.tools {
            prop_assert_eq!(&tool.definition["name"], &json!(tool.name));
            prop_assert!(tool.definition["inputSchema"]["type"] == json!("object"), "{}", tool.definition);
            for arguments in [Map::new(), given.as_object().cloned().unwrap()] {
                if let Ok(request) = tool.plan.prepare(&arguments) {
                    prop_assert!(request.url.starts_with("https://api.example/v1/"), "led elsewhere: {}", request.url);
                }
            }
        }
    }
}
