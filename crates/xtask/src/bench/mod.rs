//! What Toolfold costs, measured against the same work without it in the same run. Every figure is a ratio: the
//! machine's own speed is in both of its halves.

mod calls;
mod client;
mod start;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;

/// The programs that are measured, in release builds.
pub(crate) struct Programs {
    pub(crate) toolfold: PathBuf,
    pub(crate) fake: PathBuf,
    /// For configurations and stores; emptied first.
    pub(crate) folder: PathBuf,
}

pub fn run(workspace: &Workspace) -> Result<()> {
    let programs = build(workspace)?;
    println!("A call through Toolfold against the same call straight to the same server");
    calls::stdio(&programs)?;
    calls::http(&programs)?;
    println!("\nA start with 50 remembered servers and 3,000 tools");
    start::measure(&programs)
}

fn build(workspace: &Workspace) -> Result<Programs> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = [
        "build",
        "--release",
        "--no-default-features",
        "-p",
        "toolfold",
        "-p",
        "toolfold-test",
        "--bin",
        "toolfold",
        "--bin",
        "fake-server",
    ];
    let status = Command::new(cargo).args(arguments).current_dir(&workspace.root).status()?;
    ensure!(status.success(), "the release build failed");
    let release = workspace.target.join("release");
    let folder = workspace.target.join("bench");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).context("the folder for the benchmark cannot be made")?;
    Ok(Programs { toolfold: release.join("toolfold"), fake: release.join("fake-server"), folder })
}

impl Programs {
    /// Toolfold with a configuration and nothing of the user's own.
    pub(crate) fn toolfold(&self, config: &str, arguments: &[&str]) -> Result<Command> {
        let file = self.folder.join("toolfold.toml");
        std::fs::write(&file, config)?;
        let mut command = Command::new(&self.toolfold);
        command.args(arguments).arg("--config").arg(file);
        command.env("TOOLFOLD_STORE", self.folder.join("store.db")).env("TOOLFOLD_LOG", "error");
        command.env("HOME", &self.folder);
        Ok(command)
    }
}

/// The middle of several measurements.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

pub(crate) fn show(what: &str, floor: Duration, ours: Duration, goal: &str) {
    let ratio = ours.as_secs_f64() / floor.as_secs_f64();
    println!("  {what:<44} {floor:>10.1?} {ours:>10.1?}   ×{ratio:.2}   (goal: {goal})");
}
