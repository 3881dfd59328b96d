//! What somebody sees who writes a configuration: every test loads a real file from a real folder.

#![allow(clippy::unwrap_used, reason = "a test that panics has said what it had to say")]

mod access;
mod anything;
mod apis;
mod client;
mod cluster;
mod examples;
mod left_out;
mod logins;
mod nodes;
mod odd_files;
mod operation;
mod outside;
mod problems;
mod problems_of_doors;
mod resolved;
mod search;
mod trust;

use std::collections::BTreeMap;
use std::path::Path;

use toolfold_config::{LoadOptions, Loaded, Problems, load};

/// The variables every test has.
fn environment() -> BTreeMap<String, String> {
    let pairs = [("HOME", "/home/ada"), ("TOKEN", "hunter2"), ("EMPTY", ""), ("BROKEN", "hunter2\n")];
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

fn options(directory: &Path) -> LoadOptions {
    LoadOptions { directory: directory.to_owned(), environment: environment(), ..LoadOptions::default() }
}

/// Loads this text as the file of this name.
fn load_as(name: &str, text: impl AsRef<[u8]>) -> Result<Loaded, Problems> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    load(&LoadOptions { file: Some(name.into()), ..options(folder.path()) })
}

/// Everything that is said about this text, as it is printed.
fn said(name: &str, text: impl AsRef<[u8]>) -> String {
    let problems = match load_as(name, text) {
        Ok(loaded) => Problems(loaded.notices),
        Err(problems) => {
            assert!(problems.errors().count() > 0, "refused without an error");
            problems
        }
    };
    let said = problems.to_string();
    assert!(!said.contains("hunter2"), "a secret was printed:\n{said}");
    said
}

fn toml(text: &str) -> String {
    said("toolfold.toml", text)
}

fn json(text: &str) -> String {
    said("mcp.json", text)
}
