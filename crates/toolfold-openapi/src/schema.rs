//! Schemas of a document as schemas of a tool: JSON Schema, complete in itself.
//!
//! What a reader would get wrong: a schema that is referred to is copied to `$defs` and never put in place of the reference,
//! so that circles stay circles. All of it together has a bound; what is beyond takes any value, because the API has the
//! last word and a schema that refuses what the API would take is worse than none.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Map, Value, json};
use toolfold_core::slug;
use toolfold_schema::vocabulary::{Holds, ONE, TYPES, restrictions};

use crate::document::{Document, reference};

/// Schemas inside one another, within what is written in one place.
const DEEPEST: usize = 60;
/// What an object costs beside its texts.
const COST: usize = 16;
/// A default or an example that is longer helps nobody.
const LONGEST_EXAMPLE: usize = 200;

/// Texts that say something of a value and refuse none.
const SAID: [&str; 4] = ["title", "description", "contentEncoding", "contentMediaType"];
/// Keywords that an answer is not held to: an API says more, and less, than its document.
const STRICT: [&str; 10] = [
    "format",
    "pattern",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Which way a value goes: what is only read is no argument, what is only written is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Input,
    Output,
}

pub(crate) struct Converter<'d> {
    document: &'d Document,
    side: Side,
    left: usize,
    /// By the reference that leads there.
    names: HashMap<String, String>,
    taken: HashSet<String>,
    queue: VecDeque<String>,
    cut: bool,
}

impl<'d> Converter<'d> {
    /// `most` is about how many bytes come of it.
    pub(crate) fn new(document: &'d Document, side: Side, most: usize) -> Self {
        let (names, taken, queue) = (HashMap::new(), HashSet::new(), VecDeque::new());
        Converter { document, side, left: most, names, taken, queue, cut: false }
    }

    pub(crate) fn schema(&mut self, schema: &Value) -> Value {
        self.convert(schema, 0)
    }

    /// Whether something was left out for its size.
    pub(crate) fn was_cut(&self) -> bool {
        self.cut
    }

    /// Everything that was referred to, and what that refers to. The nearest first, so that what is cut is far away.
    pub(crate) fn definitions(&mut self) -> Map<String, Value> {
        let mut definitions = Map::new();
        while let Some(reference) = self.queue.pop_front() {
            let Some(name) = self.names.get(&reference).cloned() else { continue };
            let target = self.document.find(&reference).and_then(|value| self.document.resolved(value));
            let schema = match target {
                Ok(target) if self.left > 0 => self.convert(&target.clone(), 0),
                _ => {
                    self.cut = true;
                    json!({})
                }
            };
            definitions.insert(name, schema);
        }
        definitions
    }

    fn convert(&mut self, schema: &Value, depth: usize) -> Value {
        let Some(object) = schema.as_object() else {
            return if schema.is_boolean() { schema.clone() } else { json!({}) };
        };
        if depth > DEEPEST || self.left == 0 {
            self.cut = true;
            return json!({});
        }
        self.spend(COST);
        let mut out = match reference(schema) {
            Some(reference) => self.referred(reference),
            None => Map::new(),
        };
        self.copy_plain(object, &mut out);
        self.copy_types(object, &mut out);
        self.copy_properties(object, &mut out, depth);
        for key in ONE {
            match object.get(key).filter(|_| self.wants(key)) {
                Some(Value::Bool(false)) if self.side == Side::Output => {}
                Some(one @ (Value::Object(_) | Value::Bool(_))) => {
                    out.insert(key.to_owned(), self.convert(one, depth + 1));
                }
                _ => {}
            }
        }
        // `oneOf` of real documents overlaps: a value that fits two of them is refused by nobody but a validator.
        for (key, ours) in [("allOf", "allOf"), ("anyOf", "anyOf"), ("oneOf", "anyOf"), ("prefixItems", "prefixItems")]
        {
            let Some(all) = object.get(key).and_then(Value::as_array).filter(|all| !all.is_empty()) else { continue };
            let converted: Vec<Value> = all.iter().map(|one| self.convert(one, depth + 1)).collect();
            match out.get_mut(ours) {
                Some(Value::Array(_)) => {
                    let both = json!([{ ours: out.remove(ours) }, { ours: converted }]);
                    out.insert("allOf".to_owned(), both);
                }
                _ => {
                    out.insert(ours.to_owned(), converted.into());
                }
            }
        }
        self.nullable(object, out)
    }

    fn referred(&mut self, reference: &str) -> Map<String, Value> {
        let known = self.names.get(reference).cloned();
        let is_there =
            |reference| self.document.find(reference).and_then(|value| self.document.resolved(value)).is_ok();
        let name = match known {
            Some(name) => name,
            None if is_there(reference) => self.named(reference),
            // Another document, a circle of references, nothing: any value.
            None => return Map::new(),
        };
        self.spend(name.len() + COST);
        Map::from_iter([("$ref".to_owned(), Value::from(format!("#/$defs/{name}")))])
    }

    fn named(&mut self, reference: &str) -> String {
        let last = crate::text::decoded(reference.rsplit('/').next().unwrap_or_default()).replace("~1", "_");
        let plain: String = slug(&last).chars().take(100).collect();
        let plain = if plain.is_empty() { "it".to_owned() } else { plain };
        let mut names = std::iter::once(plain.clone()).chain((2..).map(|n| format!("{plain}_{n}")));
        let name = names.find(|name| !self.taken.contains(name)).unwrap_or(plain);
        self.taken.insert(name.clone());
        self.names.insert(reference.to_owned(), name.clone());
        self.queue.push_back(reference.to_owned());
        name
    }

    fn wants(&self, key: &str) -> bool {
        self.side == Side::Input || !STRICT.contains(&key)
    }

    fn copy_plain(&mut self, object: &Map<String, Value>, out: &mut Map<String, Value>) {
        for key in SAID.into_iter().chain(restrictions(Holds::Text)) {
            let said = object.get(key).filter(|text| text.as_str() != Some("") && self.wants(key));
            if let Some(Value::String(text)) = said {
                self.spend(text.len() + key.len());
                out.insert(key.to_owned(), Value::from(text.as_str()));
            }
        }
        if self.side == Side::Output {
            return;
        }
        for key in restrictions(Holds::Number) {
            if let Some(number @ Value::Number(_)) = object.get(key) {
                out.insert(key.to_owned(), number.clone());
            }
        }
        // Where 3.0 says it with a flag.
        for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
            if let (Some(Value::Bool(true)), Some(value)) = (object.get(flag), out.remove(bound)) {
                out.insert(flag.to_owned(), value);
            }
        }
        for key in restrictions(Holds::Flag).chain(["deprecated"]) {
            if object.get(key) == Some(&Value::Bool(true)) {
                out.insert(key.to_owned(), Value::Bool(true));
            }
        }
        for key in ["default", "const"] {
            if let Some(value) = object.get(key).filter(|value| harmless(value)) {
                out.insert(key.to_owned(), value.clone());
            }
        }
        // What an example holds is data, and may look like a schema (`$id`): only the simplest are shown.
        let scalar = |value: &&Value| !value.is_object() && !value.is_array() && harmless(value);
        let examples = object.get("examples").and_then(Value::as_array).and_then(|all| all.first());
        let fits = |value: &&Value| is_of(object.get("type"), value);
        if let Some(example) = object.get("example").or(examples).filter(scalar).filter(fits) {
            out.insert("examples".to_owned(), json!([example]));
        }
    }

    fn copy_types(&mut self, object: &Map<String, Value>, out: &mut Map<String, Value>) {
        let known = |name: &Value| name.as_str().filter(|name| TYPES.contains(name)).map(Value::from);
        let types: Vec<Value> = match object.get("type") {
            Some(Value::Array(all)) => all.iter().filter_map(known).collect(),
            Some(one) => known(one).into_iter().collect(),
            None => Vec::new(),
        };
        match types.as_slice() {
            [] => {}
            [one] => {
                out.insert("type".to_owned(), one.clone());
            }
            _ => {
                out.insert("type".to_owned(), types.into());
            }
        }
        let is_file = object.get("format").and_then(Value::as_str) == Some("binary");
        if is_file && self.side == Side::Input {
            out.remove("format");
            out.insert("contentEncoding".to_owned(), Value::from("base64"));
        }
        if let Some(Value::Array(values)) = object.get("enum").filter(|_| self.side == Side::Input) {
            self.spend(values.iter().map(|value| value.as_str().map_or(4, str::len) + 3).sum());
            if values.iter().all(|value| !value.is_object()) && !values.is_empty() {
                out.insert("enum".to_owned(), values.clone().into());
            }
        }
    }

    fn copy_properties(&mut self, object: &Map<String, Value>, out: &mut Map<String, Value>, depth: usize) {
        for key in ["properties", "patternProperties"] {
            let Some(properties) = object.get(key).and_then(Value::as_object) else { continue };
            let mut kept = Map::new();
            for (name, property) in properties {
                if self.left == 0 {
                    self.cut = true;
                    break;
                }
                if !self.is_elsewhere(property) {
                    self.spend(name.len());
                    kept.insert(name.clone(), self.convert(property, depth + 1));
                }
            }
            out.insert(key.to_owned(), kept.into());
        }
        if let Some(Value::Array(required)) = object.get("required").filter(|_| self.side == Side::Input) {
            let properties = object.get("properties");
            let asked = |name: &&Value| {
                let property = name.as_str().and_then(|name| properties?.get(name));
                name.is_string() && property.is_none_or(|property| !self.is_elsewhere(property))
            };
            let required: Vec<Value> = required.iter().filter(asked).cloned().collect();
            if !required.is_empty() {
                out.insert("required".to_owned(), required.into());
            }
        }
    }

    /// Whether a property is only for the other way.
    fn is_elsewhere(&self, property: &Value) -> bool {
        let flag = match self.side {
            Side::Input => "readOnly",
            Side::Output => "writeOnly",
        };
        let says = |schema: &Value| schema.get(flag) == Some(&Value::Bool(true));
        says(property) || (reference(property).is_some() && self.document.resolved(property).is_ok_and(says))
    }

    /// 3.0 says that a value may be null beside its type. An answer may be null wherever it is something.
    fn nullable(&self, object: &Map<String, Value>, mut out: Map<String, Value>) -> Value {
        let says = object.get("nullable") == Some(&Value::Bool(true));
        if self.cut {
            // What was cut may still be sent.
            if out.get("additionalProperties") == Some(&Value::Bool(false)) {
                out.remove("additionalProperties");
            }
            out.remove("unevaluatedProperties");
        }
        if !says && self.side == Side::Input {
            return out.into();
        }
        if let Some(Value::Array(values)) = out.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
        let composed = ["$ref", "anyOf", "allOf"].iter().any(|key| out.contains_key(*key));
        match out.get_mut("type") {
            Some(Value::Array(types)) if !types.contains(&json!("null")) => types.push(json!("null")),
            Some(Value::String(one)) if one != "null" => {
                let both = json!([one.as_str(), "null"]);
                out.insert("type".to_owned(), both);
            }
            Some(_) => {}
            None if composed => return json!({"anyOf": [out, {"type": "null"}]}),
            None => {}
        }
        out.into()
    }

    fn spend(&mut self, cost: usize) {
        self.left = self.left.saturating_sub(cost);
    }
}

/// Whether an example is of the type that it is an example of: a model would copy one that is not.
fn is_of(wanted: Option<&Value>, value: &Value) -> bool {
    match wanted.and_then(Value::as_str) {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_i64() || value.is_u64(),
        _ => true,
    }
}

/// Small, and nothing in it that a validator could take for a part of the schema.
fn harmless(value: &Value) -> bool {
    fn plain(value: &Value) -> bool {
        match value {
            Value::Object(members) => {
                members.iter().all(|(key, value)| !key.starts_with('$') && key != "id" && plain(value))
            }
            Value::Array(items) => items.iter().all(plain),
            _ => true,
        }
    }
    plain(value) && value.to_string().len() <= LONGEST_EXAMPLE
}
