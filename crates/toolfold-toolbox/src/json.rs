//! Tools for JSON. A value is given as itself or as text that holds it: models do both.

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::tool::{Answer, Reply, Tool, flag, integer, text};

/// How many differences or errors are worth reading.
const MOST_FINDINGS: usize = 200;

pub(crate) fn tools() -> Vec<Tool> {
    let value = |about: &str| json!({"description": about});
    let count = json!({"type": "integer"});
    vec![
        Tool::new(
            "json_query",
            "Query JSON",
            "Take values out of JSON by a path: a JSON pointer such as /items/0/name, or a dotted path such as \
             items[0].name, where [*] stands for every element.",
            query,
        )
        .needs("json", value("The JSON, as a value or as text"))
        .needs("path", text("The path; empty for the whole value"))
        .gives(json!({"matches": {"type": "array"}, "count": count})),
        Tool::new(
            "json_format",
            "Format JSON",
            "Write JSON anew: indented for reading, compact, or with sorted keys. Says where it is invalid.",
            format,
        )
        .needs("json", value("The JSON, as a value or as text"))
        .takes("indent", integer("Spaces per level; 0 writes one line", 2, 0, 8))
        .takes("sort_keys", flag("Sort the keys of objects")),
        Tool::new(
            "json_diff",
            "Compare JSON",
            "Compare two JSON values and list what was added, removed and changed, each with its path.",
            diff,
        )
        .needs("before", value("The old JSON, as a value or as text"))
        .needs("after", value("The new JSON, as a value or as text"))
        .gives(json!({"equal": {"type": "boolean"}, "differences": {"type": "array", "items": {"type": "object"}}})),
        Tool::new(
            "json_validate",
            "Validate JSON",
            "Check JSON against a JSON Schema and list every error with its place.",
            validate,
        )
        .needs("json", value("The JSON to check, as a value or as text"))
        .needs("schema", value("The JSON Schema, as an object or as text"))
        .gives(json!({"valid": {"type": "boolean"}, "errors": {"type": "array", "items": {"type": "object"}}})),
    ]
}

fn query(arguments: &Arguments<'_>) -> Answer {
    let (value, path) = (arguments.json("json")?, arguments.text("path")?);
    let matches: Vec<&Value> = if path.is_empty() || path.starts_with('/') {
        value.pointer(path).into_iter().collect()
    } else {
        let steps = steps(path)?;
        steps.iter().fold(vec![&value], |found, step| found.into_iter().flat_map(|value| step.of(value)).collect())
    };
    Ok(Reply::Json(json!({"count": matches.len(), "matches": matches})))
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
    Every,
}

impl Step<'_> {
    fn of<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        match (self, value) {
            (Step::Key(key), value) => value.get(*key).into_iter().collect(),
            (Step::Index(index), value) => value.get(*index).into_iter().collect(),
            (Step::Every, Value::Array(items)) => items.iter().collect(),
            (Step::Every, Value::Object(members)) => members.values().collect(),
            (Step::Every, _) => Vec::new(),
        }
    }
}

fn steps(path: &str) -> Result<Vec<Step<'_>>, String> {
    let wrong = || format!("`path` {path:?} cannot be read. Write it like items[0].name or /items/0/name.");
    let mut steps = Vec::new();
    for part in path.trim_start_matches('$').split('.').filter(|part| !part.is_empty()) {
        let (key, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
        match key {
            "" => {}
            "*" => steps.push(Step::Every),
            key => steps.push(Step::Key(key)),
        }
        while let Some(inner) = rest.strip_prefix('[') {
            let (index, after) = inner.split_once(']').ok_or_else(wrong)?;
            steps.push(match index.trim_matches(['"', '\'']) {
                "*" => Step::Every,
                key if key.len() < index.len() => Step::Key(key),
                index => Step::Index(index.parse().map_err(|_| wrong())?),
            });
            rest = after;
        }
        if !rest.is_empty() {
            return Err(wrong());
        }
    }
    Ok(steps)
}

fn format(arguments: &Arguments<'_>) -> Answer {
    let mut value = arguments.json("json")?;
    if arguments.flag("sort_keys")? {
        value.sort_all_objects();
    }
    let indent = arguments.integer("indent", 2, (0, 8))?;
    if indent == 0 {
        return Ok(Reply::Text(value.to_string()));
    }
    let indent = " ".repeat(usize::try_from(indent).unwrap_or(2));
    let mut written = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut written, formatter);
    serde::Serialize::serialize(&value, &mut serializer)
        .map_err(|error| format!("This cannot be written: {error}."))?;
    Ok(Reply::Text(String::from_utf8_lossy(&written).into_owned()))
}

fn diff(arguments: &Arguments<'_>) -> Answer {
    let (before, after) = (arguments.json("before")?, arguments.json("after")?);
    let mut differences = Vec::new();
    compare("", &before, &after, &mut differences);
    Ok(Reply::Json(json!({"equal": differences.is_empty(), "differences": differences})))
}

fn compare(path: &str, before: &Value, after: &Value, found: &mut Vec<Value>) {
    if before == after || found.len() >= MOST_FINDINGS {
        return;
    }
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in old {
                let path = format!("{path}/{}", escape(key));
                match new.get(key) {
                    Some(other) => compare(&path, value, other, found),
                    None => found.push(json!({"path": path, "change": "removed", "before": value})),
                }
            }
            for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                found.push(json!({"path": format!("{path}/{}", escape(key)), "change": "added", "after": value}));
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            for n in 0..old.len().max(new.len()) {
                let path = format!("{path}/{n}");
                match (old.get(n), new.get(n)) {
                    (Some(a), Some(b)) => compare(&path, a, b, found),
                    (Some(a), None) => found.push(json!({"path": path, "change": "removed", "before": a})),
                    (None, b) => found.push(json!({"path": path, "change": "added", "after": b})),
                }
            }
        }
        _ => found.push(json!({"path": path, "change": "changed", "before": before, "after": after})),
    }
    found.truncate(MOST_FINDINGS);
}

/// A key as a step of a JSON pointer.
fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn validate(arguments: &Arguments<'_>) -> Answer {
    let (value, schema) = (arguments.json("json")?, arguments.json("schema")?);
    let validator = jsonschema::validator_for(&schema)
        .map_err(|error| format!("`schema` is not a JSON Schema that can be used: {error}."))?;
    let mut errors: Vec<(String, String)> = validator
        .iter_errors(&value)
        .take(MOST_FINDINGS)
        .map(|error| (error.instance_path().to_string(), error.to_string()))
        .collect();
    errors.sort();
    let errors: Vec<Value> =
        errors.into_iter().map(|(path, message)| json!({"path": path, "message": message})).collect();
    Ok(Reply::Json(json!({"valid": errors.is_empty(), "errors": errors})))
}
