//! The numbers that SECURITY.md promises: each stands in the code as it is written there, and has a test. Who changes one of the
//! three is reminded of the other two.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::promises::{PROMISES, Promise};
use super::sentences::SENTENCES;
use crate::workspace::Workspace;

const DOCUMENT: &str = "SECURITY.md";
/// The tables of limits stand between these two.
const BEGIN: &str = "**Limits.**";
const END: &str = "**The store**";

pub(super) fn check(workspace: &Workspace, files: &[PathBuf]) -> Result<Vec<String>> {
    let document = fs::read_to_string(workspace.root.join(DOCUMENT)).context(DOCUMENT)?;
    let sources = files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "rs"));
    let sources =
        sources.filter(|file| !["tidy/promises.rs", "tidy/sentences.rs"].iter().any(|table| file.ends_with(table)));
    let code: Result<String> = sources.map(|file| Ok(fs::read_to_string(workspace.root.join(file))?)).collect();
    Ok(findings(&document, &code?, &PROMISES.iter().chain(SENTENCES).collect::<Vec<_>>()))
}

fn findings(document: &str, code: &str, promises: &[&Promise]) -> Vec<String> {
    let mut findings = Vec::new();
    for Promise(said, kept, tests) in promises {
        if !document.contains(said) {
            findings.push(format!("{DOCUMENT}: no longer says {said:?}"));
        }
        if !code.contains(kept) {
            findings.push(format!("{DOCUMENT}: says {said:?}, and no code says {kept:?}"));
        }
        let missing = tests.iter().filter(|test| !code.contains(&format!("fn {test}(")));
        findings.extend(missing.map(|test| format!("{DOCUMENT}: {said:?} is tested by `{test}`, which is gone")));
        if tests.is_empty() {
            findings.push(format!("{DOCUMENT}: {said:?} has no test"));
        }
    }
    let tables = document.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END)).map_or("", |(tables, _)| tables);
    let rows = tables
        .lines()
        .filter(|line| line.starts_with('|') && !line.starts_with("|--") && !line.starts_with("| what |"));
    let kept = |row: &str| promises.iter().filter(|Promise(said, ..)| format!("{row}\n").contains(said)).count();
    // A row of three numbers has three lines of code behind it.
    let open = rows.filter(|row| kept(row) < numbers(row).max(1));
    findings.extend(open.map(|row| format!("{DOCUMENT}: not every number of this is known to be kept: {row}")));
    findings
}

/// How many different numbers a row of a table has beside what happens beyond them.
fn numbers(row: &str) -> usize {
    let promised = row.split('|').skip(1).take(2).collect::<Vec<_>>().join(" ");
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, ',' | '.');
    let words = promised.split(|c: char| !is_part(c)).map(|word| word.trim_end_matches([',', '.']));
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_digit())).collect::<std::collections::BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_row() {
        assert_eq!(numbers("| head of a request | 32 KB, 10 s | 431, or closed |"), 2);
        assert_eq!(numbers("| a path, tags | 32 steps, 32 tags, 500 characters each |"), 2);
        assert_eq!(numbers("| time without reading its input | two call deadlines |"), 0);
        assert_eq!(numbers("| x | 0.5 s, 1,024. |"), 2);
    }

    #[test]
    fn a_number_that_nobody_keeps_is_found() {
        let document = format!("{BEGIN}\n| what | at most |\n|---|---|\n| x | 5 s, 7 MB |\n{END}");
        let five = Promise("| 5 s, 7 MB |", "FIVE = 5", &["it_has_five"]);
        let code = "FIVE = 5 SEVEN = 7 fn it_has_five() fn it_has_seven()";
        assert_eq!(findings(&document, code, &[&five]).len(), 1);
        let five = Promise("| 5 s, 7 MB |", "FIVE = 5", &["it_has_five"]);
        let seven = Promise("| 5 s, 7 MB |", "SEVEN = 7", &["it_has_seven"]);
        assert_eq!(findings(&document, code, &[&five, &seven]), Vec::<String>::new());
        let gone = Promise("| 5 s, 7 MB |", "FIVE = 5", &["it_is_gone"]);
        assert!(findings(&document, code, &[&gone]).iter().any(|finding| finding.contains("it_is_gone")));
    }
}
