//! The page in a browser: tests of the suite, and the pictures they can take.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::suite;
use crate::workspace::Workspace;

/// The tests, in `crates/toolfold/tests/it/page.rs`.
const TESTS: [&str; 2] = ["the_page_in_a_browser", "what_is_held_in_a_browser"];

/// Runs them; with a folder, pictures of every view go there.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let mut pictures = None;
    if let Some(folder) = arguments.first().map(PathBuf::from) {
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        pictures = Some(("TOOLFOLD_PICTURES", std::path::absolute(folder)?));
    }
    suite::run_with(workspace, &TESTS.map(str::to_owned), pictures)
}
