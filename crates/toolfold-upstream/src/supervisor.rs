//! One task per server that alone decides whether the server runs.
//!
//! What a reader would get wrong: calls do not pass through here. A call finds the connection in `Shared` and uses
//! it; only when there is none does it ask the supervisor for one.
//!
//! Why a task and not a lock: starting, listing, idling and failing overlap, and each of them can end any other. Here they
//! are arms of one `select!` over plain fields, so there is one order of events and nothing to lock. After every
//! event [`Supervisor::look_around`] does whatever is due, computed from the fields and not from the event: a timer that
//! fires late, or an event that is missed because two came at once, changes nothing.
//!
//! Why failing is remembered with a time: a call to a server that has just failed is answered at once with the reason, and
//! does not start it again before its time. Otherwise a model that repeats its call drives a crashing server as fast as it
//! can crash. Why a loss can be harmless: an HTTP server that forgot our session, or was restarted between two calls,
//! has failed nobody yet; it is forgiven once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use toolfold_config::Start;
use toolfold_core::beginning;
use toolfold_wire::{BoxFuture, Era};
use tracing::Instrument;

use crate::backoff::Backoff;
use crate::call::CallError;
use crate::closing::Closing;
use crate::connection::{Connection, Link};
use crate::era::{self, Established, Greeting, Refused};
use crate::listing;
use crate::manifest::Manifest;
use crate::oauth::Need;
use crate::rhythm::Rhythm;
use crate::shared::{Shared, Stale};
use crate::upstream::{Event, Parted, State};
use crate::wishes;

const NEVER: Duration = Duration::from_secs(86_400);
/// Characters of why a server failed: it is kept, and told to whoever asks for the status.
const LONGEST_REASON: usize = 2_000;

pub(crate) enum Command {
    /// A call needs the server.
    Need(oneshot::Sender<Result<Arc<Connection>, CallError>>),
    Refresh,
    /// A person wants it to run, whatever was before.
    Start,
    Stop(oneshot::Sender<()>),
}

pub(crate) struct Supervisor {
    shared: Arc<Shared>,
    commands: mpsc::UnboundedReceiver<Command>,
    attempt: Option<BoxFuture<'static, Result<Established, Refused>>>,
    live: Option<Live>,
    listing: Option<BoxFuture<'static, Arc<Manifest>>>,
    listing_since: Instant,
    rhythm: Rhythm,
    /// Calls that wait for the server to be up.
    pending: Vec<oneshot::Sender<Result<Arc<Connection>, CallError>>>,
    backoff: Backoff,
    failure: Option<Failed>,
    /// Why nothing can be done before somebody logs in.
    asleep: Option<String>,
    stopped: bool,
}

struct Live {
    connection: Arc<Connection>,
    greeting: Greeting,
    since: Instant,
}

struct Failed {
    why: String,
    retry_at: Instant,
}

impl Supervisor {
    pub(crate) fn new(shared: Arc<Shared>, commands: mpsc::UnboundedReceiver<Command>) -> Self {
        Supervisor {
            shared,
            commands,
            attempt: None,
            live: None,
            listing: None,
            listing_since: Instant::now(),
            rhythm: Rhythm::default(),
            pending: Vec::new(),
            backoff: Backoff::default(),
            failure: None,
            asleep: None,
            stopped: false,
        }
    }

    pub(crate) async fn run(mut self) {
        if self.wanted() {
            self.start();
        }
        loop {
            let alarm = tokio::time::sleep(self.until_alarm());
            tokio::select! {
                command = self.commands.recv() => match command {
                    Some(command) => self.obey(command).await,
                    None => break,
                },
                outcome = ready(&mut self.attempt) => self.attempted(outcome),
                manifest = ready(&mut self.listing) => self.listed(manifest),
                () = lost(self.live.as_ref()) => self.lost(),
                () = self.shared.stale.changed() => {}
                () = logged_in(&self.shared) => self.login_changed().await,
                () = alarm => {}
            }
            self.look_around().await;
        }
        self.shut_down().await;
    }

    async fn obey(&mut self, command: Command) {
        match command {
            Command::Need(reply) => self.need(reply),
            Command::Refresh => {
                self.shared.stale.mark(Stale::ALL);
                self.rhythm.hurry();
                if self.live.is_none() && !self.stopped {
                    self.start_if_due();
                }
            }
            Command::Start => {
                (self.stopped, self.failure, self.backoff, self.asleep) = (false, None, Backoff::default(), None);
                if self.live.is_none() && self.attempt.is_none() {
                    self.start();
                }
            }
            Command::Stop(done) => {
                self.notice_loss();
                self.shut_down().await;
                let _ = done.send(());
            }
        }
    }

    fn need(&mut self, reply: oneshot::Sender<Result<Arc<Connection>, CallError>>) {
        self.notice_loss();
        if let Some(live) = &self.live {
            let _ = reply.send(Ok(live.connection.clone()));
        } else if self.stopped {
            let _ = reply.send(Err(CallError::unavailable("the server is stopped")));
        } else if self.start_if_due() {
            self.pending.retain(|reply| !reply.is_closed());
            self.pending.push(reply);
        } else {
            let _ = reply.send(Err(self.unavailable()));
        }
    }

    fn unavailable(&self) -> CallError {
        if let Some(why) = &self.asleep {
            return CallError::Login(Need::login(why));
        }
        match &self.failure {
            Some(failure) => CallError::Unavailable {
                why: failure.why.clone(),
                retry_in: Some(failure.retry_at.saturating_duration_since(Instant::now())),
            },
            None => CallError::unavailable("the server is not running"),
        }
    }

    /// Whether the server should run although nobody calls it.
    fn wanted(&self) -> bool {
        let config = &self.shared.config;
        !self.stopped
            && self.asleep.is_none()
            && (config.start == Start::Eager
                || self.shared.manifest().is_none()
                || !self.shared.subscriptions.borrow().is_empty())
    }

    /// Whether an attempt is under way, begun now or before.
    fn start_if_due(&mut self) -> bool {
        if self.attempt.is_none() && self.failure.as_ref().is_none_or(|failed| failed.retry_at <= Instant::now()) {
            self.start();
        }
        self.attempt.is_some()
    }

    fn start(&mut self) {
        // Whether somebody has logged in meanwhile is looked up for a call, and changes nothing if nobody has.
        if self.asleep.is_none() {
            self.shared.set_state(State::Starting);
        }
        let shared = self.shared.clone();
        self.attempt = Some(Box::pin(async move { era::connect(&shared).await }));
    }

    fn attempted(&mut self, outcome: Result<Established, Refused>) {
        self.attempt = None;
        match outcome {
            Ok(established) => self.begin(established),
            // Somebody has logged in while it was tried without.
            Err(Refused::Login(_)) if self.shared.is_logged_in() => self.start(),
            Err(refused) => {
                match refused {
                    Refused::Login(why) => self.sleep(why),
                    refused => self.fail(refused.to_string()),
                }
                for reply in std::mem::take(&mut self.pending) {
                    let _ = reply.send(Err(self.unavailable()));
                }
            }
        }
    }

    fn begin(&mut self, Established { connection, greeting }: Established) {
        (self.failure, self.asleep) = (None, None);
        self.shared.set_connection(Some(connection.clone()));
        self.shared.set_state(State::Ready);
        for reply in std::mem::take(&mut self.pending) {
            let _ = reply.send(Ok(connection.clone()));
        }
        tokio::spawn(wishes::attend(connection.clone(), greeting.capabilities.clone()).in_current_span());
        self.live = Some(Live { connection, greeting, since: Instant::now() });
        self.rhythm = Rhythm::default();
        self.shared.stale.mark(Stale::ALL);
    }

    fn fail(&mut self, why: String) {
        let why = beginning(&self.shared.blank(&why), LONGEST_REASON).into_owned();
        let retry_in = self.backoff.fail();
        tracing::warn!(server = %self.shared.config.name, why = ?why, ?retry_in, "the server failed");
        self.failure = Some(Failed { why: why.clone(), retry_at: Instant::now() + retry_in });
        self.shared.set_state(State::Failing { why, retry_in });
    }

    /// Waits for somebody to log in. Nothing is tried meanwhile, unless a call wants to know whether somebody has.
    fn sleep(&mut self, why: String) {
        tracing::info!(server = %self.shared.config.name, why = ?why, "the server needs a login");
        (self.failure, self.asleep) = (None, Some(why.clone()));
        self.shared.set_state(State::NeedsLogin { why });
    }

    /// Somebody has logged in or out, here or elsewhere.
    async fn login_changed(&mut self) {
        match self.shared.account.as_ref().and_then(|account| account.need()) {
            Some(Need::Login { why }) => {
                self.end_live().await;
                self.sleep(why);
            }
            _ if self.asleep.is_some() && !self.stopped => {
                self.asleep = None;
                if self.live.is_none() && self.attempt.is_none() {
                    self.start();
                }
            }
            _ => {}
        }
    }

    /// A server that has ended by itself has failed, although whoever waited for its answer heard of it first.
    fn notice_loss(&mut self) {
        if self.live.as_ref().is_some_and(|live| live.connection.is_closed()) {
            self.lost();
        }
    }

    fn lost(&mut self) {
        let Some(live) = self.live.take() else { return };
        self.listing = None;
        self.shared.set_connection(None);
        self.backoff.lived(live.since.elapsed());
        let closing = live.connection.closing().unwrap_or_else(|| Closing::because("went away"));
        self.part(&live, !closing.harmless);
        if let Some(why) = closing.login {
            self.sleep(why);
        } else if closing.harmless && self.backoff.forgives() {
            self.shared.set_state(self.at_rest());
        } else {
            self.fail(closing.why());
        }
    }

    fn listed(&mut self, manifest: Arc<Manifest>) {
        self.listing = None;
        self.rhythm.end(Instant::now(), self.listing_since.elapsed());
        // What was read while the connection broke is half a list; the next connection reads it whole.
        if self.live.as_ref().is_some_and(|live| !live.connection.is_closed()) {
            self.shared.set_manifest(manifest);
        }
    }

    /// What is due, whatever woke us.
    async fn look_around(&mut self) {
        if self.live.is_none() && self.attempt.is_none() && self.wanted() {
            self.start_if_due();
        }
        if self.idle_until().is_some_and(|end| end <= Instant::now()) {
            self.stop_idle().await;
        }
        if self.listing_due().is_some_and(|due| due <= Instant::now())
            && let Some(live) = &self.live
        {
            let (connection, greeting) = (live.connection.clone(), live.greeting.clone());
            self.listing_since = Instant::now();
            self.rhythm.begin(self.listing_since);
            self.listing = Some(Box::pin(listing::list(connection, greeting, self.shared.stale.take())));
        }
    }

    fn until_alarm(&self) -> Duration {
        let retry = self.failure.as_ref().filter(|_| self.live.is_none() && self.attempt.is_none() && self.wanted());
        let times = [retry.map(|failed| failed.retry_at), self.idle_until(), self.listing_due()];
        let next = times.into_iter().flatten().min();
        next.map_or(NEVER, |at| at.saturating_duration_since(Instant::now()))
    }

    fn listing_due(&self) -> Option<Instant> {
        // What runs on another replica is listed there.
        let near = self.live.as_ref().is_some_and(|live| !live.connection.is_elsewhere());
        let due = near && self.listing.is_none() && self.shared.stale.is_any();
        due.then(|| self.rhythm.due().unwrap_or_else(Instant::now))
    }

    /// When the server will have been idle for long enough to be stopped.
    fn idle_until(&self) -> Option<Instant> {
        let live = self.live.as_ref().filter(|_| self.listing.is_none() && !self.wanted())?;
        // While a call is open there is nothing to wait for: look again after a whole idle time.
        let since = live.connection.idle_since().unwrap_or_else(Instant::now);
        Some(since + self.shared.config.timeouts.idle)
    }

    async fn stop_idle(&mut self) {
        let Some(live) = &self.live else { return };
        let Some(before) = Instant::now().checked_sub(self.shared.config.timeouts.idle) else { return };
        if live.connection.close_if_idle_since(before) {
            tracing::debug!(server = %self.shared.config.name, "stopped: nobody has called it for a while");
            self.end_live().await;
            self.shared.set_state(self.at_rest());
        }
    }

    async fn end_live(&mut self) {
        self.listing = None;
        self.shared.set_connection(None);
        if let Some(live) = self.live.take() {
            self.backoff.lived(live.since.elapsed());
            self.part(&live, false);
            live.connection.shut_down(Closing::harmless("was stopped")).await;
        }
    }

    /// Says how long a session was, where it was one.
    fn part(&self, live: &Live, lost: bool) {
        if live.connection.era == Era::Legacy {
            let is_process = matches!(live.connection.link, Link::Stdio { .. });
            let (version, lasted) = (live.greeting.version.clone(), live.since.elapsed());
            self.shared.report(Event::Parted(Parted { is_process, version, lasted, lost }));
        }
    }

    fn at_rest(&self) -> State {
        if self.shared.manifest().is_some() { State::Known } else { State::Configured }
    }

    async fn shut_down(&mut self) {
        self.stopped = true;
        self.attempt = None;
        for reply in std::mem::take(&mut self.pending) {
            let _ = reply.send(Err(CallError::unavailable("the server was stopped")));
        }
        self.end_live().await;
        if let Some(half) = self.shared.swap_attempt(None) {
            half.shut_down(Closing::harmless("was stopped")).await;
        }
        self.shared.set_state(State::Stopped);
    }
}

/// The output of a future that may not be there.
async fn ready<T>(slot: &mut Option<BoxFuture<'static, T>>) -> T {
    match slot {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

async fn logged_in(shared: &Shared) {
    match &shared.account {
        Some(account) => account.changed().await,
        None => std::future::pending().await,
    }
}

async fn lost(live: Option<&Live>) {
    match live {
        Some(live) => live.connection.closed().await,
        None => std::future::pending().await,
    }
}
