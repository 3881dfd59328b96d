//! The fake server from a test's side: the script goes in, the command to start it and the journal come out.
//!
//! The journal spans all the processes started from one `FakeServer`, so a test can count restarts and repeated calls.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::binary::binary;

pub struct FakeServer {
    folder: TempDir,
}

impl FakeServer {
    /// A server that follows this script; see [`crate::server::script::Script`] for its keys.
    pub fn script(script: Value) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let server = FakeServer { folder };
        server.rewrite(script);
        server
    }

    /// Another script for the processes that are started from now on.
    pub fn rewrite(&self, script: Value) {
        std::fs::write(self.script_path(), script.to_string()).expect("the script can be written");
    }

    /// The command and arguments that start it on stdio.
    pub fn stdio_command(&self) -> (String, Vec<String>) {
        let args = [
            "--script".to_owned(),
            self.script_path().display().to_string(),
            "--journal".to_owned(),
            self.journal_path().display().to_string(),
        ];
        (binary("toolfold-test", "fake-server").display().to_string(), args.into())
    }

    /// Starts it as an HTTP server on a free port; it ends with the value.
    pub fn http(&self) -> RunningHttp {
        self.http_on(0)
    }

    /// As [`FakeServer::http`], on a port that was free a moment ago: a server that comes back.
    pub fn http_on(&self, port: u16) -> RunningHttp {
        let (command, args) = self.stdio_command();
        RunningHttp::start(Command::new(command).args(args).args(["--http", &port.to_string()]))
    }

    /// All entries so far: `{"event": "start" | "message" | "exit", "pid", …}`.
    pub fn journal(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.journal_path()).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The messages of one method that arrived, as they were.
    pub fn received(&self, method: &str) -> Vec<Value> {
        let messages = self.journal().into_iter().filter_map(|mut entry| Some(entry.get_mut("message")?.take()));
        messages.filter(|message| message.get("method").and_then(Value::as_str) == Some(method)).collect()
    }

    /// The process ids of all starts so far.
    pub fn starts(&self) -> Vec<u32> {
        let starts = self.journal().into_iter().filter(|entry| entry["event"] == "start");
        starts.filter_map(|entry| entry["pid"].as_u64()?.try_into().ok()).collect()
    }

    /// A folder for the test's own files; it goes with the value.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    fn script_path(&self) -> PathBuf {
        self.folder.path().join("script.json")
    }

    fn journal_path(&self) -> PathBuf {
        self.folder.path().join("journal.jsonl")
    }
}

/// An HTTP server in a process of its own, killed when dropped.
pub struct RunningHttp {
    child: Child,
    port: u16,
}

impl RunningHttp {
    /// Starts any command that says `listening on 127.0.0.1:PORT` on stderr once it is ready.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the server can be started");
        let mut lines = BufReader::new(child.stderr.take().expect("stderr is piped")).lines();
        let mut said = String::new();
        let port = loop {
            let Some(Ok(line)) = lines.next() else {
                let _ = child.kill();
                let _ = child.wait();
                panic!("the server ended before it listened; it said:\n{said}");
            };
            if let Some(port) = line.split("listening on 127.0.0.1:").nth(1) {
                break port.trim_matches(|c: char| !c.is_ascii_digit()).parse().expect("a port is a number");
            }
            said.push_str(&format!("{line}\n"));
        };
        // Somebody has to read on, or the server blocks when the pipe is full.
        std::thread::spawn(move || lines.for_each(drop));
        RunningHttp { child, port }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for RunningHttp {
    fn drop(&mut self) {
        self.kill();
    }
}
