//! The handle the rest of Toolfold holds for a server.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use toolfold_config::{Run, Server};
use toolfold_core::{Principal, ServerName};
use toolfold_wire::{Era, Message, Object, Raw};
use tracing::Instrument;

use crate::call::{Call, CallError};
use crate::closing::Failure;
use crate::connection::{Connection, Link, MOST_OPEN};
use crate::house::House;
use crate::login::Others;
use crate::manifest::Manifest;
use crate::owner::Owner;
use crate::sent::{Params, Request};
use crate::shared::Shared;
use crate::supervisor::{Command, Supervisor};
use crate::wishes;

const CONFIRMATION: Duration = Duration::from_secs(5);
/// How long people may think about the questions of a server during one call, beyond the call's own deadline.
pub const LONGEST_THOUGHT: Duration = Duration::from_secs(30 * 60);

/// How often it is looked whether whoever thinks is still there.
const LOOK: Duration = Duration::from_secs(1);

/// What a person can see of a server.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// Nothing is known of it and it was not started.
    Configured,
    /// Its manifest is remembered and it is not running.
    Known,
    Starting,
    Ready,
    Failing {
        why: String,
        retry_in: Duration,
    },
    /// It is there, and nobody who may use it is logged in.
    NeedsLogin {
        why: String,
    },
    Stopped,
}

#[derive(Debug, Clone)]
pub enum Event {
    State(State),
    Listed(Arc<Manifest>),
    /// A session with it is over.
    Parted(Parted),
    /// A resource that was subscribed to through this server has changed.
    Updated {
        uri: String,
        /// On whose way to it this was said.
        whose: Principal,
        /// Its place among those that wait to be told.
        place: Arc<OwnedSemaphorePermit>,
    },
}

/// A session that `initialize` began, when it is over. The stateless era has none.
#[derive(Debug, Clone)]
pub struct Parted {
    pub is_process: bool,
    /// The version of the protocol that was spoken.
    pub version: String,
    pub lasted: Duration,
    /// Whether it broke off.
    pub lost: bool,
}

#[derive(Debug, Clone)]
pub struct Report {
    pub server: ServerName,
    /// Which of the servers that had this name one after another: a report may arrive after its sender was replaced.
    pub instance: u64,
    pub event: Event,
}

/// Dropping the last handle stops the server.
#[derive(Clone)]
pub struct Upstream {
    pub(crate) shared: Arc<Shared>,
    commands: mpsc::UnboundedSender<Command>,
    pub(crate) others: Others,
}

impl Upstream {
    /// Must be called inside a tokio runtime.
    pub fn spawn(
        config: Arc<Server>,
        remembered: Option<Arc<Manifest>>,
        reports: mpsc::UnboundedSender<Report>,
        house: &House,
    ) -> Upstream {
        let others = Others::new(reports.clone(), house);
        Upstream::spawn_for((&Principal::local(), None), config, remembered, (reports, house), others)
    }

    /// Another way to a server has the number of the first one: what it reports is reported by the same server.
    pub(crate) fn spawn_for(
        whose: (&Principal, Option<u64>),
        config: Arc<Server>,
        remembered: Option<Arc<Manifest>>,
        (reports, house): (mpsc::UnboundedSender<Report>, &House),
        others: Others,
    ) -> Upstream {
        let shared = Shared::new(config, remembered, reports, house, whose);
        let (commands, orders) = mpsc::unbounded_channel();
        // So that the log of two servers can be told apart, whatever it is that is logged.
        let span = tracing::info_span!("server", name = %shared.config.name);
        tokio::spawn(Supervisor::new(shared.clone(), orders).run().instrument(span));
        Upstream { shared, commands, others }
    }

    pub fn name(&self) -> &ServerName {
        &self.shared.config.name
    }

    /// Whose way to the server this is.
    pub fn whose(&self) -> &Principal {
        &self.shared.whose
    }

    /// The number its reports carry.
    pub fn instance(&self) -> u64 {
        self.shared.instance
    }

    pub fn state(&self) -> State {
        self.shared.state()
    }

    pub fn manifest(&self) -> Option<Arc<Manifest>> {
        self.shared.manifest()
    }

    /// Starts the server if it is not running. Dropping the future cancels the call.
    pub async fn request(&self, mut call: Call) -> Result<Raw, CallError> {
        let mut params = Some(std::mem::take(&mut call.params));
        match self.request_within(&call, &mut params).await {
            // Nobody has looked at the call yet: after a login it is sent for the first time.
            Err(CallError::Login(need)) if params.is_some() && self.can_ask(&call) => {
                // In boxes of their own, as is what follows: a future that seldom is would otherwise be part of every call.
                Box::pin(self.ask_to_log_in(&call, need)).await?;
                Box::pin(self.request_within(&call, &mut params)).await
            }
            answer => answer,
        }
    }

    async fn request_within(&self, call: &Call, params: &mut Option<Object>) -> Result<Raw, CallError> {
        let after = call.timeout.unwrap_or(self.shared.config.timeouts.call);
        let owner = Owner::of(call);
        tokio::select! {
            biased;
            answer = self.request_once_or_again(call, params, &owner) => answer,
            () = overdue(after, &owner) => Err(CallError::Timeout { after }),
        }
    }

    /// A server that is not running hears nothing, and nobody waits for one that is to listen.
    pub fn notify(&self, method: &str, params: Option<Raw>) {
        if let Some(connection) = self.shared.connection() {
            connection.send_soon(Message::notification(method, params));
        }
    }

    /// Lists again, soon.
    pub fn refresh(&self) {
        let _ = self.commands.send(Command::Refresh);
    }

    /// `resources/subscribe`, or its place in `subscriptions/listen`. Kept over reconnects.
    pub async fn subscribe(&self, uri: &str) -> Result<(), CallError> {
        let connection = self.connection().await?;
        let (before, mut confirmed) = (connection.last_id(), connection.confirmed.subscribe());
        let wanted = &self.shared.subscriptions;
        // Before the server is asked: what it says together with its answer is already meant for us.
        let new = wanted.send_if_modified(|subscriptions| subscriptions.insert(uri.to_owned()));
        if connection.era == Era::Legacy
            && let Err(error) = wishes::subscribe(&connection, uri).await
        {
            wanted.send_if_modified(|subscriptions| new && subscriptions.remove(uri));
            return Err(error);
        }
        if new && connection.era == Era::Modern {
            // Not a condition, only a courtesy: who subscribes and then changes something wants to hear of it.
            let _ = tokio::time::timeout(CONFIRMATION, confirmed.wait_for(|id| *id > before)).await;
        }
        Ok(())
    }

    pub async fn unsubscribe(&self, uri: &str) -> Result<(), CallError> {
        self.shared.subscriptions.send_if_modified(|subscriptions| subscriptions.remove(uri));
        match self.shared.connection() {
            Some(connection) if connection.era == Era::Legacy => wishes::unsubscribe(&connection, uri).await,
            _ => Ok(()),
        }
    }

    /// For legacy servers that can, now and after every reconnect; for others with each request.
    pub fn set_log_level(&self, level: &str) {
        self.shared.set_log_level(level);
        let can =
            |manifest: Arc<Manifest>| Object::parse(manifest.capabilities.as_ref()?)?.contains("logging").then_some(());
        let connection = self.shared.connection().filter(|connection| connection.era == Era::Legacy);
        if let (Some(connection), Some(())) = (connection, self.manifest().and_then(can)) {
            let level = level.to_owned();
            tokio::spawn(async move { wishes::set_log_level(&connection, &level).await });
        }
    }

    /// How much it is asked to say.
    pub fn log_level(&self) -> Option<String> {
        self.shared.log_level()
    }

    /// Whether one of several replicas runs it.
    pub fn is_only_one(&self) -> bool {
        self.shared.config.run == Run::One && self.shared.house.arbiter.is_some()
    }

    /// Where it runs, for people, if one of several replicas runs it and it is known where.
    pub fn runs_at(&self) -> Option<String> {
        let connection = self.shared.connection().filter(|_| self.is_only_one())?;
        match &connection.link {
            Link::Http(endpoint) => Some(endpoint.remote.as_ref()?.shown.clone()),
            _ => Some("here".to_owned()),
        }
    }

    /// What it said last on stderr, over all its starts and without secrets, the oldest line first.
    pub fn said(&self) -> Vec<String> {
        self.shared.said.all()
    }

    /// Starts the server now, also where it was stopped, or failed and is to be tried later.
    pub fn start(&self) {
        let _ = self.commands.send(Command::Start);
    }

    /// Stops the server until it is started again; returns when its process is gone.
    pub async fn stop(&self) {
        for other in self.others.take() {
            Box::pin(other.stop()).await;
        }
        let (done, stopped) = oneshot::channel();
        if self.commands.send(Command::Stop(done)).is_ok() {
            let _ = stopped.await;
        }
        if let Some(account) = &self.shared.account {
            account.settled().await;
        }
    }

    /// A second time only where the server cannot have looked at the first: then the parameters are still here.
    async fn request_once_or_again(
        &self,
        call: &Call,
        params: &mut Option<Object>,
        owner: &Owner,
    ) -> Result<Raw, CallError> {
        let connection = self.connection_for(call).await?;
        match connection.request(request(call, params, owner)).await {
            Ok(result) => Ok(result),
            Err(Failure::NotSent(_)) if params.is_some() => {
                let connection = self.connection_for(call).await?;
                let again = Box::pin(connection.request(request(call, params, owner)));
                again.await.map_err(Failure::into_call_error)
            }
            Err(failure) => Err(failure.into_call_error()),
        }
    }

    /// As [`Upstream::connection`]. What another replica has sent on goes no further.
    async fn connection_for(&self, call: &Call) -> Result<Arc<Connection>, CallError> {
        let connection = self.connection().await?;
        match call.here && connection.is_elsewhere() {
            true => Err(CallError::unavailable("the server runs on another replica now")),
            false => Ok(connection),
        }
    }

    /// The connection there is, or the one there will be once the server is up.
    async fn connection(&self) -> Result<Arc<Connection>, CallError> {
        if let Some(connection) = self.shared.connection().filter(|connection| !connection.is_closed()) {
            return Ok(connection);
        }
        let Some(_place) = Place::take(&self.shared) else {
            let why = format!("{MOST_OPEN} calls already wait for the server to start");
            return Err(CallError::unavailable(why));
        };
        let (reply, connection) = oneshot::channel();
        let gone = || CallError::unavailable("the server is stopped");
        self.commands.send(Command::Need(reply)).map_err(|_| gone())?;
        connection.await.unwrap_or_else(|_| Err(gone()))
    }
}

/// The time a client spends on a question of the server is not the server's, as long as it is there to answer.
async fn overdue(after: Duration, owner: &Owner) {
    tokio::time::sleep(after).await;
    owner.overdue.store(true, Ordering::Relaxed);
    let begun = tokio::time::Instant::now();
    let thinks = || owner.thinking.load(Ordering::Relaxed) > 0 && owner.peer.is_there();
    while thinks() && begun.elapsed() < LONGEST_THOUGHT {
        tokio::time::sleep(after.min(LOOK)).await;
    }
}

fn request<'a>(call: &'a Call, params: &'a mut Option<Object>, owner: &Owner) -> Request<'a> {
    Request {
        method: &call.method,
        params: Params::Given(params),
        capabilities: call.client_capabilities.as_ref(),
        owner: Some(owner.clone()),
        principal: Some(&call.principal),
        background: false,
    }
}

/// A place among those who wait for the server, given back when the wait is over.
struct Place<'a>(&'a Shared);

impl<'a> Place<'a> {
    fn take(shared: &'a Shared) -> Option<Self> {
        shared.enter(MOST_OPEN).then_some(Place(shared))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use tokio::time::Instant;
    use toolfold_wire::{BoxFuture, Peer, RpcError};

    use super::*;

    #[derive(Default)]
    struct Thinker {
        hung_up: AtomicBool,
    }

    impl Peer for Thinker {
        fn notify(&self, _: &str, _: Option<Raw>) {}

        fn ask<'a>(&'a self, _: &'a str, _: Option<Raw>) -> BoxFuture<'a, Result<Raw, RpcError>> {
            Box::pin(std::future::pending())
        }

        fn is_there(&self) -> bool {
            !self.hung_up.load(Ordering::Relaxed)
        }
    }

    const AFTER: Duration = Duration::from_secs(5);

    #[tokio::test(start_paused = true)]
    async fn a_deadline_waits_for_who_thinks_and_not_for_who_hung_up() {
        let peer = Arc::new(Thinker::default());
        let owner = Owner::new(1, peer.clone());
        let begun = Instant::now();
        overdue(AFTER, &owner).await;
        assert_eq!(begun.elapsed(), AFTER, "nobody was asked");
        owner.thinking.store(1, Ordering::Relaxed);
        let late = tokio::time::timeout(10 * AFTER, overdue(AFTER, &owner)).await;
        assert!(late.is_err(), "a person may think for longer than a server may take");
        peer.hung_up.store(true, Ordering::Relaxed);
        let begun = Instant::now();
        overdue(AFTER, &owner).await;
        assert_eq!(begun.elapsed(), AFTER);
        assert!(owner.is_gone(), "its call stands in the way of nobody any more");
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_thinks_for_ever() {
        let owner = Owner::new(1, Arc::new(Thinker::default()));
        owner.thinking.store(1, Ordering::Relaxed);
        let begun = Instant::now();
        overdue(AFTER, &owner).await;
        assert!(begun.elapsed() <= LONGEST_THOUGHT + 2 * AFTER, "{:?}", begun.elapsed());
    }
}
