//! Lines that wait for a client to read them: bounded by bytes, whatever their number. What a client is told while it
//! does not read is lost; what it asked for waits until there is room.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{Notify, mpsc};
use toolfold_wire::{Memory, Share};

/// What may wait for one client.
pub(crate) const WAITING: usize = 8 * 1024 * 1024;
/// What a line costs beside its bytes.
const OVERHEAD: usize = 64;

#[derive(Clone)]
pub(crate) struct Outbox {
    lines: mpsc::UnboundedSender<Line>,
    queue: Arc<Queue>,
}

pub(crate) struct Lines {
    lines: mpsc::UnboundedReceiver<Line>,
    queue: Arc<Queue>,
}

struct Queue {
    memory: Memory,
    taken: Notify,
}

struct Line {
    bytes: Bytes,
    share: Option<Share>,
}

/// A queue of at most [`WAITING`] bytes, which are a part of `memory`.
pub(crate) fn outbox(memory: &Memory) -> (Outbox, Lines) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let queue = Arc::new(Queue { memory: memory.part(WAITING), taken: Notify::new() });
    (Outbox { lines: sender, queue: queue.clone() }, Lines { lines: receiver, queue })
}

impl Outbox {
    /// Says something that may be lost.
    pub(crate) fn tell(&self, line: impl Into<Bytes>) {
        let bytes = line.into();
        if let Some(share) = self.queue.memory.take(bytes.len() + OVERHEAD) {
            // Nobody reads any more: nothing to be told either.
            let _ = self.lines.send(Line { bytes, share: Some(share) });
        }
    }

    /// Hands over an answer, once there is room for it. One that is larger than all the room goes when it is empty.
    pub(crate) async fn answer(&self, line: impl Into<Bytes>) {
        let bytes = line.into();
        let size = (bytes.len() + OVERHEAD).min(WAITING);
        loop {
            let taken = self.queue.taken.notified();
            let share = self.queue.memory.take(size);
            // With nothing of ours in the way it is others who use up the memory: an answer does not wait for them.
            if share.is_some() || self.queue.memory.used() == 0 {
                let _ = self.lines.send(Line { bytes, share });
                return;
            }
            tokio::select! {
                () = taken => {}
                () = self.lines.closed() => return,
            }
        }
    }

    /// Waits until nobody reads any more.
    pub(crate) async fn closed(&self) {
        self.lines.closed().await;
    }
}

impl Lines {
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        let line = self.lines.recv().await?;
        Some(self.take(line))
    }

    pub(crate) fn try_next(&mut self) -> Option<Bytes> {
        let line = self.lines.try_recv().ok()?;
        Some(self.take(line))
    }

    fn take(&self, line: Line) -> Bytes {
        drop(line.share);
        self.queue.taken.notify_waiters();
        line.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_told_is_lost_where_there_is_no_room_and_an_answer_waits() {
        let (outbox, mut lines) = outbox(&Memory::new(usize::MAX));
        let megabyte = Bytes::from(vec![b'x'; 1 << 20]);
        for _ in 0..20 {
            outbox.tell(megabyte.clone());
        }
        let answer = tokio::spawn(async move { outbox.answer(b"answer of a few megabytes".repeat(100_000)).await });
        tokio::task::yield_now().await;
        assert!(!answer.is_finished());
        let mut told = 0;
        while let Some(line) = lines.next().await {
            told += usize::from(line.len() == megabyte.len());
        }
        assert_eq!(told, 7, "eight megabytes less what a line costs");
        answer.await.unwrap();
    }

    #[tokio::test]
    async fn an_answer_larger_than_the_room_goes_when_it_is_empty() {
        let (outbox, mut lines) = outbox(&Memory::new(usize::MAX));
        outbox.answer(vec![b'x'; WAITING * 2]).await;
        assert_eq!(lines.next().await.unwrap().len(), WAITING * 2);
    }
}
