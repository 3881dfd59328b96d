//! Where problems are collected while a configuration is read. Collecting never stops the reading: a reader that found
//! a mistake reports it and goes on with what is left.

use std::path::PathBuf;

use crate::problem::{Problem, Severity};

/// Enough for any file a person wrote; a file of another kind must not cost a minute and a scroll buffer.
const MOST_PROBLEMS: usize = 100;

/// What a problem is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Place {
    /// Byte offset in the text of the file.
    pub(crate) offset: Option<usize>,
    pub(crate) key: String,
    /// Not in the file: a variable or a flag.
    outside: bool,
}

impl Place {
    pub(crate) fn new(offset: Option<usize>, key: impl Into<String>) -> Self {
        Place { offset, key: key.into(), outside: false }
    }

    pub(crate) fn outside(key: &str) -> Self {
        Place { offset: None, key: key.to_owned(), outside: true }
    }

    pub(crate) fn child(&self, name: &str, offset: usize) -> Self {
        let name = shown_key(name);
        let key = if self.key.is_empty() { name } else { format!("{}.{name}", self.key) };
        Place::new(Some(offset), key)
    }

    pub(crate) fn item(&self, index: usize, offset: usize) -> Self {
        Place::new(Some(offset), format!("{}[{index}]", self.key))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The file being read, and its text.
    file: Option<(PathBuf, String)>,
    /// Whether to say "object" where TOML says "table".
    pub(crate) speaks_json: bool,
    /// What is read is a translation: its lines are not the file's.
    pub(crate) placeless: bool,
    found: Vec<Problem>,
    left_out: usize,
}

impl Report {
    pub(crate) fn enter(&mut self, file: PathBuf, text: &str) {
        self.file = Some((file, text.to_owned()));
    }

    pub(crate) fn leave(&mut self) {
        self.file = None;
    }

    pub(crate) fn error(&mut self, place: &Place, message: impl Into<String>, hint: impl Into<Option<String>>) {
        self.add(Severity::Error, place, message.into(), hint.into());
    }

    pub(crate) fn warn(&mut self, place: &Place, message: impl Into<String>, hint: impl Into<Option<String>>) {
        self.add(Severity::Warning, place, message.into(), hint.into());
    }

    fn add(&mut self, severity: Severity, place: &Place, message: String, hint: Option<String>) {
        if self.found.len() >= MOST_PROBLEMS {
            self.left_out += 1;
            // Room for the first error is always found, or a bad file would pass for a good one.
            if severity == Severity::Warning || self.failed() {
                return;
            }
            self.found.pop();
        }
        let file = self.file.as_ref().filter(|_| !place.outside);
        let at =
            file.filter(|_| !self.placeless).zip(place.offset).map(|((_, text), offset)| line_and_column(text, offset));
        self.found.push(Problem {
            severity,
            file: file.map(|(file, _)| file.clone()),
            line: at.map(|(line, _)| line),
            column: at.map(|(_, column)| column),
            key: place.key.clone(),
            message,
            hint,
        });
    }

    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    /// Takes back the errors since then, where all of them are about these keys: what the first one was.
    pub(crate) fn take_back(&mut self, since: usize, keys: &[String]) -> Option<String> {
        let new = self.found.get(since..).unwrap_or_default();
        let errors = || new.iter().filter(|problem| problem.severity == Severity::Error);
        let first = errors().next().filter(|_| errors().all(|problem| keys.contains(&problem.key)))?;
        let why = format!("{} {}", first.key, first.message);
        let mut place = 0;
        self.found.retain(|problem| {
            place += 1;
            place <= since || problem.severity != Severity::Error
        });
        Some(why)
    }

    /// The line of a place in the file that is being read.
    pub(crate) fn line_of(&self, place: &Place) -> Option<usize> {
        let (_, text) = self.file.as_ref().filter(|_| !self.placeless && !place.outside)?;
        place.offset.map(|offset| line_and_column(text, offset).0)
    }

    pub(crate) fn failed(&self) -> bool {
        self.found.iter().any(|problem| problem.severity == Severity::Error)
    }

    /// In the order of the file; what has no place comes first.
    pub(crate) fn into_problems(mut self) -> Vec<Problem> {
        self.found.sort_by_key(|problem| (problem.line, problem.column));
        if self.left_out > 0 {
            let message = format!("{} more like these are not shown", self.left_out);
            let severity = if self.failed() { Severity::Error } else { Severity::Warning };
            let last =
                Problem { severity, file: None, line: None, column: None, key: String::new(), message, hint: None };
            self.found.push(last);
        }
        self.found
    }
}

/// A key as it would be written: in quotes where it has to be, which also keeps control characters off the terminal.
pub(crate) fn shown_key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { name.to_owned() } else { quoted(name) }
}

/// What somebody typed, fit to be printed.
pub(crate) fn quoted(typed: &str) -> String {
    let mut short: String = typed.chars().take(60).collect();
    if short.len() < typed.len() {
        short.push('…');
    }
    format!("{short:?}")
}

fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    // Counting the bytes that begin a character: an offset inside one must not panic.
    let column = before[start..].iter().filter(|byte| (**byte & 0xC0) != 0x80).count() + 1;
    (line, column)
}
