//! MCP on stdin and stdout: one client, one line a message, both eras mixed as the client likes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, BufWriter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolfold_core::{Code, Principal, Surface};
use toolfold_gateway::{Carriage, Gateway};
use toolfold_wire::{BadMessage, Id, Message, Object, Raw, RpcError, code, raw};
use tracing::debug;

use crate::apart::apart;
use crate::asking::{Asking, is_notification};
use crate::asks::Outlet;
use crate::budget::{Budget, SMALL, counted};
use crate::conversation::{AT_ONCE, Conversation, too_many};
use crate::outbox::{Outbox, Unread, outbox};
use crate::running::{Running, until_cancelled};
use crate::stateless::{Asker, Envelope, Whence};
use crate::subscription::Subscription;
use crate::tidings::Tidings;
use crate::too_often::TooOften;

/// The longest line a client may send.
const LONGEST_LINE: usize = 32 * 1024 * 1024;
/// How long the next request waits in the pipe when as many are worked on as may be. Not longer: behind it are answers to
/// questions and cancellations, without which some of those would never end.
const PATIENCE: Duration = Duration::from_secs(1);
/// Subscriptions that may be open at once.
const SUBSCRIPTIONS: usize = 64;
/// After the end of input: time for what is under way to be answered.
const DRAIN: Duration = Duration::from_secs(20);
/// What a client that reads takes at the most for what is left then.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Serves until the input ends, then answers what is still under way.
pub async fn serve_stdio(
    gateway: Gateway,
    surface: Surface,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let budget = Budget::of(&gateway);
    let (out, lines) = outbox(&budget.answers);
    let writer = tokio::spawn(write_lines(output, lines));
    let ended = CancellationToken::new();
    let mut connection = Connection {
        asker: Asker {
            gateway,
            principal: Principal::local(),
            surface,
            from: Whence { transport: Carriage::PIPE, address: None },
            relayed: None,
        },
        budget,
        out,
        conversation: None,
        running: Arc::default(),
        listening: ended.child_token(),
        ended,
        subscriptions: Arc::new(Semaphore::new(SUBSCRIPTIONS)),
        permits: Arc::new(Semaphore::new(AT_ONCE)),
        work: JoinSet::new(),
    };
    let mut input = BufReader::with_capacity(64 * 1024, input);
    loop {
        let mut line = Vec::new();
        let more = tokio::select! {
            more = read_line(&mut input, &mut line) => more?,
            () = stop.cancelled() => break,
        };
        match more {
            Line::End => break,
            // A client that does not read its answers must not keep us from ending.
            Line::TooLong | Line::Complete => tokio::select! {
                () = connection.line(more, line) => {}
                () = stop.cancelled() => break,
            },
        }
    }
    let until = Instant::now() + DRAIN;
    connection.drain(until).await;
    drop(connection);
    // The writer ends when the last answer is out; a client that does not read it has had its time.
    let _ = tokio::time::timeout_at(until.max(Instant::now() + LAST_WORDS), writer).await;
    Ok(())
}

struct Connection {
    asker: Asker,
    budget: Budget,
    out: Outbox,
    conversation: Option<Arc<Conversation>>,
    /// Requests of the stateless era.
    running: Arc<Running>,
    /// The client says nothing more: it is told of no more changes.
    ended: CancellationToken,
    /// The same, of what is told to the conversation: it ends with the next one too.
    listening: CancellationToken,
    subscriptions: Arc<Semaphore>,
    permits: Arc<Semaphore>,
    work: JoinSet<()>,
}

impl Outlet for Outbox {
    fn put(&self, message: Message) {
        self.tell(message.to_line());
    }
}

impl Connection {
    async fn line(&mut self, kind: Line, line: Vec<u8>) {
        if matches!(kind, Line::TooLong) {
            return self.refuse(too_long()).await;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        while self.work.try_join_next().is_some() {}
        let (line, counted) = self.counted(line);
        let messages = apart(line.len(), move || Message::parse_all(line)).await.unwrap_or_default();
        for message in messages {
            match message {
                Ok(Message::Request { id, .. }) if !counted => {
                    let error = RpcError::internal("Too many large requests are being worked on. Try again later.");
                    self.send(Message::response(id, Err(error))).await;
                }
                Ok(Message::Request { id, method, params }) => match Asking::read(id, method, params.as_ref()) {
                    Ok(asking) => self.request(asking).await,
                    Err((id, error)) => self.refuse(BadMessage { id, error }).await,
                },
                Ok(Message::Notification { method, params }) => self.notification(&method, params).await,
                Ok(Message::Response { id, outcome }) => self.answered(&id, outcome),
                Err(bad) => self.refuse(bad).await,
            }
        }
    }

    /// A line with its share of the memory; `false` where there is none left for it.
    fn counted(&self, line: Vec<u8>) -> (Bytes, bool) {
        if line.len() <= SMALL {
            return (line.into(), true);
        }
        match self.budget.bodies.take(line.len()) {
            Some(share) => (counted(line, share), true),
            None => (line.into(), false),
        }
    }

    async fn request(&mut self, asking: Asking) {
        if let Err(wait) = self.asker.gateway.knock(Some(&self.asker.principal)) {
            self.asker.gateway.turned_away(Some(&self.asker.principal), Code::RateLimited);
            return self.send(Message::response(asking.id, Err(TooOften::new(wait).rpc_error()))).await;
        }
        if asking.is_stateless() {
            return self.stateless(asking).await;
        }
        if asking.method == "initialize" {
            return self.initialize(asking).await;
        }
        let Some(conversation) = self.conversation.clone() else {
            let outcome = match asking.method.as_str() {
                "ping" => Ok(raw(&Object::new())),
                _ => Err(RpcError::new(
                    code::INVALID_REQUEST,
                    "Send `initialize` first, or the `_meta` of protocol 2026-07-28 with every request.",
                )),
            };
            return self.send(Message::response(asking.id, outcome)).await;
        };
        let permit = self.place().await;
        let admitted = if permit.is_some() { conversation.admit(&asking) } else { Err(too_many()) };
        let running = match admitted {
            Ok(running) => running,
            Err(error) => return self.send(Message::response(asking.id, Err(error))).await,
        };
        let out = self.out.clone();
        self.work.spawn(async move {
            let _permit = permit;
            if let Some(answer) = conversation.request(asking, running, out.clone()).await {
                out.answer(answer.to_line()).await;
            }
        });
    }

    /// A place among the requests that are worked on; `None` where none becomes free in time.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        tokio::time::timeout(PATIENCE, self.permits.clone().acquire_owned()).await.ok()?.ok()
    }

    async fn initialize(&mut self, asking: Asking) {
        let outcome = match Conversation::greet(&self.asker, &asking).await {
            Ok((conversation, result)) => {
                self.begin(Arc::new(conversation));
                Ok(result)
            }
            Err(error) => Err(error),
        };
        self.send(Message::response(asking.id, outcome)).await;
    }

    /// Makes this the conversation, and tells the client of changes from now on.
    fn begin(&mut self, conversation: Arc<Conversation>) {
        self.listening.cancel();
        self.listening = self.ended.child_token();
        if let Some(before) = &self.conversation {
            before.leave();
        }
        let changes = Tidings::of(&conversation.gateway);
        tokio::spawn(tell_changes(conversation.clone(), changes, self.out.clone(), self.listening.clone()));
        self.conversation = Some(conversation);
    }

    async fn stateless(&mut self, asking: Asking) {
        let envelope = match Envelope::read(&asking.about) {
            Ok(envelope) => envelope,
            Err(error) => return self.send(Message::response(asking.id, Err(error))).await,
        };
        let permit = self.place().await;
        let Some(running) = permit.as_ref().and_then(|_| self.running.begin(&asking.id, AT_ONCE)) else {
            return self.send(Message::response(asking.id, Err(too_many()))).await;
        };
        let (asker, out, id) = (self.asker.clone(), self.out.clone(), asking.id.clone());
        if asking.method == "subscriptions/listen" {
            let (places, ended) = (self.subscriptions.clone(), self.ended.clone());
            // Not counted as work: it would use up a place for as long as the client lives.
            drop(permit);
            tokio::spawn(async move {
                let listened = async {
                    match Subscription::begin(asker, id.clone(), &asking.params, &places, out.clone()).await {
                        Ok(subscription) => subscription.run(CancellationToken::new()).await.map(Ok),
                        Err(error) => Some(Err(error)),
                    }
                };
                let listened = until_cancelled(listened, &ended);
                let outcome = until_cancelled(listened, &running.cancel).await.flatten().flatten();
                drop(running);
                if let Some(outcome) = outcome {
                    out.answer(Message::response(id, outcome).to_line()).await;
                }
            });
            return;
        }
        self.work.spawn(async move {
            let _permit = permit;
            let answered = asker.answer(asking, envelope, Some(out.clone()));
            let Some(outcome) = until_cancelled(answered, &running.cancel).await else { return };
            drop(running);
            out.answer(Message::response(id, outcome).to_line()).await;
        });
    }

    async fn notification(&self, method: &str, params: Option<Raw>) {
        if method == "notifications/cancelled" {
            self.running.cancel(params.as_ref());
        }
        if let Some(conversation) = self.conversation.as_ref().filter(|_| is_notification(method)) {
            conversation.notification(method, params).await;
        }
    }

    fn answered(&self, id: &Id, outcome: Result<Raw, RpcError>) {
        let expected = self.conversation.as_ref().is_some_and(|conversation| conversation.answered(id, outcome));
        if !expected {
            debug!("the client answered a question that nobody waits for");
        }
    }

    async fn refuse(&self, bad: BadMessage) {
        self.out.answer(bad.to_line()).await;
    }

    async fn send(&self, message: Message) {
        self.out.answer(message.to_line()).await;
    }

    /// Waits for what is under way, but not for ever, and not for a client to answer questions: it cannot any more.
    async fn drain(&mut self, until: Instant) {
        self.ended.cancel();
        let finished = async { while self.work.join_next().await.is_some() {} };
        if tokio::time::timeout_at(until, finished).await.is_err() {
            self.running.cancel_all();
            if let Some(conversation) = &self.conversation {
                conversation.running.cancel_all();
            }
            self.work.shutdown().await;
        }
        if let Some(conversation) = &self.conversation {
            conversation.leave();
        }
    }
}

/// Tells the client of changes until the conversation is over.
async fn tell_changes(conversation: Arc<Conversation>, mut changes: Tidings, out: Outbox, over: CancellationToken) {
    let (client, gateway) = (&conversation.client, &conversation.gateway);
    loop {
        let changed = tokio::select! {
            () = over.cancelled() => return,
            changed = changes.next() => changed,
        };
        let Some(changed) = changed else { return };
        let mine = changed.iter().flat_map(|change| gateway.access().concerning(change, &client.principal()));
        for (method, params) in mine.flat_map(|change| change.notifications(client)) {
            out.tell(Message::notification(method, params).to_line());
        }
    }
}

async fn write_lines(output: impl AsyncWrite + Unpin, lines: Unread) -> std::io::Result<()> {
    let mut output = BufWriter::new(output);
    let mut next = lines.next().await;
    while let Some(line) = next {
        output.write_all(&line).await?;
        output.write_all(b"\n").await?;
        // One flush for all that is waiting.
        next = match lines.try_next() {
            Some(line) => Some(line),
            None => {
                output.flush().await?;
                lines.next().await
            }
        };
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
            *line = Vec::new();
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
