//! Documents that want to hurt.

use serde_json::{Map, Value, json};
use toolfold_openapi::{Document, Wishes, api};

use crate::kit::{document, read, tools_of};

fn refused(text: &str) -> String {
    Document::read(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn what_is_no_document_says_so() {
    let lines = [
        refused("{\"openapi\": \"3.0.0\","),
        refused("{}"),
        refused("openapi: [3"),
        refused("just words"),
        refused(r#"{"swagger": "2.0", "paths": {"/a": {}}}"#),
        refused(r#"{"openapi": "4.0", "paths": {"/a": {}}}"#),
        refused(r#"{"openapi": "3.1.0", "paths": {}}"#),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r"
    it is not JSON: EOF while parsing a value at line 1 column 20
    it is not an OpenAPI document: it has no `openapi`
    it is not YAML: unclosed bracket '[' at line 1, column 10
    it is neither JSON nor YAML in UTF-8
    it is Swagger 2.0, and OpenAPI 3 is wanted: convert it once, with swagger2openapi for example
    it is OpenAPI 4.0, and 3.0 or 3.1 is wanted
    it describes no paths
    ");
    assert!(Document::read(&[0xff, 0xfe]).is_err());
}

#[test]
fn yaml_is_read_with_its_odd_keys() {
    let text = "openapi: 3.1.0\ninfo: {title: T, version: 1.10}\nservers:\n  - url: https://h.example\npaths:\n  /a:\n    get:\n      operationId: a\n      parameters:\n        - {name: on, in: query, schema: {type: string, enum: [on, off, no]}}\n      responses:\n        200:\n          description: fine\n";
    let tools = api(&Document::read(text.as_bytes()).unwrap(), &Wishes::default()).tools;
    assert_eq!(tools[0].definition["inputSchema"]["properties"]["on"]["enum"], json!(["on", "off", "no"]));
}

#[test]
fn nesting_and_aliases_without_end_are_refused() {
    let deep = format!("{{\"openapi\":\"3.0.0\",\"paths\":{}{}}}", "{\"/a\":".repeat(100_000), "}".repeat(100_000));
    assert!(refused(&deep).contains("recursion"), "{}", refused(&deep));
    let deep = format!("openapi: 3.0.0\npaths: {}", "[".repeat(100_000));
    assert!(refused(&deep).contains("not YAML"));
    let mut bomb = "openapi: 3.0.0\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..12 {
        let line: Vec<String> = (0..10).map(|_| format!("*a{}", n - 1)).collect();
        bomb.push_str(&format!("a{n}: &a{n} [{}]\n", line.join(", ")));
    }
    bomb.push_str("paths: {/a: *a11}\n");
    assert!(refused(&bomb).contains("not YAML"), "a hundred billion words");
}

#[test]
fn a_document_has_40_megabytes() {
    let of = |length: usize| {
        let text = r#"{"openapi":"3.0.0","paths":{"/a":{}}}"#;
        format!("{text}{}", " ".repeat(length - text.len()))
    };
    assert!(Document::read(of(40 * 1024 * 1024).as_bytes()).is_ok());
    assert_eq!(refused(&of(40 * 1024 * 1024 + 1)), "it is larger than 40 MB");
}

/// Every schema refers to every other: whole, it would be a hundred million schemas.
#[test]
fn schemas_that_all_refer_to_each_other_have_a_bound() {
    let name = |n: usize| format!("S{n}");
    let schema = |_| {
        let all =
            (0..200).map(|n| (name(n), json!({"$ref": format!("#/components/schemas/S{n}")}))).collect::<Map<_, _>>();
        json!({"type": "object", "properties": all, "description": "x".repeat(200)})
    };
    let schemas: Map<String, Value> = (0..200).map(|n| (name(n), schema(n))).collect();
    let content = json!({"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}});
    let operation =
        json!({"requestBody": {"required": true, "content": content}, "responses": {"200": {"content": content}}});
    let paths: Map<String, Value> = (0..60).map(|n| (format!("/p{n}"), json!({"post": operation}))).collect();
    let api = tools_of(&document(paths.into(), schemas.into()));
    assert_eq!(api.tools.len(), 60);
    let size: usize = api.tools.iter().map(|tool| tool.definition.to_string().len()).sum();
    assert!(size < 64 << 20, "{size}");
    let largest = api.tools.iter().map(|tool| tool.definition.to_string().len()).max().unwrap();
    assert!(largest < 256 << 10, "{largest}");
}

#[test]
fn what_is_cut_takes_anything() {
    let long = "x".repeat(3_000);
    let properties: Map<String, Value> =
        (0..100).map(|n| (format!("p{n}"), json!({"type": "string", "description": long}))).collect();
    let schema = json!({"type": "object", "additionalProperties": false, "properties": properties});
    let operation =
        json!({"requestBody": {"required": true, "content": {"application/json": {"schema": {"oneOf": [schema]}}}}});
    let api = tools_of(&document(json!({"/x": {"post": operation}}), json!({})));
    let input = &api.tools[0].definition["inputSchema"];
    assert!(input.to_string().len() < 100_000);
    assert!(!input.to_string().contains("\"additionalProperties\":false"), "a property that was cut is still one");
}

/// Members of every wrong type: nothing of it is a reason to fall.
#[test]
fn odd_members_cost_nothing() {
    let odd = [
        json!(null),
        json!(1),
        json!("x"),
        json!([]),
        json!([1]),
        json!({}),
        json!({"$ref": 1}),
        json!({"$ref": "#/x"}),
    ];
    for one in &odd {
        for key in ["parameters", "requestBody", "responses", "security", "tags", "servers", "summary", "operationId"] {
            let paths = json!({"/a/{id}": {"get": {key: one}, "parameters": one}, "/b": one});
            let _ = tools_of(&document(paths, json!({})));
        }
        for key in [
            "type",
            "properties",
            "required",
            "enum",
            "items",
            "allOf",
            "nullable",
            "format",
            "minimum",
            "example",
            "additionalProperties",
        ] {
            let schema = json!({"type": "object", key: one});
            let content = json!({"application/json": {"schema": schema}});
            let operation = json!({"parameters": [{"name": "q", "in": "query", "schema": schema}],
                "requestBody": {"content": content}, "responses": {"200": {"content": content}}});
            let api = tools_of(&document(json!({"/a": {"post": operation}}), json!({})));
            assert_eq!(api.tools.len(), 1, "{key}: {one}");
        }
    }
    let mut document = document(json!({"/a": {"get": {}}}), json!({}));
    document["components"] = json!(7);
    document["info"] = json!([]);
    assert_eq!(api(&read(&document), &Wishes::default()).tools.len(), 1);
}
