//! A script seen from outside: a process is started for it, what it asks for is answered, and it is ended when it is done
//! or has had enough. Dropped, a run is over: the process is killed, and what it had asked for is dropped with it.

mod ended;
mod line;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, MissedTickBehavior, interval};
use toolfold_wire::{BoxFuture, Raw};
use tracing::{debug, warn};

use crate::limits::{AT_ONCE, GRACE, LARGEST_RESULT, MOST_PRINTED, ScriptLimits};
use crate::processor;
use crate::protocol::{Answer, Ask, Begin, HostAnswer, Said, Walls};
use crate::thrown::Thrown;
use ended::crash;
use line::Lines;

pub use ended::{Crash, End, Ended, InnerCall, InnerOutcome, Over};

/// How a process for a script is started: a program whose first argument makes it one.
#[derive(Debug, Clone)]
pub struct Program {
    pub path: PathBuf,
    pub arguments: Vec<OsString>,
}

#[derive(Debug)]
pub struct Script {
    pub code: String,
    /// What it sees as `input`.
    pub input: Raw,
}

/// Who answers what a script asks for.
pub trait Host: Send + Sync {
    fn answer(&self, ask: Ask) -> BoxFuture<'_, HostAnswer>;

    /// Whether a person is being asked something: the script's time stands still.
    fn is_asking(&self) -> bool {
        false
    }
}

/// How often it is looked whether a script has had enough.
const LOOK: Duration = Duration::from_millis(100);
/// Content that a script may show, in bytes: the process counts characters.
const MOST_SHOWN: usize = 4 * LARGEST_RESULT;

impl Program {
    /// This program itself, as it was started: it may have been replaced on the disk since.
    pub fn this() -> std::io::Result<Program> {
        let own = PathBuf::from("/proc/self/exe");
        let path = if own.exists() { own } else { std::env::current_exe()? };
        Ok(Program { path, arguments: vec![crate::worker::COMMAND.into()] })
    }

    fn start(&self) -> std::io::Result<Child> {
        let mut command = Command::new(&self.path);
        command.args(&self.arguments).env_clear().current_dir("/").kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        #[cfg(unix)]
        command.process_group(0);
        command.spawn()
    }
}

/// Runs a script to its end.
pub async fn run(program: &Program, script: Script, limits: ScriptLimits, host: &dyn Host) -> Ended {
    let mut ended = Ended::default();
    let started = program.start().and_then(|mut child| {
        let gone = || std::io::Error::other("a process without stdin and stdout");
        let (input, output) = (child.stdin.take().ok_or_else(gone)?, child.stdout.take().ok_or_else(gone)?);
        Ok((child, input, output))
    });
    let (mut child, input, output) = match started {
        Ok(started) => started,
        Err(error) => {
            warn!("a process for a script cannot be started: {error}");
            ended.end = End::Crashed(Crash::NotStarted);
            return ended;
        }
    };
    let begin = Begin { code: script.code, input: script.input, limits };
    let mut conversation = Conversation {
        limits,
        host,
        process: child.id(),
        begun: Instant::now(),
        asked: Duration::ZERO,
        looked: Instant::now(),
        calls: 0,
        ended: &mut ended,
    };
    let end = conversation.hold(&begin, input, output).await;
    // It has said its last word, or must not say another one.
    let _ = child.start_kill();
    let status = child.wait().await;
    ended.end = match (end, status) {
        (Some(end), _) => end,
        (None, status) => crash(status.ok(), limits),
    };
    ended
}

struct Conversation<'a> {
    limits: ScriptLimits,
    host: &'a dyn Host,
    process: Option<u32>,
    begun: Instant,
    /// How long people were asked.
    asked: Duration,
    looked: Instant,
    /// Things it has asked for.
    calls: usize,
    ended: &'a mut Ended,
}

impl<'a> Conversation<'a> {
    /// How it ended; `None` where the process ended without a word.
    async fn hold(&mut self, begin: &Begin, input: ChildStdin, output: ChildStdout) -> Option<End> {
        let mut writer = Writer::new(input, begin);
        let mut lines = Lines::new(output);
        let mut answers = FuturesUnordered::new();
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                _ = looks.tick() => if let Some(over) = self.look() { return Some(End::Over(over)) },
                () = writer.write(), if writer.has_more() => {}
                Some((id, answered)) = answers.next(), if !answers.is_empty() => writer.add(&self.fitting(id, answered)),
                line = lines.next() => match self.heard(line.ok()??, answers.len()) {
                    Heard::Nothing => {}
                    Heard::Asked(id, ask) => {
                        let host = self.host;
                        let call = self.ended.note(&ask);
                        answers.push(Box::pin(async move { (id, (call, host.answer(ask).await)) }) as Answering<'a>);
                    }
                    Heard::TooMany(id) => writer.add(&Answer { id, what: HostAnswer::Thrown(too_many(self.limits.calls)) }),
                    Heard::End(end) => return Some(end),
                },
            }
        }
    }

    /// What a line says, where it may be said at all.
    fn heard(&mut self, line: String, open: usize) -> Heard {
        let Ok(said) = serde_json::from_str::<Said>(&line) else { return Heard::End(End::Crashed(Crash::Nonsense)) };
        match said {
            Said::Ready(walls) => {
                told(walls);
                Heard::Nothing
            }
            // The process itself keeps to this; one that does not is not the one that was started.
            Said::Ask { .. } if open >= AT_ONCE => Heard::End(End::Crashed(Crash::Nonsense)),
            Said::Ask { id, .. } if self.calls >= self.limits.calls => Heard::TooMany(id),
            Said::Ask { id, what } => {
                self.calls += 1;
                Heard::Asked(id, what)
            }
            Said::Print(text) => {
                // Beside what it adds to say that there was more.
                if self.ended.printed.len() <= MOST_PRINTED {
                    self.ended.printed.push_str(&text);
                }
                Heard::Nothing
            }
            Said::Show(content) => {
                self.ended.shown.push(content);
                let shown: usize = self.ended.shown.iter().map(|content| content.get().len()).sum();
                if shown > MOST_SHOWN { Heard::End(End::Over(Over::Size)) } else { Heard::Nothing }
            }
            Said::Returned(value) => Heard::End(End::Returned(value)),
            Said::Threw(uncaught) => Heard::End(End::Threw(Box::new(uncaught))),
            Said::Over(over) => Heard::End(End::Over(over.into())),
        }
    }

    /// Counts the time since the last look, and says what the script has had enough of, if of anything.
    fn look(&mut self) -> Option<Over> {
        let now = Instant::now();
        if self.host.is_asking() {
            self.asked += now - self.looked;
        }
        self.looked = now;
        self.exceeded(now)
    }

    /// What it has had enough of, beside what the process notices itself.
    fn exceeded(&self, now: Instant) -> Option<Over> {
        let computed = self.process.and_then(processor::of).unwrap_or_default();
        if computed > self.limits.cpu + GRACE {
            return Some(Over::Cpu);
        }
        (now - self.begun > self.limits.time + self.asked).then_some(Over::Time)
    }

    /// An answer that a script may be given.
    fn fitting(&mut self, id: u64, (call, answered): (usize, HostAnswer)) -> Answer {
        let what = match answered {
            HostAnswer::Result(result) | HostAnswer::Value(result) if result.get().len() > LARGEST_RESULT => {
                HostAnswer::Thrown(too_large(result.get().len()))
            }
            other => other,
        };
        self.ended.note_end(call, &what);
        Answer { id, what }
    }
}

type Answering<'a> = BoxFuture<'a, (u64, (usize, HostAnswer))>;

enum Heard {
    Nothing,
    Asked(u64, Ask),
    TooMany(u64),
    End(End),
}

/// Lines on their way to the process. It may be too busy to read them.
struct Writer {
    input: ChildStdin,
    bytes: Vec<u8>,
    written: usize,
    broken: bool,
}

impl Writer {
    fn new(input: ChildStdin, begin: &Begin) -> Self {
        let mut writer = Writer { input, bytes: Vec::new(), written: 0, broken: false };
        writer.add(begin);
        writer
    }

    fn add(&mut self, line: &impl serde::Serialize) {
        if self.written == self.bytes.len() {
            (self.bytes, self.written) = (Vec::new(), 0);
        }
        // Values that came as JSON are written as such; there is nothing in them that could fail.
        if serde_json::to_writer(&mut self.bytes, line).is_ok() {
            self.bytes.push(b'\n');
        }
    }

    fn has_more(&self) -> bool {
        !self.broken && self.written < self.bytes.len()
    }

    /// Writes a part. Cancelled, it has written nothing.
    async fn write(&mut self) {
        match self.input.write(&self.bytes[self.written..]).await {
            Ok(written) => self.written += written,
            // Whoever does not read any more is about to end, which is seen where its lines are read.
            Err(_) => self.broken = true,
        }
    }
}

fn told(walls: Walls) {
    let complete = Walls { seccomp: true, landlock: true, address_space: true };
    if walls != complete && cfg!(target_os = "linux") {
        debug!(?walls, "a script runs with fewer walls around it than there could be");
    }
}

fn too_many(most: usize) -> Thrown {
    Thrown::new("TOO_LARGE", format!("A script may ask for {most} things, and this one has."))
        .hint("Ask for more at once where a tool can do that, or do the rest in another script.")
}

fn too_large(size: usize) -> Thrown {
    let message = format!("The result has {size} bytes, and a script is given at most {LARGEST_RESULT}.");
    Thrown::new("TOO_LARGE", message).hint("Ask the tool for less: a smaller page, fewer fields, a narrower range.")
}
