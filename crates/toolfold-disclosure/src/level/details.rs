//! The upper rungs: an entry in a few sentences, and an entry whole. JSON, with schemas as their server wrote them.

use serde_json::Value;
use toolfold_core::Entry;
use toolfold_wire::{Object, Raw};

use super::document;
use super::example::example;
use super::order::{by_need, named};
use super::prose::{clipped, description, returns};
use super::shape::{short_name, shown_name};
use super::signature::{of_schema, signature};
use super::{Level, summary};
use crate::schema::parameters;
use crate::tokens;

const LONGEST_USAGE: usize = 600;
const LONGEST_RETURNS: usize = 200;

/// An entry at a level. From the signature on it says what it costs to read.
pub fn describe(entry: &Entry, level: Level) -> Raw {
    if !entry.is_tool() {
        return document::describe(entry, level);
    }
    let object = Object::new().with("tool", &entry.id.to_string());
    let object = match level {
        Level::Name => return object.to_raw(),
        Level::Summary => return object.with("summary", &summary(entry)).to_raw(),
        Level::Signature => object.with("signature", &signature(entry).text).with("summary", &summary(entry)),
        Level::Details => details(entry, object),
        Level::Full => full(entry, object),
    };
    counted(object)
}

/// Says of an answer what it costs.
pub(super) fn counted(object: Object) -> Raw {
    let tokens = tokens::count(object.to_raw().get());
    object.with("estimated_tokens", &tokens).to_raw()
}

/// An example call in one line: `github.create_issue(owner='…', repo='…')`.
pub fn usage(entry: &Entry) -> String {
    usage_as(entry, &entry.id.to_string())
}

/// As [`usage`], under another name.
pub(super) fn usage_as(entry: &Entry, name: &str) -> String {
    let example = example(entry);
    let arguments: Vec<String> = example
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{}={}", shown_name(name), literal(value)))
        .collect();
    clipped(&format!("{name}({})", arguments.join(", ")), LONGEST_USAGE)
}

fn details(entry: &Entry, object: Object) -> Object {
    let schema = entry.input_schema();
    let all = parameters(&schema, &schema);
    let names = named(&by_need(entry, &all.list), |parameter| {
        format!("{}{}", short_name(parameter.name), if parameter.required { "" } else { "?" })
    });
    let mut object =
        object.with("description", &description(entry)).with("parameters", &names).with("usage", &usage(entry));
    if let Some(returns) = returned(entry) {
        object.set("returns", &returns);
    }
    object
}

/// The shape of the output schema, or the sentence that speaks of it.
pub(super) fn returned(entry: &Entry) -> Option<String> {
    let schema = entry.output_schema();
    let shape = of_schema(&schema).text;
    if shape.is_empty() { returns(entry) } else { Some(clipped(&format!("{{{shape}}}"), LONGEST_RETURNS)) }
}

fn full(entry: &Entry, mut object: Object) -> Object {
    let definition = Object::parse(&entry.definition).unwrap_or_default();
    if let Some(title) = &entry.title {
        object.set("title", title);
    }
    object.set("description", &entry.description);
    for (key, shown) in
        [("inputSchema", "input_schema"), ("outputSchema", "output_schema"), ("annotations", "annotations")]
    {
        if let Some(raw) = definition.get(key).filter(|raw| raw.get() != "null") {
            object.set_raw(shown, raw.to_owned());
        }
    }
    object.with("usage", &usage(entry))
}

pub(super) fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => format!("'{}'", text.chars().map(escaped).collect::<String>()),
        other => other.to_string(),
    }
}

/// Quotation marks and line ends escaped, letters of any script as they are.
fn escaped(c: char) -> String {
    match c {
        '\'' | '\\' => format!("\\{c}"),
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    }
}
