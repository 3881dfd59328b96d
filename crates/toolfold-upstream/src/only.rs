//! A server that one of several replicas runs: there is one process of it, and whoever else needs it speaks to the replica
//! that has the process.
//!
//! What a reader would get wrong: the place is asked for when a connection is made, and not for a call. A connection to
//! another replica is one like any other, and ends when the server runs elsewhere. A process keeps the right to run until
//! it is gone, however it ends: only then may the next one start.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};
use toolfold_core::{Principal, ServerName};
use toolfold_wire::BoxFuture;
use tracing::{Instrument, debug};

use crate::closing::Closing;
use crate::connection::{Connection, Link};
use crate::era::{self, Established, Greeting, Refused};
use crate::http;
use crate::manifest::Manifest;
use crate::shared::Shared;

/// As long as it may take until a replica that is gone is known to be, and a little more.
const PATIENCE: Duration = Duration::from_secs(30);
const AGAIN: Duration = Duration::from_millis(250);
/// How often it is looked whether a server that is to be handed over has nothing to do.
const LOOK: Duration = Duration::from_millis(20);
/// In the answer of a replica to `server/discover`.
pub const MANIFEST: &str = "toolfold/manifest";

/// Says where a server runs.
pub trait Arbiter: Send + Sync {
    fn find<'a>(&'a self, server: &'a ServerName) -> BoxFuture<'a, Result<Where, Nowhere>>;
}

/// Nobody can say now where a server runs, in words for a person.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Nowhere(pub String);

pub enum Where {
    Here(Tenure),
    There(Remote),
}

/// The right to run a server. It is given back when this is dropped.
pub struct Tenure {
    /// Why it has to end, once it has to.
    pub ending: watch::Receiver<Option<Ending>>,
    /// Dropped with the tenure: whoever has the other end knows.
    pub held: oneshot::Sender<()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Another replica has it: at once.
    Lost,
    /// Another replica is to have it: as soon as nobody waits for an answer.
    HandOver,
}

/// The replica that runs a server, as a way to it.
pub struct Remote {
    pub url: String,
    /// Where it is, for people.
    pub shown: String,
    /// The headers of a request of somebody's with this body.
    pub sign: Sign,
    /// True once the server does not run there any more.
    pub over: watch::Receiver<bool>,
}

pub type Sign = Arc<dyn Fn(&Principal, &[u8]) -> Vec<(&'static str, String)> + Send + Sync>;

pub(crate) async fn connect(shared: &Arc<Shared>, arbiter: &dyn Arbiter) -> Result<Established, Refused> {
    let begun = Instant::now();
    loop {
        match arbiter.find(&shared.config.name).await {
            Err(Nowhere(why)) => return Err(Refused::Unreachable(why)),
            Ok(Where::Here(tenure)) => return here(shared, tenure).await,
            Ok(Where::There(remote)) => match there(shared, remote).await {
                // It ends, or is gone and not known to be: soon somebody else has it.
                Err(Refused::Unreachable(why)) if begun.elapsed() < PATIENCE => {
                    debug!(server = %shared.config.name, "the replica that runs it cannot be asked: {why}");
                    tokio::time::sleep(AGAIN).await;
                }
                settled => return settled,
            },
        }
    }
}

async fn here(shared: &Arc<Shared>, tenure: Tenure) -> Result<Established, Refused> {
    let ending = tenure.ending.clone();
    let lent = Lent::to(shared, tenure);
    let established = era::connect_here(shared).await;
    drop(lent);
    if let Ok(established) = &established {
        tokio::spawn(end_with(established.connection.clone(), ending).in_current_span());
    }
    established
}

/// The tenure, for every process that is started meanwhile to have a share in.
struct Lent<'a>(&'a Shared);

impl<'a> Lent<'a> {
    fn to(shared: &'a Shared, tenure: Tenure) -> Self {
        shared.set_tenure(Some(Arc::new(tenure)));
        Lent(shared)
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.0.set_tenure(None);
    }
}

/// Ends a connection to a process when that may not run here any more.
async fn end_with(connection: Arc<Connection>, mut ending: watch::Receiver<Option<Ending>>) {
    loop {
        let now = *ending.borrow_and_update();
        match now {
            Some(Ending::Lost) => connection.close(Closing::harmless("was taken over by another replica")),
            Some(Ending::HandOver) => drop(connection.close_if_idle_since(Instant::now())),
            None => {}
        }
        let look = async {
            match now {
                Some(Ending::HandOver) => tokio::time::sleep(LOOK).await,
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            () = connection.closed() => return,
            changed = ending.changed() => if changed.is_err() { return },
            () = look => {}
        }
    }
}

async fn there(shared: &Arc<Shared>, remote: Remote) -> Result<Established, Refused> {
    let mut over = remote.over.clone();
    let connection = http::open_at(shared, remote)?;
    let attempt = era::Attempt::begin(&connection);
    let patience = shared.config.timeouts.connect;
    let late = |_| Err(Refused::Unreachable(format!("the replica that runs it did not answer within {patience:?}")));
    let asked = tokio::select! {
        answer = tokio::time::timeout(patience, era::ask(&connection, "server/discover", None)) => answer.unwrap_or_else(late)?,
        _ = over.wait_for(|over| *over) => return Err(Refused::Unreachable("the server runs elsewhere now".to_owned())),
    };
    let Some(manifest) = asked.read::<Manifest>(MANIFEST) else {
        return Err(Refused::Other("the replica that runs the server says nothing of it that can be read".to_owned()));
    };
    attempt.keep();
    // What it announces itself is written down by the replica that runs it, and followed: it is not listened to here.
    let greeting =
        Greeting { version: manifest.version.clone(), server_info: None, instructions: None, capabilities: None };
    if shared.manifest().is_none_or(|known| !known.lists_the_same(&manifest)) {
        shared.set_manifest(Arc::new(manifest));
    }
    tokio::spawn(end_when(connection.clone(), over).in_current_span());
    Ok(Established { connection, greeting })
}

/// Ends a connection to another replica when the server does not run there any more.
async fn end_when(connection: Arc<Connection>, mut over: watch::Receiver<bool>) {
    tokio::select! {
        () = connection.closed() => {}
        // Also where nobody is left who could say it.
        _ = over.wait_for(|over| *over) => {
            connection.close(Closing::harmless("went away with the replica that ran it"));
        }
    }
}

impl Connection {
    /// Whether another replica is at the other end.
    pub(crate) fn is_elsewhere(&self) -> bool {
        matches!(&self.link, Link::Http(endpoint) if endpoint.remote.is_some())
    }
}
