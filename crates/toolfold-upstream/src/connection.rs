//! One connection to a server: which requests are open, who asked them, and how a message gets out. The transport is
//! behind [`Link`]; how messages that come in find their reader is in `incoming.rs`.
//!
//! What a reader would get wrong: a call is ended by dropping its future. Deadlines and cancellation are therefore no
//! business of this file; whoever stops waiting for `request` has cancelled it, and the server is told.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::{Semaphore, oneshot, watch};
use tokio_util::sync::CancellationToken;
use toolfold_wire::{Era, Message, Raw, raw};

use crate::call::CallError;
use crate::closing::{Closing, Failure};
use crate::http::Endpoint;
use crate::incoming::Questions;
use crate::made::Maker;
use crate::outbox::{Outbox, Undeliverable};
use crate::outgoing::{Introduction, MOST_SOON};
use crate::owner::Owner;
use crate::process::Process;
use crate::sent::Request;
use crate::shared::{Shared, lock};

/// How many requests may be open on one server at once.
pub(crate) const MOST_OPEN: usize = 1024;

const REASON: Duration = Duration::from_secs(2);
/// How long what a server says may be about a call that it has answered. A stateless client is another one with every
/// request, so this is also what the next call of the same person may lose.
const AFTERTHOUGHTS: Duration = Duration::from_millis(500);
/// How much later than its answer what a server said before it may come in.
const LAST_WORDS: Duration = Duration::from_millis(20);

pub(crate) struct Connection {
    pub(crate) shared: Arc<Shared>,
    pub(crate) era: Era,
    pub(crate) link: Link,
    pub(crate) questions: Questions,
    /// The latest request to listen that a stateless server confirmed.
    pub(crate) confirmed: watch::Sender<u64>,
    table: Mutex<Table>,
    /// Places for what is on its way and waited for by nobody (HTTP).
    pub(crate) soon: Arc<Semaphore>,
    /// Whether the server has ever said something about a call beside its own stream. Most never do.
    beside: AtomicBool,
    closed: CancellationToken,
}

pub(crate) enum Link {
    Stdio {
        outbox: Outbox,
        process: Process,
    },
    Http(Box<Endpoint>),
    /// Nobody is at the other end: it is answered here.
    Made(Box<Maker>),
}

struct Table {
    closing: Option<Closing>,
    last_id: u64,
    last_used: Instant,
    open: HashMap<u64, Open>,
    /// Whose call was given up last, and when.
    last_abandoned: Option<(u64, Instant)>,
}

struct Open {
    answer: oneshot::Sender<Result<Raw, CallError>>,
    owner: Option<Owner>,
    token: Option<Raw>,
    /// Open for as long as the connection is: no reason to keep a server running.
    background: bool,
}

impl Connection {
    pub(crate) fn new(shared: &Arc<Shared>, era: Era, link: Link) -> Arc<Self> {
        let table =
            Table { closing: None, last_id: 0, last_used: Instant::now(), open: HashMap::new(), last_abandoned: None };
        Arc::new(Connection {
            shared: shared.clone(),
            era,
            link,
            questions: Questions::default(),
            confirmed: watch::Sender::new(0),
            table: Mutex::new(table),
            soon: Arc::new(Semaphore::new(MOST_SOON)),
            beside: AtomicBool::new(false),
            closed: CancellationToken::new(),
        })
    }

    pub(crate) async fn request(self: &Arc<Self>, request: Request<'_>) -> Result<Raw, Failure> {
        let Request { method, mut params, capabilities, owner, principal, background } = request;
        let introduction = self.introduction(capabilities);
        let mut waiting = self.open(owner, background)?;
        waiting.untold = method == "initialize";
        let (line, mut repeated) = self.written(waiting.id, method, params.get(), &introduction);
        match &self.link {
            Link::Stdio { outbox, .. } => {
                if let Err(why) = outbox.send(Some(waiting.id), line) {
                    waiting.untold = true;
                    return Err(self.undelivered(why).await);
                }
                params.let_go();
                waiting.answer().await
            }
            Link::Http(endpoint) => {
                repeated.extend(endpoint.word(principal, &line));
                let exchange = endpoint.exchange(self, waiting.id, (method, &mut params), (principal, repeated, line));
                tokio::pin!(exchange);
                tokio::select! {
                    biased;
                    outcome = &mut exchange => {
                        if let Err(failure) = outcome {
                            waiting.untold = true;
                            return Err(failure);
                        }
                    }
                    answer = &mut waiting.receiver => return waiting.settle(answer),
                }
                waiting.answer().await
            }
            Link::Made(maker) => {
                waiting.untold = true;
                let answer = Box::pin(maker.respond(self, waiting.id, method, params.get())).await;
                self.answer(waiting.id, answer);
                waiting.answer().await
            }
        }
    }

    /// Tells the server something and waits until it is on its way.
    pub(crate) async fn tell(self: &Arc<Self>, method: &str, params: Option<Raw>) -> Result<(), Failure> {
        self.send(&Message::notification(method, params)).await
    }

    pub(crate) async fn send(self: &Arc<Self>, message: &Message) -> Result<(), Failure> {
        match &self.link {
            Link::Stdio { outbox, .. } => {
                outbox.send(None, message.to_line()).map_err(|_| Failure::NotSent(self.why_closed()))
            }
            Link::Http(endpoint) => endpoint.deliver(self, message).await,
            Link::Made(_) => Ok(()),
        }
    }

    /// Hands the answer to whoever waits for it. A late one finds nobody and is dropped.
    pub(crate) fn answer(&self, id: u64, outcome: Result<Raw, CallError>) {
        let open = lock(&self.table).open.remove(&id);
        if let Some(open) = open {
            let _ = open.answer.send(outcome);
        }
    }

    /// The number of the latest request.
    pub(crate) fn last_id(&self) -> u64 {
        lock(&self.table).last_id
    }

    pub(crate) fn is_open(&self, id: u64) -> bool {
        lock(&self.table).open.contains_key(&id)
    }

    /// The only open request, if there is exactly one: whatever goes wrong without an id is about that one.
    pub(crate) fn only_open(&self) -> Option<u64> {
        let table = lock(&self.table);
        let mut ids = table.open.iter().filter(|(_, open)| !open.background).map(|(id, _)| *id);
        ids.next().filter(|_| ids.next().is_none())
    }

    /// Whose progress token this is, and the token in the caller's own words.
    pub(crate) fn owner_of_token(&self, id: u64) -> Option<(Owner, Raw)> {
        let table = lock(&self.table);
        let open = table.open.get(&id)?;
        Some((open.owner.clone()?, open.token.clone()?))
    }

    pub(crate) fn owner_of(&self, id: u64) -> Option<Owner> {
        lock(&self.table).open.get(&id)?.owner.clone()
    }

    /// The owner of the latest call, if all open calls are of one client. With calls of two clients open nobody can
    /// say which of them a server means, and a guess would show one client's affairs to another.
    pub(crate) fn sole_owner(&self) -> Option<Owner> {
        lock(&self.table).sole_owner()
    }

    /// As [`Connection::sole_owner`], for what need not reach anybody: what is said just after another client's call was
    /// given up may still be about that one. An answer, though, ends what was said before it.
    pub(crate) fn undoubted_owner(&self) -> Option<Owner> {
        let table = lock(&self.table);
        let owner = table.sole_owner()?;
        let doubt = |(client, at): (u64, Instant)| client != owner.client && at.elapsed() < AFTERTHOUGHTS;
        let doubt = table.last_abandoned.is_some_and(doubt);
        (!doubt).then_some(owner)
    }

    /// Something about this owner's call came on the stream that belongs to no call.
    pub(crate) fn hear_beside(&self, owner: &Owner) {
        owner.hear_beside();
        self.beside.store(true, Ordering::Relaxed);
    }

    /// A moment for what the server said last about this call, where it says such things on another stream: its answer may
    /// come in before them, and afterwards they would belong to nobody.
    pub(crate) async fn last_words(&self, id: u64) {
        if !self.beside.load(Ordering::Relaxed) {
            return;
        }
        if self.owner_of(id).is_some_and(|owner| owner.was_heard_beside()) {
            tokio::time::sleep(LAST_WORDS).await;
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.is_cancelled()
    }

    pub(crate) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    pub(crate) fn closing(&self) -> Option<Closing> {
        lock(&self.table).closing.clone()
    }

    /// When the server was last used; `None` while a call is open.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        lock(&self.table).idle_since()
    }

    /// Closes the connection unless it was used since. Decided under the lock that a call must take to begin.
    pub(crate) fn close_if_idle_since(&self, since: Instant) -> bool {
        let mut table = lock(&self.table);
        let idle = table.idle_since().is_some_and(|last| last <= since);
        if idle && table.closing.is_none() {
            table.closing = Some(Closing::harmless("was idle and was stopped"));
        }
        drop(table);
        if idle {
            self.closed.cancel();
        }
        idle
    }

    /// Takes no more calls; the open ones, which have connections of their own (HTTP), may still be answered.
    pub(crate) fn retire(&self, closing: Closing) {
        lock(&self.table).closing.get_or_insert(closing);
        self.closed.cancel();
    }

    /// Ends every open call. The first reason given stands.
    pub(crate) fn close(&self, closing: Closing) {
        let mut table = lock(&self.table);
        let what = table.closing.get_or_insert(closing).what.clone();
        let open: Vec<Open> = table.open.drain().map(|(_, open)| open).collect();
        drop(table);
        self.closed.cancel();
        for open in open {
            let why = format!("the server {what} during the call; whether the call took effect is unknown");
            let _ = open.answer.send(Err(CallError::unavailable(why)));
        }
    }

    /// Closes the connection and returns when the process behind it is gone.
    pub(crate) async fn shut_down(&self, closing: Closing) {
        self.close(closing);
        match &self.link {
            Link::Stdio { process, .. } => process.stop().await,
            Link::Http(endpoint) => endpoint.end_session().await,
            Link::Made(_) => {}
        }
    }

    fn introduction<'a>(&self, capabilities: Option<&'a Raw>) -> Introduction<'a> {
        match self.era {
            Era::Legacy => Introduction::default(),
            Era::Modern => Introduction { capabilities, log_level: self.shared.log_level() },
        }
    }

    fn open(self: &Arc<Self>, owner: Option<Owner>, background: bool) -> Result<Waiting, Failure> {
        let (answer, receiver) = oneshot::channel();
        let mut table = lock(&self.table);
        if let Some(closing) = &table.closing {
            return Err(Failure::NotSent(closing.why()));
        }
        if table.open.len() >= MOST_OPEN {
            let why = format!("the server has {MOST_OPEN} calls open and takes no more until some are answered");
            return Err(CallError::unavailable(why).into());
        }
        table.last_id += 1;
        table.last_used = Instant::now();
        let id = table.last_id;
        table.open.insert(id, Open { answer, owner, token: None, background });
        drop(table);
        Ok(Waiting { connection: self.clone(), id, receiver, untold: false })
    }

    pub(crate) fn keep_token(&self, id: u64, token: Option<Raw>) {
        if let Some(open) = lock(&self.table).open.get_mut(&id) {
            open.token = token;
        }
    }

    async fn undelivered(&self, why: Undeliverable) -> Failure {
        if why == Undeliverable::Full {
            let why = "the server does not read what it is sent, and more cannot be kept for it";
            return CallError::unavailable(why).into();
        }
        // How the process ended is known in a moment, and says more than that its pipe is broken.
        let _ = tokio::time::timeout(REASON, self.closed()).await;
        Failure::NotSent(self.why_closed())
    }

    fn why_closed(&self) -> String {
        self.closing().map_or_else(|| "the server no longer reads".to_owned(), |closing| closing.why())
    }
}

impl Table {
    /// Nobody waits for it any more, and the server may still be at it.
    fn abandon(&mut self, id: u64) -> Option<Open> {
        let open = self.open.remove(&id)?;
        if let Some(owner) = &open.owner {
            self.last_abandoned = Some((owner.client, Instant::now()));
        }
        Some(open)
    }

    fn sole_owner(&self) -> Option<Owner> {
        let owned = || {
            let owned = self.open.iter().filter_map(|(id, open)| Some((*id, open.owner.as_ref()?)));
            owned.filter(|(_, owner)| !owner.is_gone())
        };
        let (_, latest) = owned().max_by_key(|(id, _)| *id)?;
        owned().all(|(_, owner)| owner.client == latest.client).then(|| latest.clone())
    }

    fn idle_since(&self) -> Option<Instant> {
        self.open.values().all(|open| open.background).then_some(self.last_used)
    }
}

/// An open request, seen from the one who waits. Dropped before the answer: the server is told not to bother.
struct Waiting {
    connection: Arc<Connection>,
    id: u64,
    receiver: oneshot::Receiver<Result<Raw, CallError>>,
    untold: bool,
}

impl Waiting {
    async fn answer(&mut self) -> Result<Raw, Failure> {
        let answer = (&mut self.receiver).await;
        self.settle(answer)
    }

    fn settle(&self, answer: Result<Result<Raw, CallError>, oneshot::error::RecvError>) -> Result<Raw, Failure> {
        lock(&self.connection.table).last_used = Instant::now();
        Ok(answer.unwrap_or_else(|_| Err(CallError::unavailable("the connection to the server ended")))?)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let was_open = lock(&self.connection.table).abandon(self.id).is_some();
        // What the server has not begun to read it need not be asked to forget.
        if was_open && let Link::Stdio { outbox, .. } = &self.connection.link {
            self.untold |= outbox.retract(self.id);
        }
        // Over HTTP in the stateless era the end of the response stream, which is dropped with us, says it already.
        let said = self.connection.era == Era::Modern && matches!(self.connection.link, Link::Http(_));
        if was_open && !said && !self.untold && !self.connection.is_closed() {
            let params = json!({"requestId": self.id, "reason": "Nobody waits for the answer any more."});
            self.connection.send_soon(Message::notification("notifications/cancelled", Some(raw(&params))));
        }
    }
}
