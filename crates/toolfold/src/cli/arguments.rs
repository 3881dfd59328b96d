//! Arguments as a person types them. `name=value` is text until the tool is known; then its schema says what the text
//! stands for. What cannot be read that way stays text, and the check of arguments says what is wrong with it.

use std::io::Read;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolfold_core::shown_line;

use super::Fail;

/// As typed: the whole, or each argument by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Given {
    Whole(Value),
    Pairs(Vec<(String, Typed)>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Typed {
    Text(String),
    Json(Value),
}

/// More than that is no argument that anybody wrote.
const LARGEST: u64 = 32 << 20;

impl Given {
    /// `-` is JSON on stdin, `@file` is JSON in a file, `{…}` is JSON; anything else is `name=value` or `name:=json`.
    pub(crate) fn read(typed: &[String]) -> Result<Given, Fail> {
        match typed {
            [only] if only == "-" => whole(&text_of(std::io::stdin().lock(), "stdin")?, "stdin"),
            [only] if only.starts_with('@') => {
                let path = &only[1..];
                let file = std::fs::File::open(path).map_err(|error| {
                    Fail::usage(format!("{path:?} cannot be read: {error}"))
                        .hint("@ is followed by a file with a JSON object")
                })?;
                whole(&text_of(file, path)?, path)
            }
            [only] if only.trim_start().starts_with('{') => whole(only, "the argument"),
            several => several.iter().map(|typed| pair(typed)).collect::<Result<_, _>>().map(Given::Pairs),
        }
    }

    /// How a list or an object is written, where one is wanted and something else was typed.
    pub(crate) fn hints(&self, schema: &Value) -> Vec<String> {
        let Given::Pairs(pairs) = self else { return Vec::new() };
        let hint = |(name, piece): &(String, Typed)| {
            let Typed::Text(text) = piece else { return None };
            let wanted = &schema["properties"][name];
            let mut kinds = Vec::new();
            kinds_of(wanted, schema, 0, &mut kinds);
            if !meant(text.clone(), wanted, schema).is_string() || kinds.contains(&"string") {
                return None;
            }
            let (what, example) = match kinds.iter().find(|kind| ["array", "object"].contains(kind))? {
                &"array" => ("a list", r#"["a", "b"]"#),
                _ => ("an object", r#"{"key": "value"}"#),
            };
            let name = shown_line(name);
            Some(format!("{what} is written as JSON: {name}='{example}'"))
        };
        pairs.iter().filter_map(hint).collect()
    }

    /// With this schema of the tool, if there is one.
    pub(crate) fn into_object(self, schema: &Value) -> Value {
        match self {
            Given::Whole(value) => value,
            Given::Pairs(pairs) => {
                let mut object = Map::new();
                for (name, piece) in pairs {
                    let value = match piece {
                        Typed::Json(value) => value,
                        Typed::Text(text) => meant(text, &schema["properties"][&name], schema),
                    };
                    object.insert(name, value);
                }
                Value::Object(object)
            }
        }
    }
}

fn text_of(source: impl Read, name: &str) -> Result<String, Fail> {
    let mut text = String::new();
    let read = source.take(LARGEST).read_to_string(&mut text);
    read.map_err(|error| Fail::usage(format!("{name:?} cannot be read: {error}")))?;
    Ok(text)
}

fn whole(text: &str, name: &str) -> Result<Given, Fail> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        Fail::usage(format!("the arguments are not JSON: {error}")).hint(format!("they were read from {name}"))
    })?;
    if value.is_object() {
        return Ok(Given::Whole(value));
    }
    Err(Fail::usage("the arguments are not a JSON object").hint("write {\"name\": value, …}"))
}

fn pair(typed: &str) -> Result<(String, Typed), Fail> {
    match (typed.split_once(":="), typed.split_once('=')) {
        (Some((name, text)), _) if !name.contains('=') => {
            let value = serde_json::from_str(text);
            let value = value.map_err(|error| Fail::usage(format!("{name} is not JSON: {error}")))?;
            Ok((name.to_owned(), Typed::Json(value)))
        }
        (_, Some((name, text))) => Ok((name.to_owned(), Typed::Text(text.to_owned()))),
        _ => Err(Fail::usage(format!("{typed:?} is neither a JSON object nor name=value"))
            .hint("use name:=json for numbers, lists and objects")),
    }
}

/// What a text stands for where the schema wants something else than text.
fn meant(text: String, schema: &Value, root: &Value) -> Value {
    let mut kinds = Vec::new();
    kinds_of(schema, root, 0, &mut kinds);
    if kinds.is_empty() || kinds.contains(&"string") {
        return Value::from(text);
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(value) if kinds.contains(&kind_of(&value)) => value,
        Ok(Value::Number(number)) if kinds.contains(&"number") => Value::Number(number),
        _ => Value::from(text),
    }
}

/// The types that a schema allows, as far as it says so itself or through a reference or alternatives.
fn kinds_of<'s>(schema: &'s Value, root: &'s Value, depth: usize, kinds: &mut Vec<&'s str>) {
    if depth > 4 {
        return;
    }
    match &schema["type"] {
        Value::String(kind) => kinds.push(kind),
        Value::Array(several) => kinds.extend(several.iter().filter_map(Value::as_str)),
        _ => {}
    }
    let listed = schema["enum"].as_array().into_iter().flatten().chain(schema.get("const"));
    if kinds.is_empty() {
        for value in listed {
            kinds.push(kind_of(value));
        }
    }
    if let Some(target) =
        schema["$ref"].as_str().and_then(|path| path.strip_prefix('#')).and_then(|path| root.pointer(path))
    {
        kinds_of(target, root, depth + 1, kinds);
    }
    for alternatives in ["anyOf", "oneOf", "allOf"] {
        let inner = schema[alternatives].as_array().into_iter().flatten().take(16);
        inner.for_each(|schema| kinds_of(schema, root, depth + 1, kinds));
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(given: &[&str]) -> Result<Value, Fail> {
        read_for(given, &Value::Null)
    }

    fn read_for(given: &[&str], schema: &Value) -> Result<Value, Fail> {
        let typed: Vec<String> = given.iter().map(|text| (*text).to_owned()).collect();
        Given::read(&typed).map(|given| given.into_object(schema))
    }

    #[test]
    fn arguments_are_an_object_or_pairs() {
        assert_eq!(read(&[]).unwrap(), json!({}));
        assert_eq!(read(&[r#"{"a": 1}"#]).unwrap(), json!({"a": 1}));
        assert_eq!(read(&["a=1", "b:=2", "c=x=y", "d:=[1]"]).unwrap(), json!({"a": "1", "b": 2, "c": "x=y", "d": [1]}));
        assert_eq!(read(&["url=http://x:=y"]).unwrap(), json!({"url": "http://x:=y"}));
        assert!(read(&["alone"]).is_err());
        assert!(read(&["{"]).is_err());
        assert!(read(&["n:=x"]).is_err());
        assert!(read(&["@/nowhere/at/all"]).is_err());
    }

    #[test]
    fn the_schema_says_what_a_text_stands_for() {
        let schema = json!({
            "properties": {
                "count": {"type": "integer"}, "share": {"type": "number"}, "deep": {"type": "boolean"},
                "list": {"type": "array"}, "map": {"type": "object"}, "name": {"type": "string"},
                "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "open": {"type": ["string", "integer"]},
                "ref": {"$ref": "#/$defs/size"}, "level": {"enum": [1, 2]},
            },
            "$defs": {"size": {"type": "integer"}},
        });
        let given = [
            "count=3",
            "share=2",
            "deep=true",
            "list=[1, 2]",
            "map={\"a\": 1}",
            "name=7",
            "either=null",
            "open=5",
            "ref=9",
            "level=2",
            "unknown=1",
        ];
        let expected = json!({
            "count": 3, "share": 2, "deep": true, "list": [1, 2], "map": {"a": 1}, "name": "7", "either": null, "open": "5",
            "ref": 9, "level": 2, "unknown": "1",
        });
        assert_eq!(read_for(&given, &schema).unwrap(), expected);
        let wrong = read_for(&["count=many", "deep=yes", "list=a,b"], &schema).unwrap();
        assert_eq!(wrong, json!({"count": "many", "deep": "yes", "list": "a,b"}));
    }
}
