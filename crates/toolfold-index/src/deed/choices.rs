//! What a tool can be told to do: the choices of a parameter, as its schema declares them or its prose names them.
//!
//! What a reader would get wrong: what prose lists is kept apart. It is read to be careful with a tool; as a reason to find
//! one it was measured, and brought forward tools that manage everything. And a choice can be a state: of a tool that changes
//! things "deleted" is what something is to become, of one that looks it is which things are looked for.

use serde_json::Value;
use toolfold_core::words;

use super::lexicon::{Acts, Effect, lexicon};
use crate::analyse::beginning;

/// Parameters that say what is to be done, where a tool does several things.
const CHOICES: [&str; 9] = ["action", "cmd", "command", "method", "mode", "op", "operation", "state", "verb"];
/// Bytes of a description in which choices are looked for.
const LONGEST_CHOICES: usize = 600;
/// Said of a choice by which something is lost: "hard (discard all changes)".
const LOSES: [&str; 4] = ["discard", "discards", "erases", "wipes"];
/// Words of a description at the beginning of which a parameter says that it filters.
const SAYS_FILTER: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Choices {
    /// Declared, or in quotes.
    pub(super) offered: Acts,
    /// Listed in prose, or said of a choice.
    pub(super) mentioned: Acts,
    /// Those of both that are deeds in whatever tool: no states, and nothing that is filtered by.
    pub(super) commands: Acts,
}

impl Choices {
    /// What the choices of a schema stand for: `"action": {"enum": ["create", "delete"]}`. Where a parameter says nothing, its
    /// line in the description may.
    pub(super) fn read(schema: &Value, description: &str) -> Choices {
        let mut choices = Choices::default();
        let Some(Value::Object(properties)) = schema.get("properties") else { return choices };
        for (name, property) in properties {
            if words::split(name).iter().any(|word| CHOICES.contains(&word.as_str())) {
                choices.add(name, property, description);
            }
        }
        choices
    }

    fn add(&mut self, name: &str, property: &Value, description: &str) {
        let own = property.get("description").and_then(Value::as_str);
        let told = own.or_else(|| line_about(description, name)).unwrap_or_default();
        let told = beginning(told, LONGEST_CHOICES);
        let offered = match property.get("enum") {
            Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
            _ => quoted(own.map_or("", |_| told)),
        };
        let loses = words::split(told).iter().any(|word| LOSES.contains(&word.as_str()));
        let lost = if loses { acts(&["delete"]) } else { Acts::NONE };
        let mentioned = acts(&quoted(told)) | acts(&listed(told)) | lost;
        self.offered |= acts(&offered);
        self.mentioned |= mentioned;
        if !filters(name, told) || looks_and_destroys(plain(&offered)) {
            self.commands |= plain(&offered) | mentioned;
        }
    }
}

/// Nothing is filtered by both: who is told to look or to delete is told what to do.
fn looks_and_destroys(offered: Acts) -> bool {
    lexicon().any(offered, Effect::Look) && lexicon().any(offered, Effect::Destroy)
}

/// Whether a parameter of a tool that looks says which things are meant, and not what is to be done.
fn filters(name: &str, told: &str) -> bool {
    let is_filter = |word: &String| word.starts_with("filter");
    let name = words::split(name);
    name.iter().any(is_filter)
        || name.last().is_some_and(|last| last == "state")
        || words::split(told).iter().take(SAYS_FILTER).any(is_filter)
}

fn acts(values: &[&str]) -> Acts {
    let words = values.iter().flat_map(|value| words::split(value));
    let verbs = words.filter_map(|word| lexicon().word(&word));
    verbs.fold(Acts::NONE, |all, word| all | word.acts)
}

/// The same of verbs in their plain form: "delete" is a deed, "deleted" and "deleting" are states.
fn plain(values: &[&str]) -> Acts {
    let words = values.iter().flat_map(|value| words::split(value));
    let verbs = words.filter_map(|word| lexicon().exactly(&word));
    verbs.fold(Acts::NONE, |all, word| all | word.acts)
}

/// What a description says about a parameter in a line of its own: `operation: Operation type ("add", "remove")`.
fn line_about<'a>(description: &'a str, name: &str) -> Option<&'a str> {
    let lines = description.lines().map(|line| line.trim_start_matches([' ', '\t', '-', '*']));
    lines.filter_map(|line| line.strip_prefix(name)).find(|rest| rest.starts_with([':', ' ']))
}

/// The verbs in quotes, where choices are told and not declared: `"create", "update", or "delete"`. One alone is an example.
fn quoted(text: &str) -> Vec<&str> {
    let words = ['"', '\'', '`'].into_iter().flat_map(|quote| text.split(quote).skip(1).step_by(2));
    several(words.filter(|word| lexicon().exactly(word).is_some()).collect())
}

/// The choices behind a colon, where each is one word: "create-table, delete-table, or list-tables", or each in a line of its
/// own with what it means.
fn listed(text: &str) -> Vec<&str> {
    let Some((_, list)) = text.split_once(':') else { return Vec::new() };
    let items = list.split([',', ';', '|', '\n']).map(|item| {
        let item = item.trim_start_matches([' ', '\t', '-', '*']);
        let item = item.strip_prefix("or ").or_else(|| item.strip_prefix("and ")).unwrap_or(item);
        item.split([':', '(', '.']).next().unwrap_or_default().trim().trim_matches(['"', '\'', '`'])
    });
    let is_choice = |item: &&str| {
        let first = words::split(item).into_iter().next();
        !item.contains(' ') && first.is_some_and(|word| lexicon().exactly(&word).is_some())
    };
    several(items.filter(is_choice).collect())
}

fn several(verbs: Vec<&str>) -> Vec<&str> {
    if verbs.len() > 1 { verbs } else { Vec::new() }
}
