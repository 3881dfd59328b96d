//! The HTTP API, from its description.

use serde_json::Value;
use toolfold_serve::OPENAPI;

const OPENING: &str = "\
# HTTP API

For programs that do not speak MCP: the same catalog over plain HTTP, served by `toolfold serve` beside `/mcp`. This page is made from
`/openapi.json`, which every instance serves too. Where a token is set, send it as `Authorization: Bearer …`. Bodies are
`application/json`. Refusals are described in [Errors](errors.md).
";

/// `None` where the description is not what it should be.
pub(super) fn page() -> Option<String> {
    let document: Value = serde_json::from_str(OPENAPI).ok()?;
    let mut text = OPENING.to_owned();
    for (path, operations) in document["paths"].as_object()? {
        for (method, operation) in operations.as_object()? {
            text.push_str(&section(&document, &method.to_uppercase(), path, operation));
        }
    }
    Some(text)
}

fn section(document: &Value, method: &str, path: &str, operation: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut text = format!("\n## `{method} {path}`\n\n{}.", word(&operation["summary"]));
    if let Some(more) = operation["description"].as_str() {
        text.push_str(&format!(" {more}"));
    }
    text.push('\n');
    let body = &operation["requestBody"]["content"]["application/json"];
    let rows = [in_query(document, operation), in_body(document, &body["schema"])].concat();
    if !rows.is_empty() {
        text.push_str(&format!("\n| parameter | | |\n|---|---|---|\n{}", rows.concat()));
    }
    if !body["example"].is_null() {
        text.push_str(&format!("\n```json\n{}\n```\n", body["example"]));
    }
    if let Some(answers) = operation["responses"].as_object() {
        text.push('\n');
        for (status, answer) in answers {
            text.push_str(&format!("- {status}: {}\n", word(&resolved(document, answer)["description"])));
        }
    }
    text
}

fn in_query(document: &Value, operation: &Value) -> Vec<String> {
    let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    let told = |parameter: &Value| {
        let name = parameter["name"].as_str().unwrap_or_default();
        let schema = resolved(document, &parameter["schema"]);
        let about = if parameter["description"].is_null() { schema } else { parameter };
        row(name, schema, about, parameter["required"] == true)
    };
    parameters.iter().map(told).collect()
}

fn in_body(document: &Value, schema: &Value) -> Vec<String> {
    let schema = resolved(document, schema);
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let members = schema["properties"].as_object().into_iter().flatten();
    members
        .map(|(name, of)| {
            let of = resolved(document, of);
            row(name, of, of, required.iter().any(|item| item == name))
        })
        .collect()
}

fn row(name: &str, schema: &Value, about: &Value, required: bool) -> String {
    let mut notes = vec![kind(schema)];
    notes.extend(required.then(|| "required".to_owned()));
    let default = &schema["default"];
    notes.extend((!default.is_null()).then(|| format!("{default} unless given")));
    format!("| `{name}` | {} | {} |\n", notes.join(", "), about["description"].as_str().unwrap_or_default())
}

/// The type of a value in one or two words.
pub(super) fn kind(schema: &Value) -> String {
    if let Some(values) = schema["enum"].as_array() {
        let words: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
        return words.join(" or ");
    }
    match &schema["type"] {
        Value::String(kind) => named(kind, schema),
        Value::Array(kinds) => {
            let kinds: Vec<String> = kinds.iter().filter_map(Value::as_str).map(|kind| named(kind, schema)).collect();
            kinds.join(" or ")
        }
        _ => "anything".to_owned(),
    }
}

fn named(kind: &str, schema: &Value) -> String {
    if kind == "array" { format!("list of {}", kind_of_items(&schema["items"])) } else { kind.to_owned() }
}

fn kind_of_items(items: &Value) -> String {
    let kind = kind(items);
    if kind == "anything" { kind } else { format!("{kind}s") }
}

/// What a `$ref` stands for, or the thing itself.
fn resolved<'v>(document: &'v Value, value: &'v Value) -> &'v Value {
    let pointer = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    pointer.and_then(|pointer| document.pointer(pointer)).unwrap_or(value)
}
