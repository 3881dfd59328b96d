//! Who else is there, as of a moment ago: every replica beats in the database, and looks at the beats of the others.
//!
//! What a reader would get wrong: while the database is away nobody becomes dead. What was last seen stays, and whoever
//! cannot be reached cannot be replaced either, because that takes the database too.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::Notify;
use tokio::time::Instant;
use toolfold_access::ReplicaId;
use toolfold_store::cluster::{Cluster, Replica};
use tracing::{debug, info, warn};

const BEAT: Duration = Duration::from_secs(2);
/// Who has not beaten for this long is dead, and what was theirs may be taken over.
pub(crate) const DEAD: Duration = Duration::from_secs(10);
/// Rows of replicas that nobody needs to know of any more.
const FORGOTTEN: Duration = Duration::from_secs(60 * 60);
/// How many beats between two looks for such rows.
const SWEEP: u64 = 300;

pub(crate) struct Members {
    rows: Cluster,
    me: ReplicaId,
    advertise: String,
    epoch: AtomicI64,
    seen: ArcSwap<Seen>,
    draining: AtomicBool,
    /// Told when others may have thought that we are dead.
    thought_dead: Notify,
    changed: Notify,
}

/// Those who were there when somebody last looked.
struct Seen {
    at: Instant,
    replicas: HashMap<ReplicaId, Replica>,
}

impl Members {
    pub(crate) async fn join(rows: Cluster, me: ReplicaId, advertise: &str) -> std::io::Result<Members> {
        let epoch = rows.register(&me.to_string(), advertise).await.map_err(std::io::Error::other)?;
        let members = Members {
            me,
            advertise: advertise.to_owned(),
            epoch: AtomicI64::new(epoch),
            seen: ArcSwap::from_pointee(Seen { at: Instant::now(), replicas: HashMap::new() }),
            draining: AtomicBool::new(false),
            thought_dead: Notify::new(),
            changed: Notify::new(),
            rows,
        };
        members.look().await;
        info!(replica = %me, others = members.seen.load().replicas.len().saturating_sub(1), "joined the cluster");
        Ok(members)
    }

    /// Where a replica is reached, unless it is us or known to be dead.
    pub(crate) fn address(&self, id: ReplicaId) -> Option<String> {
        let seen = self.seen.load();
        let replica = seen.replicas.get(&id).filter(|_| id != self.me)?;
        (replica.silent + self.since(&seen) < DEAD).then(|| replica.address.clone())
    }

    /// Whether another one has been heard of since at the address of this one: two cannot listen there.
    pub(crate) fn is_replaced(&self, id: ReplicaId) -> bool {
        let seen = self.seen.load();
        let Some(old) = seen.replicas.get(&id) else { return false };
        seen.replicas.iter().any(|(other, new)| *other != id && new.address == old.address && new.silent < old.silent)
    }

    /// Another replica that goes on when this one does not.
    pub(crate) fn successor(&self) -> Option<(ReplicaId, String)> {
        let seen = self.seen.load();
        let fit =
            |(id, replica): &(&ReplicaId, &Replica)| **id != self.me && !replica.draining && replica.silent < DEAD;
        let (id, replica) = seen.replicas.iter().filter(fit).min_by_key(|(_, replica)| replica.silent)?;
        Some((*id, replica.address.clone()))
    }

    /// How old what was seen is, as far as that counts: it does not where the database does not answer.
    fn since(&self, seen: &Seen) -> Duration {
        let age = seen.at.elapsed();
        if age > 2 * BEAT { Duration::ZERO } else { age }
    }

    /// Returns when a replica is known to be dead or gone: whoever waits for it waits no longer.
    pub(crate) async fn lost(&self, id: ReplicaId) {
        loop {
            let changed = self.changed.notified();
            if self.address(id).is_none() {
                return;
            }
            // What was seen ages also where nothing new is seen.
            let _ = tokio::time::timeout(BEAT, changed).await;
        }
    }

    pub(crate) async fn was_thought_dead(&self) {
        self.thought_dead.notified().await;
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Says that nothing new should come here.
    pub(crate) async fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        if let Err(error) = self.rows.set_draining(&self.me.to_string()).await {
            warn!("the other replicas cannot be told that this one ends: {error}");
        }
    }

    pub(crate) async fn leave(&self) {
        if let Err(error) = self.rows.leave(&self.me.to_string()).await {
            debug!("the end of this replica could not be written down: {error}");
        }
    }

    /// Beats and looks, for ever.
    pub(crate) async fn beat(&self) {
        let mut changes = self.rows.changes();
        let mut last = Instant::now();
        let mut beats = 0u64;
        loop {
            // A hint comes at once, and is only a hint.
            let _ = tokio::time::timeout(BEAT, changes.recv()).await;
            if self.alive().await {
                if last.elapsed() > DEAD {
                    self.thought_dead.notify_one();
                }
                last = Instant::now();
            }
            self.look().await;
            beats += 1;
            if beats.is_multiple_of(SWEEP) {
                let _ = self.rows.forget_silent(FORGOTTEN).await;
            }
        }
    }

    /// One beat; whether it was heard.
    async fn alive(&self) -> bool {
        let (id, epoch) = (self.me.to_string(), self.epoch.load(Ordering::Relaxed));
        match self.rows.beat(&id, epoch).await {
            Ok(true) => true,
            // Taken for dead and cleared away.
            Ok(false) => match self.rows.register(&id, &self.advertise).await {
                Ok(epoch) => {
                    self.epoch.store(epoch, Ordering::Relaxed);
                    self.thought_dead.notify_one();
                    true
                }
                Err(_) => false,
            },
            Err(error) => {
                debug!("a beat was not heard: {error}");
                false
            }
        }
    }

    pub(crate) async fn look(&self) {
        let at = Instant::now();
        let Ok(found) = self.rows.replicas().await else { return };
        let replicas = found.into_iter().filter_map(|row| Some((ReplicaId::parse(&row.id)?, row))).collect();
        self.seen.store(Arc::new(Seen { at, replicas }));
        self.changed.notify_waiters();
    }
}
