//! Servers that one of all replicas runs (`run = "one"`): whose each of them is now, by leases in the database that they share.
//!
//! Whoever first needs such a server takes its lease and keeps it for as long as the process lives; the others find out who
//! has it and speak to that one. A lease is over a few seconds after it was last renewed, and then somebody else may have it.
//!
//! What a reader would get wrong: a lease that is over is not free at once. After the database was away every lease is over,
//! and their holders, who went on, need a moment to say so. So it is taken by who has seen it over for a while. And a holder that
//! cannot reach the database goes on: that nobody can take its lease then is true where the database is away for all, and where
//! it is away for that one alone, there may be two processes until it hears of the other.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use toolfold_access::{BodyHash, Passed, ReplicaId, Standing};
use toolfold_core::ServerName;
use toolfold_store::StoreError;
use toolfold_store::cluster::{Cluster, LeaseHolder};
use toolfold_upstream::{Arbiter, Ending, Nowhere, Remote, Tenure, Where, seconds_now};
use toolfold_wire::BoxFuture;
use tracing::{info, warn};

use crate::kept::Kept;

/// How long a lease is good for after it was renewed, and how often that is done.
const LEASE: Duration = Duration::from_secs(6);
const RENEW: Duration = Duration::from_secs(2);
/// How long a lease has to be over before somebody else takes it: its holder had two chances to say otherwise.
const SEEN_OVER: Duration = Duration::from_secs(4);
/// How long somebody may look for who has a server.
const PATIENCE: Duration = Duration::from_secs(25);
const AGAIN: Duration = Duration::from_millis(250);
/// Whoever ends leaves a server to the others for this long, if they want it.
const YIELD: Duration = Duration::from_secs(3);
/// How long a holder that has been away waits to hear whether it still is one.
const DOUBT: Duration = Duration::from_secs(1);
/// At the end, for leases to be given back.
const FAREWELL: Duration = Duration::from_secs(2);
/// Where replicas take requests for servers that they run: then the server's name and the fence of its lease.
pub const RELAY: &str = "/toolfold/servers/";

/// Which servers this replica runs, and where the others are.
#[derive(Clone)]
pub(crate) struct Tenancy(Arc<State>);

struct State {
    store: Kept,
    standing: Arc<Standing>,
    held: watch::Sender<HashMap<ServerName, Holding>>,
    draining: watch::Sender<bool>,
}

#[derive(Clone)]
struct Holding {
    fence: i64,
    /// Whether it takes requests that others send on.
    open: bool,
    /// When the database was last asked whether it still is ours.
    asked: Instant,
}

impl Tenancy {
    pub(crate) fn new(store: Kept, standing: Arc<Standing>) -> Self {
        let (held, draining) = (watch::Sender::default(), watch::Sender::new(false));
        Tenancy(Arc::new(State { store, standing, held, draining }))
    }

    /// Servers end here as soon as they have nothing to do, and others may have them.
    pub(crate) fn hand_over(&self) {
        self.0.draining.send_replace(true);
    }

    /// Returns when every lease is given back, or after a while.
    pub(crate) async fn given_back(&self) {
        let mut held = self.0.held.subscribe();
        let _ = tokio::time::timeout(FAREWELL, held.wait_for(HashMap::is_empty)).await;
    }

    /// Whether a request that another replica has sent on is for a process that this one may run.
    pub(crate) async fn takes(&self, server: &ServerName, fence: i64) -> bool {
        let Some(holding) = self.0.held.borrow().get(server).cloned() else { return false };
        if holding.fence != fence || !holding.open {
            return false;
        }
        if holding.asked.elapsed() < 2 * RENEW {
            return true;
        }
        // It has not been asked in time: this process stood still, and others may have gone on.
        let Some(cluster) = self.0.cluster() else { return true };
        let renewed = cluster.renew_lease(&lease_of(server), &self.0.me(), fence, LEASE);
        !matches!(tokio::time::timeout(DOUBT, renewed).await, Ok(Ok(false)))
    }
}

impl Arbiter for Tenancy {
    fn find<'a>(&'a self, server: &'a ServerName) -> BoxFuture<'a, Result<Where, Nowhere>> {
        Box::pin(self.0.find(server))
    }
}

impl State {
    fn cluster(&self) -> Option<Cluster> {
        self.store.get()?.cluster()
    }

    fn me(&self) -> String {
        self.standing.id.to_string()
    }

    fn holds(&self, server: &ServerName) -> bool {
        self.held.borrow().contains_key(server)
    }

    async fn find(self: &Arc<Self>, server: &ServerName) -> Result<Where, Nowhere> {
        let away = |error: StoreError| Nowhere(format!("which replica runs it cannot be found out: {error}"));
        let cluster =
            self.cluster().ok_or_else(|| Nowhere("the database that says where it runs is away".to_owned()))?;
        let (begun, mut over) = (Instant::now(), None);
        let mut hints = cluster.changes();
        while begun.elapsed() < PATIENCE {
            let known = cluster.lease(&lease_of(server)).await.map_err(away)?;
            if let Some(lease) = known.as_ref().filter(|lease| lease.holder != self.me() && !lease.left.is_zero())
                && let Some(remote) = self.remote(&cluster, server, lease).await.map_err(away)?
            {
                return Ok(Where::There(remote));
            }
            let polite = !*self.draining.borrow() || begun.elapsed() > YIELD;
            if polite && self.is_free(server, known, &mut over) {
                let taken = cluster.try_lease(&lease_of(server), &self.me(), LEASE).await.map_err(away)?;
                if taken.holder == self.me() {
                    return Ok(Where::Here(self.hold(cluster, server, taken.fence)));
                }
                continue;
            }
            // A hint comes at once, and is only a hint.
            let _ = tokio::time::timeout(AGAIN, hints.recv()).await;
        }
        Err(Nowhere("the replica that runs it neither answers nor gives it up".to_owned()))
    }

    fn is_free(&self, server: &ServerName, lease: Option<LeaseHolder>, over: &mut Option<(i64, Instant)>) -> bool {
        let Some(lease) = lease.filter(|lease| !lease.holder.is_empty()) else { return true };
        if lease.holder == self.me() {
            // A process of ours that is not gone yet, or one whose end could not be written down.
            return !self.holds(server);
        }
        if !lease.left.is_zero() {
            *over = None;
            return false;
        }
        let seen = over.get_or_insert((lease.fence, Instant::now()));
        if seen.0 != lease.fence {
            *seen = (lease.fence, Instant::now());
        }
        seen.1.elapsed() >= SEEN_OVER
    }

    /// The replica that has a lease, if it is one that can be asked.
    async fn remote(
        self: &Arc<Self>,
        cluster: &Cluster,
        server: &ServerName,
        lease: &LeaseHolder,
    ) -> Result<Option<Remote>, StoreError> {
        let Some(to) = ReplicaId::parse(&lease.holder) else { return Ok(None) };
        let replicas = cluster.replicas().await?;
        let Some(holder) = replicas.into_iter().find(|replica| replica.id == lease.holder) else { return Ok(None) };
        let path = format!("{RELAY}{server}/{}", lease.fence);
        let url = format!("{}{path}", holder.address);
        let standing = self.standing.clone();
        let sign = move |principal: &toolfold_core::Principal, body: &[u8]| {
            let passed = Passed { to, method: "POST", path: &path, body: &BodyHash::of(body) };
            // Where it first came from is of no use to who runs the server.
            standing.headers(passed, principal, "0.0.0.0", seconds_now()).into()
        };
        let (moved, over) = watch::channel(false);
        tokio::spawn(follow(cluster.clone(), lease_of(server), lease.fence, moved));
        Ok(Some(Remote { url, shown: holder.address, sign: Arc::new(sign), over }))
    }

    fn hold(self: &Arc<Self>, cluster: Cluster, server: &ServerName, fence: i64) -> Tenure {
        let (ending_sender, ending) = watch::channel(None);
        let (held, dropped) = oneshot::channel();
        self.set(server, Holding { fence, open: true, asked: Instant::now() });
        info!(%server, "runs here");
        tokio::spawn(self.clone().keep(cluster, server.clone(), fence, ending_sender, dropped));
        Tenure { ending, held }
    }

    /// Renews a lease until its process is gone, and gives it back.
    async fn keep(
        self: Arc<Self>,
        cluster: Cluster,
        server: ServerName,
        fence: i64,
        ending: watch::Sender<Option<Ending>>,
        mut dropped: oneshot::Receiver<()>,
    ) {
        let (name, me) = (lease_of(&server), self.me());
        let mut draining = self.draining.subscribe();
        let is_ours = || *ending.borrow() != Some(Ending::Lost);
        loop {
            tokio::select! {
                // Whoever had it let go of it.
                _ = &mut dropped => break,
                () = tokio::time::sleep(RENEW), if is_ours() => {
                    let renewed = cluster.renew_lease(&name, &me, fence, LEASE).await;
                    let ours = !matches!(renewed, Ok(false));
                    if !ours {
                        warn!(%server, "another replica runs it now");
                        ending.send_replace(Some(Ending::Lost));
                    }
                    let open = ours && !*self.draining.borrow();
                    self.set(&server, Holding { fence, open, asked: Instant::now() });
                }
                () = told_to_end(&mut draining), if ending.borrow().is_none() => {
                    self.set(&server, Holding { fence, open: false, asked: Instant::now() });
                    ending.send_replace(Some(Ending::HandOver));
                }
            }
        }
        if is_ours()
            && let Err(error) = cluster.release_lease(&name, &me, fence).await
        {
            info!(%server, "that it does not run here any more could not be written down: {error}");
        }
        self.held.send_modify(|held| {
            held.remove(&server);
        });
    }

    fn set(&self, server: &ServerName, holding: Holding) {
        self.held.send_modify(|held| {
            held.insert(server.clone(), holding);
        });
    }
}

async fn told_to_end(draining: &mut watch::Receiver<bool>) {
    // Whoever tells lives as long as the gateway.
    let _ = draining.wait_for(|draining| *draining).await;
}

/// Says when a lease is not the same any more, for as long as somebody wants to know.
async fn follow(cluster: Cluster, name: String, fence: i64, moved: watch::Sender<bool>) {
    let mut over: Option<Instant> = None;
    loop {
        tokio::select! {
            () = moved.closed() => return,
            () = tokio::time::sleep(RENEW) => {}
        }
        // Where the database does not answer, nothing is known to have changed.
        let Ok(lease) = cluster.lease(&name).await else { continue };
        match lease.filter(|lease| lease.fence == fence && !lease.holder.is_empty()) {
            Some(lease) if !lease.left.is_zero() => over = None,
            Some(_) if over.get_or_insert_with(Instant::now).elapsed() < SEEN_OVER => {}
            _ => {
                moved.send_replace(true);
                return;
            }
        }
    }
}

fn lease_of(server: &ServerName) -> String {
    format!("run/{server}")
}
