//! What Toolfold costs, measured against the thinnest server and client that can be written, in the same run.
//!
//! What a reader would get wrong: nothing here is measured one after the other. Direct calls, both eras and all sizes
//! take turns, a few hundred calls each, so that whatever else the machine does slows all of them.

mod audit;
mod calls;
mod catalog;
mod client;
#[path = "../../../toolfold-bench/src/mixture.rs"]
mod mixture;
mod process;
mod report;
mod results;
mod scripts;
mod search;
mod start;
mod thin;
mod throughput;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;

pub use thin::serve as thin_server;

use report::Report;

/// The program that is measured, in a release build, and what it is measured with.
pub(crate) struct Programs {
    pub(crate) toolfold: PathBuf,
    /// This very program, which is the thin server when it is told so.
    pub(crate) thin: PathBuf,
    pub(crate) root: PathBuf,
    /// For configurations and stores; emptied first.
    pub(crate) folder: PathBuf,
}

/// `parts`: of `calls`, `throughput`, `audit`, `search`, `start`, `scripts` and `results`; all of them where none is named.
pub fn run(workspace: &Workspace, parts: &[String]) -> Result<()> {
    let known = ["calls", "throughput", "audit", "search", "start", "scripts", "results"];
    ensure!(parts.iter().all(|part| known.contains(&part.as_str())), "the parts of the benchmark are {known:?}");
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|named| named == part);
    let programs = build(workspace)?;
    let mut report = Report::default();
    if wanted("calls") {
        calls::measure(&programs, calls::Way::Http, &mut report)?;
        calls::measure(&programs, calls::Way::Stdio, &mut report)?;
    }
    if wanted("throughput") {
        throughput::measure(&programs, &mut report)?;
    }
    if wanted("audit") {
        audit::measure(&programs, &mut report)?;
    }
    if wanted("search") {
        search::measure(&programs, &mut report)?;
    }
    if wanted("start") {
        start::measure(&programs, &mut report)?;
    }
    if wanted("scripts") {
        scripts::measure(&programs, &mut report)?;
    }
    if wanted("results") {
        results::measure(&programs, &mut report)?;
    }
    report.finish()
}

/// The program that is measured: a release build, or the one that `TOOLFOLD_BINARY` names.
fn build(workspace: &Workspace) -> Result<Programs> {
    let folder = workspace.target.join("bench");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).context("the folder for the benchmark cannot be made")?;
    let thin = std::env::current_exe().context("this program cannot be found")?;
    let toolfold = match std::env::var_os("TOOLFOLD_BINARY") {
        Some(binary) => binary.into(),
        None => release(workspace)?,
    };
    Ok(Programs { toolfold, thin, root: workspace.root.clone(), folder })
}

fn release(workspace: &Workspace) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["build", "--release", "--package", "toolfold", "--bin", "toolfold"];
    let status = Command::new(cargo).args(arguments).current_dir(&workspace.root).status()?;
    ensure!(status.success(), "the release build failed");
    Ok(workspace.target.join("release/toolfold"))
}

impl Programs {
    /// Toolfold with a configuration and nothing of the user's own. Each name has a store of its own.
    pub(crate) fn toolfold(&self, name: &str, config: &str, arguments: &[&str]) -> Result<Command> {
        let file = self.folder.join(format!("{name}.toml"));
        std::fs::write(&file, config)?;
        let mut command = Command::new(&self.toolfold);
        command.args(arguments).arg("--config").arg(file).current_dir(&self.folder);
        command.env("TOOLFOLD_STORE", self.store(name)).env("TOOLFOLD_LOG", "error");
        command.env("HOME", &self.folder).env("XDG_STATE_HOME", self.folder.join(format!("{name}-state")));
        Ok(command)
    }

    pub(crate) fn store(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.db"))
    }

    pub(crate) fn thin(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.thin);
        command.arg("thin-server").args(arguments);
        command
    }
}

/// The middle of several measurements.
pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
