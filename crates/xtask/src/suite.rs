//! Every test, the way it is run everywhere. Lints are not part of it: `.ci/run` asks for them before.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{eval, peers, shell};

/// `filters` narrow the suite to tests whose names contain one of them.
pub fn run(workspace: &Workspace, filters: &[String]) -> Result<()> {
    run_with(workspace, filters, None)
}

/// As [`run`], with a variable for the tests.
pub fn run_with(workspace: &Workspace, filters: &[String], variable: Option<(&str, PathBuf)>) -> Result<()> {
    let cargo = |workspace: &Workspace, arguments: &[&str], filters: &[String]| {
        let mut command = cargo(workspace, arguments, filters);
        shell::run_command(command.envs(variable.clone()))
    };
    peers::install(workspace)?;
    // The tests start these as processes; built once here, no test has to wait for another's build.
    cargo(workspace, &["build", "--workspace", "--bins"], &[])?;
    if shell::output("cargo-nextest", &["nextest", "--version"], &workspace.root).is_ok() {
        cargo(workspace, &["nextest", "run", "--workspace"], filters)?;
    } else {
        cargo(workspace, &["test", "--workspace", "--lib", "--bins", "--tests"], filters)?;
    }
    cargo(workspace, &["test", "--quiet", "--doc", "--package", "toolfold"], filters)?;
    if filters.is_empty() { eval::check(workspace, &workspace.target.join("debug/toolfold")) } else { Ok(()) }
}

/// Kills so many processes at random moments while they write the audit.
pub fn audit_kills(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let kills: u64 = arguments.first().map_or(Ok(1000), |number| number.parse())?;
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    let test = ["test", "--package", "toolfold-audit", "--test", "it", "--", "children::killed_at_any_moment"];
    command.args(test).current_dir(&workspace.root).env("TOOLFOLD_AUDIT_KILLS", kills.to_string());
    shell::run_command(&mut command)
}

fn cargo(workspace: &Workspace, arguments: &[&str], filters: &[String]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&workspace.root);
    if !filters.is_empty() {
        command.arg("--").args(filters);
    }
    // A snapshot that differs is a failure, and never a new file to be accepted by accident.
    command.env("INSTA_UPDATE", "no");
    command
}
