//! The static binary, and what can be seen in one.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::shell;
use crate::workspace::Workspace;

const MUSL: &str = "x86_64-unknown-linux-musl";
const GNU: &str = "x86_64-unknown-linux-gnu";

/// With musl where it is there: its resolver of names is part of it. With the machine's own C library otherwise, which has files
/// and DNS in it too, and would load anything else that `/etc/nsswitch.conf` names from where it runs.
pub(super) fn static_binary(workspace: &Workspace) -> Result<PathBuf> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let target = target(workspace)?;
    command.args(["build", "--release", "--locked", "--package", "toolfold", "--bin", "toolfold", "--target", target]);
    match target {
        MUSL => command.env("CC_x86_64_unknown_linux_musl", "musl-gcc"),
        // Of this variable scripts that run during the build see nothing: they are for this machine.
        _ => command.env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS", "-C target-feature=+crt-static"),
    };
    shell::run_command(command.current_dir(&workspace.root))?;
    let binary = workspace.target.join(target).join("release/toolfold");
    ensure!(is_static(&binary)?, "{} is not static", binary.display());
    Ok(binary)
}

/// What there is a standard library, a C compiler and a static C library for.
fn target(workspace: &Workspace) -> Result<&'static str> {
    let has_standard = |target: &str| -> Result<bool> {
        let folder = shell::output("rustc", &["--print", "target-libdir", "--target", target], &workspace.root)?;
        Ok(Path::new(folder.trim()).exists())
    };
    if has_standard(MUSL)? && shell::find("musl-gcc").is_some() {
        return Ok(MUSL);
    }
    // Where there is none, its name comes back as it was asked for.
    let library = shell::output("cc", &["-print-file-name=libc.a"], &workspace.root)?;
    ensure!(
        has_standard(GNU)? && Path::new(library.trim()).is_absolute(),
        "there is no C library to link statically\n\nhint: rustup target add {MUSL}, and install musl-tools (Debian's name)"
    );
    println!("there is no {MUSL} here: linking the static C library of this machine");
    Ok(GNU)
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
