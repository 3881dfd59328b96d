//! Arguments that the schema accepts: what is required, in the simplest values that fit, and what most calls give besides.
//! Best effort, since a schema can ask for anything; the tests count how often it succeeds on real tools.

use serde_json::{Map, Value, json};
use toolfold_core::{Entry, Fuel, words};
use toolfold_schema::Schema;

use super::order::{usual, usual_inside};
use super::pattern::matching;
use crate::arguments::QUICK;
use crate::schema::{Parameter, Parameters, choices, is_within, parameters, resolve, types};

const DEEPEST: usize = 6;
/// Values and members that are looked at. References multiply: sixty members of sixty members are few bytes and no end of
/// work. Where it is spent, what is left is `null`.
const FUEL: u64 = 20_000;
const MOST_ITEMS: u64 = 20;
const MOST_LETTERS: u64 = 200;
const MOST_MEMBERS: usize = 60;
/// Items that have schemas of their own, and values of a choice that are looked at.
const MOST_LEADING: u64 = 200;
const MOST_VALUES: usize = 1_000;
/// Bytes of a value that a schema proposes.
const LARGEST_GIVEN: usize = 16 * 1024;
/// Bytes of schemas that are put together.
const LARGEST_MERGED: usize = 16 * 1024;

/// Parameters that are shown beside the required ones, and how many there are in all at most.
const MOST_BESIDE: usize = 2;
const MOST_SHOWN: usize = 5;
/// How deep an object that may be empty is filled.
const DEEPEST_FILLED: usize = 3;
/// Values of a choice that ask for nothing to be done.
const ONLY_LOOKS: [&str; 10] = ["list", "get", "read", "show", "describe", "view", "search", "find", "fetch", "query"];
/// Words of a tool that does more than look.
const DOES: [&str; 16] = [
    "create", "update", "write", "delete", "add", "set", "send", "remove", "edit", "manage", "modify", "run",
    "execute", "post", "put", "upload",
];

/// Example arguments for a call: a typical one where the schema accepts that, otherwise what is required.
pub fn example(entry: &Entry) -> Value {
    let schema = entry.input_schema();
    let maker = Maker { root: &schema, fuel: Fuel::new(FUEL) };
    let least = maker.object(&schema, 0);
    let typical = maker.typical(entry, &least);
    let filled = if only_looks(entry) { typical.clone() } else { maker.filled(entry, &typical) };
    if filled == least {
        return least;
    }
    first_accepted(schema, [filled, typical]).unwrap_or(least)
}

/// Makes values for one schema, within its fuel.
struct Maker<'a> {
    root: &'a Value,
    fuel: Fuel,
}

impl Maker<'_> {
    /// What is required and what is usual, with a choice that does what the tool is for.
    fn typical(&self, entry: &Entry, least: &Value) -> Value {
        let all = parameters(self.root, self.root);
        let mut members: Map<String, Value> = least.as_object().cloned().unwrap_or_default();
        let room = MOST_SHOWN.saturating_sub(members.len()).min(MOST_BESIDE);
        let usual = usual(entry, &all.list).into_iter().filter(|parameter| !members.contains_key(parameter.name));
        let beside: Vec<(String, Value)> =
            usual.take(room).map(|usual| (usual.name.to_owned(), self.value(usual.schema, 1))).collect();
        members.extend(beside);
        for parameter in &all.list {
            let Some(given) = members.get_mut(parameter.name) else { continue };
            if let Some(better) = fitting_choice(entry, self.root, parameter.schema) {
                *given = better;
            }
        }
        Value::Object(members)
    }

    /// The same with something in objects that need nothing: a call that changes something does not give an empty one.
    fn filled(&self, entry: &Entry, arguments: &Value) -> Value {
        let mut members: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
        for parameter in &parameters(self.root, self.root).list {
            if let Some(given) = members.get_mut(parameter.name) {
                *given = self.filled_object(entry, parameter.schema, given.take(), 1);
            }
        }
        Value::Object(members)
    }

    fn filled_object(&self, entry: &Entry, schema: &Value, given: Value, depth: usize) -> Value {
        let is_empty = given.as_object().is_some_and(Map::is_empty);
        if !is_empty || depth > DEEPEST_FILLED || self.fuel.burn(10).is_err() {
            return given;
        }
        let all = parameters(self.root, schema);
        if self.fuel.burn(all.list.len() as u64).is_err() {
            return given;
        }
        let inside = usual_inside(entry, &all.list).into_iter().take(MOST_BESIDE);
        let member = |inside: &Parameter<'_>| {
            let made = self.value(inside.schema, depth + 1);
            (inside.name.to_owned(), self.filled_object(entry, inside.schema, made, depth + 1))
        };
        Value::Object(inside.map(member).collect())
    }

    fn value(&self, schema: &Value, depth: usize) -> Value {
        let schema = resolve(self.root, schema);
        let is_spent = self.fuel.burn(1).is_err();
        if let Some(given) = given(schema).filter(|_| !is_spent) {
            return given;
        }
        if depth > DEEPEST || is_spent {
            return Value::Null;
        }
        let types = types(schema);
        let is_object = types.contains(&"object") || schema.get("properties").is_some();
        if let (false, Some(choice)) = (is_object, choices(schema).first()) {
            return self.value(&self.merged(schema, choice), depth + 1);
        }
        if let (true, Some(Value::Array(parts))) = (types.is_empty() && !is_object, schema.get("allOf")) {
            let whole = parts.iter().fold(json!({}), |whole, part| self.merged(&whole, resolve(self.root, part)));
            return self.value(&self.merged(schema, &whole), depth + 1);
        }
        match types.first() {
            _ if is_object => self.object(schema, depth),
            Some(&"integer") => number(schema, true),
            Some(&"number") => number(schema, false),
            Some(&"boolean") => json!(true),
            Some(&"array") => self.array(schema, depth),
            Some(&"string") | None => string(schema),
            Some(_) => Value::Null,
        }
    }

    /// The members of both, the second one's first. Good enough for an example, not for a proof; what is large is no
    /// example, and is not copied again and again.
    fn merged(&self, schema: &Value, other: &Value) -> Value {
        let small = |value: &&Value| is_within(value, LARGEST_MERGED) && self.fuel.burn(10).is_ok();
        let mut members: Map<String, Value> =
            Some(other).filter(small).and_then(Value::as_object).cloned().unwrap_or_default();
        for (key, value) in Some(schema).filter(small).and_then(Value::as_object).into_iter().flatten() {
            if self.fuel.burn(1).is_err() {
                break;
            }
            if !matches!(key.as_str(), "anyOf" | "oneOf" | "allOf" | "default") {
                members.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        Value::Object(members)
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let all = parameters(self.root, schema);
        if self.fuel.burn(all.list.len() as u64 / 8).is_err() {
            return json!({});
        }
        let mut needed: Vec<&str> = all.list.iter().filter(|p| p.required).map(|p| p.name).collect();
        // Of alternatives, what the first one requires.
        let first_choice = choices(resolve(self.root, schema)).into_iter().next();
        let first_choice = first_choice.map(|choice| resolve(self.root, choice));
        let also = first_choice.and_then(|choice| choice.get("required")).and_then(Value::as_array);
        needed.extend(also.into_iter().flatten().filter_map(Value::as_str));
        let mut members = Map::new();
        for name in needed.into_iter().take(MOST_MEMBERS) {
            let own = first_choice.and_then(|choice| choice.get("properties")?.get(name));
            let known = all.list.iter().find(|parameter| parameter.name == name).map(|parameter| parameter.schema);
            let member = own.or(known).map_or(json!("…"), |schema| self.value(schema, depth + 1));
            members.insert(name.to_owned(), member);
        }
        self.fill(schema, depth, &all, &mut members);
        Value::Object(members)
    }

    /// `minProperties` asks for more than what is required.
    fn fill(&self, schema: &Value, depth: usize, all: &Parameters<'_>, members: &mut Map<String, Value>) {
        let least = schema.get("minProperties").and_then(Value::as_u64).unwrap_or(0).min(MOST_ITEMS) as usize;
        for parameter in &all.list {
            if members.len() >= least {
                return;
            }
            if !members.contains_key(parameter.name) {
                members.insert(parameter.name.to_owned(), self.value(parameter.schema, depth + 1));
            }
        }
        let additional = schema.get("additionalProperties").filter(|additional| additional.is_object());
        for number in members.len()..least {
            let value = additional.map_or(json!("…"), |schema| self.value(schema, depth + 1));
            members.insert(format!("key{number}"), value);
        }
    }

    fn array(&self, schema: &Value, depth: usize) -> Value {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(1).clamp(1, MOST_ITEMS);
        let most = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(MOST_ITEMS).min(MOST_LEADING);
        let leading = schema.get("prefixItems").and_then(Value::as_array);
        let item = |place: usize| {
            let own = leading.and_then(|leading| leading.get(place)).or_else(|| schema.get("items"));
            own.map_or(json!("…"), |item| self.value(item, depth + 1))
        };
        let least = leading.map_or(least, |leading| least.max(leading.len() as u64)).min(most);
        let mut items: Vec<Value> = (0..least as usize).map(item).collect();
        // Different ones where they must be: texts and numbers can be varied.
        if schema.get("uniqueItems").and_then(Value::as_bool) == Some(true) {
            for (place, item) in items.iter_mut().enumerate().skip(1) {
                match item {
                    Value::String(text) => text.push_str(&place.to_string()),
                    Value::Number(number) => *item = json!(number.as_i64().unwrap_or(0) + place as i64),
                    _ => {}
                }
            }
        }
        Value::Array(items)
    }
}

/// Of the values of a choice one that the tool's name has; of a tool that changes things, one that is not only a look.
fn fitting_choice(entry: &Entry, root: &Value, schema: &Value) -> Option<Value> {
    let schema = resolve(root, schema);
    let values = schema.get("enum")?.as_array()?;
    let values = values.get(..MOST_VALUES).unwrap_or(values);
    let name = words::split(entry.name());
    let has = |value: &&Value, wanted: &dyn Fn(&String) -> bool| {
        value.as_str().is_some_and(|value| words::split(value).first().is_some_and(wanted))
    };
    let named = values.iter().find(|value| has(value, &|word| name.contains(word)));
    let does = entry.hints.read_only != Some(true) && name.iter().any(|word| DOES.contains(&word.as_str()));
    let first_looks = values.first().is_some_and(|first| has(&first, &|word| ONLY_LOOKS.contains(&word.as_str())));
    let deed = || values.iter().find(|value| has(value, &|word| !ONLY_LOOKS.contains(&word.as_str())));
    named.or_else(|| if does && first_looks { deed() } else { None }).cloned()
}

/// Whether it says, or its name does, that it changes nothing.
fn only_looks(entry: &Entry) -> bool {
    let verb = words::split(entry.name()).into_iter().next();
    entry.only_reads() || verb.is_some_and(|verb| ONLY_LOOKS.contains(&verb.as_str()))
}

/// The first of these arguments that the schema accepts.
fn first_accepted(schema: Value, all: [Value; 2]) -> Option<Value> {
    let schema = Schema::prepare(schema, &Fuel::new(QUICK)).ok()?;
    all.into_iter().find(|arguments| schema.is_valid(arguments, &Fuel::new(QUICK)).unwrap_or(false))
}

/// What the schema itself proposes, where it is of the right type.
fn given(schema: &Value) -> Option<Value> {
    // What is large is no example.
    let short = |value: &&Value| is_within(value, LARGEST_GIVEN);
    if let Some(constant) = schema.get("const") {
        return Some(Some(constant).filter(short).cloned().unwrap_or_else(|| json!("…")));
    }
    let values =
        |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten().find(|value| !value.is_null());
    if let Some(first) = values("enum") {
        let default =
            schema.get("default").filter(|default| schema["enum"].as_array().is_some_and(|all| all.contains(default)));
        return Some(
            default.filter(short).or_else(|| Some(first).filter(short)).cloned().unwrap_or_else(|| json!("…")),
        );
    }
    let proposals = values("examples").into_iter().chain(schema.get("example")).chain(schema.get("default"));
    proposals.filter(|value| has_type(schema, value) && is_small(value)).find(|value| fits(schema, value)).cloned()
}

fn has_type(schema: &Value, value: &Value) -> bool {
    let types = types(schema);
    let name = match value {
        Value::Null => return false,
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        // What is inside would have to be checked as well.
        Value::Array(items) if items.iter().any(|item| !item.is_string()) => return false,
        Value::Array(_) => "array",
        Value::Object(_) => return false,
    };
    types.contains(&name) || (name == "integer" && types.contains(&"number"))
}

fn is_small(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= 60 && !text.is_empty(),
        Value::Array(items) => items.len() <= 3 && items.iter().all(is_small),
        _ => true,
    }
}

/// Bounds a proposal could break; patterns are left to the server, who proposed it.
fn fits(schema: &Value, value: &Value) -> bool {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let size = match value {
        Value::Number(number) => number.as_f64().unwrap_or_default(),
        Value::String(text) => text.chars().count() as f64,
        Value::Array(items) => items.len() as f64,
        _ => return true,
    };
    let (low, high) = match value {
        Value::Number(_) => (bound("minimum"), bound("maximum")),
        Value::String(_) => (bound("minLength"), bound("maxLength")),
        _ => (bound("minItems"), bound("maxItems")),
    };
    low.is_none_or(|low| size >= low) && high.is_none_or(|high| size <= high)
}

fn number(schema: &Value, whole: bool) -> Value {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let above = bound("exclusiveMinimum").map(|low| if whole { low.floor() + 1.0 } else { low + 0.5 });
    let below = bound("exclusiveMaximum").map(|high| if whole { high.ceil() - 1.0 } else { high - 0.5 });
    let low = [bound("minimum"), above].into_iter().flatten().fold(f64::NEG_INFINITY, f64::max);
    let high = [bound("maximum"), below].into_iter().flatten().fold(f64::INFINITY, f64::min);
    let mut number = 1f64.max(low).min(high);
    if whole {
        number = if number < low { number.ceil() } else { number.floor().max(low.ceil()) };
    }
    if let Some(step) = bound("multipleOf").filter(|step| *step > 0.0) {
        number = (number / step).ceil() * step;
    }
    if number.fract() == 0.0 && number.abs() < 9e15 { json!(number as i64) } else { json!(number) }
}

fn string(schema: &Value) -> Value {
    let length = |key: &str| schema.get(key).and_then(Value::as_u64);
    let from_pattern = schema.get("pattern").and_then(Value::as_str).and_then(matching);
    let text = from_pattern.or_else(|| formatted(schema).map(str::to_owned)).unwrap_or_else(|| "…".to_owned());
    let (least, most) = (length("minLength").unwrap_or(0).min(MOST_LETTERS) as usize, length("maxLength"));
    let missing = least.saturating_sub(text.chars().count());
    let last = text.chars().next_back().unwrap_or('a');
    let text: String =
        text.chars().chain(std::iter::repeat_n(last, missing)).take(most.unwrap_or(u64::MAX) as usize).collect();
    json!(text)
}

fn formatted(schema: &Value) -> Option<&'static str> {
    Some(match schema.get("format")?.as_str()? {
        "date-time" => "2026-01-31T09:00:00Z",
        "date" => "2026-01-31",
        "time" => "09:00:00Z",
        "duration" => "P1D",
        "email" | "idn-email" => "someone@example.org",
        "uri" | "url" | "iri" | "uri-reference" => "https://example.org",
        "uuid" => "00000000-0000-4000-8000-000000000000",
        "hostname" => "example.org",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "regex" => ".*",
        "json-pointer" => "/a",
        _ => return None,
    })
}
