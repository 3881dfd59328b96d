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
use super::members::{Manner, Members, cost, is_countable};
use super::order::{MOST_LISTED, by_need, named};
use super::parameter::{LARGEST_INLINED, find, nearest};
use super::part::Part;
use super::prose::{clipped, description, paragraphs, rest};
use super::shape::{FUEL, MARK, shape, short_name};
use super::within::{LETTERS, REMARKS, could_fit, said_of};
use crate::schema::{Room, inlined, parameters, resolve};
use crate::tokens::count;

const MOST_NOTES: usize = 6;
const LONGEST_NOTE: usize = 200;
const MOST_EXAMPLES: usize = 3;
/// The parts of an answer that the description and what comes back may have, where not all of a tool fits.
const DESCRIBED: usize = 4;
const RETURNED: usize = 5;
/// Bytes of what is said of all parameters of one tool.
const LARGEST_PAGE: usize = 4 * 1024 * 1024;

/// Level 2: enough to decide and, for most tools, to call.
pub fn details_page(entry: &Entry, name: &str) -> Value {
    let schema = entry.input_schema();
    let all = parameters(&schema, &schema);
    // As the definition has them, as long as they are all named.
    let list = if all.list.len() > MOST_LISTED { by_need(entry, &all.list) } else { all.list.iter().collect() };
    let names = named(&list, |parameter| short_name(parameter.name));
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

/// Level 3 in at most so many tokens, as far as its names alone leave room. What is left out is named, with how to get it.
pub fn full_page_within(entry: &Entry, name: &str, budget: usize) -> Value {
    if is_countable(entry.definition.get(), budget) {
        let page = full_page(entry, name);
        if cost(&page.to_string(), budget) <= budget {
            return page;
        }
    }
    let schema = entry.input_schema();
    let all = parameters(&schema, &schema);
    let said = paragraphs(&entry.description, budget / DESCRIBED * LETTERS).unwrap_or_else(|| description(entry));
    let words = if said.len() < entry.description.trim().len() { " or a word of its description" } else { "" };
    let mut page = json!({
        "name": name,
        "description": said,
        "parameters": {},
        "returns": returns_within(entry, budget / RETURNED),
        "examples": [{"code": usage_as(entry, name), "description": "A typical call"}],
        "errors": errors(all.list.is_empty()),
        "notes": hints(entry).collect::<Vec<_>>(),
    });
    let spent = count(&page.to_string()) + REMARKS;
    let members = Members::of(&schema, entry, Manner::Page);
    let (shown, shortened) = members.fitted(&all.list, budget.saturating_sub(spent));
    page["parameters"] = Value::Object(shown);
    if !shortened.is_empty() {
        page["shortened"] = json!(shortened);
    }
    page["note"] = json!(format!("not all of it: ask with parameter, a name or a list of them{words}, for more"));
    page
}

/// As [`parameter_page`], in at most so many tokens. `alone`: nothing else is asked for in the same request.
pub fn parameter_page_within(
    entry: &Entry,
    name: &str,
    path: &str,
    budget: usize,
    alone: bool,
) -> Result<Value, Vec<String>> {
    let root = entry.input_schema();
    let Some((schema, required)) = find(&root, path) else {
        return said_of(entry, path, budget).ok_or_else(|| nearest(&root, path));
    };
    let part = Part { entry, name, path, root: &root, schema, required, alone };
    if part.is_readable(budget) && could_fit(&part, budget) {
        let whole = parameter_page(entry, name, path)?;
        if cost(&whole.to_string(), budget) <= budget {
            return Ok(whole);
        }
    }
    Ok(json!(part.within(budget, Manner::Page)))
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
pub(super) fn means() -> (Room, Fuel) {
    (Room::of(LARGEST_PAGE), Fuel::new(20 * FUEL))
}

/// What there is no room for is left out: `inputSchema` or the definition has it.
pub(super) fn specification(root: &Value, schema: &Value, required: bool, (room, fuel): &(Room, Fuel)) -> Value {
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

/// The same where its schema alone would be too much: in a line.
fn returns_within(entry: &Entry, budget: usize) -> Value {
    let whole = returns(entry);
    if cost(&whole.to_string(), budget) <= budget {
        return whole;
    }
    json!({"type": whole["type"], "description": returned(entry).unwrap_or_default()})
}

fn notes(entry: &Entry) -> Vec<String> {
    hints(entry).chain(rest(entry).iter().map(|note| clipped(note, LONGEST_NOTE))).take(MOST_NOTES).collect()
}

fn hints(entry: &Entry) -> impl Iterator<Item = String> {
    let hints = &entry.hints;
    let said = [
        (hints.read_only == Some(true), "Changes nothing: it only reads."),
        (hints.destructive == Some(true), "May destroy what was there."),
        (hints.idempotent == Some(true), "Calling it again with the same arguments changes nothing more."),
    ];
    said.into_iter().filter(|(is, _)| *is).map(|(_, note)| note.to_owned())
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
