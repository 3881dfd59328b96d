//! Rules for the text of the sources. A generated or borrowed data file is not a source: only what a person reads is
//! checked, by its ending.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::errors::untyped;
use super::names::shared_names;
use super::purity::{centre, gate, purity};
use crate::workspace::Workspace;

/// Lines of a file up to its unit tests; past this a reader loses the thread.
const LONGEST: usize = 400;

const TEXT: [&str; 9] = ["rs", "toml", "md", "sh", "py", "mjs", "json", "yml", "yaml"];

/// Folders of a machine: a path below one of them works on that machine alone.
const MACHINE: [&str; 4] = ["/home/", "/root/", "/work/", "/tmp/"];
const TOLD: &str = "/home/ada/";

pub(super) fn check(workspace: &Workspace, files: &[PathBuf]) -> Result<Vec<String>> {
    let (mut findings, mut programs) = (Vec::new(), Vec::new());
    for file in files.iter().filter(|file| is_text(file)) {
        let text = fs::read_to_string(workspace.root.join(file)).with_context(|| format!("{}", file.display()))?;
        let name = file.display().to_string();
        if file.extension().is_some_and(|ending| ending == "rs") {
            findings.extend(opening(&name, &text));
            findings.extend(size(&name, &text));
            findings.extend(purity(&name, production(&text)));
            findings.extend(gate(&name, production(&text)));
            findings.extend(centre(&name, production(&text)));
            findings.extend(untyped(&name, production(&text)));
            if name.contains("/src/") {
                programs.push((name.clone(), production(&text).to_owned()));
            }
        }
        findings.extend(todos(&name, &text));
        if !is_test(file) {
            findings.extend(places(&name, production(&text)));
        }
    }
    findings.extend(shared_names(&programs));
    Ok(findings)
}

/// Every file says first what it is.
pub fn opening(name: &str, text: &str) -> Option<String> {
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    (!first.starts_with("//!")).then(|| format!("{name}: does not open with //!, what it is"))
}

pub fn size(name: &str, text: &str) -> Option<String> {
    let lines = production(text).lines().count();
    (lines > LONGEST).then(|| format!("{name}: {lines} lines before its tests, more than {LONGEST}"))
}

/// Work that was put off and belongs to nobody.
pub fn todos(name: &str, text: &str) -> Vec<String> {
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
    let has =
        |line: &str| words.iter().any(|word| line.split(|c: char| !c.is_alphanumeric()).any(|part| part == *word));
    let lines = text.lines().enumerate().filter(|(_, line)| has(line));
    lines.map(|(number, _)| format!("{name}:{}: do it, or open an issue and say so there", number + 1)).collect()
}

/// Paths that exist on one machine alone. The home of somebody whom the documents tell of exists on none.
pub fn places(name: &str, text: &str) -> Vec<String> {
    let told = |line: &str| line.replace(TOLD, "~/");
    let strange = |line: &str| MACHINE.iter().any(|folder| starts_path(&told(line), folder));
    let lines = text.lines().enumerate().filter(|(_, line)| strange(line));
    lines.map(|(number, line)| format!("{name}:{}: a path of one machine: {}", number + 1, line.trim())).collect()
}

/// Whether an absolute path begins here, and not one that merely contains the folder.
fn starts_path(line: &str, folder: &str) -> bool {
    let before = |at: usize| line[..at].chars().next_back();
    let alone = |c: char| !(c.is_alphanumeric() || "._-~}*/:".contains(c));
    line.match_indices(folder).any(|(at, _)| before(at).is_none_or(alone))
}

/// A file up to its unit tests. What else is for tests alone stands among the rest, and is read with it.
pub(super) fn production(text: &str) -> &str {
    text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text)
}

fn is_text(file: &Path) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str());
    // .ci/run, and nothing else without an ending.
    ending.map_or_else(|| file.ends_with("run"), |ending| TEXT.contains(&ending))
}

/// In a test such a path is data. The crate of the fake server is all test; the rule's own list is its subject.
fn is_test(file: &Path) -> bool {
    let parts: Vec<_> = file.iter().filter_map(|part| part.to_str()).collect();
    parts.contains(&"tests") || parts.contains(&"toolfold-test") || file.ends_with("tidy/sources.rs")
}
