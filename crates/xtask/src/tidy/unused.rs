//! Dependencies that nobody uses. What is looked for is the name where a path or a macro begins with it: a crate that is needed without being named (for a
//! feature that it switches on) says so in the list of exceptions.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::sources::production;
use crate::workspace::{Package, Workspace};

/// Crate, dependency, and why it is there without being named.
const ALLOWED: [(&str, &str, &str); 0] = [];

pub(super) fn check(workspace: &Workspace, files: &[PathBuf]) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let folder = Path::new("crates").join(&package.name);
        let mut sources = Vec::new();
        for file in files.iter().filter(|file| file.starts_with(&folder) && file.extension().is_some_and(|e| e == "rs"))
        {
            sources.push((file.strip_prefix(&folder)?.to_owned(), fs::read_to_string(workspace.root.join(file))?));
        }
        findings.extend(unused(package, &sources));
    }
    Ok(findings)
}

/// `sources`: the files of the crate, relative to it, with their text.
pub fn unused(package: &Package, sources: &[(PathBuf, String)]) -> Vec<String> {
    let name = package.name.as_str();
    let excused = |other: &str| ALLOWED.iter().any(|(krate, dependency, _)| *krate == name && *dependency == other);
    let idle = package.dependencies.iter().filter(|dependency| {
        let word = dependency.name.replace('-', "_");
        // A dependency of the program is used by the program or what builds it; one of the tests by anything.
        let counts = |file: &Path| dependency.dev || file.starts_with("src") || file.starts_with("build.rs");
        let read = |text| if dependency.dev { text } else { production(text) };
        !sources.iter().any(|(file, text)| counts(file) && names(read(text), &word)) && !excused(&dependency.name)
    });
    idle.map(|dependency| format!("crates/{name}/Cargo.toml: {} is not used", dependency.name)).collect()
}

/// Whether a path or a macro begins with this, or it is brought in as it is. A variable of the same name is no use of it.
fn names(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.match_indices(word).map(move |(at, _)| (&line[..at], &line[at + word.len()..]))).any(
        |(before, after)| {
            let begins = !before.ends_with(is_part) && !before.ends_with("::");
            let brought = before.trim_end().ends_with("use") && after.starts_with([';', ' ']);
            begins && (after.starts_with("::") || after.starts_with('!') || brought)
        },
    )
}
