//! The whole of a tool, or of one parameter, within a budget. What does not fit is named, with how to get it: a schema of
//! twenty thousand tokens is read in parts or not at all.

use serde_json::{Map, Value, json};
use toolfold_core::{Entry, Fuel};
use toolfold_wire::{Object, Raw, raw};

use super::details::{counted, describe, returned, usage};
use super::order::{MOST_NAMED, by_need};
use super::parameter::{find, nearest, parameter};
use super::prose::{clipped, mentions, paragraphs};
use super::shape::{FUEL, Tool, parameter_shape, shape, short_name};
use super::{Level, description};
use crate::schema::{Parameter, inlined, is_within, parameters, resolve};
use crate::tokens::count;

/// Letters of a token, about: for cutting prose, not for counting.
const LETTERS: usize = 4;
/// No token has more bytes, and no text more of these to a token on the whole.
const LONGEST_TOKEN: usize = 128;
const LONG_TOKEN: usize = 16;
const LONGEST_BRIEF: usize = 120;
/// Required members that are shown whatever it costs.
const MOST_REQUIRED: usize = 60;
const LONGEST_MENTION: usize = 1200;
/// Tokens that must be left over for what is in a member to be told, and members in members that are.
const WORTH_OPENING: usize = 60;
const DEEPEST_OPENED: usize = 3;
/// Tokens kept for what an answer says about itself.
const REMARKS: usize = 60;

/// An entry at a level, in at most so many tokens, as far as its names alone leave room.
pub fn describe_within(entry: &Entry, level: Level, budget: usize) -> Raw {
    if level != Level::Full || !entry.is_tool() {
        return describe(entry, level);
    }
    if is_countable(entry.definition.get(), budget) {
        let whole = describe(entry, level);
        if cost(whole.get(), budget) <= budget {
            return whole;
        }
    }
    let schema = entry.input_schema();
    let all = parameters(&schema, &schema);
    let said = paragraphs(&entry.description, budget / 3 * LETTERS).unwrap_or_else(|| description(entry));
    let cut = said.len() < entry.description.trim().len();
    let mut object = Object::new().with("tool", &entry.id.to_string()).with("description", &said);
    object.set("usage", &usage(entry));
    if let Some(returns) = returned(entry) {
        object.set("returns", &returns);
    }
    let spent = count(object.to_raw().get()) + REMARKS;
    let members = Members { root: &schema, tool: Tool::of(entry), entry, fuel: Fuel::new(10 * FUEL) };
    let (shown, brief) = members.within(by_need(entry, &all.list), budget.saturating_sub(spent), 0);
    object.set("parameters", &shown);
    if !brief.is_empty() {
        object.set("shortened", &brief);
    }
    let words = if cut { " or words of its description" } else { "" };
    let note = format!("not all of it: ask with parameter, a list of names{words}, for more");
    counted(object.with("note", &note))
}

/// One parameter, whole if that fits; otherwise its members in brief. A word that is no parameter's name and that the
/// description has, such as an operation's, gives what is said there.
pub fn parameter_within(entry: &Entry, path: &str, budget: usize) -> Result<Raw, Vec<String>> {
    let root = entry.input_schema();
    let Some((schema, required)) = find(&root, path) else {
        return said_of(entry, path, budget).ok_or_else(|| nearest(&root, path));
    };
    let target = resolve(&root, schema);
    let inner = target.get("items").map_or(target, |items| resolve(&root, items));
    let all = parameters(&root, inner);
    // What refers to what is not shown says less than its members do, where it has any.
    let readable = all.list.is_empty() || whole_of(&root, target, budget).is_some();
    if readable && could_fit(schema, budget) && could_fit(target, budget) {
        let whole = parameter(entry, path)?;
        if cost(whole.get(), budget) <= budget {
            return Ok(whole);
        }
    }
    let mut object = Object::new()
        .with("tool", &entry.id.to_string())
        .with("parameter", path)
        .with("type", &shape(&root, schema, &Fuel::new(FUEL)))
        .with("required", &required);
    if let Some(said) = said_briefly(schema, target) {
        object.set("description", &said);
    }
    let spent = count(object.to_raw().get()) + REMARKS;
    let members = Members { root: &root, tool: Tool::of(entry), entry, fuel: Fuel::new(10 * FUEL) };
    let (shown, brief) = members.within(by_need(entry, &all.list), budget.saturating_sub(spent), 0);
    object.set("members", &shown);
    if !brief.is_empty() {
        object.set("shortened", &brief);
    }
    let note = format!("not all of it: ask with parameter {path:?} and a dot and a member's name for more");
    Ok(counted(object.with("note", &note)))
}

/// What a text costs; far too much where it is so long that nobody need count.
fn cost(text: &str, budget: usize) -> usize {
    if is_countable(text, budget) { count(text) } else { usize::MAX }
}

/// Whether a text could fit at all.
fn is_countable(text: &str, budget: usize) -> bool {
    text.len() / LONGEST_TOKEN <= budget
}

/// Whether a value could, seen without copying it: the same large one may be referred to by every member.
fn could_fit(value: &Value, budget: usize) -> bool {
    is_within(value, budget.saturating_mul(LONG_TOKEN))
}

/// The first line of what is said of a parameter.
fn said_briefly(schema: &Value, target: &Value) -> Option<String> {
    let said = schema.get("description").or_else(|| target.get("description"))?.as_str()?;
    Some(clipped(said.lines().next().unwrap_or_default(), LONGEST_BRIEF))
}

/// A schema as it can be read by itself, where that could fit.
fn whole_of(root: &Value, schema: &Value, budget: usize) -> Option<Value> {
    inlined(root, schema, budget.saturating_mul(LONG_TOKEN))
}

/// Members of a schema, within what an answer has room for.
struct Members<'a> {
    root: &'a Value,
    tool: Tool<'a>,
    entry: &'a Entry,
    fuel: Fuel,
}

/// A member that is not shown whole.
struct Brief<'p, 'a> {
    member: &'p Parameter<'a>,
    form: Value,
    cost: usize,
}

impl<'a> Members<'a> {
    /// As much of each member as there is room for, the most needed first: its schema, or a line, or its name among those
    /// that were shortened. What room is left over then goes to these, the first one first.
    fn within(&self, mut list: Vec<&Parameter<'a>>, budget: usize, depth: usize) -> (Map<String, Value>, Vec<String>) {
        let (mut shown, mut briefs) = (Map::new(), Vec::new());
        // A name costs something too, and every member has one: of hundreds those are named that leave room for something else.
        let mut names = 0;
        let named = list.iter().take(MOST_NAMED).take_while(|member| {
            names += count(&short_name(member.name)) + 2;
            member.required || 2 * names <= budget
        });
        let named = named.count();
        let more = list.len() - named;
        list.truncate(named);
        let mut left = budget.saturating_sub(names);
        for member in list {
            let (whole, all) = self.whole(member, left);
            // No member takes so much that there is nothing left for the others.
            if all.saturating_mul(3) <= left.max(90) && all < left {
                left -= all + 1;
                shown.insert(short_name(member.name), whole);
                continue;
            }
            let form = self.brief(member);
            let cost = cost(&form.to_string(), left);
            let fits = cost < left || (member.required && shown.len() < MOST_REQUIRED);
            let spent = if fits { left.min(cost.saturating_add(1)) } else { 0 };
            if fits {
                left -= spent;
                shown.insert(short_name(member.name), form.clone());
            }
            briefs.push(Brief { member, form, cost: spent });
        }
        let mut shortened: Vec<String> = Vec::new();
        for brief in briefs {
            let name = short_name(brief.member.name);
            let room = left + brief.cost;
            let (whole, all) = self.whole(brief.member, room);
            if all < room {
                left = room - all;
                shown.insert(name, whole);
                continue;
            }
            if let Some((form, cost)) = self.opened(&brief, room, depth) {
                left = room - cost;
                shown.insert(name.clone(), form);
            }
            shortened.push(name);
        }
        shortened.extend((more > 0).then(|| format!("… and {more} more")));
        (shown, shortened)
    }

    /// A member's schema, and what that costs.
    fn whole(&self, member: &Parameter<'a>, left: usize) -> (Value, usize) {
        let Some(schema) = whole_of(self.root, resolve(self.root, member.schema), left) else {
            return (Value::Null, usize::MAX);
        };
        let form = self.form(member, "schema", schema);
        let cost = cost(&form.to_string(), left);
        (form, cost)
    }

    fn brief(&self, member: &Parameter<'a>) -> Value {
        let shape = parameter_shape(self.root, member, Some(&self.tool), &self.fuel);
        let mut form = self.form(member, "type", json!(shape));
        if let Some(said) = said_briefly(member.schema, resolve(self.root, member.schema)) {
            form["description"] = json!(said);
        }
        form
    }

    fn form(&self, member: &Parameter<'a>, key: &str, value: Value) -> Value {
        if member.required { json!({"required": true, key: value}) } else { json!({key: value}) }
    }

    /// A member that was told in a line, with what is in it as far as there is room.
    fn opened(&self, brief: &Brief<'_, 'a>, room: usize, depth: usize) -> Option<(Value, usize)> {
        let schema = resolve(self.root, brief.member.schema);
        let items = schema.get("items").filter(|items| items.is_object());
        let inner = parameters(self.root, items.map_or(schema, |items| resolve(self.root, items)));
        let spare = room.checked_sub(brief.cost + WORTH_OPENING)?;
        if inner.list.is_empty() || depth >= DEEPEST_OPENED || self.fuel.burn(inner.list.len() as u64).is_err() {
            return None;
        }
        let (members, left_out) = self.within(by_need(self.entry, &inner.list), spare, depth + 1);
        let mut form = brief.form.clone();
        form["type"] = json!(if items.is_some() { "object[]" } else { "object" });
        form["members"] = Value::Object(members);
        if !left_out.is_empty() {
            form["shortened"] = json!(left_out);
        }
        let cost = cost(&form.to_string(), room);
        (cost < room).then_some((form, cost))
    }
}

fn said_of(entry: &Entry, word: &str, budget: usize) -> Option<Raw> {
    let said = mentions(&entry.description, word, LONGEST_MENTION.min(budget * LETTERS))?;
    Some(raw(&json!({"tool": entry.id.to_string(), "about": word, "said": said})))
}
