//! The static binary, and what can be seen in one.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::shell;
use crate::workspace::Workspace;

const TARGET: &str = "x86_64-unknown-linux-musl";

/// With musl: its resolver of names is part of it, where a static glibc would look for libraries of its own version at run time.
pub(super) fn static_binary(workspace: &Workspace) -> Result<PathBuf> {
    let hint = format!("hint: rustup target add {TARGET}, and install musl-tools (Debian's name)");
    let standard = shell::output("rustc", &["--print", "target-libdir", "--target", TARGET], &workspace.root)?;
    ensure!(Path::new(standard.trim()).exists(), "there is no standard library for {TARGET}\n\n{hint}");
    ensure!(shell::find("musl-gcc").is_some(), "there is no C compiler for {TARGET}\n\n{hint}");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--release", "--locked", "--package", "toolfold", "--bin", "toolfold", "--target", TARGET]);
    command.env("CC_x86_64_unknown_linux_musl", "musl-gcc").current_dir(&workspace.root);
    shell::run_command(&mut command)?;
    let binary = workspace.target.join(TARGET).join("release/toolfold");
    ensure!(is_static(&binary)?, "{} is not static", binary.display());
    Ok(binary)
}

/// Whether a program needs no other file to run: no loader, no library.
pub(super) fn is_static(binary: &Path) -> Result<bool> {
    let path = binary.display().to_string();
    let told = shell::output("readelf", &["--wide", "--program-headers", "--dynamic", &path], Path::new("/"))?;
    Ok(!told.contains("INTERP") && !told.contains("(NEEDED)"))
}

pub(super) fn version(workspace: &Workspace) -> Result<String> {
    let metadata = metadata(workspace, &["--no-deps"])?;
    let packages = metadata["packages"].as_array().context("cargo metadata lacks packages")?;
    let toolfold = packages.iter().find(|package| package["name"] == "toolfold");
    toolfold.and_then(|package| package["version"].as_str()).map(str::to_owned).context("there is no package toolfold")
}

pub(super) fn metadata(workspace: &Workspace, more: &[&str]) -> Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = [&["metadata", "--format-version", "1", "--locked"], more].concat();
    Ok(serde_json::from_str(&shell::output(cargo, &arguments, &workspace.root)?)?)
}
