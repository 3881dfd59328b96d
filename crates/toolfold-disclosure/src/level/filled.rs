//! An example with something in objects and lists that need nothing: a call that changes something does not give an empty one.
//!
//! What a reader would get wrong: nothing here is certain to be accepted. It is a proposal, like what prose gives as an example.

use serde_json::{Map, Value, json};

use super::example::{MOST_BESIDE, MOST_SHOWN, Maker, is_hollow};
use super::illustrated::demanded;
use super::order::{Placed, usual_inside};
use super::simple::UNKNOWN;
use crate::schema::{Parameter, choices, parameters, resolve, types};

/// How deep an object that may be empty is filled.
const DEEPEST_FILLED: usize = 4;

/// What an object that is filled is in.
#[derive(Clone, Copy)]
struct Within {
    depth: usize,
    /// Somebody is named around it.
    addressed: bool,
    in_list: bool,
    /// The description says what is in the object around it: only what is usual is added to that.
    only_usual: bool,
}

impl Default for Within {
    fn default() -> Self {
        Within { depth: 1, addressed: false, in_list: false, only_usual: false }
    }
}

impl Maker<'_> {
    /// The same with something in objects that need nothing: a call that changes something does not give an empty one.
    pub(super) fn filled(&self, arguments: &Value) -> Value {
        let mut members: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
        for parameter in &parameters(self.root, self.root).list {
            if let Some(given) = members.get_mut(parameter.name) {
                *given = self.filled_object(parameter.schema, given.take(), Within::default());
                if parameter.required && is_hollow(given) {
                    *given = self.anything(parameter.schema, given.take());
                }
            }
        }
        Value::Object(members)
    }

    fn filled_object(&self, schema: &Value, given: Value, within: Within) -> Value {
        let depth = within.depth;
        if let Value::Array(items) = given {
            return self.filled_items(schema, items, within);
        }
        let is_empty = given.as_object().is_some_and(Map::is_empty);
        if !is_empty || depth > DEEPEST_FILLED || self.fuel.burn(10).is_err() {
            return given;
        }
        let all = parameters(self.root, schema);
        if self.fuel.burn(all.list.len() as u64).is_err() {
            return given;
        }
        let names = || all.list.iter().map(|inside| inside.name);
        let demanded = if depth == 1 { demanded(&self.entry.description, names()) } else { Vec::new() };
        let (chosen, addressed): (Vec<&Parameter<'_>>, bool) = match demanded.len() {
            0 | 1 => {
                let usual = usual_inside(self.entry, &all.list, within.addressed);
                if within.only_usual && all.list.len() > 1 && !usual.first().is_some_and(Placed::is_usual) {
                    return given;
                }
                let addressed = within.addressed || usual.iter().any(|placed| placed.is_purpose);
                // Where one thing is told from others by its name alone, one of them is enough.
                let most = if within.in_list && !all.list.iter().any(is_plain) { 1 } else { MOST_SHOWN };
                (few(usual, most), addressed)
            }
            _ => (all.list.iter().filter(|inside| demanded.contains(&inside.name)).collect(), within.addressed),
        };
        let within = Within { depth: depth + 1, addressed, in_list: false, only_usual: demanded.len() > 1 };
        let member = |inside: &Parameter<'_>| {
            let made = self.member(inside, depth + 1);
            (inside.name.to_owned(), self.filled_object(inside.schema, made, within))
        };
        Value::Object(chosen.into_iter().map(member).collect())
    }

    /// A list of objects that hold nothing is little of a list.
    fn filled_items(&self, schema: &Value, items: Vec<Value>, within: Within) -> Value {
        let within = Within { in_list: true, ..within };
        let schema = resolve(self.root, schema);
        let schema = choices(schema).first().map_or(schema, |choice| resolve(self.root, choice));
        match schema.get("items").filter(|items| items.is_object()) {
            Some(item) => items.into_iter().map(|given| self.filled_object(item, given, within)).collect(),
            None => Value::Array(items),
        }
    }

    /// Something in what may hold anything, where the schema lets it.
    fn anything(&self, schema: &Value, hollow: Value) -> Value {
        let schema = resolve(self.root, schema);
        let schema = choices(schema).first().map_or(schema, |choice| resolve(self.root, choice));
        if hollow.is_array() {
            return self.array(schema, 1);
        }
        let additional = schema.get("additionalProperties");
        let open = additional != Some(&json!(false)) && schema.get("properties").is_none_or(|p| *p == json!({}));
        let value = additional.filter(|additional| additional.is_object() && **additional != json!({}));
        match open {
            true => json!({"name": value.map_or(json!(UNKNOWN), |value| self.value(value, 1))}),
            false => hollow,
        }
    }
}

/// What a call is for, and a few beside it, so many at most.
pub(super) fn few<'p, 'a>(mut placed: Vec<Placed<'p, 'a>>, most: usize) -> Vec<&'p Parameter<'a>> {
    let purposes = placed.iter().filter(|placed| placed.is_purpose).count();
    let mut beside = most.saturating_sub(purposes).min(MOST_BESIDE);
    placed.retain(|placed| {
        let kept = placed.is_purpose || beside > 0;
        beside -= usize::from(kept && !placed.is_purpose);
        kept
    });
    placed.into_iter().take(most).map(|placed| placed.parameter).collect()
}

fn is_plain(parameter: &Parameter<'_>) -> bool {
    types(parameter.schema).iter().any(|name| ["string", "integer", "number"].contains(name))
}
