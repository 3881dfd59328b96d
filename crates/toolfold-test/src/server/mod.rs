//! The scriptable server behind the `fake-server` binary: raw JSON-RPC, both eras, stdio and HTTP, and every bad habit
//! that the script asks for.
//!
//! It does not use an MCP library, on purpose: a library would refuse to misbehave.

mod answer;
mod call;
mod http;
mod journal;
mod link;
pub mod script;
mod stdio;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::broadcast;
use toolfold_wire::{Era, Id, Raw};

use self::journal::Journal;
use self::link::Link;
use self::script::Script;

/// No fake server outlives a test run, whatever went wrong with the test.
const LONGEST_LIFE: Duration = Duration::from_secs(300);

/// The server, shared by all its connections.
struct Fake {
    script: Script,
    journal: Journal,
    tools: Mutex<Vec<Raw>>,
    /// Resources that a legacy client subscribed to.
    watched: Mutex<BTreeSet<String>>,
    changes: broadcast::Sender<Change>,
    poisoned: AtomicBool,
}

/// News for whoever listens.
#[derive(Debug, Clone)]
struct Change {
    method: &'static str,
    params: Option<Raw>,
}

/// Who sent a request, as far as the answer depends on it.
struct Caller {
    era: Era,
    id: Id,
    link: Link,
}

/// What the command line says.
struct Arguments {
    script: Script,
    journal: Option<PathBuf>,
    http: Option<u16>,
}

/// The whole program; `Err` is a sentence for stderr.
pub async fn run(arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = read_arguments(arguments)?;
    let journal = Journal::open(arguments.journal.as_deref()).map_err(|error| error.to_string())?;
    journal.start();
    write_stderr(arguments.script.stderr);
    if let Some(code) = arguments.script.exit_at_start {
        journal.exit("exit_at_start", code);
    }
    let fake = Fake {
        tools: Mutex::new(arguments.script.all_tools()?),
        script: arguments.script,
        journal,
        watched: Mutex::default(),
        changes: broadcast::channel(64).0,
        poisoned: AtomicBool::new(false),
    };
    // The fake lives as long as the process.
    let fake: &'static Fake = Box::leak(Box::new(fake));
    spawn_child(&fake.script)?;
    tokio::spawn(fake.end_of_life());
    // Installed here and now: a signal that comes before would end the process without a word in the journal.
    let terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
    tokio::spawn(fake.on_sigterm(terminate));
    match arguments.http {
        Some(port) => http::serve(fake, port).await.map_err(|error| error.to_string()),
        None => stdio::serve(fake).await,
    }
}

impl Fake {
    async fn end_of_life(&self) {
        let crash = self.script.crash_after_ms.map(Duration::from_millis);
        tokio::time::sleep(crash.unwrap_or(LONGEST_LIFE)).await;
        self.journal.exit(if crash.is_some() { "crash" } else { "too old" }, 3);
    }

    async fn on_sigterm(&self, mut terminate: Signal) {
        while terminate.recv().await.is_some() {
            if !self.script.ignore_sigterm {
                self.journal.exit("sigterm", 0);
            }
        }
    }
}

/// Blocks when nobody reads, as any other program would.
fn write_stderr(lines: usize) {
    let mut stderr = std::io::stderr().lock();
    for n in 1..=lines {
        let _ = writeln!(stderr, "line {n} of {lines} on stderr, as chatty servers write them");
    }
}

fn spawn_child(script: &Script) -> Result<(), String> {
    let Some(path) = &script.spawn_child else { return Ok(()) };
    let child = std::process::Command::new("sleep")
        .arg(LONGEST_LIFE.as_secs().to_string())
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| format!("sleep: {error}"))?;
    std::fs::write(path, child.id().to_string()).map_err(|error| error.to_string())
}

fn read_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut read = Arguments { script: Script::default(), journal: None, http: None };
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{flag} wants a value"))?;
        match flag.as_str() {
            "--script-json" => read.script = Script::parse(&value)?,
            "--script" => {
                let text = std::fs::read_to_string(&value).map_err(|error| format!("{value}: {error}"))?;
                read.script = Script::parse(&text)?;
            }
            "--journal" => read.journal = Some(value.into()),
            "--http" => read.http = Some(value.parse().map_err(|_| format!("{value} is not a port"))?),
            _ => return Err(format!("unknown flag {flag}; known: --script, --script-json, --journal, --http")),
        }
    }
    Ok(read)
}
