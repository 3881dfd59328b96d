//! Three pages about a tool, in the manner of a command's help: what it does and how to call it, everything there is to
//! know, and everything about one parameter.
//!
//! What a reader would get wrong: what a definition does not say is not made up. Errors are those that Toolfold itself
//! answers with; notes are the definition's own words and hints.

use serde_json::{Map, Value, json};
use toolfold_core::{Entry, Fuel};
use toolfold_schema::vocabulary::RESTRICTIONS;

use super::details::{literal, returned, usage_as};
use super::example::example;
use super::parameter::{LARGEST_INLINED, find, nearest};
use super::prose::{clipped, description, rest};
use super::shape::{FUEL, MARK, shape};
use crate::schema::{Room, inlined, parameters, resolve};

const MOST_NOTES: usize = 6;
const LONGEST_NOTE: usize = 200;
const MOST_EXAMPLES: usize = 3;
/// Bytes of what is said of all parameters of one tool.
const LARGEST_PAGE: usize = 4 * 1024 * 1024;

/// Level 2: enough to decide and, for most tools, to call.
pub fn details_page(entry: &Entry, name: &str) -> Value {
    let schema = entry.input_schema();
    let names: Vec<&str> = parameters(&schema, &schema).list.iter().map(|parameter| parameter.name).collect();
    json!({
        "name": name,
        "description": description(entry),
        "parameters": names,
        "usage": usage_as(entry, name),
        "returns": returned(entry).unwrap_or_else(|| "content".to_owned()),
    })
}

/// Level 3: every parameter, what comes back, examples, errors and notes.
pub fn full_page(entry: &Entry, name: &str) -> Value {
    let schema = entry.input_schema();
    let (all, means) = (parameters(&schema, &schema), means());
    let specified: Map<String, Value> = all
        .list
        .iter()
        .map(|parameter| {
            (parameter.name.to_owned(), specification(&schema, parameter.schema, parameter.required, &means))
        })
        .collect();
    let mut page = json!({
        "name": name,
        "description": if entry.description.is_empty() { description(entry) } else { entry.description.clone() },
        "parameters": specified,
        "returns": returns(entry),
        "examples": [{"code": usage_as(entry, name), "description": "A typical call"}],
        "errors": errors(all.list.is_empty()),
        "notes": notes(entry),
    });
    // What a list of parameters cannot say: references and conditions.
    if all.conditional || entry.definition.get().contains("\"$ref\"") {
        page["inputSchema"] = schema;
    }
    page
}

/// Level 3 of one parameter; where there is none by that name, those that were meant.
pub fn parameter_page(entry: &Entry, name: &str, path: &str) -> Result<Value, Vec<String>> {
    let root = entry.input_schema();
    let (schema, required) = find(&root, path).ok_or_else(|| nearest(&root, path))?;
    let mut page = json!({"tool": name, "parameter": path});
    if let (Some(page), Value::Object(about)) = (page.as_object_mut(), specification(&root, schema, required, &means()))
    {
        page.extend(about);
    }
    let target = resolve(&root, schema);
    if let (Some(shown), Some(whole)) = (page.get_mut("schema"), inlined(&root, target, LARGEST_INLINED)) {
        *shown = whole;
    }
    page["examples"] = json!(examples(entry, path, target));
    Ok(page)
}

/// What one page may take of memory and of work.
fn means() -> (Room, Fuel) {
    (Room::of(LARGEST_PAGE), Fuel::new(20 * FUEL))
}

/// What there is no room for is left out: `inputSchema` or the definition has it.
fn specification(root: &Value, schema: &Value, required: bool, (room, fuel): &(Room, Fuel)) -> Value {
    let target = resolve(root, schema);
    let said = |key: &str| schema.get(key).or_else(|| target.get(key)).and_then(|value| room.copy(value));
    let named = target.get("type").filter(|named| named.is_string()).and_then(|named| room.copy(named));
    let shown = shape(root, schema, fuel);
    let mut about = json!({
        "type": named.unwrap_or_else(|| json!(shown)),
        "description": said("description").unwrap_or_else(|| json!("")),
        "required": required,
    });
    for key in ["default", "enum"] {
        if let Some(value) = said(key) {
            about[key] = value;
        }
    }
    let rules = RESTRICTIONS.iter().filter_map(|(key, _)| Some(format!("{key} {}", room.copy(target.get(*key)?)?)));
    let rules: Vec<String> = rules.collect();
    if !rules.is_empty() {
        about["validation"] = json!(rules.join(", "));
    }
    let nested = ["properties", "items", "anyOf", "oneOf", "allOf"].iter().any(|key| target.get(*key).is_some());
    if nested || shown.contains(MARK) && about.get("enum").is_none() {
        room.copy(target).into_iter().for_each(|schema| about["schema"] = schema);
    }
    about
}

fn returns(entry: &Entry) -> Value {
    let schema = entry.output_schema();
    match schema.get("type") {
        Some(named) => {
            let description = schema.get("description").cloned().unwrap_or_else(|| json!(""));
            json!({"type": named, "description": description, "schema": schema})
        }
        None => json!({"type": "content", "description": returned(entry).unwrap_or_default()}),
    }
}

fn errors(takes_nothing: bool) -> Vec<Value> {
    let wrong =
        json!({"type": "INVALID_ARGUMENTS", "when": "A required argument is missing, or one is not as specified"});
    let away = json!({"type": "SERVER_UNAVAILABLE", "when": "The tool's server is down or does not answer"});
    if takes_nothing { vec![away] } else { vec![wrong, away] }
}

fn notes(entry: &Entry) -> Vec<String> {
    let hints = &entry.hints;
    let said = [
        (hints.read_only == Some(true), "Changes nothing: it only reads."),
        (hints.destructive == Some(true), "May destroy what was there."),
        (hints.idempotent == Some(true), "Calling it again with the same arguments changes nothing more."),
    ];
    let hints = said.into_iter().filter(|(is, _)| *is).map(|(_, note)| note.to_owned());
    hints.chain(rest(entry).iter().map(|note| clipped(note, LONGEST_NOTE))).take(MOST_NOTES).collect()
}

fn examples(entry: &Entry, path: &str, schema: &Value) -> Vec<String> {
    let shown = |value: &Value| format!("{path}={}", literal(value));
    let mut examples: Vec<String> = Vec::new();
    if let Some(default) = schema.get("default") {
        examples.push(format!("{} (default)", shown(default)));
    }
    let listed = ["examples", "enum"].iter().filter_map(|key| schema.get(*key)?.as_array()).flatten().map(shown);
    let made = example(entry).get(path).map(shown);
    for example in listed.chain(made) {
        if examples.len() < MOST_EXAMPLES && !examples.iter().any(|known| known.starts_with(&example)) {
            examples.push(example);
        }
    }
    examples
}
