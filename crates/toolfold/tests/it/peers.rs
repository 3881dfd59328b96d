//! Where the real servers and clients are. They are never skipped: without them these tests would show nothing.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// `target/peers`, wherever the target folder is.
pub(crate) fn folder() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_toolfold"));
    let folder = binary.ancestors().nth(2).expect("a binary lies in target/<profile>").join("peers");
    assert!(folder.join("installed").exists(), "run `cargo xtask peers` first: {} is not there", folder.display());
    folder
}

/// Node as the peers need it; the system's may be too old.
pub(crate) fn node() -> Command {
    let folder = folder();
    let mut command = Command::new(folder.join("node_modules/.bin/node"));
    command.env("PEERS", &folder);
    command
}

pub(crate) fn module(path: &str) -> PathBuf {
    folder().join("node_modules").join(path)
}

pub(crate) fn venv(program: &str) -> PathBuf {
    folder().join("venv/bin").join(program)
}

/// A script of ours that drives one of the clients.
pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers").join(name)
}

/// Runs a client with these lines as its input and returns the lines of its output.
pub(crate) fn lines(mut command: Command, input: &[Value]) -> Vec<Value> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the client can be started");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    let text: String = input.iter().map(|line| format!("{line}\n")).collect();
    // A client that is gone already has said why on stderr, which is shown below.
    let _ = stdin.write_all(text.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("the client can be waited for");
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{said}\n{complained}", output.status);
    let read = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}\n{complained}"));
    said.lines().map(read).collect()
}
