//! Reading a kept result: a query first, then a pattern, then a page of whole parts, within a number of characters.

use regex::{Regex, RegexBuilder};
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
    let pattern = reading.grep.as_deref().map(pattern).transpose()?;
    let mut page = Page::new(reading, items.sort, items.within.as_deref(), characters);
    for place in 0..items.len() {
        let part = items.get(place);
        if let Some(pattern) = &pattern {
            fuel.burn_for(part.len(), 8)?;
            if !pattern.is_match(part) {
                continue;
            }
        }
        page.add(place, part, part.chars().count());
    }
    Ok(page.said())
}

pub(crate) fn pattern(pattern: &str) -> Result<Regex, WrongReading> {
    if pattern.len() > LONGEST_PATTERN {
        return Err(WrongReading::Pattern(format!("it has more than {LONGEST_PATTERN} bytes")));
    }
    let pattern = RegexBuilder::new(pattern).size_limit(LARGEST_PATTERN).build();
    pattern.map_err(|error| WrongReading::Pattern(last_line(&error.to_string())))
}

/// Some of many parts, which come one after the other.
pub(crate) struct Page<'a> {
    reading: &'a Reading,
    sort: Sort,
    within: Option<&'a str>,
    characters: usize,
    left: usize,
    shown: String,
    /// How many there are.
    count: usize,
    /// The first that is not shown any more.
    next: Option<usize>,
}

impl<'a> Page<'a> {
    /// `within`: the list that they are of, where it is not the whole.
    pub(crate) fn new(reading: &'a Reading, sort: Sort, within: Option<&'a str>, characters: usize) -> Self {
        Page { reading, sort, within, characters, left: characters, shown: String::new(), count: 0, next: None }
    }

    /// One more part, with its place among all and how many characters it has; of a long one the beginning is enough.
    pub(crate) fn add(&mut self, place: usize, part: &str, length: usize) {
        let (number, offset) = (self.count, self.reading.offset);
        self.count += 1;
        if number < offset || self.next.is_some() {
            return;
        }
        if self.reading.limit.is_some_and(|limit| number >= offset.saturating_add(limit.max(1))) {
            self.next = Some(number);
            return;
        }
        if length + 8 <= self.left {
            self.shown.push_str(&format!("{place}: {part}\n"));
            self.left -= length + 8;
        } else if number == offset {
            self.shown.push_str(&cut((place, part, length), self.characters / SHARE_OF_LONG_PART, self.sort));
            self.next = Some(number + 1);
        } else {
            self.next = Some(number);
        }
    }

    pub(crate) fn said(&self) -> String {
        let (count, offset) = (self.count, self.reading.offset);
        let matching = if self.reading.grep.is_some() { "matching " } else { "" };
        let said = format!("{matching}{}", self.sort.plural());
        let of = self.within.map_or_else(String::new, |name| format!(" of {name:?}"));
        if offset >= count {
            return match count {
                0 => format!("There are no {said}{of}."),
                _ => format!("There are {count} {said}{of}, numbered from 0: nothing is at {offset} or after it."),
            };
        }
        let next = self.next.unwrap_or(count);
        let rest = if next < count { format!("More: offset {next}.") } else { "That is the end.".to_owned() };
        format!("{said} {offset} to {} of {count}{of}:\n{}{rest}", next - 1, self.shown)
    }
}

/// A part that is longer than a page: its beginning, and how to get at the rest.
fn cut((place, part, length): (usize, &str, usize), characters: usize, sort: Sort) -> String {
    let beginning: String = part.chars().take(characters).collect();
    let how = if sort == Sort::Line { "grep finds in it" } else { "query reads inside of it" };
    format!("{place}: {beginning}… (cut: it has {length} characters; {how})\n")
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
