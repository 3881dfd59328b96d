//! A schema in fewer tokens: without its prose, or in letters alone.
//!
//! What a reader would get wrong: `description` is left out where it is a keyword, not where it is the name of a
//! parameter. One that takes a description keeps it.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::schema::{Room, resolve};

const PROSE: [&str; 4] = ["description", "examples", "example", "$schema"];
/// Keywords below which members are names.
const NAMING: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Keywords below which everything is a value.
const VALUES: [&str; 3] = ["default", "const", "enum"];
const DEEPEST: usize = 64;

const SHORT: usize = 60;
/// Bytes of values in a schema of letters.
const LARGEST_MICRO: usize = 1024 * 1024;

/// A schema without descriptions and examples.
pub fn compact_schema(schema: &Value) -> Value {
    without_prose(schema, 0)
}

fn without_prose(schema: &Value, depth: usize) -> Value {
    if depth > DEEPEST {
        return schema.clone();
    }
    match schema {
        Value::Object(members) => {
            let kept = members.iter().filter(|(key, _)| !PROSE.contains(&key.as_str()));
            kept.map(|(key, value)| (key.clone(), member(key, value, depth))).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(|item| without_prose(item, depth + 1)).collect(),
        other => other.clone(),
    }
}

fn member(key: &str, value: &Value, depth: usize) -> Value {
    match value {
        value if VALUES.contains(&key) => value.clone(),
        Value::Object(named) if NAMING.contains(&key) => named
            .iter()
            .map(|(name, schema)| (name.clone(), without_prose(schema, depth + 1)))
            .collect::<Map<_, _>>()
            .into(),
        value => without_prose(value, depth + 1),
    }
}

/// Each parameter in a few letters: `t` its type, `r` required, `e` its values, `i` what a list holds, `d` its default.
/// A schema that is no object with properties stays as it is.
pub fn micro_schema(schema: &Value) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    let (Some("object"), Some(properties)) = (schema.get("type").and_then(Value::as_str), properties) else {
        return schema.clone();
    };
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let room = Room::of(LARGEST_MICRO);
    let required: HashSet<&str> = required.into_iter().collect();
    let micro = |(name, property): (&String, &Value)| {
        (name.clone(), parameter(schema, resolve(schema, property), required.contains(name.as_str()), &room))
    };
    json!({"p": properties.iter().map(micro).collect::<Map<_, _>>()})
}

fn parameter(root: &Value, property: &Value, required: bool, room: &Room) -> Value {
    let mut micro = Map::new();
    let mut set = |key: &str, value: Option<Value>| value.and_then(|value| micro.insert(key.to_owned(), value));
    set("t", abbreviated(property));
    set("r", required.then(|| json!(1)));
    set("e", property.get("enum").and_then(|values| room.copy(values)));
    let items = property.get("items").filter(|_| property.get("type") == Some(&json!("array")));
    set("i", items.and_then(|items| abbreviated(resolve(root, items))));
    set("d", property.get("default").and_then(|value| room.copy(value)));
    micro.into()
}

fn abbreviated(schema: &Value) -> Option<Value> {
    let named = schema.get("type")?;
    let letter = match named.as_str() {
        Some("string") => "s",
        Some("number") => "n",
        Some("integer") => "i",
        Some("boolean") => "b",
        Some("array") => "a",
        Some("object") => "o",
        Some("null") => "x",
        _ => return Some(named.clone()),
    };
    Some(json!(letter))
}

/// At most sixty characters of a description: all of it, its first sentence, or its beginning.
pub fn short_description(description: &str, name: &str) -> String {
    let text = if description.is_empty() { name } else { description };
    if text.chars().count() <= SHORT {
        return text.to_owned();
    }
    match text.split(['.', '!', '?']).next() {
        Some(first) if !first.is_empty() && first.chars().count() <= SHORT => first.to_owned(),
        _ => text.chars().take(SHORT - 3).chain("...".chars()).collect(),
    }
}
