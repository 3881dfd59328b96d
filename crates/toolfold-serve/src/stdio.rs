//! MCP on stdin and stdout: one client, one line a message, both eras mixed as the client likes.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, BufWriter};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use toolfold_core::Surface;
use toolfold_gateway::Gateway;
use toolfold_wire::{BadMessage, Id, Message, Raw, RpcError, code};
use tracing::debug;

use crate::asks::Outlet;
use crate::era::is_modern;
use crate::legacy::Legacy;
use crate::listen::Listening;
use crate::modern::{self, Envelope};
use crate::running::Running;

/// The longest line a client may send.
const LONGEST_LINE: usize = 32 * 1024 * 1024;
/// Requests worked on at once; the next one waits in the pipe.
const AT_ONCE: usize = 256;
/// Lines that wait for a client that does not read.
const WAITING: usize = 1024;
/// After the end of input: time for what is under way to be answered.
const DRAIN: Duration = Duration::from_secs(10);

/// Serves until the input ends, then answers what is still under way.
pub async fn serve_stdio(
    gateway: Gateway,
    surface: Surface,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let (out, lines) = mpsc::channel(WAITING);
    let writer = tokio::spawn(write_lines(output, lines));
    let mut connection = Connection {
        gateway,
        surface,
        out,
        legacy: None,
        running: Arc::default(),
        listening: CancellationToken::new(),
        permits: Arc::new(Semaphore::new(AT_ONCE)),
        work: JoinSet::new(),
    };
    let mut input = BufReader::with_capacity(64 * 1024, input);
    let mut line = Vec::new();
    loop {
        line.clear();
        let more = tokio::select! {
            more = read_line(&mut input, &mut line) => more?,
            () = stop.cancelled() => break,
        };
        match more {
            Line::End => break,
            Line::TooLong => connection.refuse(too_long()).await,
            Line::Complete => connection.line(&line).await,
        }
    }
    connection.drain().await;
    drop(connection);
    // The writer ends when the last answer is out; a client that does not read it has had its time.
    let _ = tokio::time::timeout(DRAIN, writer).await;
    Ok(())
}

struct Connection {
    gateway: Gateway,
    surface: Surface,
    out: mpsc::Sender<String>,
    legacy: Option<Arc<Legacy>>,
    /// Requests of the stateless era.
    running: Arc<Running>,
    listening: CancellationToken,
    permits: Arc<Semaphore>,
    work: JoinSet<()>,
}

impl Connection {
    async fn line(&mut self, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        while self.work.try_join_next().is_some() {}
        for message in Message::parse_all(line.to_vec()) {
            match message {
                Ok(Message::Request { id, method, params }) => self.request(id, method, params).await,
                Ok(Message::Notification { method, params }) => self.notification(&method, params).await,
                Ok(Message::Response { id, outcome }) => {
                    let expected = self.legacy.as_ref().is_some_and(|legacy| legacy.answered(&id, outcome));
                    if !expected {
                        debug!(%id, "the client answered a question that nobody waits for");
                    }
                }
                Err(bad) => self.refuse(bad).await,
            }
        }
    }

    async fn request(&mut self, id: Id, method: String, params: Option<Raw>) {
        if is_modern(&method, params.as_ref()) {
            return self.modern(id, method, params).await;
        }
        if method == "initialize" {
            return self.initialize(id, params).await;
        }
        let Some(legacy) = self.legacy.clone() else {
            let outcome = match method.as_str() {
                "ping" => Ok(toolfold_wire::raw(&toolfold_wire::Object::new())),
                _ => Err(RpcError::new(
                    code::INVALID_REQUEST,
                    "Send `initialize` first, or the `_meta` of protocol 2026-07-28 with every request.",
                )),
            };
            return self.send(Message::response(id, outcome)).await;
        };
        let outlet = self.outlet();
        let out = self.out.clone();
        self.spawn(async move {
            if let Some(answer) = legacy.request(id, method, params, outlet).await {
                let _ = out.send(answer.to_line()).await;
            }
        })
        .await;
    }

    async fn initialize(&mut self, id: Id, params: Option<Raw>) {
        let outcome = match Legacy::begin(&self.gateway, self.surface, params.as_ref()) {
            Ok((legacy, result)) => {
                self.begin(Arc::new(legacy));
                Ok(result)
            }
            Err(error) => Err(error),
        };
        self.send(Message::response(id, outcome)).await;
    }

    /// Makes this the conversation, and tells the client of changes from now on.
    fn begin(&mut self, legacy: Arc<Legacy>) {
        self.listening.cancel();
        self.listening = CancellationToken::new();
        legacy.tell_changes(self.outlet(), self.listening.clone());
        self.legacy = Some(legacy);
    }

    async fn modern(&mut self, id: Id, method: String, params: Option<Raw>) {
        let envelope = match Envelope::read(params.as_ref()) {
            Ok(envelope) => envelope,
            Err(error) => return self.send(Message::response(id, Err(error))).await,
        };
        let (gateway, surface, out, running) =
            (self.gateway.clone(), self.surface, self.out.clone(), self.running.clone());
        let cancel = running.begin(&id);
        if method == "subscriptions/listen" {
            let listening = self.listening.clone();
            // Not counted as work: it would use up a place for as long as the client lives.
            tokio::spawn(async move {
                let outcome = match Listening::begin(&gateway, surface, id.clone(), params.as_ref(), out.clone()).await
                {
                    Ok(listening_now) => tokio::select! {
                        result = listening_now.run(cancel) => result.map(Ok),
                        () = listening.cancelled() => None,
                    },
                    Err(error) => Some(Err(error)),
                };
                running.end(&id);
                if let Some(outcome) = outcome {
                    let _ = out.send(Message::response(id, outcome).to_line()).await;
                }
            });
            return;
        }
        self.spawn(async move {
            let work = modern::answer(&gateway, surface, envelope, method, params, out.clone(), cancel.clone());
            let outcome = tokio::select! {
                outcome = work => outcome,
                () = cancel.cancelled() => return,
            };
            running.end(&id);
            let _ = out.send(Message::response(id, outcome).to_line()).await;
        })
        .await;
    }

    async fn notification(&self, method: &str, params: Option<Raw>) {
        if method == "notifications/cancelled" {
            self.running.cancel(params.as_ref());
        }
        if let Some(legacy) = &self.legacy {
            legacy.notification(method, params).await;
        }
    }

    async fn spawn(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        let Ok(permit) = self.permits.clone().acquire_owned().await else { return };
        self.work.spawn(async move {
            work.await;
            drop(permit);
        });
    }

    async fn refuse(&self, bad: BadMessage) {
        let _ = self.out.send(bad.to_line()).await;
    }

    async fn send(&self, message: Message) {
        let _ = self.out.send(message.to_line()).await;
    }

    fn outlet(&self) -> Outlet {
        let out = self.out.clone();
        Arc::new(move |message| drop(out.try_send(message.to_line())))
    }

    /// Waits for what is under way, but not for ever, and not for a client to answer questions: it cannot any more.
    async fn drain(&mut self) {
        self.listening.cancel();
        let finished = async { while self.work.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN, finished).await.is_err() {
            self.running.cancel_all();
            if let Some(legacy) = &self.legacy {
                legacy.running.cancel_all();
            }
            self.work.shutdown().await;
        }
    }
}

async fn write_lines(output: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<String>) -> std::io::Result<()> {
    let mut output = BufWriter::new(output);
    while let Some(line) = lines.recv().await {
        output.write_all(line.as_bytes()).await?;
        output.write_all(b"\n").await?;
        // One flush for all that is waiting.
        if lines.is_empty() {
            output.flush().await?;
        }
    }
    output.flush().await
}

enum Line {
    Complete,
    TooLong,
    End,
}

/// Reads one line of bounded length; the rest of a longer one is skipped.
async fn read_line(input: &mut (impl AsyncBufReadExt + Unpin), line: &mut Vec<u8>) -> std::io::Result<Line> {
    let mut too_long = false;
    loop {
        let available = input.fill_buf().await?;
        if available.is_empty() {
            let complete = if line.is_empty() { Line::End } else { Line::Complete };
            return Ok(if too_long { Line::TooLong } else { complete });
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(available.len());
        too_long |= line.len() + taken > LONGEST_LINE;
        if too_long {
            line.clear();
        } else {
            line.extend_from_slice(&available[..taken]);
        }
        let consumed = taken + usize::from(end.is_some());
        input.consume(consumed);
        if end.is_some() {
            return Ok(if too_long { Line::TooLong } else { Line::Complete });
        }
    }
}

fn too_long() -> BadMessage {
    let message = format!("The message is longer than {LONGEST_LINE} bytes.");
    BadMessage { id: None, error: RpcError::new(code::INVALID_REQUEST, message) }
}
