//! Who else is there, as of a moment ago: every replica beats in the database, and looks at the beats of the others.
//!
//! What a reader would get wrong: while the database is away nobody becomes dead, nor at the moment it is back: then everybody has
//! been silent for as long as it was away, and needs a moment to say otherwise. What was last seen stays, and whoever cannot be
//! reached cannot be replaced either, because that takes the database too.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::Notify;
use tokio::time::Instant;
use toolfold_access::{ReplicaId, Standing};
use toolfold_gateway::seconds_now;
use toolfold_store::cluster::{Cluster, Replica};
use tracing::{debug, error, info, warn};

const BEAT: Duration = Duration::from_secs(2);
/// Who has not beaten for this long is dead, and what was theirs may be taken over.
pub(crate) const DEAD: Duration = Duration::from_secs(10);
/// Who has not seen anything for this long has been away from the database, and gives the others so much time to beat again.
const AWAY: Duration = Duration::from_secs(6);
const MOMENT: Duration = Duration::from_secs(5);
/// What two clocks may differ by between a beat and a look.
const SLACK: Duration = Duration::from_secs(1);
/// By how many seconds a clock may differ from the database's before somebody is told.
const OFF: u64 = 30;
/// Rows of replicas that nobody needs to know of any more.
const FORGOTTEN: Duration = Duration::from_secs(60 * 60);
/// How many beats between two looks for such rows.
const SWEEP: u64 = 300;

pub(crate) struct Members {
    rows: Cluster,
    standing: Arc<Standing>,
    me: ReplicaId,
    advertise: String,
    epoch: AtomicI64,
    seen: ArcSwap<Seen>,
    draining: AtomicBool,
    /// Whether the clock of this machine is off, and whether another replica lives at our address: as it was last said.
    is_off: AtomicBool,
    has_twin: AtomicBool,
    /// Told when others may have thought that we are dead.
    thought_dead: Notify,
    changed: Notify,
}

/// Those who were there when somebody last looked.
struct Seen {
    at: Instant,
    /// When it could be looked again after a while in which it could not.
    back: Option<Instant>,
    replicas: HashMap<ReplicaId, Member>,
}

#[derive(Debug, Clone)]
struct Member {
    row: Replica,
    /// When it was first seen.
    first: Instant,
}

impl Seen {
    /// What was seen after another look.
    fn then(&self, found: Vec<Replica>, at: Instant) -> Seen {
        let now = Instant::now();
        let back = if now.duration_since(self.at) > AWAY { Some(now) } else { self.back };
        let member = |row: Replica| {
            let id = ReplicaId::parse(&row.id)?;
            let first = self.replicas.get(&id).map_or(at, |known| known.first);
            Some((id, Member { row, first }))
        };
        Seen { at, back, replicas: found.into_iter().filter_map(member).collect() }
    }

    /// Whether a replica has been silent for too long, and nobody had a reason to be.
    fn is_dead(&self, member: &Member) -> bool {
        let age = self.at.elapsed();
        // Where the database does not answer, what was seen does not age.
        let age = if age > 2 * BEAT { Duration::ZERO } else { age };
        // By what was seen then: the database may be away again, and who could beat by now was not looked at.
        member.row.silent + age >= DEAD && self.back.is_none_or(|back| self.at.saturating_duration_since(back) > MOMENT)
    }

    /// Whether the first of these has beaten since the second was seen for the first time.
    fn outlives(&self, old: &Member, new: &Member) -> bool {
        old.row.silent + SLACK < self.at.duration_since(new.first)
    }
}

impl Members {
    pub(crate) async fn join(rows: Cluster, standing: Arc<Standing>, advertise: &str) -> std::io::Result<Members> {
        let me = standing.id;
        let epoch = rows.register(&me.to_string(), advertise).await.map_err(std::io::Error::other)?;
        let members = Members {
            standing,
            me,
            advertise: advertise.to_owned(),
            epoch: AtomicI64::new(epoch),
            seen: ArcSwap::from_pointee(Seen { at: Instant::now(), back: None, replicas: HashMap::new() }),
            draining: AtomicBool::new(false),
            is_off: AtomicBool::new(false),
            has_twin: AtomicBool::new(false),
            thought_dead: Notify::new(),
            changed: Notify::new(),
            rows,
        };
        members.alive().await;
        members.look().await;
        info!(replica = %me, others = members.seen.load().replicas.len().saturating_sub(1), "joined the cluster");
        Ok(members)
    }

    /// Where a replica is reached, unless it is us or known to be dead.
    pub(crate) fn address(&self, id: ReplicaId) -> Option<String> {
        let seen = self.seen.load();
        let member = seen.replicas.get(&id).filter(|member| id != self.me && !seen.is_dead(member))?;
        Some(member.row.address.clone())
    }

    /// Whether another one was started since at the address of this one, which has not been heard of after that.
    pub(crate) fn is_replaced(&self, id: ReplicaId) -> bool {
        let seen = self.seen.load();
        let Some(old) = seen.replicas.get(&id) else { return false };
        let newer = |new: &&Member| new.row.address == old.row.address && new.row.epoch > old.row.epoch;
        seen.replicas.values().filter(newer).any(|new| new.row.silent < old.row.silent && !seen.outlives(old, new))
    }

    /// Whether one that was there before this one lives at the address that this one says it is reached at. Then what is sent there
    /// for one comes to the other.
    pub(crate) fn has_twin(&self) -> bool {
        self.has_twin.load(Ordering::Relaxed)
    }

    fn look_for_twin(&self, seen: &Seen) {
        let epoch = self.epoch.load(Ordering::Relaxed);
        let me = seen.replicas.get(&self.me);
        let older = |other: &&Member| other.row.address == self.advertise && other.row.epoch < epoch;
        let twin =
            |other: &Member| other.row.silent < 2 * BEAT + SLACK && me.is_some_and(|me| seen.outlives(other, me));
        let found = seen.replicas.values().filter(older).find(|other| twin(other));
        if let (Some(twin), false) = (found, self.has_twin.swap(found.is_some(), Ordering::Relaxed)) {
            error!(
                replica = twin.row.id,
                advertise = self.advertise,
                "another replica that lives is reached at the same address: `advertise` has to be another one for each. This one is not ready"
            );
        }
    }

    /// All others that live, and where they say that they are reached.
    pub(crate) fn others(&self) -> Vec<(ReplicaId, String)> {
        let seen = self.seen.load();
        let others = seen.replicas.iter().filter(|(id, member)| **id != self.me && !seen.is_dead(member));
        others.map(|(id, member)| (*id, member.row.address.clone())).collect()
    }

    /// Another replica that goes on when this one does not.
    pub(crate) fn successor(&self) -> Option<(ReplicaId, String)> {
        let seen = self.seen.load();
        let fit =
            |(id, member): &(&ReplicaId, &Member)| **id != self.me && !member.row.draining && member.row.silent < DEAD;
        let (id, member) = seen.replicas.iter().filter(fit).min_by_key(|(_, member)| member.row.silent)?;
        Some((*id, member.row.address.clone()))
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
            Ok(Some(time)) => {
                self.set_clock(time);
                true
            }
            // Taken for dead and cleared away.
            Ok(None) => match self.rows.register(&id, &self.advertise).await {
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
        let seen = Arc::new(self.seen.load().then(found, at));
        self.look_for_twin(&seen);
        self.seen.store(seen);
        self.changed.notify_waiters();
    }

    /// What replicas say to each other is good for a while, by the clock of the database.
    fn set_clock(&self, shared: u64) {
        let ahead = self.standing.set_clock(shared, seconds_now());
        let is_off = ahead.unsigned_abs() > OFF;
        if is_off && !self.is_off.swap(is_off, Ordering::Relaxed) {
            warn!(
                seconds = ahead,
                "the clock of this machine is not the database's: tokens and logins end here at another time than elsewhere"
            );
        }
        self.is_off.store(is_off, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn row(id: u64, epoch: i64, silent: u64) -> Replica {
        let silent = Duration::from_secs(silent);
        Replica { id: format!("{id:016x}"), address: "http://10.0.0.1:7421".to_owned(), epoch, silent, draining: false }
    }

    fn member(seen: &Seen, id: u64) -> &Member {
        seen.replicas.get(&ReplicaId::new(id.to_be_bytes())).unwrap()
    }

    /// Looks every two seconds for so long, at rows that `say` makes of how long that has been.
    async fn look(mut seen: Seen, seconds: u64, say: impl Fn(u64) -> Vec<Replica>) -> Seen {
        for passed in (2..=seconds).step_by(2) {
            tokio::time::advance(2 * SECOND).await;
            seen = seen.then(say(passed), Instant::now());
        }
        seen
    }

    fn nothing() -> Seen {
        Seen { at: Instant::now(), back: None, replicas: HashMap::new() }
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_silent_is_dead_unless_nobody_could_have_heard_them() {
        let seen = look(nothing(), 8, |passed| vec![row(1, 1, passed)]).await;
        assert!(!seen.is_dead(member(&seen, 1)));
        let seen = look(seen, 2, |passed| vec![row(1, 1, 8 + passed)]).await;
        assert!(seen.is_dead(member(&seen, 1)));

        // The database was away for a minute, and both have had no chance.
        let seen = look(nothing(), 4, |_| vec![row(1, 1, 0), row(2, 2, 0)]).await;
        tokio::time::advance(60 * SECOND).await;
        assert!(!seen.is_dead(member(&seen, 1)));
        let seen = seen.then(vec![row(1, 1, 60), row(2, 2, 60)], Instant::now());
        assert!(!seen.is_dead(member(&seen, 1)) && !seen.is_dead(member(&seen, 2)));
        // It is away again before anybody could say something.
        tokio::time::advance(60 * SECOND).await;
        assert!(!seen.is_dead(member(&seen, 1)));
        let seen = seen.then(vec![row(1, 1, 120), row(2, 2, 120)], Instant::now());
        // One says something then, and the other does not.
        let seen = look(seen, 6, |passed| vec![row(1, 1, 0), row(2, 2, 120 + passed)]).await;
        assert!(!seen.is_dead(member(&seen, 1)) && seen.is_dead(member(&seen, 2)));
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_started_in_the_place_of_another_is_told_from_one_that_says_it_is_there() {
        // The first was killed, and the second is new.
        let killed = look(nothing(), 4, |_| vec![row(1, 1, 0)]).await;
        let killed = look(killed, 2, |passed| vec![row(1, 1, passed), row(2, 2, 0)]).await;
        assert!(!killed.outlives(member(&killed, 1), member(&killed, 2)));
        let killed = look(killed, 6, |passed| vec![row(1, 1, 2 + passed), row(2, 2, 0)]).await;
        assert!(!killed.outlives(member(&killed, 1), member(&killed, 2)));
        // Both live.
        let both = look(nothing(), 6, |_| vec![row(1, 1, 1), row(2, 2, 0)]).await;
        assert!(both.outlives(member(&both, 1), member(&both, 2)));
    }
}
