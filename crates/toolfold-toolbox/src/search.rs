//! Searching the files of a folder: bounded in files, matches and bytes, and never through a link.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;

use regex::Regex;
use rustix::fs::Dir;
use serde_json::{Value, json};
use toolfold_core::Fuel;

use crate::arguments::Arguments;
use crate::files::{MOST_NAMES, content};
use crate::folder::{DEEPEST, Folder, Handle};
use crate::patterns::Matcher;
use crate::problem::{Problem, told};
use crate::tool::{Replied, Reply};

const MOST_FILES: usize = 10_000;
const MOST_BYTES: usize = 256 << 20;
const LONGEST_LINE: usize = 300;
const LONGEST_GLOB: usize = 256;
/// What a person who searches does not mean, beside everything that is hidden.
const SKIPPED: [&str; 5] = ["node_modules", "target", "__pycache__", "venv", "vendor"];

pub(crate) fn search(folder: &Folder, arguments: &Arguments<'_>) -> Replied {
    let start = folder.open(arguments.word_or("path", "")?)?;
    let limit = arguments.count("limit", 50, 500)?;
    let pattern = Matcher::new(arguments.text("pattern")?, arguments.flag("ignore_case")?, false, arguments.fuel)?;
    let name = arguments.get("name").map(|_| arguments.word("name").and_then(glob)).transpose()?;
    let mut search = Search { pattern, limit, matches: Vec::new(), searched: 0, bytes: 0, more: false };
    match start.handle {
        Handle::File(file) => search.read(&start.shown, content(file, arguments.fuel)?.ok(), arguments.fuel)?,
        Handle::Directory(directory) => search.walk(folder, directory, start.shown, name.as_ref(), arguments.fuel)?,
        Handle::Other => {}
    }
    Ok(Reply::Json(json!({"matches": search.matches, "files_searched": search.searched, "more": search.more})))
}

struct Search {
    pattern: Matcher,
    limit: usize,
    matches: Vec<Value>,
    searched: usize,
    bytes: usize,
    /// The search stopped before the end.
    more: bool,
}

/// A name that was read in a folder, which stays open until all of them have been looked at.
struct Waiting {
    folder: Rc<OwnedFd>,
    shown: Rc<str>,
    name: OsString,
    depth: usize,
}

impl Search {
    /// Every file below a folder, in the order of their names.
    fn walk(
        &mut self,
        folder: &Folder,
        start: OwnedFd,
        shown: String,
        name: Option<&Regex>,
        fuel: &Fuel,
    ) -> Result<(), Problem> {
        let mut waiting = Vec::new();
        self.enter(&mut waiting, start, shown.into(), 0, fuel)?;
        let mut seen = 0;
        while let Some(next) = waiting.pop() {
            seen += 1;
            if seen > MOST_FILES {
                self.more = true;
            }
            if self.more {
                return Ok(());
            }
            fuel.burn(200)?;
            let own = next.name.to_string_lossy().into_owned();
            if skipped(&own) {
                continue;
            }
            // A link is neither file nor folder here, so that no search leaves the folder or runs in a circle.
            let Ok(found) = folder.inside(&next.folder, &next.shown, &next.name) else { continue };
            match found.handle {
                Handle::File(file) if name.is_none_or(|name| name.is_match(&own)) => {
                    self.read(&found.shown, content(file, fuel)?.ok(), fuel)?;
                }
                Handle::Directory(directory) => {
                    self.enter(&mut waiting, directory, found.shown.into(), next.depth + 1, fuel)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn enter(
        &mut self,
        waiting: &mut Vec<Waiting>,
        folder: OwnedFd,
        shown: Rc<str>,
        depth: usize,
        fuel: &Fuel,
    ) -> Result<(), Problem> {
        let Ok(listing) = Dir::read_from(&folder) else { return Ok(()) };
        if depth > DEEPEST {
            self.more = true;
            return Ok(());
        }
        let folder = Rc::new(folder);
        let mut inside = Vec::new();
        for entry in listing.take(MOST_NAMES) {
            fuel.burn(20)?;
            let Ok(entry) = entry else { break };
            let name = std::ffi::OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
            if name != "." && name != ".." {
                inside.push(Waiting { folder: folder.clone(), shown: shown.clone(), name, depth });
            }
        }
        inside.sort_by(|a, b| b.name.cmp(&a.name));
        waiting.extend(inside);
        Ok(())
    }

    fn read(&mut self, shown: &str, text: Option<String>, fuel: &Fuel) -> Result<(), Problem> {
        let Some(text) = text else { return Ok(()) };
        self.bytes += text.len();
        if self.bytes > MOST_BYTES {
            self.more = true;
            return Ok(());
        }
        self.searched += 1;
        for (n, line) in text.lines().enumerate() {
            self.pattern.burn(line.len(), fuel)?;
            if !self.pattern.regex.is_match(line) {
                continue;
            }
            if self.matches.len() == self.limit {
                self.more = true;
                return Ok(());
            }
            self.matches.push(found(shown, n, line));
        }
        Ok(())
    }
}

fn found(file: &str, n: usize, line: &str) -> Value {
    let mut text: String = line.trim().chars().take(LONGEST_LINE).collect();
    if line.trim().chars().nth(LONGEST_LINE).is_some() {
        text.push('…');
    }
    json!({"file": file, "line": n + 1, "text": text})
}

fn skipped(name: &str) -> bool {
    name.starts_with('.') || SKIPPED.contains(&name)
}

/// A file name pattern with * and ? as a regular expression.
fn glob(pattern: &str) -> Result<Regex, Problem> {
    if pattern.len() > LONGEST_GLOB {
        return Err(told!("`name` has {} bytes; at most {LONGEST_GLOB} make sense.", pattern.len()));
    }
    let parts = pattern.chars().map(|c| match c {
        '*' => ".*".to_owned(),
        '?' => ".".to_owned(),
        c => regex::escape(&c.to_string()),
    });
    Regex::new(&format!("^{}$", parts.collect::<String>())).map_err(|_| told!("`name` {pattern:?} cannot be used."))
}
