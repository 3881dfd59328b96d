//! Rules for the book: a link from one document to another leads to a file and a heading that are there, from a page of the book
//! to another page of it, and every document in `docs/` is in its table of contents.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};

use crate::workspace::Workspace;

const BOOK: &str = "docs";
const CONTENTS: &str = "docs/SUMMARY.md";

pub(super) fn check(workspace: &Workspace, files: &[PathBuf]) -> Result<Vec<String>> {
    let mut texts = BTreeMap::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "md")) {
        let text = fs::read_to_string(workspace.root.join(file)).with_context(|| file.display().to_string())?;
        texts.insert(file.clone(), text);
    }
    let mut findings = astray(&texts, &|path| workspace.root.join(path).exists());
    findings.extend(unlisted(&texts));
    Ok(findings)
}

/// Links that lead nowhere. `exists` is asked about files that are no documents.
pub fn astray(texts: &BTreeMap<PathBuf, String>, exists: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let mut findings = Vec::new();
    for (file, text) in texts {
        for (number, link) in links(text) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { file.clone() } else { resolved(file, path) };
            let there = match texts.get(&target) {
                Some(text) => heading.is_empty() || anchors(text).iter().any(|anchor| anchor == heading),
                None => exists(&target),
            };
            if !there {
                findings.push(format!("{}:{number}: the link {link} leads nowhere", file.display()));
            } else if file.starts_with(BOOK) && !target.starts_with(BOOK) {
                findings.push(format!("{}:{number}: the link {link} leads out of the book", file.display()));
            }
        }
    }
    findings
}

/// Documents of the book that its table of contents does not name.
pub fn unlisted(texts: &BTreeMap<PathBuf, String>) -> Vec<String> {
    let contents = Path::new(CONTENTS);
    let listed: Vec<PathBuf> = texts
        .get(contents)
        .map(|text| links(text).into_iter().map(|(_, link)| resolved(contents, link)).collect())
        .unwrap_or_default();
    let pages = texts.keys().filter(|file| file.starts_with(BOOK) && file.as_path() != contents);
    let missing = pages.filter(|file| !listed.contains(file));
    missing.map(|file| format!("{}: is not in {CONTENTS}", file.display())).collect()
}

/// Links to somewhere in the repository, with their lines. What is in a block or between backticks is no link.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut in_block = false;
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            continue;
        }
        let outside = line.split('`').step_by(2);
        // A link's text may be code, and then its address is in the next piece.
        for piece in outside.filter(|_| !in_block) {
            for rest in piece.split("](").skip(1) {
                let link = rest.split(')').next().unwrap_or_default();
                if !link.contains("://") && !link.starts_with("mailto:") && !link.is_empty() {
                    found.push((number + 1, link));
                }
            }
        }
    }
    found
}

fn resolved(from: &Path, link: &str) -> PathBuf {
    let mut path = from.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

/// What headings are called in an address: lower case, without punctuation, words joined by hyphens.
fn anchors(text: &str) -> Vec<String> {
    let headings =
        text.lines().filter_map(|line| line.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim()));
    let kept = |c: char| c.is_alphanumeric() || c == '-' || c == '_' || c == ' ';
    headings
        .map(|heading| heading.to_lowercase().chars().filter(|c| kept(*c)).collect::<String>().replace(' ', "-"))
        .collect()
}
