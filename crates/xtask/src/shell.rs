//! Other programs, run and waited for. There is no shell here: arguments are passed as they are.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Runs a program and lets a person see what it says.
pub(crate) fn run(program: impl AsRef<OsStr>, arguments: &[&str], directory: &Path) -> Result<()> {
    let mut command = Command::new(&program);
    run_command(command.args(arguments).current_dir(directory))
}

pub(crate) fn run_command(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed: {status}");
    }
    Ok(())
}

/// Runs a program and returns what it wrote to stdout.
pub(crate) fn output(program: impl AsRef<OsStr>, arguments: &[&str], directory: &Path) -> Result<String> {
    let mut command = Command::new(&program);
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    let shown = shown(&command);
    let output = command.output().with_context(|| format!("cannot start `{shown}`"))?;
    if !output.status.success() {
        bail!("`{shown}` failed: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` wrote something that is not text"))
}

/// Where a program is, if it is on the path.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|candidate| candidate.is_file())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
