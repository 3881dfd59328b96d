//! Lines that wait for a client to read them: bounded by bytes, whatever their number. What a client is told while it
//! does not read is lost; what it asked for waits until there is room.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;
use toolfold_wire::{Memory, Share};

/// What may wait for one client.
pub(crate) const WAITING: usize = 8 * 1024 * 1024;
/// What a line costs beside its bytes.
const OVERHEAD: usize = 64;

/// The end that is written to; the last one that is dropped ends the queue.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<Writers>);

struct Writers(Arc<Queue>);

/// The end that is read from.
pub(crate) struct Unread(Arc<Queue>);

struct Queue {
    memory: Memory,
    state: Mutex<State>,
    /// A line was added, or none will be any more.
    added: Notify,
    /// A line was taken, or none will be any more.
    taken: Notify,
}

#[derive(Default)]
struct State {
    lines: VecDeque<Line>,
    bytes: usize,
    /// Nothing more will be added.
    ended: bool,
    /// Nobody reads any more.
    abandoned: bool,
}

struct Line {
    bytes: Bytes,
    _share: Option<Share>,
}

/// A queue of at most [`WAITING`] bytes, which are taken from `memory`.
pub(crate) fn outbox(memory: &Memory) -> (Outbox, Unread) {
    let queue = Queue { memory: memory.clone(), state: Mutex::default(), added: Notify::new(), taken: Notify::new() };
    let queue = Arc::new(queue);
    (Outbox(Arc::new(Writers(queue.clone()))), Unread(queue))
}

impl Outbox {
    /// Says something that may be lost.
    pub(crate) fn tell(&self, line: impl Into<Bytes>) {
        let (queue, bytes) = (&self.0.0, line.into());
        let mut state = queue.state();
        if state.abandoned || state.bytes + bytes.len() + OVERHEAD > WAITING {
            return;
        }
        if let Some(share) = queue.memory.take(bytes.len() + OVERHEAD) {
            state.add(bytes, Some(share));
            drop(state);
            queue.added.notify_one();
        }
    }

    /// Hands over an answer, once there is room for it. One that is larger than all the room goes when it is empty.
    pub(crate) async fn answer(&self, line: impl Into<Bytes>) {
        let (queue, bytes) = (&self.0.0, line.into());
        loop {
            let taken = queue.taken.notified();
            {
                let mut state = queue.state();
                if state.abandoned {
                    return;
                }
                if state.lines.is_empty() || state.bytes + bytes.len() + OVERHEAD <= WAITING {
                    // Its own memory is one line's: an answer does not wait for what others use up.
                    let share = queue.memory.take(bytes.len() + OVERHEAD);
                    state.add(bytes, share);
                    break;
                }
            }
            taken.await;
        }
        queue.added.notify_one();
    }

    /// Waits until nobody reads any more.
    pub(crate) async fn closed(&self) {
        loop {
            let taken = self.0.0.taken.notified();
            if self.0.0.state().abandoned {
                return;
            }
            taken.await;
        }
    }
}

impl Unread {
    /// The next line; `None` when there will be no more.
    pub(crate) async fn next(&self) -> Option<Bytes> {
        loop {
            let added = self.0.added.notified();
            if let Some(line) = self.try_next() {
                return Some(line);
            }
            if self.0.state().ended {
                return None;
            }
            added.await;
        }
    }

    pub(crate) fn try_next(&self) -> Option<Bytes> {
        let line = {
            let mut state = self.0.state();
            let line = state.lines.pop_front()?;
            state.bytes -= line.bytes.len() + OVERHEAD;
            line
        };
        self.0.taken.notify_waiters();
        Some(line.bytes)
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, bytes: Bytes, share: Option<Share>) {
        self.bytes += bytes.len() + OVERHEAD;
        self.lines.push_back(Line { bytes, _share: share });
    }
}

impl Drop for Writers {
    fn drop(&mut self) {
        self.0.state().ended = true;
        self.0.added.notify_one();
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.abandoned = true;
        let unread = std::mem::take(&mut state.lines);
        drop(state);
        drop(unread);
        self.0.taken.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_told_is_lost_where_there_is_no_room_and_an_answer_waits() {
        let memory = Memory::new(usize::MAX);
        let (outbox, lines) = outbox(&memory);
        let megabyte = Bytes::from(vec![b'x'; 1 << 20]);
        for _ in 0..20 {
            outbox.tell(megabyte.clone());
        }
        let answer = tokio::spawn(async move { outbox.answer(b"answer of some megabytes".repeat(100_000)).await });
        tokio::task::yield_now().await;
        assert!(!answer.is_finished());
        let mut told = 0;
        while let Some(line) = lines.next().await {
            told += usize::from(line.len() == megabyte.len());
        }
        assert_eq!(told, 7, "eight megabytes less what a line costs");
        answer.await.unwrap();
        assert_eq!(memory.used(), 0);
    }

    #[tokio::test]
    async fn an_answer_larger_than_the_room_goes_when_it_is_empty() {
        let (outbox, lines) = outbox(&Memory::new(usize::MAX));
        outbox.answer(vec![b'x'; WAITING * 2]).await;
        assert_eq!(lines.next().await.unwrap().len(), WAITING * 2);
    }

    #[tokio::test]
    async fn who_waits_to_be_read_by_nobody_does_not_wait() {
        let (outbox, lines) = outbox(&Memory::new(usize::MAX));
        outbox.answer(vec![b'x'; WAITING]).await;
        drop(lines);
        outbox.answer(vec![b'x'; WAITING]).await;
        outbox.closed().await;
    }
}
