//! Documents and what comes of them, for every test.

use serde_json::{Map, Value, json};
use toolfold_openapi::{Api, ApiTool, Base, Document, Prepared, Wishes, api};

/// A document of these paths and schemas, at an address.
pub(crate) fn document(paths: Value, schemas: Value) -> Value {
    json!({
        "openapi": "3.0.3",
        "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": "https://api.example/v1"}],
        "paths": paths,
        "components": {"schemas": schemas},
    })
}

pub(crate) fn read(document: &Value) -> Document {
    Document::read(document.to_string().as_bytes()).unwrap()
}

pub(crate) fn tools_of(document: &Value) -> Api {
    api(&read(document), &Wishes::default())
}

/// The only tool of a document with this operation.
pub(crate) fn tool(method: &str, path: &str, operation: Value) -> ApiTool {
    tool_with(method, path, operation, json!({}))
}

pub(crate) fn tool_with(method: &str, path: &str, operation: Value, schemas: Value) -> ApiTool {
    let api = tools_of(&document(json!({ path: { method: operation } }), schemas));
    assert_eq!(api.left_out, []);
    api.tools.into_iter().next().unwrap()
}

pub(crate) fn arguments(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

pub(crate) fn request(tool: &ApiTool, given: Value) -> Prepared {
    tool.plan.prepare(&arguments(given)).unwrap()
}

pub(crate) fn refused(tool: &ApiTool, given: Value) -> String {
    tool.plan.prepare(&arguments(given)).unwrap_err().to_string()
}

pub(crate) fn body(request: &Prepared) -> &str {
    std::str::from_utf8(&request.body).unwrap()
}

pub(crate) fn at(base_url: &str) -> Wishes {
    Wishes { base: Some(Base::configured(base_url).unwrap()), ..Wishes::default() }
}

/// A parameter of text, and what else is said of it.
pub(crate) fn parameter(name: &str, place: &str, more: Value) -> Value {
    let mut one = json!({"name": name, "in": place, "schema": {"type": "string"}});
    for (key, value) in more.as_object().unwrap() {
        one[key] = value.clone();
    }
    one
}
