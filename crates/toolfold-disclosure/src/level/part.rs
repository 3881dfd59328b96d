//! One parameter that is too large for its answer: what is in it, in brief, or what there is to know of it with the first of what is
//! said. What does not fit is named, with how to get it.

use serde_json::{Map, Value, json};
use toolfold_core::{Entry, Fuel};
use toolfold_wire::Object;

use super::members::{Manner, Members, cost, said_briefly, whole_of};
use super::prose::clipped;
use super::shape::{FUEL, shape};
use super::within::{LETTERS, REMARKS};
use crate::schema::{Parameter, is_within, parameters, resolve};
use crate::tokens::count;

/// What is told of a parameter beside its schema.
const BESIDE: [&str; 4] = ["description", "default", "enum", "examples"];

/// What was asked for: a parameter of a tool that is called by this name, and whether nothing else was.
pub(super) struct Part<'a> {
    pub(super) entry: &'a Entry,
    pub(super) name: &'a str,
    pub(super) path: &'a str,
    pub(super) root: &'a Value,
    pub(super) schema: &'a Value,
    pub(super) required: bool,
    pub(super) alone: bool,
}

impl<'a> Part<'a> {
    pub(super) fn target(&self) -> &'a Value {
        resolve(self.root, self.schema)
    }

    /// What is in it, be it one object or a list of them.
    pub(super) fn members(&self) -> Vec<Parameter<'a>> {
        let target = self.target();
        let inner = target.get("items").map_or(target, |items| resolve(self.root, items));
        parameters(self.root, inner).list
    }

    /// Whether it can be read by itself: what refers to what is not shown says less than its members do, where it has any.
    pub(super) fn is_readable(&self, budget: usize) -> bool {
        self.members().is_empty() || whole_of(self.root, self.target(), budget).is_some()
    }

    /// As much of it as there is room for.
    pub(super) fn within(&self, budget: usize, manner: Manner) -> Object {
        let mut object = Object::new()
            .with("tool", self.name)
            .with("parameter", self.path)
            .with("type", &shape(self.root, self.schema, &Fuel::new(FUEL)))
            .with("required", &self.required);
        let members = self.members();
        if members.is_empty() {
            self.tell(&mut object, budget);
        } else {
            self.open(&mut object, &members, budget, manner);
        }
        object
    }

    fn open(&self, object: &mut Object, list: &[Parameter<'a>], budget: usize, manner: Manner) {
        if let Some(said) = said_briefly(self.schema, self.target()) {
            object.set("description", &said);
        }
        let left = budget.saturating_sub(count(object.to_raw().get()) + REMARKS);
        let (shown, brief) = Members::of(self.root, self.entry, manner).fitted(list, left);
        object.set("members", &shown);
        if !brief.is_empty() {
            object.set("shortened", &brief);
        }
        let path = self.path;
        let note = format!("not all of it: ask with parameter {path:?} and a dot and a member's name for more");
        object.set("note", &note);
    }

    /// Its values and what they must be like, and then as much of its description as there is room for.
    fn tell(&self, object: &mut Object, budget: usize) {
        let mut left = budget.saturating_sub(count(object.to_raw().get()) + REMARKS);
        let target = self.target();
        let said = |key: &str| self.schema.get(key).or_else(|| target.get(key));
        let mut cut: Vec<String> = Vec::new();
        for key in ["default", "enum", "examples"] {
            let Some(value) = said(key) else { continue };
            let (shown, more) = first_of(value, left / 2);
            if more > 0 {
                cut.push(format!("{more} more of its {key}"));
            }
            if let Some(shown) = shown {
                left = left.saturating_sub(count(&shown.to_string()) + 3);
                object.set(key, &shown);
            }
        }
        if let Some(schema) = self.bare_schema(left / 2) {
            left = left.saturating_sub(count(&schema.to_string()) + 3);
            object.set("schema", &schema);
        }
        if let Some(text) = said("description").and_then(Value::as_str) {
            let shown = first_words(text, left);
            if shown.len() < text.len() {
                cut.push("all of its description".to_owned());
            }
            object.set("description", &shown);
        }
        let note = match (cut.is_empty(), self.alone) {
            (true, _) => return,
            (_, true) => format!("without {}: that is more than an answer may cost", cut.join(" and ")),
            _ => format!("ask for parameter {:?} alone for {}", self.path, cut.join(" and ")),
        };
        object.set("note", &note);
    }

    /// Its schema without what is told beside it, where that says more than a type.
    fn bare_schema(&self, budget: usize) -> Option<Value> {
        let target = self.target().as_object()?;
        let rest = target.iter().filter(|(key, _)| !BESIDE.contains(&key.as_str()));
        let rest: Vec<(&String, &Value)> = rest.take_while(|(_, value)| is_within(value, budget * LETTERS)).collect();
        let complete = rest.len() == target.keys().filter(|key| !BESIDE.contains(&key.as_str())).count();
        let bare: Map<String, Value> = rest.into_iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        let says_more = bare.keys().any(|key| key != "type");
        let whole = (complete && says_more).then(|| whole_of(self.root, &Value::Object(bare), budget))??;
        (cost(&whole.to_string(), budget) <= budget).then_some(whole)
    }
}

/// A value, or the first of a list, within so many tokens; and how many are left out.
fn first_of(value: &Value, budget: usize) -> (Option<Value>, usize) {
    if is_within(value, budget * LETTERS * 2) && cost(&value.to_string(), budget) <= budget {
        return (Some(value.clone()), 0);
    }
    let Value::Array(values) = value else { return (None, 1) };
    let mut left = budget;
    let fits = |value: &&Value| {
        let cost = if is_within(value, left * LETTERS * 2) { cost(&value.to_string(), left) + 1 } else { usize::MAX };
        left.checked_sub(cost).inspect(|rest| left = *rest).is_some()
    };
    let first: Vec<&Value> = values.iter().take_while(fits).collect();
    let more = values.len() - first.len();
    ((!first.is_empty()).then(|| json!(first)), more)
}

/// As much of a text as costs so many tokens.
fn first_words(text: &str, budget: usize) -> String {
    let mut letters = 2 * budget * LETTERS;
    loop {
        let shown = clipped(text, letters);
        if count(&shown) <= budget || letters < LETTERS {
            return shown;
        }
        letters = letters * 7 / 8;
    }
}
