//! Searching the files of a folder: bounded in files, matches and bytes, and never through a link.

use std::path::{Path, PathBuf};

use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::files::{LARGEST_FILE, content};
use super::folder::Folder;
use super::tool::{Answer, Reply};

const MOST_FILES: usize = 10_000;
const MOST_BYTES: u64 = 256 << 20;
const LONGEST_LINE: usize = 300;
/// What a person who searches does not mean, beside everything that is hidden.
const SKIPPED: [&str; 5] = ["node_modules", "target", "__pycache__", "venv", "vendor"];

pub(crate) fn search(folder: &Folder, arguments: &Arguments<'_>) -> Answer {
    let start = folder.resolve(arguments.text_or("path", "")?)?;
    let limit = arguments.count("limit", 50, 500)?;
    let regex = RegexBuilder::new(arguments.text("pattern")?)
        .case_insensitive(arguments.flag("ignore_case")?)
        .size_limit(1 << 20)
        .build()
        .map_err(|error| format!("`pattern` cannot be used: {error}"))?;
    let name = arguments.get("name").map(|_| arguments.text("name").and_then(glob)).transpose()?;
    let (files, mut more) = files(&start, name.as_ref());
    let mut matches = Vec::new();
    let (mut searched, mut budget) = (0, MOST_BYTES);
    for file in files {
        let size = file.metadata().map_or(0, |metadata| metadata.len().min(LARGEST_FILE));
        if size > budget {
            more = true;
            break;
        }
        budget -= size;
        let Ok(text) = content(&file) else { continue };
        searched += 1;
        let lines = text.lines().enumerate().filter(|(_, line)| regex.is_match(line));
        matches.extend(lines.take(limit + 1 - matches.len()).map(|(n, line)| found(&folder.show(&file), n, line)));
        if matches.len() > limit {
            matches.truncate(limit);
            more = true;
            break;
        }
    }
    Ok(Reply::Json(json!({"matches": matches, "files_searched": searched, "more": more})))
}

fn found(file: &str, n: usize, line: &str) -> Value {
    let mut text: String = line.trim().chars().take(LONGEST_LINE).collect();
    if line.trim().chars().count() > LONGEST_LINE {
        text.push('…');
    }
    json!({"file": file, "line": n + 1, "text": text})
}

/// The files below a path in the order of their names, and whether there were more than can be searched.
fn files(start: &Path, name: Option<&Regex>) -> (Vec<PathBuf>, bool) {
    let mut files = Vec::new();
    let mut waiting = vec![start.to_owned()];
    let mut seen = 0;
    while let Some(path) = waiting.pop() {
        seen += 1;
        if seen > MOST_FILES {
            return (files, true);
        }
        // Of the link itself: a link is neither, so that no search leaves the folder or runs in a circle.
        let Ok(metadata) = path.symlink_metadata() else { continue };
        let own = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path != start && skipped(&own) {
            continue;
        }
        if metadata.is_file() && name.is_none_or(|name| name.is_match(&own)) {
            files.push(path);
        } else if metadata.is_dir() {
            let mut inside: Vec<PathBuf> =
                std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
            inside.sort_by(|a, b| b.cmp(a));
            waiting.extend(inside);
        }
    }
    (files, false)
}

fn skipped(name: &str) -> bool {
    name.starts_with('.') || SKIPPED.contains(&name)
}

/// A file name pattern with * and ? as a regular expression.
fn glob(pattern: &str) -> Result<Regex, String> {
    let parts = pattern.chars().map(|c| match c {
        '*' => ".*".to_owned(),
        '?' => ".".to_owned(),
        c => regex::escape(&c.to_string()),
    });
    Regex::new(&format!("^{}$", parts.collect::<String>())).map_err(|_| format!("`name` {pattern:?} cannot be used."))
}
