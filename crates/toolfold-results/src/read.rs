//! Reading a kept result: a query first, then a pattern, then a page of whole parts, within a number of characters.

use regex::RegexBuilder;
use toolfold_core::{Fuel, Spent};

use crate::body::Notation;
use crate::items::{Items, Sort};
use crate::query::{QueryError, query};

/// What a regular expression may become: as much as the toolbox gives its own.
const LARGEST_PATTERN: usize = 1 << 20;
/// The longest pattern that is read.
const LONGEST_PATTERN: usize = 1_000;
/// Characters of one part that are shown where it is too long for a page of its own.
const SHARE_OF_LONG_PART: usize = 2;

/// What is asked of a result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// JMESPath, over what is JSON.
    pub query: Option<String>,
    /// A regular expression; parts that it is found in are shown.
    pub grep: Option<String>,
    pub offset: usize,
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrongReading {
    #[error("The result is text, and `query` reads JSON: use `grep`, or `offset` and `limit`.")]
    NotJson,
    #[error("`query` is no JMESPath that can be answered: {0}")]
    Query(String),
    #[error("`grep` is no regular expression that can be used: {0}")]
    Pattern(String),
    #[error("That takes more work than is allowed: ask for a smaller part.")]
    TooMuch,
}

/// The page that is asked for, in at most about `characters`.
pub fn read(
    format: Notation,
    text: &str,
    reading: &Reading,
    characters: usize,
    fuel: &Fuel,
) -> Result<String, WrongReading> {
    let answered = match &reading.query {
        None => None,
        Some(_) if format == Notation::Text => return Err(WrongReading::NotJson),
        Some(expression) => Some(query(expression, text, fuel)?),
    };
    let text = answered.as_deref().unwrap_or(text);
    // What a query answers is shown as it is where it fits: a number need not be called an item.
    if answered.is_some() && reading.grep.is_none() && reading.offset == 0 && reading.limit.is_none() {
        fuel.burn_for(text.len(), 64)?;
        if text.chars().count() <= characters {
            return Ok(text.to_owned());
        }
    }
    fuel.burn_for(text.len(), 16)?;
    let items = Items::of(format, text);
    match &reading.grep {
        None => Ok(page(&items, &Everything(items.len()), reading, characters)),
        Some(pattern) => {
            let found = Matching(matching(&items, pattern, fuel)?);
            Ok(page(&items, &found, reading, characters))
        }
    }
}

fn matching(items: &Items<'_>, pattern: &str, fuel: &Fuel) -> Result<Vec<usize>, WrongReading> {
    if pattern.len() > LONGEST_PATTERN {
        return Err(WrongReading::Pattern(format!("it has more than {LONGEST_PATTERN} bytes")));
    }
    let pattern = RegexBuilder::new(pattern).size_limit(LARGEST_PATTERN).build();
    let pattern = pattern.map_err(|error| WrongReading::Pattern(last_line(&error.to_string())))?;
    let mut found = Vec::new();
    for place in 0..items.len() {
        fuel.burn_for(items.get(place).len(), 8)?;
        if pattern.is_match(items.get(place)) {
            found.push(place);
        }
    }
    Ok(found)
}

/// Which parts there are to page through.
trait Parts {
    fn count(&self) -> usize;
    fn place(&self, number: usize) -> usize;
    fn said(&self, plural: &str) -> String;
}

struct Everything(usize);

struct Matching(Vec<usize>);

impl Parts for Everything {
    fn count(&self) -> usize {
        self.0
    }

    fn place(&self, number: usize) -> usize {
        number
    }

    fn said(&self, plural: &str) -> String {
        plural.to_owned()
    }
}

impl Parts for Matching {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn place(&self, number: usize) -> usize {
        self.0.get(number).copied().unwrap_or(usize::MAX)
    }

    fn said(&self, plural: &str) -> String {
        format!("matching {plural}")
    }
}

fn page(items: &Items<'_>, parts: &dyn Parts, reading: &Reading, characters: usize) -> String {
    let (count, said) = (parts.count(), parts.said(items.sort.plural()));
    let of = items.within.as_ref().map_or_else(String::new, |name| format!(" of {name:?}"));
    if reading.offset >= count {
        return match count {
            0 => format!("There are no {said}{of}."),
            _ => {
                format!("There are {count} {said}{of}, numbered from 0: nothing is at {} or after it.", reading.offset)
            }
        };
    }
    let last = reading.limit.map_or(count, |limit| reading.offset.saturating_add(limit.max(1)).min(count));
    let (mut shown, mut left, mut number) = (String::new(), characters, reading.offset);
    while number < last {
        let place = parts.place(number);
        let part = items.get(place);
        let length = part.chars().take(characters + 1).count();
        if length + 8 > left {
            if number == reading.offset {
                shown.push_str(&cut(part, place, characters / SHARE_OF_LONG_PART, items.sort));
                number += 1;
            }
            break;
        }
        shown.push_str(&format!("{place}: {part}\n"));
        left -= length + 8;
        number += 1;
    }
    let rest = if number < count { format!("More: offset {number}.") } else { "That is the end.".to_owned() };
    format!("{said} {} to {} of {count}{of}:\n{shown}{rest}", reading.offset, number - 1)
}

/// A part that is longer than a page: its beginning, and how to get at the rest.
fn cut(part: &str, place: usize, characters: usize, sort: Sort) -> String {
    let beginning: String = part.chars().take(characters).collect();
    let how = if sort == Sort::Line { "grep finds in it" } else { "query reads inside of it" };
    format!("{place}: {beginning}… (cut: it has {} characters; {how})\n", part.chars().count())
}

/// Parsers say where first and what last.
fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

impl From<Spent> for WrongReading {
    fn from(_: Spent) -> Self {
        WrongReading::TooMuch
    }
}

impl From<QueryError> for WrongReading {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Spent(_) => WrongReading::TooMuch,
            other => WrongReading::Query(other.to_string()),
        }
    }
}
