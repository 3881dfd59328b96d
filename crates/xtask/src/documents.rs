//! The documents, written by the tests that hold them against the program: what checks is what writes.

use std::process::Command;

use anyhow::{Result, bail};

use crate::shell;
use crate::workspace::Workspace;

/// Crate, and the tests of it that are about documents.
const TESTS: [(&str, &str); 2] = [("toolfold-clients", "table::the_"), ("toolfold", "book::")];

pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let check = match arguments {
        [] => false,
        [word] if word == "--check" => true,
        _ => bail!("docs takes --check or nothing"),
    };
    for (package, tests) in TESTS {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(["test", "--quiet", "--package", package, "--test", "it", "--", tests]);
        if !check {
            // One after the other: the picture is drawn from a document that another test writes.
            command.arg("--test-threads=1").env("UPDATE_DOCUMENTS", "1");
        }
        shell::run_command(command.current_dir(&workspace.root))?;
    }
    Ok(())
}
