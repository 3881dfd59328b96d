//! What happened to a fake server, one JSON object per line, readable while it runs and after it died.
//!
//! Several processes may write to the same file (a server that is restarted): each line is one append.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

#[derive(Debug)]
pub(super) struct Journal(Option<File>);

impl Journal {
    pub(super) fn open(path: Option<&Path>) -> std::io::Result<Self> {
        let file = path.map(|path| OpenOptions::new().create(true).append(true).open(path)).transpose()?;
        Ok(Journal(file))
    }

    pub(super) fn start(&self) {
        self.write(json!({"event": "start", "pid": std::process::id()}));
    }

    pub(super) fn message(&self, message: Value, headers: Option<Value>) {
        let mut entry = json!({"event": "message", "pid": std::process::id(), "message": message});
        if let Some(headers) = headers {
            entry["headers"] = headers;
        }
        self.write(entry);
    }

    /// Writes down why, and ends the process.
    pub(super) fn exit(&self, why: &str, code: i32) -> ! {
        self.write(json!({"event": "exit", "pid": std::process::id(), "why": why}));
        std::process::exit(code)
    }

    fn write(&self, entry: Value) {
        if let Some(mut file) = self.0.as_ref() {
            let _ = file.write_all(format!("{entry}\n").as_bytes());
        }
    }
}
