//! The handle that whoever has something to tell holds.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;
use toolfold_config::{AuditMode, Keep, Recorded};
use toolfold_core::DatabaseUrl;
use tracing::error;

use crate::blank::Hides;
use crate::note::Note;
use crate::writer::{Message, Writer};

/// Notes that wait to be written, and bytes of them.
const MOST_WAITING: usize = 8192;
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// A note that no bytes are counted for: thousands of these are a few megabytes.
const SMALL: u64 = 2 * 1024;
/// How long a disk may take over one of them that somebody waits for.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long it may take to find out whether something could be written. Whoever balances does not wait for longer.
const PROBE: Duration = Duration::from_secs(2);
/// How long a disk may take over the last of them.
const FAREWELL: Duration = Duration::from_secs(5);

/// What an audit is kept with.
#[derive(Clone)]
pub struct Settings {
    pub path: PathBuf,
    /// Where events are brought from there.
    pub database: Option<DatabaseUrl>,
    pub mode: AuditMode,
    pub record: Recorded,
    pub keep: Keep,
    pub hides: Arc<dyn Hides>,
    /// How many tokens an answer costs.
    pub count_tokens: fn(&str) -> usize,
}

/// Why something is not written down.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuditError {
    #[error("{0}")]
    NotWritten(String),
    #[error("the disk does not keep up: too many events wait for it")]
    Overloaded,
    #[error("the disk did not answer within {} s", PATIENCE.as_secs())]
    Late,
    #[error("the audit is closed")]
    Closed,
}

#[derive(Clone)]
pub struct Audit(Arc<Inner>);

struct Inner {
    queue: SyncSender<Message>,
    strict: AtomicBool,
    /// Switched off while running.
    off: AtomicBool,
    record: AtomicU8,
    shared: Arc<Shared>,
}

/// What the two sides of the queue both count.
#[derive(Default)]
pub(crate) struct Shared {
    /// Notes for which there was no room.
    pub(crate) missed: AtomicU64,
    pub(crate) waiting: AtomicU64,
    /// Bytes of what waits.
    pub(crate) bytes: AtomicU64,
    pub(crate) written: AtomicU64,
    /// Calls of tools that an answer had shown, and of others.
    pub(crate) discovered: AtomicU64,
    pub(crate) direct: AtomicU64,
}

impl Shared {
    /// A note waits to be written.
    pub(crate) fn take_in(&self, note: &Note) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(note.size(), Ordering::Relaxed);
    }

    /// It does no longer, and was not written.
    pub(crate) fn let_go(&self, note: &Note) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(note.size(), Ordering::Relaxed);
    }
}

impl Audit {
    /// Nothing is opened before there is something to write.
    pub fn start(settings: Settings) -> Audit {
        let (queue, notes) = sync_channel(MOST_WAITING);
        let shared = Arc::new(Shared::default());
        let (mode, record) = (settings.mode, settings.record as u8);
        let writer = Writer::new(settings, shared.clone());
        // Without a thread the queue is closed, and whoever tells something hears that.
        let _ = std::thread::Builder::new().name("audit".to_owned()).spawn(move || writer.run(&notes));
        let (strict, off) = (AtomicBool::new(mode == AuditMode::Strict), AtomicBool::new(mode == AuditMode::Off));
        Audit(Arc::new(Inner { queue, strict, off, record: AtomicU8::new(record), shared }))
    }

    /// Takes over what can be changed while running: all but the place. That it is switched off is the last that is written, and
    /// that it is switched on again the first.
    pub async fn configure(&self, settings: Settings) {
        let off = settings.mode == AuditMode::Off;
        self.0.strict.store(settings.mode == AuditMode::Strict, Ordering::Relaxed);
        self.0.off.fetch_or(off, Ordering::Relaxed);
        self.0.record.store(settings.record as u8, Ordering::Relaxed);
        if self.put(Message::Configure(Box::new(settings)), Instant::now() + FAREWELL).await {
            self.0.off.store(off, Ordering::Relaxed);
        } else {
            error!("the audit does not know of its new settings: the disk does not keep up");
        }
    }

    pub fn is_strict(&self) -> bool {
        self.0.strict.load(Ordering::Relaxed)
    }

    /// Whether as much as this is written down.
    pub fn records(&self, what: Recorded) -> bool {
        self.0.record.load(Ordering::Relaxed) >= what as u8
    }

    /// Notes that wait to be written, for whoever watches.
    pub fn waiting(&self) -> u64 {
        self.0.shared.waiting.load(Ordering::Relaxed)
    }

    /// Events that are in the file.
    pub fn written(&self) -> u64 {
        self.0.shared.written.load(Ordering::Relaxed)
    }

    /// Whether something could be written now. The disk is asked, at most once in a moment however many want to know.
    pub async fn can_write(&self) -> bool {
        let (done, answered) = oneshot::channel();
        // A queue that is full is one that the disk does not empty.
        let asked = self.0.queue.try_send(Message::Probe(done)).is_ok();
        asked && matches!(tokio::time::timeout(PROBE, answered).await, Ok(Ok(true)))
    }

    /// Calls of tools since the start: those that an answer had shown before, and the others.
    pub fn found(&self) -> (u64, u64) {
        let Shared { discovered, direct, .. } = &*self.0.shared;
        (discovered.load(Ordering::Relaxed), direct.load(Ordering::Relaxed))
    }

    /// Notes that there was no room for and that no event has accounted for yet.
    pub fn missed(&self) -> u64 {
        self.0.shared.missed.load(Ordering::Relaxed)
    }

    /// Tells something. Whoever must not go on before it is on the disk waits for [`Told::written`]; that is over at once
    /// unless the audit is strict.
    pub fn tell(&self, note: Note) -> Told {
        if self.0.off.load(Ordering::Relaxed) {
            return Told(None);
        }
        if self.is_strict() {
            let (done, written) = oneshot::channel();
            return Told(Some(self.send(note, Some(done)).map(|()| written)));
        }
        if self.send(note, None).is_err() {
            self.0.shared.missed.fetch_add(1, Ordering::Relaxed);
        }
        Told(None)
    }

    /// As [`Audit::tell`], for what nobody can wait for.
    pub fn mention(&self, note: Note) {
        if !self.0.off.load(Ordering::Relaxed) && self.send(note, None).is_err() {
            self.0.shared.missed.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn send(&self, note: Note, done: Option<oneshot::Sender<Result<(), AuditError>>>) -> Result<(), AuditError> {
        let (shared, size) = (&self.0.shared, note.size());
        // What is small always finds its place among those that are counted by number.
        if shared.bytes.fetch_add(size, Ordering::Relaxed) + size > MOST_BYTES && size > SMALL {
            shared.bytes.fetch_sub(size, Ordering::Relaxed);
            return Err(AuditError::Overloaded);
        }
        shared.waiting.fetch_add(1, Ordering::Relaxed);
        self.0.queue.try_send(Message::Note(Box::new(note), done)).map_err(|error| {
            shared.waiting.fetch_sub(1, Ordering::Relaxed);
            shared.bytes.fetch_sub(size, Ordering::Relaxed);
            match error {
                TrySendError::Full(_) => AuditError::Overloaded,
                TrySendError::Disconnected(_) => AuditError::Closed,
            }
        })
    }

    /// Everything told so far is in the file, or could not be.
    pub async fn flush(&self) {
        self.ask(Message::Flush).await;
    }

    /// Writes what is left and closes the file. A disk that does not answer is not waited for.
    pub async fn close(&self) {
        self.ask(Message::Close).await;
    }

    async fn ask(&self, message: fn(oneshot::Sender<()>) -> Message) {
        let (done, answered) = oneshot::channel();
        let deadline = Instant::now() + FAREWELL;
        if self.put(message(done), deadline).await {
            let _ = tokio::time::timeout_at(deadline, answered).await;
        }
    }

    /// Waits for room in the queue. Whether there was some.
    async fn put(&self, mut message: Message, deadline: Instant) -> bool {
        while let Err(TrySendError::Full(back)) = self.0.queue.try_send(message) {
            if Instant::now() > deadline {
                return false;
            }
            message = back;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        true
    }
}

/// Something that was told.
#[must_use = "a strict audit is waited for"]
pub struct Told(Option<Result<oneshot::Receiver<Result<(), AuditError>>, AuditError>>);

impl Told {
    /// On the disk, where that was asked for.
    pub async fn written(self) -> Result<(), AuditError> {
        match self.0 {
            None => Ok(()),
            Some(Ok(written)) => match tokio::time::timeout(PATIENCE, written).await {
                Ok(written) => written.unwrap_or(Err(AuditError::Closed)),
                Err(_) => Err(AuditError::Late),
            },
            Some(Err(error)) => Err(error),
        }
    }
}
