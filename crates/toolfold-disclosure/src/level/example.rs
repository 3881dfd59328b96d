//! Arguments that the schema accepts: those of an example that the definition gives, or what is required, in the simplest values that
//! fit, and what most calls give besides.
//! Best effort, since a schema can ask for anything; the tests count how often it succeeds on real tools.

use serde_json::{Map, Value, json};
use toolfold_core::{Entry, Fuel, words};
use toolfold_schema::Schema;

use super::filled::few;
use super::illustrated::objects;
use super::limit::listed;
use super::order::usual;
use super::said::Values;
use super::simple::{UNKNOWN, fits, given, is_small, number, shallow, string};
use crate::arguments::QUICK;
use crate::schema::{Parameter, Parameters, choices, is_within, parameters, resolve, types};

const DEEPEST: usize = 6;
/// Values and members that are looked at. References multiply: sixty members of sixty members are few bytes and no end of
/// work. Where it is spent, what is left is `null`.
const FUEL: u64 = 20_000;
const MOST_ITEMS: u64 = 20;
const MOST_MEMBERS: usize = 60;
/// Items that have schemas of their own, and values of a choice that are looked at.
const MOST_LEADING: u64 = 200;
const MOST_VALUES: usize = 1_000;
/// Bytes of schemas that are put together.
const LARGEST_MERGED: usize = 16 * 1024;

/// Parameters that are shown beside the required ones and what the call is for, and how many there are in all at most.
pub(super) const MOST_BESIDE: usize = 2;
pub(super) const MOST_SHOWN: usize = 5;
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
    let maker = Maker { entry, root: &schema, fuel: Fuel::new(FUEL) };
    let least = maker.object(&schema, 0);
    let typical = maker.typical(&least);
    let filled = if only_looks(entry) { typical.clone() } else { maker.filled(&typical) };
    let mut proposed = maker.illustrated(&filled);
    if proposed.is_empty() && filled == least {
        return least;
    }
    proposed.extend([filled, typical]);
    first_accepted(schema, proposed).unwrap_or(least)
}

/// Makes values for one tool's schema, within its fuel.
pub(super) struct Maker<'a> {
    pub(super) entry: &'a Entry,
    pub(super) root: &'a Value,
    pub(super) fuel: Fuel,
}

impl Maker<'_> {
    /// What is required and what is usual, with a choice that does what the tool is for.
    fn typical(&self, least: &Value) -> Value {
        let all = parameters(self.root, self.root);
        let mut members: Map<String, Value> = least.as_object().cloned().unwrap_or_default();
        let room = MOST_SHOWN.saturating_sub(members.len());
        let mut usual = usual(self.entry, &all.list);
        usual.retain(|usual| !members.contains_key(usual.parameter.name));
        let beside: Vec<(String, Value)> =
            few(usual, room).into_iter().map(|usual| (usual.name.to_owned(), self.member(usual, 1))).collect();
        members.extend(beside);
        if let ([only], true) = (all.list.as_slice(), members.is_empty()) {
            members.extend(self.only(only).map(|made| (only.name.to_owned(), made)));
        }
        for parameter in &all.list {
            let Some(given) = members.get_mut(parameter.name) else { continue };
            let values = resolve(self.root, parameter.schema).get("enum").and_then(Value::as_array);
            let values = values.map(|values| values.get(..MOST_VALUES).unwrap_or(values));
            if let Some(better) = values.and_then(|values| fitting_choice(self.entry, values)) {
                *given = better.clone();
            }
        }
        Value::Object(members)
    }

    /// The one object that holds all that a tool can be given, where a call gives something in it.
    fn only(&self, parameter: &Parameter<'_>) -> Option<Value> {
        let members = parameters(self.root, parameter.schema).list;
        let made = Some(self.member(parameter, 1)).filter(|made| made.is_object() && !members.is_empty())?;
        (!is_hollow(&made) || !only_looks(self.entry)).then_some(made)
    }

    /// The same with what an example in the tool's text, or in that of a parameter, gives in its place. Each is a proposal.
    fn illustrated(&self, arguments: &Value) -> Vec<Value> {
        let all = parameters(self.root, self.root);
        let takes = |name: &String| all.list.iter().any(|parameter| parameter.name == name);
        let Some(given) = arguments.as_object() else { return Vec::new() };
        let mut proposed = Vec::new();
        // Of everything: only names of parameters.
        for example in objects(&self.entry.description, "") {
            let Some(members) = example.as_object().filter(|members| !members.is_empty()) else { continue };
            if members.keys().all(takes) {
                let required = given.iter().filter(|(name, _)| all.list.iter().any(|p| p.required && p.name == *name));
                let mut whole: Map<String, Value> = members.clone();
                for (name, value) in required {
                    whole.entry(name.clone()).or_insert_with(|| value.clone());
                }
                proposed.push(Value::Object(whole));
            }
        }
        for parameter in all.list.iter().filter(|parameter| given.contains_key(parameter.name)).take(MOST_SHOWN) {
            let schema = resolve(self.root, parameter.schema);
            if !is_object(schema) {
                continue;
            }
            let own = parameter.schema.get("description").and_then(Value::as_str).unwrap_or_default();
            let single = given.values().filter(|value| value.is_object()).count() == 1;
            let told = objects(&self.entry.description, parameter.name).into_iter().filter(|_| single);
            let examples = objects(own, parameter.name).into_iter().chain(told);
            for example in examples.filter_map(|example| self.spelled(schema, example)) {
                let mut with = given.clone();
                with.insert(parameter.name.to_owned(), example);
                proposed.push(Value::Object(with));
            }
        }
        proposed
    }

    /// An example with the names that the schema has; nothing where it is an example of something else.
    fn spelled(&self, schema: &Value, example: Value) -> Option<Value> {
        let all = parameters(self.root, schema).list;
        let Value::Object(members) = example else { return None };
        if all.is_empty() {
            return Some(Value::Object(members));
        }
        self.fuel.burn_for(all.len() * members.len(), 16).ok()?;
        let spelled = |(name, value): (String, Value)| {
            let known = all.iter().find(|member| member.name.eq_ignore_ascii_case(&name))?;
            Some((known.name.to_owned(), value))
        };
        members.into_iter().map(spelled).collect::<Option<Map<_, _>>>().map(Value::Object)
    }

    /// The value of a member: of a text that could be any, one that the prose tells, as the signature shows it.
    pub(super) fn member(&self, member: &Parameter<'_>, depth: usize) -> Value {
        let made = self.value(member.schema, depth);
        if made != UNKNOWN || self.fuel.burn(10).is_err() {
            return made;
        }
        let schema = resolve(self.root, member.schema);
        let told = if depth == 1 { self.entry.description.as_str() } else { "" };
        let Some(Values::All(values) | Values::Some(values)) = listed(member.name, member.schema, schema, told) else {
            return made;
        };
        let values: Vec<Value> = values.into_iter().map(Value::from).filter(|value| fits(schema, value)).collect();
        fitting_choice(self.entry, &values).or(values.first()).cloned().unwrap_or(made)
    }

    pub(super) fn value(&self, schema: &Value, depth: usize) -> Value {
        let schema = resolve(self.root, schema);
        let is_spent = self.fuel.burn(1).is_err();
        if let Some(given) = given(schema).filter(|_| !is_spent) {
            return given;
        }
        if is_spent {
            return Value::Null;
        }
        if depth > DEEPEST {
            return shallow(schema);
        }
        let types = types(schema);
        let is_object = types.contains(&"object") || schema.get("properties").is_some();
        if let (false, Some(choice)) = (is_object, choices(schema).first()) {
            let made = self.value(&self.merged(schema, choice), depth + 1);
            return self.told_apart(schema, choice, made);
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

    /// Where only one of several may fit, with what says which one it is.
    fn told_apart(&self, schema: &Value, choice: &Value, mut made: Value) -> Value {
        let several = schema.get("oneOf").and_then(Value::as_array).is_some_and(|choices| choices.len() > 1);
        let members = resolve(self.root, choice).get("properties").and_then(Value::as_object);
        if let (true, Some(made), Some(members)) = (several, made.as_object_mut(), members) {
            for (name, member) in members.iter().take(MOST_MEMBERS) {
                if let Some(constant) = member.get("const").filter(|constant| is_small(constant)) {
                    made.entry(name.clone()).or_insert_with(|| constant.clone());
                }
            }
        }
        made
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
            let known = || all.list.iter().find(|parameter| parameter.name == name);
            let member = match own {
                Some(own) => self.value(own, depth + 1),
                None => known().map_or(json!(UNKNOWN), |known| self.member(known, depth + 1)),
            };
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
                members.insert(parameter.name.to_owned(), self.member(parameter, depth + 1));
            }
        }
        let additional = schema.get("additionalProperties").filter(|additional| additional.is_object());
        for number in members.len()..least {
            let value = additional.map_or(json!(UNKNOWN), |schema| self.value(schema, depth + 1));
            members.insert(format!("key{number}"), value);
        }
    }

    pub(super) fn array(&self, schema: &Value, depth: usize) -> Value {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(1).clamp(1, MOST_ITEMS);
        let most = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(MOST_ITEMS).min(MOST_LEADING);
        let leading = schema.get("prefixItems").and_then(Value::as_array);
        let item = |place: usize| {
            let own = leading.and_then(|leading| leading.get(place)).or_else(|| schema.get("items"));
            own.map_or(json!(UNKNOWN), |item| self.value(item, depth + 1))
        };
        let least = leading.map_or(least, |leading| least.max(leading.len() as u64)).min(most);
        let mut items: Vec<Value> = (0..least as usize).map(item).collect();
        // Different ones where they must be: texts and numbers can be varied.
        if schema.get("uniqueItems").and_then(Value::as_bool) == Some(true) {
            for (place, item) in items.iter_mut().enumerate().skip(1) {
                match item {
                    Value::String(text) => text.push_str(&place.to_string()),
                    Value::Number(number) => *item = json!(number.as_i64().unwrap_or(0).saturating_add(place as i64)),
                    _ => {}
                }
            }
        }
        Value::Array(items)
    }
}

/// Of the values of a choice one that the tool's name has; of a tool that changes things, one that is not only a look.
fn fitting_choice<'v>(entry: &Entry, values: &'v [Value]) -> Option<&'v Value> {
    let name = words::split(entry.name());
    let has = |value: &&Value, wanted: &dyn Fn(&String) -> bool| {
        value.as_str().is_some_and(|value| words::split(value).first().is_some_and(wanted))
    };
    let named = values.iter().find(|value| has(value, &|word| name.contains(word)));
    let does = entry.hints.read_only != Some(true) && name.iter().any(|word| DOES.contains(&word.as_str()));
    let first_looks = values.first().is_some_and(|first| has(&first, &|word| ONLY_LOOKS.contains(&word.as_str())));
    let deed = || values.iter().find(|value| has(value, &|word| !ONLY_LOOKS.contains(&word.as_str())));
    named.or_else(|| if does && first_looks { deed() } else { None })
}

/// Whether it says, or its name does, that it changes nothing.
fn only_looks(entry: &Entry) -> bool {
    let verb = words::split(entry.name()).into_iter().next();
    entry.only_reads() || verb.is_some_and(|verb| ONLY_LOOKS.contains(&verb.as_str()))
}

/// The first of these arguments that the schema accepts.
fn first_accepted(schema: Value, all: Vec<Value>) -> Option<Value> {
    let schema = Schema::prepare(schema, &Fuel::new(QUICK)).ok()?;
    all.into_iter().find(|arguments| schema.is_valid(arguments, &Fuel::new(QUICK)).unwrap_or(false))
}

fn is_object(schema: &Value) -> bool {
    types(schema).contains(&"object") || schema.get("properties").is_some() || !choices(schema).is_empty()
}

/// An object or a list that holds nothing.
pub(super) fn is_hollow(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}
