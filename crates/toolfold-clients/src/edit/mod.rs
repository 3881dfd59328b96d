//! One entry of somebody else's file: set, changed, taken out. What is made is a list of places where text goes in or
//! out, never a file printed anew, so every byte that is not ours stays by construction.
//!
//! An edit is believed only after the file has been read again: it must hold what it held before, plus or minus the entry.
//! Where an unusual spelling defeats that, nothing is written and the error says so.

mod block;
mod json;
mod layout;
mod splice;
mod toml;
mod toml_scan;
mod yaml;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::format::{Broken, FileFormat};
pub(crate) use block::{remove_block, set_block};
pub use splice::Splice;

/// How a container holds its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// By name.
    Map,
    /// A list of tables, each with its `name`.
    List,
    /// A list of plain strings; the entry is its own name.
    Strings,
    /// Lines between two comments of ours, written by a function of their own.
    Block,
}

/// Where one entry is, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    pub container: Vec<String>,
    pub shape: Shape,
    pub name: String,
}

/// What taking an entry out again has to know to leave nothing behind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traces {
    /// How many of the containers, counted from the inside, came with the entry.
    pub created: usize,
    /// What stood between the brackets of a container that was empty.
    pub hollow: Option<String>,
}

/// A file's new text and how it differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    pub text: String,
    pub splices: Vec<Splice>,
    pub traces: Traces,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("{0}")]
    Broken(#[from] Broken),
    #[error("`{0}` is not what it should be there: expected {1}")]
    Strange(String, &'static str),
    #[error("`{0}` is there twice")]
    Twice(String),
    #[error("`{0}` is written in a way that cannot be changed without touching the rest")]
    Unusual(String),
}

/// Sets the entry. `None`: it is there already, as it should be.
pub fn set(format: FileFormat, text: &str, slot: &Slot, value: &Value) -> Result<Option<Edited>, EditError> {
    let before = format.parse(text)?;
    if !before.is_object() {
        return Err(EditError::Strange("the file".to_owned(), "an object"));
    }
    if get(&before, slot) == Some(value) {
        return Ok(None);
    }
    let (mark, body) = byte_order_mark(text);
    let (splices, traces) = match format {
        FileFormat::Json | FileFormat::Jsonc => json::set(body, slot, value)?,
        FileFormat::Toml => toml::set(body, slot, value)?,
        FileFormat::Yaml => yaml::set(body, slot, value, &before)?,
    };
    let edited = finish(mark, body, splices, traces);
    let mut expected = before;
    put(&mut expected, slot, value);
    verify(format, &edited.text, expected, slot)?;
    Ok(Some(edited))
}

/// Takes the entry out. `None`: there is none.
pub fn remove(format: FileFormat, text: &str, slot: &Slot, traces: &Traces) -> Result<Option<Edited>, EditError> {
    let before = format.parse(text)?;
    if get(&before, slot).is_none() {
        return Ok(None);
    }
    let (mark, body) = byte_order_mark(text);
    let splices = match format {
        FileFormat::Json | FileFormat::Jsonc => json::remove(body, slot, traces)?,
        FileFormat::Toml => toml::remove(body, slot)?,
        FileFormat::Yaml => yaml::remove(body, slot, traces, &before)?,
    };
    let edited = finish(mark, body, splices, Traces::default());
    let mut expected = before;
    take(&mut expected, slot);
    verify(format, &edited.text, expected, slot)?;
    Ok(Some(edited))
}

/// The entry's value.
pub fn get<'v>(root: &'v Value, slot: &Slot) -> Option<&'v Value> {
    let container = slot.container.iter().try_fold(root, |value, key| value.get(key))?;
    match slot.shape {
        Shape::Map => container.get(&slot.name),
        _ => container.as_array()?.iter().find(|item| is_named(item, slot)),
    }
}

pub(crate) fn is_named(item: &Value, slot: &Slot) -> bool {
    let name = if slot.shape == Shape::Strings { Some(item) } else { item.get("name") };
    name.and_then(Value::as_str) == Some(&slot.name)
}

fn finish(mark: &str, body: &str, mut splices: Vec<Splice>, traces: Traces) -> Edited {
    splices.sort_by_key(|splice| splice.at);
    let text = format!("{mark}{}", splice::apply(body, &splices));
    splices.iter_mut().for_each(|splice| splice.at += mark.len());
    Edited { text, splices, traces }
}

fn byte_order_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

fn verify(format: FileFormat, text: &str, mut expected: Value, slot: &Slot) -> Result<(), EditError> {
    let unusual = || EditError::Unusual(slot.container.join("."));
    let mut found = format.parse(text).map_err(|_| unusual())?;
    // An empty container and none mean the same to every reader, and taking an entry out may leave either.
    prune(&mut found, &slot.container);
    prune(&mut expected, &slot.container);
    if found == expected { Ok(()) } else { Err(unusual()) }
}

fn prune(value: &mut Value, path: &[String]) {
    let Some((first, rest)) = path.split_first() else { return };
    let Some(object) = value.as_object_mut() else { return };
    let Some(inner) = object.get_mut(first) else { return };
    prune(inner, rest);
    let is_empty = match inner {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Null => true,
        _ => false,
    };
    if is_empty {
        object.shift_remove(first);
    }
}

fn put(root: &mut Value, slot: &Slot, value: &Value) {
    let mut inner = root;
    for (depth, key) in slot.container.iter().enumerate() {
        let is_last = depth + 1 == slot.container.len();
        let fresh =
            || if is_last && slot.shape != Shape::Map { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
        let Some(object) = inner.as_object_mut() else { return };
        let member = object.entry(key.clone()).or_insert_with(fresh);
        if member.is_null() {
            *member = fresh();
        }
        inner = member;
    }
    match (inner, slot.shape) {
        (Value::Object(members), Shape::Map) => drop(members.insert(slot.name.clone(), value.clone())),
        (Value::Array(items), _) => match items.iter_mut().find(|item| is_named(item, slot)) {
            Some(item) => *item = value.clone(),
            None => items.push(value.clone()),
        },
        // The editor has refused already.
        _ => {}
    }
}

fn take(root: &mut Value, slot: &Slot) {
    let container = slot.container.iter().try_fold(root, |value, key| value.get_mut(key));
    match container {
        Some(Value::Object(members)) => drop(members.shift_remove(&slot.name)),
        Some(Value::Array(items)) => {
            if let Some(at) = items.iter().position(|item| is_named(item, slot)) {
                items.remove(at);
            }
        }
        _ => {}
    }
}

/// The containers that have to be made around a value, from the outside in.
fn wrap(keys: &[String], slot: &Slot, value: &Value) -> Value {
    let inner = match slot.shape {
        Shape::Map => Value::Object(Map::from_iter([(slot.name.clone(), value.clone())])),
        _ => Value::Array(vec![value.clone()]),
    };
    keys.iter().rev().fold(inner, |value, key| Value::Object(Map::from_iter([(key.clone(), value)])))
}
