//! Where the real servers and clients are. They are never skipped: without them these tests would show nothing.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

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

/// A script that runs beside a test, and ends with the value.
pub(crate) struct Beside {
    child: Child,
    /// What its first line says.
    pub(crate) said: Value,
    /// Kept open: it says more than its first line, and ends where nobody would hear it.
    _rest: BufReader<ChildStdout>,
}

impl Beside {
    pub(crate) fn start(mut command: Command) -> Beside {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the script can be started");
        let mut first = String::new();
        let mut rest = BufReader::new(child.stdout.take().expect("a pipe"));
        rest.read_line(&mut first).unwrap();
        let said = serde_json::from_str(&first).unwrap_or_else(|_| panic!("{command:?} said {first:?}"));
        Beside { child, said, _rest: rest }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
