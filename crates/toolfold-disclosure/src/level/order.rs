//! Which parameters most calls need: those come first, so that what is cut is what hardly anybody gives.
//!
//! A definition says so in many ways, and seldom in its schema: what is required in some cases is written in prose, what
//! a tool is about is in its name, and what nobody should use any more is called obsolete.

use toolfold_core::{Entry, words};

use super::purpose::Purpose;
use crate::schema::Parameter;

/// What many tools are given, whatever they do.
const USUAL: [&str; 26] = [
    "query",
    "q",
    "text",
    "body",
    "content",
    "contents",
    "message",
    "title",
    "name",
    "subject",
    "to",
    "from",
    "url",
    "path",
    "description",
    "prompt",
    "input",
    "data",
    "value",
    "values",
    "id",
    "status",
    "state",
    "start",
    "end",
    "date",
];
/// What goes well without, and stands first in many a schema.
const SELDOM: [&str; 19] = [
    "page", "per", "offset", "cursor", "token", "fields", "expand", "format", "verbose", "timeout", "locale", "dry",
    "callback", "debug", "raw", "headers", "created", "modified", "odata",
];
const NEEDED_AT_TIMES: [&str; 6] =
    ["required if", "required when", "required unless", "required for", "must be provided", "must be specified"];
/// Beginnings of what is said of a parameter that every call has, whatever the schema says.
const MUST_BE: [&str; 4] = ["required.", "required:", "required -", "(required)"];
/// Beginnings of what is said of a parameter that few calls have.
const FOR_FEW: [&str; 2] = ["optional if", "optional custom"];
/// Beginnings of a description, or words in brackets at its beginning.
const GONE: [&str; 7] = ["deprecated", "obsolete", "reserved", "do not use", "unused", "not used", "legacy"];
/// Letters of a description that are looked at.
const LOOKED_AT: usize = 300;
/// Parameters that are put in order; of more than that the order is the definition's own.
const MOST_ORDERED: usize = 1_000;
/// Parameters that one answer names. Of more than that it says how many there are.
pub(super) const MOST_NAMED: usize = 200;
/// The same where they are only named: further ones only if they are required.
pub(super) const MOST_LISTED: usize = 60;

/// What only the other side sets.
const READ_ONLY: u8 = 6;

/// A parameter, and how much most calls need it.
#[derive(Clone, Copy)]
pub(super) struct Placed<'p, 'a> {
    pub(super) parameter: &'p Parameter<'a>,
    need: u8,
    /// The call is little without it.
    pub(super) is_purpose: bool,
}

impl Placed<'_, '_> {
    /// Whether most calls give it.
    pub(super) fn is_usual(&self) -> bool {
        self.parameter.required || self.need <= 2
    }
}

/// The parameters of a tool: required ones, then those that are needed at times, usual ones, the others, those that are
/// seldom given, those that are there for old clients, and those that only come back. Of those that are needed alike, first
/// what the call is for.
pub(super) fn by_need<'p, 'a>(entry: &Entry, list: &'p [Parameter<'a>]) -> Vec<&'p Parameter<'a>> {
    let about = words::split(entry.name());
    sorted(&about, list, &Purpose::of(&about, list)).into_iter().map(|placed| placed.parameter).collect()
}

fn sorted<'p, 'a>(about: &[String], list: &'p [Parameter<'a>], purpose: &Purpose) -> Vec<Placed<'p, 'a>> {
    let ordered = list.len().min(MOST_ORDERED);
    let place = |(at, parameter): (usize, &'p Parameter<'a>)| {
        if parameter.required || at >= ordered {
            return Placed { parameter, need: 0, is_purpose: false };
        }
        placed(parameter, about, purpose)
    };
    let mut sorted: Vec<Placed<'p, 'a>> = list.iter().enumerate().map(place).collect();
    // What the schema requires comes before what is only said to be: that may be cut.
    sorted[..ordered].sort_by_key(|placed| (!placed.parameter.required, placed.need, !placed.is_purpose));
    sorted
}

fn placed<'p, 'a>(parameter: &'p Parameter<'a>, about: &[String], purpose: &Purpose) -> Placed<'p, 'a> {
    let need = need(parameter, about);
    if need > 3 {
        return Placed { parameter, need, is_purpose: false };
    }
    let most = purpose.needs(&words::split(parameter.name));
    let need = if purpose.is_sender(parameter) { 4 } else { need.min(most.unwrap_or(need)) };
    Placed { parameter, need, is_purpose: most.is_some() }
}

/// The members of an object among the arguments in the same order, without those that only come back.
pub(super) fn by_need_inside<'p, 'a>(about: &[String], list: &'p [Parameter<'a>]) -> Vec<Placed<'p, 'a>> {
    let mut inside = sorted(about, list, &Purpose::of(about, list).inside(false));
    inside.truncate(MOST_ORDERED);
    inside.retain(|placed| placed.parameter.required || placed.need < READ_ONLY);
    inside
}

/// The names of parameters, as many as one answer has; `shown` makes a text of each.
pub(super) fn named(list: &[&Parameter<'_>], shown: impl Fn(&Parameter<'_>) -> String) -> Vec<String> {
    let required = list.iter().filter(|parameter| parameter.required).count();
    let most = required.clamp(MOST_LISTED, MOST_NAMED);
    let more = list.len().saturating_sub(most);
    let names = list.iter().take(most).map(|parameter| shown(parameter));
    names.chain((more > 0).then(|| format!("… and {more} more"))).collect()
}

/// Those beside the required ones that a typical call gives, the most needed first.
pub(super) fn usual<'p, 'a>(entry: &Entry, list: &'p [Parameter<'a>]) -> Vec<Placed<'p, 'a>> {
    let about = words::split(entry.name());
    let mut usual = sorted(&about, list, &Purpose::of(&about, list));
    usual.truncate(MOST_ORDERED);
    usual.retain(|placed| !placed.parameter.required && placed.need <= 2);
    usual
}

/// What an object among the arguments is typically given, the most needed first. Not its own number: that is a parameter
/// beside it, or not known before the call. `addressed`: somebody is named around it.
pub(super) fn usual_inside<'p, 'a>(entry: &Entry, list: &'p [Parameter<'a>], addressed: bool) -> Vec<Placed<'p, 'a>> {
    let about = words::split(entry.name());
    let mut inside = sorted(&about, list, &Purpose::of(&about, list).inside(addressed));
    inside.truncate(MOST_ORDERED);
    inside.retain(|placed| placed.parameter.name != "id" && placed.need <= 4);
    // Where there is nothing usual, what is seldom given is better than nothing.
    let usual = inside.iter().take_while(|placed| placed.need <= 3).count();
    inside.truncate(if usual == 0 { 1 } else { usual });
    inside
}

fn need(parameter: &Parameter<'_>, about: &[String]) -> u8 {
    let description = parameter.schema.get("description").and_then(serde_json::Value::as_str).unwrap_or_default();
    let said: String = description.chars().take(LOOKED_AT).collect::<String>().to_lowercase();
    let start = said.trim_start_matches(|c: char| !c.is_alphanumeric());
    let read_only = parameter.schema.get("readOnly").and_then(serde_json::Value::as_bool) == Some(true);
    if read_only || says_read_only(&said) {
        return READ_ONLY;
    }
    let gone = parameter.schema.get("deprecated").and_then(serde_json::Value::as_bool) == Some(true)
        || GONE.iter().any(|word| start.starts_with(word))
        || ["(deprecated", "[deprecated", "is deprecated", "no longer"].iter().any(|word| said.contains(word));
    if gone {
        return 5;
    }
    if MUST_BE.iter().any(|must| said.trim_start().starts_with(must)) {
        return 0;
    }
    if said.contains("required") || said.contains("must be") {
        let plain = without_asides(&said);
        if NEEDED_AT_TIMES.iter().any(|phrase| said.contains(phrase) || plain.contains(phrase)) {
            return 1;
        }
    }
    if FOR_FEW.iter().any(|few| start.starts_with(few)) {
        return 4;
    }
    let name = words::split(parameter.name);
    let is = |list: &[&str], word: &String| list.contains(&word.as_str());
    // What is only being made has no number yet.
    if name.len() == 1 && name[0] == "id" && about.iter().any(|word| word == "create" || word == "add") {
        return 4;
    }
    if name.len() == 1 && (is(&USUAL, &name[0]) || about.contains(&name[0])) {
        return 2;
    }
    if name.len() == 2 && name[0] == "to" {
        return 2;
    }
    if name.iter().any(|word| is(&SELDOM, word)) { 4 } else { 3 }
}

/// `Read-only.` as a sentence of its own: "a read-only copy" is something else.
fn says_read_only(said: &str) -> bool {
    said.match_indices("read-only").any(|(at, word)| {
        let before = said[..at].trim_end();
        let after = &said[at + word.len()..];
        let begins = before.is_empty() || before.ends_with(['.', '(', '[', ';', ':']);
        // What is read-only once it was created is given when it is.
        let made = said.contains("after") && said.contains("created");
        begins && !made && (after.is_empty() || after.starts_with(['.', ')', ']', ';', ',']))
    })
}

/// "Required (at least one) for 'create'" is required for it.
fn without_asides(said: &str) -> String {
    let mut rest = said;
    let mut plain = String::with_capacity(said.len());
    while let Some((before, after)) = rest.split_once(" (") {
        plain.push_str(before);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    plain + rest
}
