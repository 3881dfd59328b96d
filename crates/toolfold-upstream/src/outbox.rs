//! What waits to be written to a server's input. Nobody waits for room: a message that does not fit is refused, so
//! that a server which does not read costs the newest caller an error and nobody memory.
//!
//! What a reader would get wrong: most messages never wait here. Where nothing is queued a message is written at once, by
//! whoever sends it; the task of the pipe only takes over what the pipe did not.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::unix::pipe;
use tokio::process::ChildStdin;
use tokio::sync::Notify;
use toolfold_wire::{Memory, Share};

use crate::shared::lock;

/// Lines this short are not counted in bytes, only in number: most are.
const SMALL: usize = 4 * 1024;
const MOST_LINES: usize = 4096;

pub(crate) struct Outbox {
    memory: Memory,
    queue: Mutex<Queue>,
    news: Notify,
}

#[derive(Default)]
struct Queue {
    /// Closed by dropping it: that is how a server hears that its input is over.
    pipe: Option<Arc<pipe::Sender>>,
    lines: VecDeque<Queued>,
    /// How much of the first line is written.
    written: usize,
}

struct Queued {
    /// The request it is, where it is one.
    id: Option<u64>,
    bytes: Vec<u8>,
    _share: Option<Share>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undeliverable {
    /// The server does not read, and what it is sent has no room any more.
    Full,
    /// The server's input is closed.
    Broken,
}

/// Why the queue is no longer written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Broken,
    /// The server took nothing for so long that it will not.
    Stuck,
}

impl Outbox {
    pub(crate) fn new(stdin: ChildStdin, memory: Memory) -> std::io::Result<Self> {
        let pipe = pipe::Sender::from_owned_fd(stdin.into_owned_fd()?)?;
        let queue = Queue { pipe: Some(Arc::new(pipe)), ..Queue::default() };
        Ok(Outbox { memory, queue: Mutex::new(queue), news: Notify::new() })
    }

    /// Sends a line, now or as soon as the server reads.
    pub(crate) fn send(&self, id: Option<u64>, mut line: String) -> Result<(), Undeliverable> {
        line.push('\n');
        let bytes = line.into_bytes();
        let mut queue = lock(&self.queue);
        let Some(pipe) = &queue.pipe else { return Err(Undeliverable::Broken) };
        if !queue.lines.is_empty() {
            return self.enqueue(&mut queue, id, bytes);
        }
        let written = match pipe.try_write(&bytes) {
            Ok(written) if written == bytes.len() => return Ok(()),
            Ok(written) => written,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(_) => {
                *queue = Queue::default();
                return Err(Undeliverable::Broken);
            }
        };
        // Half a line cannot be taken back, so the first one has room whatever else there is.
        let share = self.memory.take(bytes.len());
        queue.lines.push_back(Queued { id, bytes, _share: share });
        queue.written = written;
        self.news.notify_one();
        Ok(())
    }

    /// Takes a request back that the server has not begun to read; `false` where it may have.
    pub(crate) fn retract(&self, id: u64) -> bool {
        let mut queue = lock(&self.queue);
        let begun = usize::from(queue.written > 0);
        let place = queue.lines.iter().skip(begun).position(|line| line.id == Some(id));
        place.and_then(|place| queue.lines.remove(begun + place)).is_some()
    }

    /// Writes what is queued, until the pipe breaks or takes nothing for so long.
    pub(crate) async fn pump(&self, patience: Duration) -> End {
        loop {
            self.news.notified().await;
            while let Some(pipe) = self.pipe_of_queued() {
                match tokio::time::timeout(patience, pipe.writable()).await {
                    Ok(Ok(())) if self.write_some(&pipe) => {}
                    Ok(_) => return End::Broken,
                    Err(_) => return End::Stuck,
                }
            }
        }
    }

    /// Ends the server's input. What is queued is lost.
    pub(crate) fn close(&self) {
        *lock(&self.queue) = Queue::default();
    }

    fn pipe_of_queued(&self) -> Option<Arc<pipe::Sender>> {
        let queue = lock(&self.queue);
        queue.pipe.clone().filter(|_| !queue.lines.is_empty())
    }

    /// `false` where the pipe is broken.
    fn write_some(&self, pipe: &pipe::Sender) -> bool {
        let mut queue = lock(&self.queue);
        while let Some(line) = queue.lines.front() {
            match pipe.try_write(&line.bytes[queue.written..]) {
                Ok(written) if queue.written + written == line.bytes.len() => {
                    queue.lines.pop_front();
                    queue.written = 0;
                }
                Ok(written) => queue.written += written,
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
        true
    }

    fn enqueue(&self, queue: &mut Queue, id: Option<u64>, bytes: Vec<u8>) -> Result<(), Undeliverable> {
        let counted = bytes.len() > SMALL;
        let share = self.memory.take(bytes.len()).filter(|_| counted);
        if (counted && share.is_none()) || queue.lines.len() >= MOST_LINES {
            return Err(Undeliverable::Full);
        }
        queue.lines.push_back(Queued { id, bytes, _share: share });
        Ok(())
    }
}
