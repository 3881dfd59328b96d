//! Bodies of requests, held against the document that describes them: what `/openapi.json` says of a member is what is taken.
//! Models, who mean well and write numbers as text, speak MCP, where they are understood.
//!
//! What a reader would get wrong: only members that are there are looked at. What is missing or says nothing is for whoever
//! answers, who knows what would help.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use toolfold_core::{Code, Fuel, Refusal};
use toolfold_schema::Schema;
use toolfold_wire::{Object, Raw};

use super::rest::OPENAPI;

/// Bytes of a member that is read; of what is larger the kind alone is.
const LARGEST: usize = 16 * 1024;
const WORK: u64 = 200_000;
const MOST_PROBLEMS: usize = 5;

/// By the last part of the path.
static SCHEMAS: LazyLock<HashMap<String, Schema>> = LazyLock::new(|| {
    let document: Value = serde_json::from_str(OPENAPI).unwrap_or_default();
    let paths = document["paths"].as_object().into_iter().flatten();
    let described = paths.filter_map(|(path, methods)| {
        let body = methods["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str()?;
        let schema = lenient(document.pointer(body.strip_prefix('#')?)?);
        Some((path.strip_prefix("/v1/")?.to_owned(), Schema::prepare(schema, &Fuel::new(WORK)).ok()?))
    });
    described.collect()
});

/// A schema without what is asked of members that are missing or empty.
fn lenient(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(members) = schema.as_object_mut() {
        members.remove("required");
    }
    for property in schema["properties"].as_object_mut().into_iter().flat_map(Map::values_mut) {
        property.as_object_mut().and_then(|members| members.remove("pattern"));
    }
    schema
}

pub(super) fn check(endpoint: &str, body: &Raw) -> Result<(), Refusal> {
    let Some(schema) = SCHEMAS.get(endpoint) else { return Ok(()) };
    let Some(object) = Object::parse(body) else { return Ok(()) };
    let value: Map<String, Value> = object.iter().map(|(key, value)| (key.to_owned(), read(value))).collect();
    let value = Value::Object(value);
    let Ok(problems) = schema.problems(&value, MOST_PROBLEMS, &Fuel::new(WORK)) else { return Ok(()) };
    if problems.is_empty() {
        return Ok(());
    }
    let message = format!("The body is not what /openapi.json describes for {endpoint}. Correct what the hints say.");
    let hints = problems.iter().map(|problem| format!("{}: {}", problem.at, problem.text("it")));
    Err(Refusal::new(Code::InvalidRequest, message).hints(hints))
}

fn read(member: &Raw) -> Value {
    let text = member.get();
    match text.as_bytes().first() {
        _ if text.len() <= LARGEST => serde_json::from_str(text).unwrap_or_default(),
        Some(b'{') => json!({}),
        Some(b'[') => json!([]),
        Some(b'"') => json!("…"),
        _ => serde_json::from_str(text).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use toolfold_wire::raw;

    use super::*;

    #[test]
    fn every_body_that_is_described_is_looked_at() {
        let document: Value = serde_json::from_str(OPENAPI).unwrap();
        let paths = document["paths"].as_object().unwrap();
        let with_body = paths.values().filter(|methods| methods["post"]["requestBody"].is_object());
        assert_eq!(SCHEMAS.len(), with_body.count());
    }

    #[test]
    fn members_are_what_they_are_said_to_be() {
        let problem =
            |endpoint: &str, body: Value| check(endpoint, &raw(&body)).err().map(|wrong| wrong.hints.join(" "));
        for right in
            [json!({}), json!({"limit": null, "path": null}), json!({"limit": 0, "other": [1]}), json!({"query": ""})]
        {
            assert_eq!(problem("list", right), None);
        }
        assert_eq!(problem("list", json!({"limit": "5"})).unwrap(), "/limit: it is not of types \"integer\", \"null\"");
        assert!(problem("list", json!({"limit": -1, "path": "Data"})).unwrap().contains("/path"));
        assert!(problem("expand_tool", json!({"tool_id": ["a.b"]})).is_some());
        let large = "x".repeat(2 * LARGEST);
        assert_eq!(problem("call_tool", json!({"tool_id": "a.b", "arguments": {"text": large}})), None);
        assert!(problem("call_tool", json!({"tool_id": "a.b", "arguments": [large]})).is_some());
    }
}
