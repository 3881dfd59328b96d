//! The parts that a text falls into: the elements of a list, the members of an object, or lines. What is paged and searched
//! are these, whole.
//!
//! What a reader would get wrong: an answer that wraps a list (`{"items": […], "total": 9}`) is paged by that list, where it
//! is most of the answer. Only places are kept of each part, so that a million of them take sixteen megabytes and no copy.

use std::borrow::Cow;
use std::ops::Range;

use indexmap::IndexMap;
use serde_json::value::RawValue;

use crate::body::Notation;

pub(crate) struct Items<'a> {
    text: &'a str,
    spans: Vec<Range<usize>>,
    /// The member that the elements are of, where they are not of the whole.
    pub(crate) within: Option<String>,
    pub(crate) sort: Sort,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Element,
    Member,
    Line,
}

impl Sort {
    pub(crate) fn plural(self) -> &'static str {
        match self {
            Sort::Element => "items",
            Sort::Member => "members",
            Sort::Line => "lines",
        }
    }
}

impl<'a> Items<'a> {
    pub(crate) fn of(format: Notation, text: &'a str) -> Items<'a> {
        // Each is read once: what it is, is seen from how it begins.
        let json = || match text.trim_start().as_bytes().first() {
            Some(b'{') => {
                let all: Members<'_> = serde_json::from_str(text).ok()?;
                wrapped(text, &all).or_else(|| members(text, all))
            }
            _ => elements(text, text),
        };
        match format {
            Notation::Json => json().unwrap_or_else(|| lines(text)),
            Notation::Text => lines(text),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(crate) fn get(&self, place: usize) -> &'a str {
        self.spans.get(place).map_or("", |span| &self.text[span.clone()])
    }
}

/// The elements of `list`, which is part of `text`.
fn elements<'a>(text: &'a str, list: &'a str) -> Option<Items<'a>> {
    let parts: Vec<&'a RawValue> = serde_json::from_str(list).ok()?;
    let spans = parts.into_iter().map(|part| span(text, part.get())).collect();
    Some(Items { text, spans, within: None, sort: Sort::Element })
}

type Members<'a> = IndexMap<Cow<'a, str>, &'a RawValue>;

/// The elements of the one list that is most of an object.
fn wrapped<'a>(text: &'a str, members: &Members<'a>) -> Option<Items<'a>> {
    let (name, largest) = members.iter().max_by_key(|(_, member)| member.get().len())?;
    if largest.get().len() * 2 < text.len() {
        return None;
    }
    let items = elements(text, largest.get()).filter(|items| items.len() > 1)?;
    Some(Items { within: Some(name.clone().into_owned()), ..items })
}

/// Each member of an object, with its name.
fn members<'a>(text: &'a str, members: Members<'a>) -> Option<Items<'a>> {
    let mut from = text.find('{')? + 1;
    let mut spans = Vec::with_capacity(members.len());
    for member in members.into_values() {
        let value = span(text, member.get());
        // The same name twice: the place of an earlier one is behind us.
        if value.start < from {
            continue;
        }
        let start = from + text[from..value.start].find('"').unwrap_or(0);
        spans.push(start..value.end);
        from = value.end;
    }
    Some(Items { text, spans, within: None, sort: Sort::Member })
}

fn lines(text: &str) -> Items<'_> {
    let spans = text.lines().map(|line| span(text, line)).collect();
    Items { text, spans, within: None, sort: Sort::Line }
}

/// Where a part of a text is in it.
fn span(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len());
    start..(start + part.len()).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(format: Notation, text: &str) -> (Vec<&str>, Option<String>, Sort) {
        let items = Items::of(format, text);
        ((0..items.len()).map(|place| items.get(place)).collect(), items.within.clone(), items.sort)
    }

    #[test]
    fn the_parts_of_what_there_is() {
        let json = |text| parts(Notation::Json, text);
        assert_eq!(json(r#" [1, {"a": [2]}, "x"] "#), (vec!["1", r#"{"a": [2]}"#, r#""x""#], None, Sort::Element));
        let wrapped = r#"{"total": 3, "items": ["first one", "second one", "third one"]}"#;
        let three = vec![r#""first one""#, r#""second one""#, r#""third one""#];
        assert_eq!(json(wrapped), (three, Some("items".to_owned()), Sort::Element));
        let members = r#"{"a\"": 1, "b": {"c": [1]}}"#;
        assert_eq!(json(members), (vec![r#""a\"": 1"#, r#""b": {"c": [1]}"#], None, Sort::Member));
        assert_eq!(parts(Notation::Text, "one\r\ntwo\n\nfour"), (vec!["one", "two", "", "four"], None, Sort::Line));
        assert_eq!(json("{}").0.len(), 0);
        assert_eq!(json(r#"{"a": 1, "a": 2}"#).0, [r#""a": 1, "a": 2"#]);
    }
}
