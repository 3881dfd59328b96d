//! Values of plain types: what a schema proposes itself, or the simplest that fits.

use serde_json::{Value, json};

use super::pattern::matching;
use crate::schema::{is_within, types};

/// Bytes of a value that a schema proposes.
const LARGEST_GIVEN: usize = 16 * 1024;
const MOST_LETTERS: u64 = 200;
/// A value of which nothing is known.
pub(super) const UNKNOWN: &str = "…";

/// The least of a type, where it is too deep to look any further.
pub(super) fn shallow(schema: &Value) -> Value {
    match types(schema).first() {
        Some(&"object") => json!({}),
        Some(&"array") => json!([]),
        Some(&"integer") => number(schema, true),
        Some(&"number") => number(schema, false),
        Some(&"boolean") => json!(true),
        Some(&"string") => string(schema),
        _ => Value::Null,
    }
}

/// What the schema itself proposes, where it is of the right type.
pub(super) fn given(schema: &Value) -> Option<Value> {
    // What is large is no example.
    let short = |value: &&Value| is_within(value, LARGEST_GIVEN);
    if let Some(constant) = schema.get("const") {
        return Some(Some(constant).filter(short).cloned().unwrap_or_else(|| json!(UNKNOWN)));
    }
    let values =
        |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten().find(|value| !value.is_null());
    if let Some(first) = values("enum") {
        let default =
            schema.get("default").filter(|default| schema["enum"].as_array().is_some_and(|all| all.contains(default)));
        return Some(
            default.filter(short).or_else(|| Some(first).filter(short)).cloned().unwrap_or_else(|| json!(UNKNOWN)),
        );
    }
    let proposals = values("examples").into_iter().chain(schema.get("example")).chain(schema.get("default"));
    proposals.filter(|value| has_type(schema, value) && is_small(value)).find(|value| fits(schema, value)).cloned()
}

fn has_type(schema: &Value, value: &Value) -> bool {
    let types = types(schema);
    let name = match value {
        Value::Null => return false,
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        // What is inside would have to be checked as well.
        Value::Array(items) if items.iter().any(|item| !item.is_string()) => return false,
        Value::Array(_) => "array",
        Value::Object(_) => return false,
    };
    types.contains(&name) || (name == "integer" && types.contains(&"number"))
}

pub(super) fn is_small(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= 60 && !text.is_empty(),
        Value::Array(items) => items.len() <= 3 && items.iter().all(is_small),
        _ => true,
    }
}

/// Bounds a proposal could break; patterns are left to the server, who proposed it.
pub(super) fn fits(schema: &Value, value: &Value) -> bool {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let size = match value {
        Value::Number(number) => number.as_f64().unwrap_or_default(),
        Value::String(text) => text.chars().count() as f64,
        Value::Array(items) => items.len() as f64,
        _ => return true,
    };
    let (low, high) = match value {
        Value::Number(_) => (bound("minimum"), bound("maximum")),
        Value::String(_) => (bound("minLength"), bound("maxLength")),
        _ => (bound("minItems"), bound("maxItems")),
    };
    low.is_none_or(|low| size >= low) && high.is_none_or(|high| size <= high)
}

pub(super) fn number(schema: &Value, whole: bool) -> Value {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let above = bound("exclusiveMinimum").map(|low| if whole { low.floor() + 1.0 } else { low + 0.5 });
    let below = bound("exclusiveMaximum").map(|high| if whole { high.ceil() - 1.0 } else { high - 0.5 });
    let low = [bound("minimum"), above].into_iter().flatten().fold(f64::NEG_INFINITY, f64::max);
    let high = [bound("maximum"), below].into_iter().flatten().fold(f64::INFINITY, f64::min);
    let mut number = 1f64.max(low).min(high);
    if whole {
        number = if number < low { number.ceil() } else { number.floor().max(low.ceil()) };
    }
    if let Some(step) = bound("multipleOf").filter(|step| *step > 0.0) {
        number = (number / step).ceil() * step;
    }
    if number.fract() == 0.0 && number.abs() < 9e15 { json!(number as i64) } else { json!(number) }
}

pub(super) fn string(schema: &Value) -> Value {
    let length = |key: &str| schema.get(key).and_then(Value::as_u64);
    let from_pattern = schema.get("pattern").and_then(Value::as_str).and_then(matching);
    let text = from_pattern.or_else(|| formatted(schema).map(str::to_owned)).unwrap_or_else(|| UNKNOWN.to_owned());
    let (least, most) = (length("minLength").unwrap_or(0).min(MOST_LETTERS) as usize, length("maxLength"));
    let missing = least.saturating_sub(text.chars().count());
    let last = text.chars().next_back().unwrap_or('a');
    let text: String =
        text.chars().chain(std::iter::repeat_n(last, missing)).take(most.unwrap_or(u64::MAX) as usize).collect();
    json!(text)
}

fn formatted(schema: &Value) -> Option<&'static str> {
    Some(match schema.get("format")?.as_str()? {
        "date-time" => "2026-01-31T09:00:00Z",
        "date" => "2026-01-31",
        "time" => "09:00:00Z",
        "duration" => "P1D",
        "email" | "idn-email" => "someone@example.org",
        "uri" | "url" | "iri" | "uri-reference" => "https://example.org",
        "uuid" => "00000000-0000-4000-8000-000000000000",
        "hostname" => "example.org",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "regex" => ".*",
        "json-pointer" => "/a",
        _ => return None,
    })
}
