//! A schema as a type in a few characters: `string[]`, `"open"|"closed"`, `{id: int, name?: string}`. What does not fit is
//! named by its coarse type and marked `~`.

use serde_json::Value;

use crate::schema::{choices, parameters, resolve, types};

/// What cannot be shown.
pub(super) const MARK: char = '~';
const LONGEST: usize = 72;
const MOST_CHOICES: usize = 4;
const MOST_VALUES: usize = 12;
const MOST_MEMBERS: usize = 6;
const DEEPEST: usize = 3;

pub(super) fn shape(root: &Value, schema: &Value) -> String {
    shape_at(root, schema, 0)
}

/// A parameter's name as a signature shows it: as it is where that is safe to read, quoted otherwise.
pub(super) fn shown_name(name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.$@".contains(c));
    if plain { name.to_owned() } else { Value::from(name).to_string() }
}

fn shape_at(root: &Value, schema: &Value, depth: usize) -> String {
    let schema = resolve(root, schema);
    match fine(root, schema, depth) {
        Some(text) if text.len() <= LONGEST => text,
        _ => format!("{}{MARK}", coarse(root, schema)),
    }
}

/// The whole truth, if it is short; `None` where it is not even tried.
fn fine(root: &Value, schema: &Value, depth: usize) -> Option<String> {
    if depth > DEEPEST {
        return None;
    }
    if let Some(value) = schema.get("const") {
        return Some(value.to_string());
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        let shown: Vec<String> =
            values.iter().filter(|value| !value.is_null()).take(MOST_VALUES + 1).map(Value::to_string).collect();
        return (!shown.is_empty() && shown.len() <= MOST_VALUES).then(|| shown.join("|"));
    }
    let choices = choices(schema);
    if !choices.is_empty() {
        return either(root, schema, &choices, depth);
    }
    if let Some(Value::Array(parts)) = schema.get("allOf") {
        return match parts.as_slice() {
            [only] if !schema.as_object()?.contains_key("properties") => Some(shape_at(root, only, depth + 1)),
            _ => object(root, schema, depth),
        };
    }
    let types = types(schema);
    match types.as_slice() {
        [] => Some(untyped(root, schema, depth)),
        [only] => typed(root, schema, only, depth),
        several => several
            .iter()
            .map(|name| typed(root, schema, name, depth))
            .collect::<Option<Vec<String>>>()
            .map(|shapes| shapes.join("|")),
    }
}

fn either(root: &Value, schema: &Value, choices: &[&Value], depth: usize) -> Option<String> {
    // An object whose alternatives only say what is required is that object, and not all of it can be shown.
    if schema.get("properties").is_some() || choices.len() > MOST_CHOICES {
        return None;
    }
    let mut shapes: Vec<String> = Vec::new();
    for choice in choices {
        let shape = shape_at(root, choice, depth + 1);
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    Some(shapes.join("|"))
}

fn untyped(root: &Value, schema: &Value, depth: usize) -> String {
    if schema.get("properties").is_some() {
        return object(root, schema, depth).unwrap_or_else(|| format!("object{MARK}"));
    }
    match schema.get("items") {
        Some(items) => list(shape_at(root, items, depth + 1)),
        // An empty schema takes anything, and so says all there is to say.
        None if schema.as_object().is_none_or(|members| !members.contains_key("$ref")) => "any".to_owned(),
        None => format!("any{MARK}"),
    }
}

fn typed(root: &Value, schema: &Value, name: &str, depth: usize) -> Option<String> {
    match name {
        "integer" => Some("int".to_owned()),
        "boolean" => Some("bool".to_owned()),
        "array" => Some(match schema.get("items") {
            Some(items) if items.is_object() => list(shape_at(root, items, depth + 1)),
            _ => "any[]".to_owned(),
        }),
        "object" => object(root, schema, depth),
        "string" | "number" | "null" => Some(name.to_owned()),
        _ => Some("any".to_owned()),
    }
}

fn list(item: String) -> String {
    if item.contains('|') && !item.starts_with('{') { format!("({item})[]") } else { format!("{item}[]") }
}

/// One level of members: an object in an object is only named.
fn object(root: &Value, schema: &Value, depth: usize) -> Option<String> {
    let members = parameters(root, schema);
    if members.list.is_empty() {
        return Some("object".to_owned());
    }
    if members.conditional || members.list.len() > MOST_MEMBERS || depth > 1 {
        return None;
    }
    let shown: Vec<String> = members
        .list
        .iter()
        .map(|member| {
            let optional = if member.required { "" } else { "?" };
            format!(
                "{}{optional}: {}",
                shown_name(member.name),
                shape_at(root, member.schema, DEEPEST.max(depth + 2) - 1)
            )
        })
        .collect();
    Some(format!("{{{}}}", shown.join(", ")))
}

fn coarse(root: &Value, schema: &Value) -> String {
    let name = |name: &str| match name {
        "integer" => "int".to_owned(),
        "boolean" => "bool".to_owned(),
        "array" => match schema.get("items").map(|items| resolve(root, items)).map(types).as_deref() {
            Some(["object"]) => "object[]".to_owned(),
            Some(["string"]) => "string[]".to_owned(),
            _ => "any[]".to_owned(),
        },
        "string" | "number" | "object" => name.to_owned(),
        _ => "any".to_owned(),
    };
    match types(schema).as_slice() {
        [only] => name(only),
        [] if schema.get("properties").is_some() => "object".to_owned(),
        [] => match schema.get("enum").and_then(|values| values.get(0)) {
            Some(Value::String(_)) => "string".to_owned(),
            Some(Value::Number(_)) => "number".to_owned(),
            _ => "any".to_owned(),
        },
        _ => "any".to_owned(),
    }
}
