//! The messages of one stream, kept so that a client whose connection broke can pick up where it was. The work behind
//! a stream does not notice: it writes here, and whoever reads, reads from here.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::Stream;
use tokio::sync::Notify;
use toolfold_wire::Event;

use super::reply::KEEP_ALIVE;

/// What a stream keeps at the most; older messages are given up first.
const MESSAGES: usize = 1_000;
const BYTES: usize = 8 * 1024 * 1024;
/// What a client is told to wait before it comes back.
const RETRY: Duration = Duration::from_secs(1);

pub(crate) struct EventLog {
    number: u64,
    log: Mutex<Log>,
    grown: Notify,
}

#[derive(Default)]
struct Log {
    /// How many messages were given up before the first that is kept.
    dropped: u64,
    messages: VecDeque<String>,
    bytes: usize,
    closed: bool,
    /// Counts readers: a new one takes over from the one before.
    reader: u64,
}

/// Where a stream stands.
pub(crate) enum First {
    /// Its only message was the answer, which is taken out of it.
    Answer(String),
    /// There is more to it, or there will be.
    Stream,
}

impl EventLog {
    pub(crate) fn new(number: u64) -> Self {
        EventLog { number, log: Mutex::default(), grown: Notify::new() }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn push(&self, message: String) {
        let mut log = self.lock();
        if log.closed {
            return;
        }
        log.bytes += message.len();
        log.messages.push_back(message);
        while log.messages.len() > MESSAGES || (log.bytes > BYTES && log.messages.len() > 1) {
            let oldest = log.messages.pop_front().map_or(0, |oldest| oldest.len());
            log.bytes -= oldest;
            log.dropped += 1;
        }
        drop(log);
        self.grown.notify_waiters();
    }

    /// Nothing more will come.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.grown.notify_waiters();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Waits for the first message, and tells whether it is all there is.
    pub(crate) async fn first(&self) -> First {
        loop {
            let grown = self.grown.notified();
            tokio::pin!(grown);
            grown.as_mut().enable();
            {
                let mut log = self.lock();
                let only = log.closed && log.messages.len() == 1 && log.dropped == 0;
                if only && let Some(answer) = log.messages.pop_front() {
                    return First::Answer(answer);
                }
                if log.closed || !log.messages.is_empty() {
                    return First::Stream;
                }
            }
            grown.await;
        }
    }

    /// The messages after `seen` as events, until the stream is closed or another reader takes over.
    pub(crate) fn read(self: Arc<Self>, seen: u64, prime: bool) -> impl Stream<Item = String> + Send + 'static {
        let reader = {
            let mut log = self.lock();
            log.reader += 1;
            log.reader
        };
        self.grown.notify_waiters();
        let start = Cursor { log: self, reader, seen, prime };
        futures_util::stream::unfold(start, |mut cursor| async move { cursor.next().await.map(|text| (text, cursor)) })
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Cursor {
    log: Arc<EventLog>,
    reader: u64,
    seen: u64,
    prime: bool,
}

impl Cursor {
    async fn next(&mut self) -> Option<String> {
        if std::mem::take(&mut self.prime) {
            let retry = Some(RETRY.as_millis() as u64);
            return Some(Event { id: Some(self.id()), retry, ..Event::default() }.to_text());
        }
        loop {
            let grown = self.log.grown.notified();
            tokio::pin!(grown);
            grown.as_mut().enable();
            {
                let log = self.log.lock();
                if log.reader != self.reader {
                    return None;
                }
                self.seen = self.seen.max(log.dropped);
                if let Some(message) = log.messages.get((self.seen - log.dropped) as usize).cloned() {
                    drop(log);
                    self.seen += 1;
                    let event = Event { id: Some(self.id()), data: message, ..Event::default() };
                    return Some(event.to_text());
                }
                if log.closed {
                    return None;
                }
            }
            if tokio::time::timeout(KEEP_ALIVE, grown).await.is_err() {
                return Some(": still here\n\n".to_owned());
            }
        }
    }

    fn id(&self) -> String {
        format!("{}-{}", self.log.number, self.seen)
    }
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

    async fn read(log: &Arc<EventLog>, seen: u64) -> Vec<String> {
        log.clone().read(seen, false).collect().await
    }

    #[tokio::test]
    async fn a_reader_that_comes_back_gets_what_it_missed() {
        let log = Arc::new(EventLog::new(7));
        log.push("a".into());
        log.push("b".into());
        log.push("c".into());
        log.close();
        assert_eq!(read(&log, 0).await.len(), 3);
        assert_eq!(read(&log, 2).await, ["id: 7-3\ndata: c\n\n"]);
        assert_eq!(parse_event_id("7-3"), Some((7, 3)));
        assert_eq!(parse_event_id("7"), None);
    }

    #[tokio::test]
    async fn what_is_kept_is_bounded() {
        let log = Arc::new(EventLog::new(1));
        for number in 0..MESSAGES + 10 {
            log.push(number.to_string());
        }
        log.close();
        let events = read(&log, 0).await;
        assert_eq!(events.len(), MESSAGES);
        assert_eq!(events[0], "id: 1-11\ndata: 10\n\n");
    }
}
