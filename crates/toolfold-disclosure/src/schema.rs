//! Reading a tool's schema for display. A schema is whatever a server sent: every walk in here has an end, follows
//! references inside the document only, and takes anything for an answer.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};
use toolfold_schema::unescaped;

const MOST_HOPS: usize = 16;
const DEEPEST: usize = 8;
/// Parts of one schema that are looked at for its parameters: alternatives of alternatives multiply.
const MOST_PARTS: usize = 1000;
/// Alternatives that are looked at.
const MOST_CHOICES: usize = 64;
/// Levels of a schema that is written out.
const DEEPEST_INLINED: usize = 100;
/// Words of a schema behind which there are values, in which nothing refers to anything.
const VALUES: [&str; 4] = ["const", "default", "enum", "examples"];

static ANYTHING: Value = Value::Bool(true);

pub(crate) struct Parameter<'a> {
    pub(crate) name: &'a str,
    pub(crate) schema: &'a Value,
    pub(crate) required: bool,
}

/// The parameters of an object schema: required ones first, each group in the order it was written.
pub(crate) struct Parameters<'a> {
    pub(crate) list: Vec<Parameter<'a>>,
    /// There is more to it than a list: alternatives, conditions, dependencies.
    pub(crate) conditional: bool,
}

pub(crate) fn parameters<'a>(root: &'a Value, schema: &'a Value) -> Parameters<'a> {
    let mut collected = Collected::default();
    collected.add(root, schema, true, 0);
    let Collected { mut list, places, required, required_once, conditional, .. } = collected;
    // What has no member of its own is what any other member is.
    let others = resolve(root, schema).get("additionalProperties").filter(|others| others.is_object());
    for name in &required {
        if !places.contains_key(name) {
            list.push(Parameter { name, schema: others.unwrap_or(&ANYTHING), required: true });
        }
    }
    list.iter_mut().for_each(|parameter| parameter.required = required_once.contains(parameter.name));
    list.sort_by_key(|parameter| !parameter.required);
    Parameters { list, conditional }
}

#[derive(Default)]
struct Collected<'a> {
    list: Vec<Parameter<'a>>,
    places: HashMap<&'a str, usize>,
    required: Vec<&'a str>,
    required_once: HashSet<&'a str>,
    conditional: bool,
    parts: usize,
}

impl<'a> Collected<'a> {
    /// `certain`: whether this part applies whatever the arguments are, so that what it requires is required.
    fn add(&mut self, root: &'a Value, schema: &'a Value, certain: bool, depth: usize) {
        let schema = resolve(root, schema);
        let Value::Object(members) = schema else { return };
        self.parts += 1;
        if depth > DEEPEST || self.parts > MOST_PARTS {
            self.conditional = true;
            return;
        }
        for (name, schema) in members.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if !self.places.contains_key(name.as_str()) {
                self.places.insert(name, self.list.len());
                self.list.push(Parameter { name, schema, required: false });
            }
        }
        if certain {
            self.require(members.get("required"));
        }
        for part in members.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.add(root, part, certain, depth + 1);
        }
        for choice in ["anyOf", "oneOf"].iter().filter_map(|key| members.get(*key)?.as_array()).flatten() {
            self.conditional = true;
            self.add(root, choice, false, depth + 1);
        }
        for key in ["if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies"] {
            self.conditional |= members.contains_key(key);
        }
    }

    fn require(&mut self, names: Option<&'a Value>) {
        for name in names.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            // Hostile lists name one thing a million times.
            if self.required_once.insert(name) {
                self.required.push(name);
            }
        }
    }
}

/// Follows `$ref` as far as it leads inside the document.
pub(crate) fn resolve<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..MOST_HOPS {
        let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|reference| lookup(root, reference))
        else {
            break;
        };
        schema = target;
    }
    schema
}

pub(crate) fn lookup<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let fragment = reference.strip_prefix('#')?;
    root.pointer(&unescaped(fragment))
}

/// A schema with what it refers to in the places of its references, so that it can be read by itself; `None` where that is
/// more than so many bytes, or has no end.
pub(crate) fn inlined(root: &Value, schema: &Value, most: usize) -> Option<Value> {
    Inlining { root, left: most, depth: 0, open: Vec::new() }.of(schema)
}

struct Inlining<'a> {
    root: &'a Value,
    /// Bytes that may still be written.
    left: usize,
    depth: usize,
    /// The references that lead to where it is.
    open: Vec<&'a str>,
}

impl<'a> Inlining<'a> {
    fn of(&mut self, schema: &'a Value) -> Option<Value> {
        if self.depth >= DEEPEST_INLINED {
            return None;
        }
        self.depth += 1;
        let whole = match schema {
            Value::Object(members) => self.object(members).map(Value::Object),
            Value::Array(items) => self.list(items).map(Value::Array),
            other => self.copy(other),
        };
        self.depth -= 1;
        whole
    }

    fn list(&mut self, items: &'a [Value]) -> Option<Vec<Value>> {
        self.take(2 + items.len())?;
        items.iter().map(|item| self.of(item)).collect()
    }

    fn object(&mut self, members: &'a Map<String, Value>) -> Option<Map<String, Value>> {
        self.take(2)?;
        let (root, reference) = (self.root, members.get("$ref").and_then(Value::as_str));
        let referred = reference.and_then(|reference| Some((reference, lookup(root, reference)?.as_object()?)));
        let mut whole = Map::new();
        if let Some((reference, target)) = referred {
            if self.open.contains(&reference) || self.open.len() >= MOST_HOPS {
                return None;
            }
            self.open.push(reference);
            whole = self.object(target)?;
            self.open.pop();
        }
        // What is said beside a reference is said of this place.
        for (name, member) in members.iter().filter(|(name, _)| referred.is_none() || *name != "$ref") {
            self.take(name.len() + 4)?;
            let member = if VALUES.contains(&name.as_str()) { self.copy(member)? } else { self.of(member)? };
            whole.insert(name.clone(), member);
        }
        Some(whole)
    }

    fn copy(&mut self, value: &Value) -> Option<Value> {
        self.left = left_after(value, self.left)?;
        Some(value.clone())
    }

    fn take(&mut self, bytes: usize) -> Option<()> {
        self.left = self.left.checked_sub(bytes)?;
        Some(())
    }
}

/// The types a schema names, `null` left out: a parameter that may be null is one that may be left out.
pub(crate) fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect(),
        _ => Vec::new(),
    }
}

/// The alternatives of a schema, `null` left out; empty where there are none.
pub(crate) fn choices(schema: &Value) -> Vec<&Value> {
    let lists = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
    let choices = lists.flatten().filter(|choice| choice.get("type").and_then(Value::as_str) != Some("null"));
    choices.take(MOST_CHOICES).collect()
}

/// Bytes that may still be copied out of schemas. Many parts may refer to the same large thing, and each would have a copy.
#[derive(Debug)]
pub(crate) struct Room(Cell<usize>);

impl Room {
    pub(crate) fn of(bytes: usize) -> Room {
        Room(Cell::new(bytes))
    }

    /// A copy, where there is room for it.
    pub(crate) fn copy(&self, value: &Value) -> Option<Value> {
        self.0.set(left_after(value, self.0.get())?);
        Some(value.clone())
    }
}

/// Whether a value written down has at most so many bytes, give or take a few. It looks at no more than those.
pub(crate) fn is_within(value: &Value, most: usize) -> bool {
    left_after(value, most).is_some()
}

fn left_after(value: &Value, most: usize) -> Option<usize> {
    match value {
        Value::String(text) => most.checked_sub(text.len() + 2),
        Value::Array(items) => {
            items.iter().try_fold(most.checked_sub(2)?, |most, item| left_after(item, most)?.checked_sub(1))
        }
        Value::Object(members) => members.iter().try_fold(most.checked_sub(2)?, |most, (name, member)| {
            left_after(member, most)?.checked_sub(name.len() + 4)
        }),
        _ => most.checked_sub(4),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_measured_without_looking_at_more_than_is_asked() {
        let value = json!({"name": ["one", 2, true, null, {"deep": "text"}]});
        let length = value.to_string().len();
        assert!(is_within(&value, length + 10));
        assert!(!is_within(&value, length - 10));
        assert!(!is_within(&json!(["a"]), 0));
        let room = Room::of(2 * length + 20);
        let copies = [room.copy(&value), room.copy(&value), room.copy(&value)];
        assert_eq!(copies, [Some(value.clone()), Some(value), None]);
    }
}
