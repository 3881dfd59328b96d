//! A value that fits a schema, as small as it can be: what is required, and a few that are not.

use serde_json::{Map, Value, json};

const DEEPEST: usize = 8;

/// Arguments for a tool with this input; every `n` picks other optional ones.
pub(crate) fn arguments(input: &Value, n: usize) -> Value {
    let mut given = Map::new();
    let properties = input["properties"].as_object();
    let required: Vec<&str> = input["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (at, (name, schema)) in properties.into_iter().flatten().enumerate() {
        let simple = ["string", "integer", "boolean"].iter().any(|kind| schema["type"] == *kind);
        if required.contains(&name.as_str()) || (simple && (at + n).is_multiple_of(3)) {
            given.insert(name.clone(), value(schema, input, 0));
        }
    }
    given.into()
}

fn value(schema: &Value, root: &Value, depth: usize) -> Value {
    if let Some(name) = schema["$ref"].as_str().and_then(|text| text.strip_prefix("#/$defs/")) {
        return if depth > DEEPEST { json!({}) } else { value(&root["$defs"][name], root, depth + 1) };
    }
    for key in ["const", "default"] {
        if let Some(known) = schema.get(key).filter(|known| !known.is_null()) {
            return known.clone();
        }
    }
    if let Some(known) = schema["enum"].as_array().and_then(|all| all.iter().find(|one| !one.is_null())) {
        return known.clone();
    }
    if let Some(known) = schema["examples"].as_array().and_then(|all| all.first()) {
        return known.clone();
    }
    if let Some(first) = schema["anyOf"].as_array().and_then(|all| all.iter().find(|one| one["type"] != "null")) {
        return value(first, root, depth + 1);
    }
    if let Some(all) = schema["allOf"].as_array().filter(|_| depth <= DEEPEST) {
        let mut whole = Map::new();
        for one in all.iter().map(|one| value(one, root, depth + 1)) {
            match one {
                Value::Object(members) => whole.extend(members),
                other => return other,
            }
        }
        return whole.into();
    }
    typed(schema, root, depth)
}

fn typed(schema: &Value, root: &Value, depth: usize) -> Value {
    let kind = match &schema["type"] {
        Value::Array(all) => {
            all.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null").to_owned()
        }
        one => one.as_str().unwrap_or("object").to_owned(),
    };
    let least = |key: &str| schema[key].as_u64().unwrap_or(0) as usize;
    match kind.as_str() {
        "string" => json!(text(schema, least("minLength"))),
        "integer" | "number" => {
            let exclusive = schema["exclusiveMinimum"].as_i64().map(|least| least + 1);
            json!(exclusive.or(schema["minimum"].as_f64().map(|least| least.ceil() as i64)).unwrap_or(1).max(1))
        }
        "boolean" => json!(true),
        "array" if depth <= DEEPEST => {
            let one = value(&schema["items"], root, depth + 1);
            json!(vec![one; least("minItems").clamp(1, 20)])
        }
        "array" => json!([]),
        "null" => Value::Null,
        _ => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let members = required.map(|name| (name.to_owned(), value(&schema["properties"][name], root, depth + 1)));
            if depth > DEEPEST { json!({}) } else { Value::Object(members.collect()) }
        }
    }
}

fn text(schema: &Value, least: usize) -> String {
    let known = match schema["format"].as_str().unwrap_or_default() {
        "date-time" => "2026-01-02T03:04:05Z",
        "date" => "2026-01-02",
        "uuid" => "123e4567-e89b-42d3-a456-426614174000",
        "email" => "me@example.com",
        "uri" | "url" => "https://example.com/",
        "ipv4" => "192.0.2.1",
        "hostname" => "example.com",
        _ if schema["contentEncoding"] == "base64" => "AAEC",
        _ => "abc",
    };
    let text = known.repeat(least.div_ceil(known.len()).max(1));
    let most = schema["maxLength"].as_u64().unwrap_or(u64::MAX) as usize;
    text.chars().take(most.max(1)).collect()
}
