//! What servers wrote and how they fared, in a file for each, and a file of calls: what `toolfold logs` shows.
//!
//! Bounded in every direction: lines wait in a queue that drops the newest when it is full (a server that writes
//! without end must not make anybody wait), and a file that has grown is set aside once, its predecessor is gone. Arguments
//! and results are never written.
//!
//! How a server's list is (a tool that cannot be used, entries that are held) is found out again by every command, and is no
//! event: it is written when it is another than the last time.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use toolfold_core::{ServerName, shown_line};
use toolfold_gateway::CallRecord;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::notes::{ABOUT, Remark, Told};

/// The file of calls. No server can have a dot in its name.
const CALLS: &str = "all.calls";
/// One megabyte, twice: as much as anybody reads.
pub(crate) const LARGEST: u64 = 1 << 20;
/// As many calls as are made while the thread lingers.
const QUEUE: usize = 4_096;
/// How long lines are gathered: writing each by itself would cost a call a tenth of its time.
const LINGER: Duration = Duration::from_millis(50);

pub(crate) struct Journal {
    lines: SyncSender<Message>,
}

enum Message {
    Line {
        file: String,
        text: String,
    },
    /// How something is. `text` has no time before it yet.
    Note {
        file: String,
        note: Remark,
    },
    /// Answered when everything before it is on disk.
    Flush(SyncSender<()>),
}

/// The parts of the program that say how a list is, and nothing else.
const NOTES: [&str; 3] = ["toolfold_gateway::known", "toolfold_upstream::listing", "toolfold_upstream::made::source"];
/// The way to the thread that writes, for whoever is about to end.
static WRITER: OnceLock<SyncSender<Message>> = OnceLock::new();
const FLUSH: Duration = Duration::from_secs(1);
const REST: Duration = Duration::from_millis(20);

/// Writes down every call of a gateway when it has ended, until the gateway is gone. No arguments and no results. Not by
/// way of the log: that would cost a call more than finding its tool.
pub(crate) async fn follow_calls(mut calls: tokio::sync::broadcast::Receiver<CallRecord>) {
    let Some(writer) = WRITER.get() else { return };
    loop {
        let mut heard = calls.recv().await;
        loop {
            let line = match heard {
                Ok(call) => line_of(&call),
                // Nobody reads a thousand calls a second: what is missing is said.
                Err(RecvError::Lagged(missed)) => format!("calls that are not listed missed={missed}"),
                Err(RecvError::Closed) => return,
            };
            let mut text = String::new();
            begin(&mut text);
            text.push_str(&line);
            // A full queue drops the line.
            let _ = writer.try_send(Message::Line { file: CALLS.to_owned(), text });
            heard = match calls.try_recv() {
                Ok(call) => Ok(call),
                Err(TryRecvError::Lagged(missed)) => Err(RecvError::Lagged(missed)),
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            };
        }
        // Not listening for a moment: whoever calls meanwhile has nobody to wake.
        tokio::time::sleep(REST).await;
    }
}

fn line_of(call: &CallRecord) -> String {
    let what = shown_line(call.tool.as_deref().unwrap_or(&call.method));
    let (principal, outcome, took) = (shown_line(call.principal.name()), call.outcome, call.took);
    format!("{what} principal={principal} outcome={outcome} took={took:?}")
}

/// Every line begins with the time.
fn begin(text: &mut String) {
    let _ = SystemTime.format_time(&mut Writer::new(text));
    text.push(' ');
}

impl Journal {
    /// Lines are written by a thread of its own: no request waits for a disk.
    pub(crate) fn start(state: &Path) -> Journal {
        let (lines, queue) = sync_channel(QUEUE);
        let folder = folder(state);
        // Without a thread, lines are dropped: a log is no reason to fail.
        let _ = std::thread::Builder::new().name("journal".to_owned()).spawn(move || write_all(&folder, &queue));
        let _ = WRITER.set(lines.clone());
        Journal { lines }
    }

    pub(crate) fn layer<S: Subscriber + for<'a> LookupSpan<'a>>(self) -> impl Layer<S> {
        let ours = |level: Level, target: &str| level <= Level::INFO && target.starts_with("toolfold");
        self.with_filter(filter_fn(move |about| about.is_span() || ours(*about.level(), about.target())))
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Journal {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let Some(file) = fields.server else { return };
        if NOTES.contains(&event.metadata().target()) {
            let note = Remark::new(&fields.message, &fields.rest, fields.about);
            let _ = self.lines.try_send(Message::Note { file, note });
            return;
        }
        let mut text = String::new();
        begin(&mut text);
        text.push_str(&fields.message);
        text.push_str(&fields.rest);
        let _ = self.lines.try_send(Message::Line { file, text });
    }
}

#[derive(Default)]
struct Fields {
    server: Option<String>,
    message: String,
    rest: String,
    /// What a note is about, where one server has several of a kind.
    about: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.take(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.take(field, value.to_owned());
    }
}

impl Fields {
    fn take(&mut self, field: &Field, value: String) {
        match field.name() {
            "server" => self.server = ServerName::new(value).ok().map(|name| name.to_string()),
            "message" => self.message = shown_line(&value).into_owned(),
            name => {
                let told = format!(" {name}={}", shown_line(&value));
                self.rest.push_str(&told);
                if ABOUT.contains(&name) {
                    self.about = told;
                }
            }
        }
    }
}

/// What is written about a server, or about calls: the older part first.
pub(crate) fn read(state: &Path, server: Option<&ServerName>) -> Vec<String> {
    let (now, before) = files(&folder(state), server.map_or(CALLS, ServerName::as_str));
    let text = content(&before) + &content(&now);
    text.lines().map(str::to_owned).collect()
}

/// Waits a moment for what is still on its way to the disk, and for a place in the queue to ask for that.
pub(crate) fn flush() {
    let Some(writer) = WRITER.get() else { return };
    let end = Instant::now() + FLUSH;
    let (done, flushed) = sync_channel(1);
    while writer.try_send(Message::Flush(done.clone())).is_err_and(|error| matches!(error, TrySendError::Full(_))) {
        if Instant::now() > end {
            return;
        }
        std::thread::sleep(REST);
    }
    let _ = flushed.recv_timeout(FLUSH);
}

fn folder(state: &Path) -> PathBuf {
    state.join("logs")
}

/// The file that is written, and the one that was set aside.
fn files(folder: &Path, name: &str) -> (PathBuf, PathBuf) {
    (folder.join(format!("{name}.log")), folder.join(format!("{name}.log.1")))
}

fn write_all(folder: &Path, queue: &Receiver<Message>) {
    while let Ok(first) = queue.recv() {
        let (mut gathered, mut waiting) = (Gathered::default(), Vec::new());
        gathered.take(first, &mut waiting);
        // Asleep, not waiting for the queue: whoever adds a line then has nobody to wake.
        if waiting.is_empty() {
            std::thread::sleep(LINGER);
        }
        queue.try_iter().take(QUEUE).for_each(|message| gathered.take(message, &mut waiting));
        for (file, entries) in gathered.files {
            // A disk that is full costs the log, nothing else.
            drop(append(folder, &file, &lines_of(&files(folder, &file).0, entries)));
        }
        for done in waiting {
            let _ = done.send(());
        }
    }
}

/// What is to be written into each file, in its order.
#[derive(Default)]
struct Gathered {
    files: BTreeMap<String, Vec<Entry>>,
}

enum Entry {
    Line(String),
    Note(Remark),
}

impl Gathered {
    fn take(&mut self, message: Message, waiting: &mut Vec<SyncSender<()>>) {
        let (file, entry) = match message {
            Message::Line { file, text } => (file, Entry::Line(text)),
            Message::Note { file, note } => (file, Entry::Note(note)),
            Message::Flush(done) => return waiting.push(done),
        };
        self.files.entry(file).or_default().push(entry);
    }
}

/// The lines of a file that are new. What was in it is read once, one file at a time, and only where there are notes.
fn lines_of(path: &Path, entries: Vec<Entry>) -> String {
    let notes = entries.iter().filter_map(|entry| match entry {
        Entry::Note(note) => Some(note),
        Entry::Line(_) => None,
    });
    let mut told = Told::of(notes);
    if !told.is_empty() {
        content(path).lines().for_each(|line| told.hear(line));
    }
    let mut lines = String::new();
    for entry in entries {
        let from = lines.len();
        match entry {
            Entry::Line(text) => lines.push_str(&text),
            Entry::Note(note) if told.says(&note) => continue,
            Entry::Note(note) => {
                begin(&mut lines);
                lines.push_str(&note.text);
            }
        }
        told.hear(&lines[from..]);
        lines.push('\n');
    }
    lines
}

fn content(path: &Path) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// `lines`: whole ones.
fn append(folder: &Path, name: &str, lines: &str) -> std::io::Result<()> {
    let (path, before) = files(folder, name);
    if fs::metadata(&path).is_ok_and(|about| about.len() + lines.len() as u64 > LARGEST) {
        fs::rename(&path, before)?;
    }
    // In one piece: other instances append to the same file.
    open(&path)?.write_all(lines.as_bytes())
}

fn open(path: &Path) -> std::io::Result<File> {
    let open = || OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    open().or_else(|error| match path.parent() {
        Some(folder) if error.kind() == std::io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            open()
        }
        _ => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many as the queue holds, beside a file that is full of others like them.
    #[test]
    fn many_notes_are_compared_with_a_full_file_in_no_time() {
        let state = std::env::temp_dir().join(format!("toolfold-notes-{}", std::process::id()));
        let (path, _) = files(&folder(&state), "odd");
        let note = |tool: usize| {
            Remark::new("a tool is set aside: it has no name", &format!(" tool={tool}"), format!(" tool={tool}"))
        };
        let entries = |tools: std::ops::Range<usize>| tools.map(|tool| Entry::Note(note(tool))).collect::<Vec<_>>();
        let begun = Instant::now();
        for _ in 0..2 {
            let lines = lines_of(&path, entries(0..10_000));
            append(&folder(&state), "odd", &lines).unwrap();
        }
        assert_eq!(content(&path).lines().count(), 10_000, "each is written once");
        assert_eq!(lines_of(&path, entries(9_999..10_001)).lines().count(), 1);
        // A debug build; comparing each with every line took minutes.
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        fs::remove_dir_all(state).unwrap();
    }

    #[test]
    fn a_file_is_bounded_and_read_from_its_older_half_on() {
        let state = std::env::temp_dir().join(format!("toolfold-journal-{}", std::process::id()));
        let name = ServerName::new("noisy").unwrap();
        let (path, before) = files(&folder(&state), "noisy");
        let line = "x".repeat(100_000);
        for number in 0..40 {
            append(&folder(&state), "noisy", &format!("{number} {line}\n")).unwrap();
        }
        let (now, before) = (fs::metadata(&path).unwrap(), fs::metadata(before).unwrap());
        assert!(now.len() <= LARGEST && before.len() <= LARGEST);
        let lines = read(&state, Some(&name));
        assert!(lines.last().unwrap().starts_with("39 ") && lines.len() > 10 && lines.len() < 21, "{}", lines.len());
        fs::remove_dir_all(state).unwrap();
    }
}
