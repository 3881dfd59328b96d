//! What is let through, what is repaired, and how a refusal teaches.

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolfold_core::{Entry, Surface};
use toolfold_disclosure::{Checker, fitted};
use toolfold_wire::raw_of;

use crate::fixture::entry;

/// What would be sent, or the refusal.
fn check(entry: &Entry, arguments: &str) -> String {
    let arguments = (!arguments.is_empty()).then(|| raw_of(arguments).unwrap());
    match Checker::new().check(entry, arguments) {
        Ok(sent) => sent.unwrap().get().to_owned(),
        Err(refusal) => serde_json::to_string_pretty(&fitted(Surface::Compact, refusal).to_json()).unwrap(),
    }
}

fn strict() -> Entry {
    entry(json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "owner": {"type": "string"},
            "count": {"type": "integer", "minimum": 1},
            "options": {"type": "object", "properties": {"deep": {"type": "boolean"}}},
            "tags": {"type": "array", "items": {"type": "string"}},
            "free": {},
        },
        "required": ["owner"],
        "additionalProperties": false,
    }))
}

#[test]
fn valid_arguments_keep_every_byte() {
    let given = r#"{ "owner" : "é",  "count": 1e0, "free": 10000000000000000000000000.50 }"#;
    assert_eq!(check(&strict(), given), given);
    assert_eq!(check(&entry(json!({"type": "object"})), ""), "{}");
    assert_eq!(check(&entry(json!({"type": "object"})), "null"), "{}");
}

#[test]
fn json_in_a_string_is_read() {
    assert_eq!(check(&strict(), r#""{\"owner\": \"o\"}""#), r#"{"owner": "o"}"#);
    let given = r#"{"owner":"{\"a\":1}","options":"{\"deep\": true}","tags":"[\"a\"]"}"#;
    assert_eq!(check(&strict(), given), r#"{"owner":"{\"a\":1}","options":{"deep": true},"tags":["a"]}"#);
    // A string is what was asked for, and stays one.
    let text = entry(json!({"type": "object", "properties": {"a": {"type": ["string", "object"]}}}));
    assert_eq!(check(&text, r#"{"a":"{}"}"#), r#"{"a":"{}"}"#);
}

#[test]
fn null_for_an_optional_parameter_is_not_giving_it() {
    assert_eq!(check(&strict(), r#"{"owner":"o","count":null,"free":null}"#), r#"{"owner":"o","free":null}"#);
    assert!(check(&strict(), r#"{"owner":null}"#).contains("INVALID_ARGUMENTS"), "a required one must be given");
    let nullable = entry(json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}}));
    assert_eq!(check(&nullable, r#"{"a":null}"#), r#"{"a":null}"#);
}

#[test]
fn a_refusal_says_what_where_and_how_it_should_be() {
    assert_snapshot!(check(&strict(), r#"{"ownr": "o", "count": 0, "options": {"deep": "yes"}}"#), @r#"
    {
      "error": {
        "code": "INVALID_ARGUMENTS",
        "message": "The arguments do not fit s.t. Correct what the hints say and call again.",
        "hints": [
          "/count: it is less than the minimum of 1",
          "/options/deep: it is not of type \"boolean\"",
          "/: \"ownr\" is not a parameter (did you mean \"owner\"?)",
          "/owner: is required and missing (is \"ownr\" meant to be it?)"
        ],
        "next_action": {
          "tool": "find_tools",
          "arguments": {
            "tool": "s.t",
            "detail": "full"
          }
        },
        "details": {
          "problems": [
            {
              "at": "/count",
              "problem": "it is less than the minimum of 1",
              "schema": {
                "type": "integer",
                "minimum": 1
              }
            },
            {
              "at": "/options/deep",
              "problem": "it is not of type \"boolean\"",
              "schema": {
                "type": "boolean"
              }
            },
            {
              "at": "/",
              "problem": "\"ownr\" is not a parameter (did you mean \"owner\"?)",
              "schema": {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "type": "object",
                "properties": {
                  "owner": {
                    "type": "string"
                  },
                  "count": {
                    "type": "integer",
                    "minimum": 1
                  },
                  "options": {
                    "type": "object",
                    "properties": {
                      "deep": {
                        "type": "boolean"
                      }
                    }
                  },
                  "tags": {
                    "type": "array",
                    "items": {
                      "type": "string"
                    }
                  },
                  "free": {}
                },
                "required": [
                  "owner"
                ],
                "additionalProperties": false
              }
            },
            {
              "at": "/owner",
              "problem": "is required and missing (is \"ownr\" meant to be it?)",
              "schema": {
                "type": "string"
              }
            }
          ]
        }
      }
    }
    "#);
    assert_snapshot!(check(&strict(), "[1]"), @r#"
    {
      "error": {
        "code": "INVALID_ARGUMENTS",
        "message": "The arguments do not fit s.t. Correct what the hints say and call again.",
        "hints": [
          "/: the arguments must be a JSON object"
        ],
        "next_action": {
          "tool": "find_tools",
          "arguments": {
            "tool": "s.t",
            "detail": "full"
          }
        },
        "details": {
          "problems": [
            {
              "at": "/",
              "problem": "the arguments must be a JSON object",
              "schema": {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "type": "object",
                "properties": {
                  "owner": {
                    "type": "string"
                  },
                  "count": {
                    "type": "integer",
                    "minimum": 1
                  },
                  "options": {
                    "type": "object",
                    "properties": {
                      "deep": {
                        "type": "boolean"
                      }
                    }
                  },
                  "tags": {
                    "type": "array",
                    "items": {
                      "type": "string"
                    }
                  },
                  "free": {}
                },
                "required": [
                  "owner"
                ],
                "additionalProperties": false
              }
            }
          ]
        }
      }
    }
    "#);
}

#[test]
fn a_schema_that_cannot_be_used_lets_the_call_through_and_is_reported_once() {
    let checker = Checker::new();
    for schema in [
        json!({"type": "object", "properties": {"a": {"type": "sting"}}}),
        json!({"type": "object", "properties": {"a": {"pattern": "("}}}),
        json!({"$ref": "https://example.org/schema.json"}),
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}}),
        doubling(),
        chain(5000),
    ] {
        let entry = entry(schema);
        for _ in 0..2 {
            let sent = checker.check(&entry, Some(raw_of(r#"{"a":1}"#).unwrap())).unwrap();
            assert_eq!(sent.unwrap().get(), r#"{"a":1}"#);
        }
    }
    let reasons: Vec<String> = checker.take_unusable().into_iter().map(|(_, why)| why).collect();
    assert_snapshot!(reasons.join("\n"), @r#"
    its schema cannot be used: "sting" is not valid under any of the schemas listed in the 'anyOf' keyword
    its schema cannot be used: "(" is not a "regex"
    its schema cannot be used: Resource 'https://example.org/schema.json' is not present in a registry and retrieving it failed: Retrieval is disabled, cannot fetch https://example.org/schema.json
    its schema refers to itself without end
    its schema refers to itself without end
    its schema repeats itself so often that a check would not end
    its schema is nested too deeply
    "#);
    assert!(checker.take_unusable().is_empty());
}

#[test]
fn hostile_schemas_end() {
    let recursive = entry(
        json!({"properties": {"a": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"$ref": "#"}]}}, "required": ["b"]}),
    );
    let deep = (0..100).fold("1".to_owned(), |inner, _| format!(r#"{{"a":{inner}}}"#));
    check(&recursive, &deep);
    let backtracking = entry(json!({"properties": {"a": {"pattern": "^(?=(a+)+$)(a+)+b$"}}}));
    check(&backtracking, &json!({"a": "a".repeat(5000)}).to_string());
    let huge = entry(json!({"properties": {"a": {"description": "x".repeat(2_000_000), "type": "string"}}}));
    assert_eq!(check(&huge, r#"{"a":1}"#), r#"{"a":1}"#);
}

/// Thirty definitions, each of which asks twice for the next.
fn doubling() -> Value {
    let mut definitions = serde_json::Map::new();
    for i in 0..30 {
        let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
        definitions.insert(format!("d{i}"), json!({"allOf": [next, next]}));
    }
    definitions.insert("d30".to_owned(), json!({"type": "object"}));
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}

fn chain(length: usize) -> Value {
    let mut definitions = serde_json::Map::new();
    for i in 0..length {
        definitions.insert(format!("d{i}"), json!({"$ref": format!("#/$defs/d{}", i + 1)}));
    }
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}
