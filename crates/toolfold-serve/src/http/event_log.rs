//! The messages of one stream, kept so that a client whose connection broke can pick up where it was. The work behind
//! a stream does not notice: it writes here, and whoever reads, reads from here.
//!
//! What a reader would get wrong: a large message is let go of as soon as it went out. It cannot be asked for again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use tokio::sync::Notify;
use tokio::time::Instant;
use toolfold_wire::{Memory, Share, StreamEvent};

use super::event::{STILL_HERE, event};
use super::reply::KEEP_ALIVE;

/// What a stream keeps at the most; older messages are given up first.
const MESSAGES: usize = 1_000;
/// From here on a message is not kept for a second reading.
pub(crate) const LARGE: usize = 1024 * 1024;
/// What a message costs beside its bytes.
const OVERHEAD: usize = 64;
/// What a client is told to wait before it comes back.
const RETRY: Duration = Duration::from_secs(1);

pub(crate) struct EventLog {
    number: u64,
    /// Bytes at the most.
    most: usize,
    log: Mutex<Log>,
    grown: Notify,
}

#[derive(Default)]
struct Log {
    /// How many messages were given up before the first that is kept.
    dropped: u64,
    messages: VecDeque<Kept>,
    bytes: usize,
    closed: Option<Instant>,
    /// Counts readers: a new one takes over from the one before.
    reader: u64,
    /// Whoever read it last has hung up.
    abandoned: bool,
}

struct Kept {
    line: Bytes,
    _share: Option<Share>,
}

/// Where a stream stands.
pub(crate) enum First {
    /// Its only message was the answer, which is taken out of it.
    Answer(Bytes),
    /// There is more to it, or there will be.
    Stream,
    /// It ended without a word.
    Nothing,
}

impl EventLog {
    pub(crate) fn new(number: u64, most: usize) -> Self {
        EventLog { number, most, log: Mutex::default(), grown: Notify::new() }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Adds a message at the cost of older ones; `false` where there is no memory for it even so.
    pub(crate) fn push(&self, line: Bytes, memory: &Memory) -> bool {
        let size = line.len() + OVERHEAD;
        let mut log = self.lock();
        if log.closed.is_some() || size > self.most {
            return log.closed.is_some();
        }
        while log.messages.len() >= MESSAGES || log.bytes + size > self.most {
            log.drop_oldest();
        }
        let share = loop {
            match memory.take(size) {
                Some(share) => break share,
                None if log.messages.is_empty() => return false,
                None => log.drop_oldest(),
            }
        };
        log.add(Kept { line, _share: Some(share) });
        drop(log);
        self.grown.notify_waiters();
        true
    }

    /// Adds a message that whoever asked for it must get; its memory is somebody else's concern.
    pub(crate) fn push_always(&self, line: Bytes) {
        let mut log = self.lock();
        if log.closed.is_none() {
            log.add(Kept { line, _share: None });
        }
        drop(log);
        self.grown.notify_waiters();
    }

    /// Whether nothing was said yet and nobody reads: an answer is then most likely all there will be.
    pub(crate) fn is_silent(&self) -> bool {
        let log = self.lock();
        log.reader == 0 && log.messages.is_empty()
    }

    /// Nobody reads it any more, until somebody comes back for it.
    pub(crate) fn abandon(&self) {
        self.lock().abandoned = true;
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.lock().abandoned
    }

    /// Nothing more will come.
    pub(crate) fn close(&self) {
        self.lock().closed.get_or_insert_with(Instant::now);
        self.grown.notify_waiters();
    }

    /// Since when nothing more comes.
    pub(crate) fn closed(&self) -> Option<Instant> {
        self.lock().closed
    }

    /// Waits for the first message, and tells whether it is all there is.
    pub(crate) async fn first(&self) -> First {
        loop {
            let grown = self.grown.notified();
            tokio::pin!(grown);
            grown.as_mut().enable();
            if let Some(first) = self.now() {
                return first;
            }
            grown.await;
        }
    }

    fn now(&self) -> Option<First> {
        let mut log = self.lock();
        let only = log.closed.is_some() && log.dropped == 0;
        match (log.messages.len(), only) {
            (1, true) => log.messages.pop_front().map(|answer| First::Answer(answer.line)),
            (0, true) => Some(First::Nothing),
            (0, false) if log.closed.is_none() => None,
            _ => Some(First::Stream),
        }
    }

    /// The messages after `seen` as events, until the stream is closed or another reader takes over.
    pub(crate) fn read(self: Arc<Self>, seen: u64, prime: bool) -> impl Stream<Item = Bytes> + Send + 'static {
        let reader = {
            let mut log = self.lock();
            log.reader += 1;
            log.abandoned = false;
            log.reader
        };
        self.grown.notify_waiters();
        let start = Cursor { log: self, reader, seen, prime, ready: Vec::new() };
        futures_util::stream::unfold(start, |mut cursor| async move { cursor.next().await.map(|text| (text, cursor)) })
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    fn add(&mut self, kept: Kept) {
        self.bytes += kept.line.len() + OVERHEAD;
        self.messages.push_back(kept);
    }

    fn drop_oldest(&mut self) {
        if let Some(oldest) = self.messages.pop_front() {
            self.bytes -= oldest.line.len() + OVERHEAD;
            self.dropped += 1;
        }
    }

    /// The message after `seen`. A large one is given out once; its place stays empty.
    fn after(&mut self, seen: u64) -> Option<Bytes> {
        let kept = self.messages.get_mut((seen - self.dropped) as usize)?;
        if kept.line.len() <= LARGE {
            return Some(kept.line.clone());
        }
        self.bytes -= kept.line.len();
        Some(std::mem::take(&mut kept.line))
    }
}

struct Cursor {
    log: Arc<EventLog>,
    reader: u64,
    seen: u64,
    prime: bool,
    /// Pieces of an event that is going out, the last one first.
    ready: Vec<Bytes>,
}

impl Cursor {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(piece) = self.ready.pop() {
            return Some(piece);
        }
        if std::mem::take(&mut self.prime) {
            let retry = Some(RETRY.as_millis() as u64);
            return Some(StreamEvent { id: Some(self.id()), retry, ..StreamEvent::default() }.to_text().into());
        }
        let log = self.log.clone();
        loop {
            let grown = log.grown.notified();
            tokio::pin!(grown);
            grown.as_mut().enable();
            match self.look(&log) {
                Look::Message(line) => {
                    self.ready = event(Some(&self.id()), line).rev().collect();
                    return self.ready.pop();
                }
                Look::Over => return None,
                Look::Wait => {}
            }
            if tokio::time::timeout(KEEP_ALIVE, grown).await.is_err() {
                return Some(Bytes::from_static(STILL_HERE));
            }
        }
    }

    fn look(&mut self, log: &EventLog) -> Look {
        let mut log = log.lock();
        if log.reader != self.reader {
            return Look::Over;
        }
        self.seen = self.seen.max(log.dropped);
        while let Some(line) = log.after(self.seen) {
            self.seen += 1;
            // The place of a large message that went out before.
            if !line.is_empty() {
                return Look::Message(line);
            }
        }
        if log.closed.is_some() { Look::Over } else { Look::Wait }
    }

    fn id(&self) -> String {
        format!("{}-{}", self.log.number, self.seen)
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        let mut log = self.log.lock();
        if log.reader == self.reader {
            log.abandoned = true;
        }
    }
}

enum Look {
    Message(Bytes),
    Wait,
    Over,
}

/// Takes an event id apart: which stream, and how many of its messages were seen.
pub(crate) fn parse_event_id(id: &str) -> Option<(u64, u64)> {
    let (stream, seen) = id.split_once('-')?;
    Some((stream.parse().ok()?, seen.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;

    async fn read(log: &Arc<EventLog>, seen: u64) -> Vec<Bytes> {
        log.clone().read(seen, false).collect().await
    }

    fn roomy() -> Memory {
        Memory::new(usize::MAX)
    }

    #[tokio::test]
    async fn it_is_known_whether_somebody_listens() {
        let log = Arc::new(EventLog::new(7, 1 << 20));
        let first = log.clone().read(0, false);
        assert!(!log.is_abandoned());
        let second = log.clone().read(0, false);
        drop(first);
        assert!(!log.is_abandoned(), "another took over before");
        drop(second);
        assert!(log.is_abandoned());
        let _back = log.clone().read(0, false);
        assert!(!log.is_abandoned());
    }

    #[tokio::test]
    async fn a_reader_that_comes_back_gets_what_it_missed() {
        let log = Arc::new(EventLog::new(7, 1 << 20));
        for message in ["a", "b", "c"] {
            log.push(message.into(), &roomy());
        }
        log.close();
        assert_eq!(read(&log, 0).await.len(), 3);
        assert_eq!(read(&log, 2).await, ["id: 7-3\ndata: c\n\n"]);
        assert!(read(&log, u64::MAX).await.is_empty());
        assert_eq!(parse_event_id("7-3"), Some((7, 3)));
        assert_eq!(parse_event_id("7"), None);
    }

    #[tokio::test]
    async fn what_is_kept_is_bounded_in_number_and_bytes() {
        let log = Arc::new(EventLog::new(1, 1 << 20));
        for number in 0..MESSAGES + 10 {
            log.push(number.to_string().into(), &roomy());
        }
        log.close();
        let events = read(&log, 0).await;
        assert_eq!(events.len(), MESSAGES);
        assert_eq!(events[0], "id: 1-11\ndata: 10\n\n");

        let log = EventLog::new(1, 1000);
        let memory = Memory::new(500);
        for _ in 0..50 {
            assert!(log.push("x".repeat(100).into(), &memory), "the oldest makes room");
        }
        assert!(memory.used() <= 500);
        assert!(!log.push("x".repeat(2000).into(), &memory), "more than the stream may keep");
        drop(log);
        let _held = memory.take(500).unwrap();
        assert!(!EventLog::new(1, 1000).push("x".repeat(400).into(), &memory), "others have all of it");
    }

    #[tokio::test]
    async fn a_large_message_goes_out_once_and_is_let_go_of() {
        let log = Arc::new(EventLog::new(1, 1 << 22));
        log.push_always("x".repeat(LARGE + 1).into());
        log.push("after".into(), &roomy());
        log.close();
        assert_eq!(read(&log, 0).await.len(), 4, "one in three pieces, one in one");
        assert_eq!(read(&log, 0).await, ["id: 1-2\ndata: after\n\n"]);
    }
}
