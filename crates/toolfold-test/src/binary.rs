//! Where the binaries of this workspace are, built first if they are missing or older than their sources.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

static FOUND: LazyLock<Mutex<HashMap<String, PathBuf>>> = LazyLock::new(Mutex::default);

/// The path of a binary, e.g. `binary("toolfold-test", "fake-server")`. Looked at once per process.
pub fn binary(package: &str, name: &str) -> PathBuf {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    found.entry(name.to_owned()).or_insert_with(|| locate(package, name)).clone()
}

fn locate(package: &str, name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a running program has a path");
    // target/debug/deps/it-0123456789abcdef
    let profile = own.parent().filter(|folder| folder.ends_with("deps")).and_then(Path::parent);
    let profile = profile.or_else(|| own.parent()).expect("a program lies in a folder");
    let path = profile.join(name);
    if is_stale(&path) {
        build(package, name, profile);
    }
    path
}

/// Cargo decides this better, but a test process each would ask it: that is too slow.
fn is_stale(binary: &Path) -> bool {
    let Some(built) = modified(binary) else { return true };
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates/ lies above every crate");
    ["toolfold-test", "toolfold-wire"].iter().any(|name| is_newer(&crates.join(name).join("src"), built))
}

fn is_newer(folder: &Path, than: SystemTime) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| match path.is_dir() {
        true => is_newer(&path, than),
        false => modified(&path).is_some_and(|time| time > than),
    })
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|metadata| metadata.modified()).ok()
}

fn build(package: &str, name: &str, profile: &Path) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--package", package, "--bin", name]).current_dir(env!("CARGO_MANIFEST_DIR"));
    if let Some(target) = profile.parent() {
        command.arg("--target-dir").arg(target);
    }
    if profile.ends_with("release") {
        command.arg("--release");
    }
    let output = command.output().expect("cargo can be started");
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo could not build {name}:\n{problem}");
}
