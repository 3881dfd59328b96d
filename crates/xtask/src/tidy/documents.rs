//! Rules for the documents: what stands at the root, how long the map may be, and that a command somebody is told to
//! type exists.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::workspace::Workspace;

const MAP: &str = "ARCHITECTURE.md";
const LONGEST_MAP: usize = 200;

const ROOT: [&str; 14] = [
    ".gitignore",
    MAP,
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "NOTICE",
    "README.md",
    "SECURITY.md",
    "clippy.toml",
    "deny.toml",
    "rust-toolchain.toml",
    "rustfmt.toml",
];

const TASKS: [&str; 17] = [
    "apis",
    "attack",
    "audit-kills",
    "bench",
    "clients",
    "cluster",
    "dist",
    "docs",
    "eval",
    "fuzz",
    "help",
    "page",
    "peers",
    "soak",
    "test",
    "tidy",
    "versions",
];

pub(super) fn check(workspace: &Workspace, files: &[PathBuf]) -> Result<Vec<String>> {
    let mut findings = strangers(files);
    let read = |name: &str| fs::read_to_string(workspace.root.join(name)).with_context(|| name.to_owned());
    let lines = read(MAP)?.lines().count();
    if lines > LONGEST_MAP {
        findings.push(format!("{MAP}: {lines} lines; a map has at most {LONGEST_MAP}"));
    }
    let known = toolfold_commands(&workspace.root)?;
    for document in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "md")) {
        let name = document.display().to_string();
        findings.extend(commands(&name, &read(&name)?, &known));
    }
    Ok(findings)
}

/// Files at the root that nobody expects there.
fn strangers(files: &[PathBuf]) -> Vec<String> {
    let at_root = files.iter().filter(|file| file.parent() == Some(Path::new("")));
    let strange = at_root.filter(|file| !ROOT.iter().any(|known| file.as_path() == Path::new(known)));
    strange.map(|file| format!("{}: does not belong at the root", file.display())).collect()
}

/// The commands of the binary have a file each.
fn toolfold_commands(root: &Path) -> Result<Vec<String>> {
    let source = fs::read_to_string(root.join("crates/toolfold/src/cli/mod.rs"))?;
    let body = source.split_once("enum Command {").map_or("", |(_, rest)| rest);
    let body = body.split_once("\n}").map_or(body, |(body, _)| body);
    let variants = body.lines().map(str::trim).filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()));
    Ok(variants.filter_map(|line| line.split(['(', ',', ' ']).next()).map(str::to_lowercase).collect())
}

/// Commands a document tells to type (in a code block or between backticks) that do not exist.
pub fn commands(name: &str, text: &str, known: &[String]) -> Vec<String> {
    let mut findings = Vec::new();
    let mut in_block = false;
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            continue;
        }
        let pieces: Vec<&str> =
            if in_block { vec![line.trim_start_matches("$ ")] } else { line.split('`').skip(1).step_by(2).collect() };
        let wrong = pieces.into_iter().filter(|piece| !exists(piece, known));
        findings.extend(wrong.map(|piece| format!("{name}:{}: there is no such command: {piece}", number + 1)));
    }
    findings
}

fn exists(command: &str, known: &[String]) -> bool {
    let mut words = command.split_whitespace();
    let is_command =
        |word: &str| word.starts_with('-') || word == "help" || known.iter().any(|command| command == word);
    match (words.next(), words.next(), words.next(), words.next()) {
        (Some("toolfold"), Some(word), ..) if word.chars().all(|c| c.is_ascii_lowercase()) => is_command(word),
        (Some("cargo"), Some("xtask"), Some(task), _) => TASKS.contains(&task),
        (Some("cargo"), Some("run"), Some("--"), Some(word)) => is_command(word),
        (Some("cargo"), Some("run"), Some("--release"), Some("--")) => words.next().is_some_and(is_command),
        _ => true,
    }
}
