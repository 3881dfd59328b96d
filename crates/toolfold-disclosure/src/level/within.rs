//! The whole of a tool, or of one parameter, within a budget. What does not fit is named, with how to get it: a schema of
//! twenty thousand tokens is read in parts or not at all.

use serde_json::{Value, json};
use toolfold_core::Entry;
use toolfold_wire::{Object, Raw, raw};

use super::details::{counted, describe, returned, usage};
use super::members::{LONG_TOKEN, Manner, Members, cost, is_countable};
use super::parameter::{find, nearest, parameter};
use super::part::Part;
use super::prose::{mentions, paragraphs};
use super::{Level, description};
use crate::schema::{is_within, parameters};
use crate::tokens::count;

/// Letters of a token, about: for cutting prose, not for counting.
pub(super) const LETTERS: usize = 4;
const LONGEST_MENTION: usize = 1200;
/// Tokens kept for what an answer says about itself.
pub(super) const REMARKS: usize = 60;

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
    let members = Members::of(&schema, entry, Manner::Schema);
    let (shown, brief) = members.fitted(&all.list, budget.saturating_sub(spent));
    object.set("parameters", &shown);
    if !brief.is_empty() {
        object.set("shortened", &brief);
    }
    let words = if cut { " or words of its description" } else { "" };
    let note = format!("not all of it: ask with parameter, a list of names{words}, for more");
    counted(object.with("note", &note))
}

/// One parameter, whole if that fits; otherwise as much of it as does. A word that is no parameter's name and that the
/// description has, such as an operation's, gives what is said there. `alone`: nothing else is asked for in the same request.
pub fn parameter_within(entry: &Entry, path: &str, budget: usize, alone: bool) -> Result<Raw, Vec<String>> {
    let root = entry.input_schema();
    let Some((schema, required)) = find(&root, path) else {
        return said_of(entry, path, budget).map(|said| raw(&said)).ok_or_else(|| nearest(&root, path));
    };
    let name = entry.id.to_string();
    let part = Part { entry, name: &name, path, root: &root, schema, required, alone };
    if part.is_readable(budget) && could_fit(&part, budget) {
        let whole = parameter(entry, path)?;
        if cost(whole.get(), budget) <= budget {
            return Ok(whole);
        }
    }
    Ok(counted(part.within(budget, Manner::Schema)))
}

/// Whether a parameter could, seen without copying it: the same large one may be referred to by every member.
pub(super) fn could_fit(part: &Part<'_>, budget: usize) -> bool {
    let fits = |value| is_within(value, budget.saturating_mul(LONG_TOKEN));
    fits(part.schema) && fits(part.target())
}

/// What the description says of a word.
pub(super) fn said_of(entry: &Entry, word: &str, budget: usize) -> Option<Value> {
    let said = mentions(&entry.description, word, LONGEST_MENTION.min(budget * LETTERS))?;
    Some(json!({"tool": entry.id.to_string(), "about": word, "said": said}))
}
