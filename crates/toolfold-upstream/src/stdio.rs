//! JSON-RPC over a child's stdin and stdout, one message a line. Stdout belongs to the protocol, but many servers
//! greet on it; what is no message is logged and passed over.

use std::sync::Arc;
use std::time::Duration;

use tokio::process::ChildStdout;
use toolfold_core::ServerName;
use toolfold_wire::Era;
use tracing::Instrument;

use crate::apart::apart;
use crate::behind;
use crate::blank::Blanking;
use crate::buffer::Overflow;
use crate::call::CallError;
use crate::closing::Closing;
use crate::connection::{Connection, Link};
use crate::lines::{Line, LineReader, answered};
use crate::outbox::{End, Outbox};
use crate::process::{Process, Started};
use crate::shared::Shared;
use crate::unopened::Unopened;

/// How long a process may take to end after its output did, before it is called "closed its output".
const END_AFTER_OUTPUT: Duration = Duration::from_secs(1);
/// How long output may go on after the process ended: a helper of its own may still hold the pipe.
const OUTPUT_AFTER_END: Duration = Duration::from_secs(1);
/// However short a call may be, a server may be slow to read.
const LEAST_PATIENCE: Duration = Duration::from_secs(30);
/// As much as is looked at of a line that is no message.
const LONGEST_GARBAGE: usize = 4096;

pub(crate) fn open(shared: &Arc<Shared>, era: Era) -> Result<Arc<Connection>, Unopened> {
    let tenure = shared.tenure();
    let started =
        Process::start(&shared.config, &shared.house, &shared.blanks, &shared.said, tenure, &behind::of_server())?;
    let Started { process, stdin, stdout } = started;
    let outbox = Outbox::new(stdin, shared.memory.clone()).map_err(|_| Unopened::Stillborn)?;
    let connection = Connection::new(shared, era, Link::Stdio { outbox, process });
    let span = tracing::Span::current();
    tokio::spawn(write(connection.clone()).instrument(span.clone()));
    tokio::spawn(read(connection.clone(), stdout).instrument(span));
    Ok(connection)
}

/// Ends when the connection does, and with it the child's input. A server may be busy with one call for as long as a
/// call may take, and read nothing meanwhile; longer than that it has no reason to.
async fn write(connection: Arc<Connection>) {
    let Link::Stdio { process, outbox } = &connection.link else { return };
    let patience = connection.shared.config.timeouts.call.max(LEAST_PATIENCE) * 2;
    let end = tokio::select! {
        end = outbox.pump(patience) => Some(end),
        () = connection.closed() => None,
        () = process.stopping() => None,
    };
    if end == Some(End::Stuck) {
        connection.close(Closing::because("no longer reads its input"));
    }
    outbox.close();
    process.begin_to_stop();
}

async fn read(connection: Arc<Connection>, stdout: ChildStdout) {
    let Link::Stdio { process, .. } = &connection.link else { return };
    let outlived = async {
        process.ended().await;
        tokio::time::sleep(OUTPUT_AFTER_END).await;
    };
    tokio::select! {
        () = read_lines(&connection, stdout) => {}
        () = outlived => {}
    }
    let end = tokio::time::timeout(END_AFTER_OUTPUT, process.ended()).await;
    let what = end.unwrap_or_else(|_| "closed its output".to_owned());
    connection.close(Closing { words: process.very_last_words().await, ..Closing::because(what) });
    process.begin_to_stop();
}

async fn read_lines(connection: &Arc<Connection>, stdout: ChildStdout) {
    let limit = connection.shared.config.max_message;
    let to = connection.clone();
    // Some say at the end which request they answer: the only one that is open, most likely. If not, it comes back as it was.
    let offer = Box::new(move |line: &[u8]| {
        let id = answered(line).or_else(|| to.only_open())?;
        to.owner_of(id)?.spooling(id)
    });
    let mut lines = LineReader::new(stdout, limit, Some(connection.shared.memory.clone())).offering(offer);
    let mut garbage = Garbage::of(connection);
    while let Ok(Some(line)) = lines.next().await {
        match line {
            Line::Whole(line) if line.iter().all(u8::is_ascii_whitespace) => connection.shared.heard_unasked(),
            Line::Whole(line) => {
                let (to, message) = (connection.clone(), line.clone());
                // One after the other, wherever it is done: what a server says has an order.
                if apart(line.len(), move || to.receive_bytes(message, None)).await.is_err() {
                    garbage.pass_over(&line);
                }
            }
            Line::Lost { id, why } => {
                tracing::warn!(server = %connection.shared.config.name, limit, "a message was too large and was dropped");
                if let Some(id) = id.or_else(|| connection.only_open()) {
                    connection.answer(id, Err(lost(why, limit)));
                }
            }
        }
        connection.shared.breathe().await;
    }
}

/// What becomes of a call whose answer had no room.
pub(crate) fn lost(why: Overflow, limit: usize) -> CallError {
    match why {
        Overflow::TooLarge => CallError::TooLarge { limit },
        Overflow::NoRoom => CallError::unavailable("the server has sent more at once than there is memory for"),
    }
}

/// What a server prints on stdout that is no message. Logged once as a warning: a server that does it once does it often.
struct Garbage {
    server: ServerName,
    blanking: Blanking,
    warned: bool,
}

impl Garbage {
    fn of(connection: &Connection) -> Self {
        let shared = &connection.shared;
        Garbage { server: shared.config.name.clone(), blanking: Blanking::new(shared.blanks.clone()), warned: false }
    }

    fn pass_over(&mut self, line: &[u8]) {
        // Cut after the secrets are out: half of one would not be recognised.
        let start = String::from_utf8_lossy(&line[..line.len().min(LONGEST_GARBAGE)]);
        for line in self.blanking.feed(&start) {
            let line: String = line.chars().take(200).collect();
            self.log(&line);
        }
    }

    fn log(&mut self, line: &str) {
        let server = &self.server;
        if std::mem::replace(&mut self.warned, true) {
            tracing::debug!(%server, ?line, "not a message on stdout");
        } else {
            tracing::warn!(%server, ?line, "the server prints on stdout what is not a message; it is passed over");
        }
    }
}
