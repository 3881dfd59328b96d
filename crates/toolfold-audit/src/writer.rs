//! The thread that writes. What has gathered meanwhile is written together: with `strict` all that came while the disk was
//! busy with the batch before, otherwise all that comes within a moment.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use toolfold_config::AuditMode;
use toolfold_store::StoreError;
use tracing::{error, info, warn};

use crate::chain_file::rows_after;
use crate::event::{AuditEvent, EventKind};
use crate::file::{Batch, File};
use crate::moment::Moment;
use crate::note::Note;
use crate::recorder::{AuditError, Settings, Shared};
use crate::render::{Recall, Rendering};
use crate::retention;
use crate::ship::{AGAIN, Shipping};
use crate::switch::Switch;

/// How long notes are gathered where nobody waits: whoever adds one then has nobody to wake.
const LINGER: Duration = Duration::from_millis(25);
/// How long notes are gathered where many wait: each batch is a wait for the disk, and those who were let go by the last one are
/// about to come back.
const GATHER: Duration = Duration::from_micros(500);
/// So many that wait at once are many.
const MANY: usize = 4;
const MOST_TOGETHER: usize = 1024;
/// Events after which, and time after which, old ones are looked for.
const TIDY_AFTER: u64 = 2_000;
const TIDY_EVERY: Duration = Duration::from_secs(600);
/// For how long it is known whether something can be written.
const PROVEN: Duration = Duration::from_millis(500);
/// Rounds of taking away in a row.
const MOST_CUTS: usize = 8;

pub(crate) enum Message {
    Note(Box<Note>, Option<Waiter>),
    Configure(Box<Settings>),
    /// Whether something could be written.
    Probe(oneshot::Sender<bool>),
    Flush(oneshot::Sender<()>),
    Close(oneshot::Sender<()>),
}

type Waiter = oneshot::Sender<Result<(), AuditError>>;

pub(crate) struct Writer {
    settings: Settings,
    shared: Arc<Shared>,
    file: Option<File>,
    /// Where the file is brought to a database.
    shipping: Option<Shipping>,
    recall: Recall,
    switch: Switch,
    /// Notes that were given up, and the last reason.
    lost: u64,
    why: String,
    since_tidy: u64,
    tidied: Option<Instant>,
    /// Whether the last write, or try of one, went well, and when that was.
    proven: Option<(Instant, bool)>,
}

/// What came in together.
#[derive(Default)]
struct Gathered {
    notes: Vec<Note>,
    waiters: Vec<Waiter>,
    probed: Vec<oneshot::Sender<bool>>,
    flushed: Vec<oneshot::Sender<()>>,
    closed: Option<oneshot::Sender<()>>,
}

impl Writer {
    pub(crate) fn new(settings: Settings, shared: Arc<Shared>) -> Self {
        let recall = Recall::default();
        let shipping = settings.database.clone().map(Shipping::new);
        Writer {
            settings,
            shared,
            file: None,
            shipping,
            recall,
            switch: Switch::default(),
            lost: 0,
            why: String::new(),
            since_tidy: 0,
            tidied: None,
            proven: None,
        }
    }

    pub(crate) fn run(mut self, queue: &Receiver<Message>) {
        // More had come than is written at once: the rest has waited already.
        let mut behind = false;
        let mut crowded = false;
        while let Some(first) = self.next(queue) {
            let Some(first) = first else {
                // Nobody may come again before this is well: whoever balances sends nothing to one that cannot write.
                let _ = self.write(&[]);
                self.ship();
                continue;
            };
            let mut gathered = Gathered::default();
            self.take(first, &mut gathered);
            let asked = !gathered.flushed.is_empty() || !gathered.probed.is_empty() || gathered.closed.is_some();
            if !behind && !asked && gathered.waiters.is_empty() && self.settings.mode != AuditMode::Strict {
                std::thread::sleep(LINGER);
            } else if crowded && !asked && !gathered.waiters.is_empty() {
                std::thread::sleep(GATHER);
            }
            while gathered.notes.len() < MOST_TOGETHER && gathered.closed.is_none() {
                let Ok(message) = queue.try_recv() else { break };
                self.take(message, &mut gathered);
            }
            behind = gathered.notes.len() >= MOST_TOGETHER;
            crowded = gathered.waiters.len() >= MANY;
            let Gathered { notes, waiters, probed, flushed, closed } = gathered;
            let (outcome, bytes) = (self.write(&notes), notes.iter().map(Note::size).sum());
            // Not before they are let go of.
            drop(notes);
            self.shared.bytes.fetch_sub(bytes, Ordering::Relaxed);
            for waiter in waiters {
                // Whoever waited may be gone.
                let _ = waiter.send(outcome.clone());
            }
            if !probed.is_empty() {
                let can = self.can_write();
                for asker in probed {
                    let _ = asker.send(can);
                }
            }
            self.tidy();
            for done in flushed {
                let _ = done.send(());
            }
            if let Some(done) = closed {
                self.ship();
                self.file = None;
                let _ = done.send(());
                return;
            }
        }
    }

    /// The next message; nothing where it is time to bring to the database what it does not have, or to write down what could
    /// not be. `None`: nobody is left.
    fn next(&self, queue: &Receiver<Message>) -> Option<Option<Message>> {
        let behind = self.shipping.as_ref().is_some_and(|shipping| shipping.behind && self.file.is_some());
        if !behind && self.lost == 0 {
            return queue.recv().ok().map(Some);
        }
        match queue.recv_timeout(AGAIN) {
            Ok(message) => Some(Some(message)),
            Err(RecvTimeoutError::Timeout) => Some(None),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// What cannot be brought there now waits in the file.
    fn ship(&mut self) {
        if let (Some(shipping), Some(file)) = (&mut self.shipping, &mut self.file) {
            let _ = shipping.catch_up(file);
        }
    }

    fn take(&mut self, message: Message, gathered: &mut Gathered) {
        match message {
            Message::Note(note, waiter) => {
                // Whoever had not heard yet that it is off.
                if self.settings.mode == AuditMode::Off {
                    self.shared.let_go(&note);
                    return waiter.into_iter().for_each(|waiter| drop(waiter.send(Ok(()))));
                }
                gathered.notes.push(*note);
                gathered.waiters.extend(waiter);
            }
            Message::Configure(settings) => {
                let turned = self.switch.turned(self.settings.mode, settings.mode);
                gathered.notes.extend(turned.inspect(|note| self.shared.take_in(note)));
                // The place is decided at the start: a chain is not continued elsewhere.
                let (path, database) = (std::mem::take(&mut self.settings.path), self.settings.database.take());
                self.settings = Settings { path, database, ..*settings };
                let durable = self.settings.mode == AuditMode::Strict;
                // One that cannot be told this is opened anew.
                self.file = self.file.take().filter(|file| file.set_durable(durable).is_ok());
            }
            Message::Probe(done) => gathered.probed.push(done),
            Message::Flush(done) => gathered.flushed.push(done),
            Message::Close(done) => gathered.closed = Some(done),
        }
    }

    /// All of them, or none.
    fn write(&mut self, notes: &[Note]) -> Result<(), AuditError> {
        self.shared.waiting.fetch_sub(notes.len() as u64, Ordering::Relaxed);
        self.lost += self.shared.missed.swap(0, Ordering::Relaxed);
        if notes.is_empty() && self.lost == 0 {
            return Ok(());
        }
        let outcome = self.try_write(notes);
        self.proven = Some((Instant::now(), outcome.is_ok()));
        match outcome {
            Ok(()) => {
                let written = notes.len() as u64;
                self.since_tidy += written;
                self.shared.written.fetch_add(written, Ordering::Relaxed);
                if self.lost > 0 {
                    info!(lost = self.lost, "the audit is written again; what is missing is said in it");
                }
                (self.lost, self.why) = (0, String::new());
                Ok(())
            }
            Err(error) => {
                if self.lost == 0 || self.why != error.to_string() {
                    error!("the audit cannot be written: {error}\n\nhint: {}", error.hint());
                }
                self.recall = Recall::default();
                self.lost += notes.len() as u64;
                self.why = error.to_string();
                // It is opened, and looked at, anew.
                self.file = None;
                self.shipping.iter_mut().for_each(Shipping::doubt);
                Err(AuditError::NotWritten(error.to_string()))
            }
        }
    }

    /// Whether something could be written, by writing what changes nothing. Anybody may ask, so it is not done each time.
    fn can_write(&mut self) -> bool {
        if let Some((_, can)) = self.proven.filter(|(at, _)| at.elapsed() < PROVEN) {
            return can;
        }
        let tried = self.try_nothing();
        if let Err(error) = &tried {
            warn!("the audit could not be written: {error}");
            self.file = None;
            self.shipping.iter_mut().for_each(Shipping::doubt);
        }
        self.proven = Some((Instant::now(), tried.is_ok()));
        tried.is_ok()
    }

    fn try_nothing(&mut self) -> Result<(), StoreError> {
        let strict = self.settings.mode == AuditMode::Strict;
        let file = opened(&mut self.file, &self.settings)?;
        file.touch()?;
        // Strict: what is not there is not written.
        self.shipping.as_mut().filter(|_| strict).map_or(Ok(()), |shipping| shipping.reach(file))
    }

    fn try_write(&mut self, notes: &[Note]) -> Result<(), StoreError> {
        let strict = self.settings.mode == AuditMode::Strict;
        let file = opened(&mut self.file, &self.settings)?;
        // Strict: there before anybody goes on. What was written before comes first.
        let mut shipping = self.shipping.as_mut().filter(|_| strict);
        if let Some(shipping) = &mut shipping {
            shipping.catch_up(file)?;
        }
        let path = file.path.clone();
        let failed = |error| StoreError::new(&path, &error).of_record();
        let mut batch = file.begin()?;
        // Another process may have added to the same file just now: the database gets that too, and first.
        batch.added = match shipping.as_ref().and_then(|shipping| shipping.shipped()) {
            Some(shipped) => Some(rows_after(&batch.transaction, shipped, usize::MAX >> 1).map_err(failed)?),
            None => None,
        };
        if self.lost > 0 {
            let mut gap = AuditEvent::new(batch.next(), Moment::now(), EventKind::Gap);
            (gap.events, gap.about) = (Some(self.lost), Some(self.why.clone()).filter(|why| !why.is_empty()));
            batch.append(&gap).map_err(failed)?;
        }
        for note in notes {
            let event = add(&mut self.recall, &self.settings, &mut batch, note).map_err(failed)?;
            if event.kind == EventKind::Call && event.tool.is_some() && event.of.is_none() {
                let found = if event.is_discovered() { &self.shared.discovered } else { &self.shared.direct };
                found.fetch_add(1, Ordering::Relaxed);
            }
        }
        if let (Some(shipping), Some(added)) = (shipping, batch.added.take()) {
            shipping.add(added)?;
        }
        batch.commit().map_err(failed)?;
        if !strict {
            self.ship();
        }
        Ok(())
    }

    fn tidy(&mut self) {
        let due = self.since_tidy >= TIDY_AFTER || self.tidied.is_none_or(|last| last.elapsed() > TIDY_EVERY);
        // That it was switched off is the last word.
        let due = due && self.settings.mode != AuditMode::Off;
        let Some(file) = self.file.as_mut().filter(|_| due) else { return };
        (self.since_tidy, self.tidied) = (0, Some(Instant::now()));
        if let Some(shipping) = &mut self.shipping {
            if let Err(error) = retention::apply_shipped(file, shipping, self.settings.keep) {
                error!("old events cannot be taken out of the audit: {error}");
            }
            return;
        }
        for _ in 0..MOST_CUTS {
            match retention::apply(file, self.settings.keep) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => return error!("old events cannot be taken out of the audit: {error}"),
            }
        }
        // There is more: at the next opportunity.
        self.since_tidy = TIDY_AFTER;
    }
}

fn opened<'f>(file: &'f mut Option<File>, settings: &Settings) -> Result<&'f mut File, StoreError> {
    match file {
        Some(file) => Ok(file),
        none => Ok(none.insert(File::open(&settings.path, settings.mode == AuditMode::Strict)?)),
    }
}

fn add(recall: &mut Recall, settings: &Settings, batch: &mut Batch<'_>, note: &Note) -> rusqlite::Result<AuditEvent> {
    let number = batch.next();
    let event = Rendering { recall, settings, number, note }.event();
    batch.append(&event)?;
    Ok(event)
}
