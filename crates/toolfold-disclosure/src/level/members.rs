//! The parameters of a tool, or the members of one of them, within what an answer has room for.

use serde_json::{Map, Value, json};
use toolfold_core::{Entry, Fuel};

use super::order::{MOST_NAMED, by_need};
use super::page::{means, specification};
use super::prose::clipped;
use super::shape::{FUEL, Tool, parameter_shape, short_name};
use crate::schema::{Parameter, Room, inlined, parameters, resolve};
use crate::tokens::count;

/// No token has more bytes, and no text more of these to a token on the whole.
const LONGEST_TOKEN: usize = 128;
pub(super) const LONG_TOKEN: usize = 16;
const LONGEST_BRIEF: usize = 120;
/// Required members that are shown whatever it costs.
const MOST_REQUIRED: usize = 60;
/// Tokens that must be left over for what is in a member to be told, and members in members that are.
const WORTH_OPENING: usize = 60;
const DEEPEST_OPENED: usize = 3;

/// How a member is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// As a schema.
    Schema,
    /// As on a page: type, description, whether it is required, and what else there is to know of it.
    Page,
}

/// Members of a schema.
pub(super) struct Members<'a> {
    root: &'a Value,
    tool: Tool<'a>,
    entry: &'a Entry,
    fuel: Fuel,
    manner: Manner,
    means: (Room, Fuel),
}

/// A member that is not shown whole.
struct Brief<'p, 'a> {
    member: &'p Parameter<'a>,
    form: Value,
    cost: usize,
}

impl<'a> Members<'a> {
    pub(super) fn of(root: &'a Value, entry: &'a Entry, manner: Manner) -> Self {
        Members { root, tool: Tool::of(entry), entry, fuel: Fuel::new(10 * FUEL), manner, means: means() }
    }

    /// As much of each as there is room for, the most needed first, and the names of those that are not whole.
    pub(super) fn fitted(&self, list: &[Parameter<'a>], budget: usize) -> (Map<String, Value>, Vec<String>) {
        self.within(by_need(self.entry, list), budget, 0)
    }

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

    /// All there is to know of a member, and what that costs.
    fn whole(&self, member: &Parameter<'a>, left: usize) -> (Value, usize) {
        let Some(schema) = whole_of(self.root, resolve(self.root, member.schema), left) else {
            return (Value::Null, usize::MAX);
        };
        let form = match self.manner {
            Manner::Schema => required_first(member, "schema", schema),
            Manner::Page => {
                let mut form = specification(self.root, member.schema, member.required, &self.means);
                if let Some(shown) = form.get_mut("schema") {
                    *shown = schema;
                }
                form
            }
        };
        let cost = cost(&form.to_string(), left);
        (form, cost)
    }

    fn brief(&self, member: &Parameter<'a>) -> Value {
        let shape = parameter_shape(self.root, member, Some(&self.tool), &self.fuel);
        let said = said_briefly(member.schema, resolve(self.root, member.schema));
        if self.manner == Manner::Page {
            return json!({"type": shape, "description": said.unwrap_or_default(), "required": member.required});
        }
        let mut form = required_first(member, "type", json!(shape));
        if let Some(said) = said {
            form["description"] = json!(said);
        }
        form
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

fn required_first(member: &Parameter<'_>, key: &str, value: Value) -> Value {
    if member.required { json!({"required": true, key: value}) } else { json!({key: value}) }
}

/// What a text costs; far too much where it is so long that nobody need count.
pub(super) fn cost(text: &str, budget: usize) -> usize {
    if is_countable(text, budget) { count(text) } else { usize::MAX }
}

/// Whether a text could fit at all.
pub(super) fn is_countable(text: &str, budget: usize) -> bool {
    text.len() / LONGEST_TOKEN <= budget
}

/// The first line of what is said of a parameter.
pub(super) fn said_briefly(schema: &Value, target: &Value) -> Option<String> {
    let said = schema.get("description").or_else(|| target.get("description"))?.as_str()?;
    Some(clipped(said.lines().next().unwrap_or_default(), LONGEST_BRIEF))
}

/// A schema as it can be read by itself, where that could fit.
pub(super) fn whole_of(root: &Value, schema: &Value, budget: usize) -> Option<Value> {
    inlined(root, schema, budget.saturating_mul(LONG_TOKEN))
}
