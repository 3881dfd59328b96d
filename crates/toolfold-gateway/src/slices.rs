//! Limits that replicas share. Each takes slices out of one bucket in the database, a second's worth at a time, and hands them out
//! by itself: no request waits for the database, and whoever is killed has taken at most a slice with them.
//!
//! What a reader would get wrong: the first of somebody is let through before the database has said anything, on what would be
//! this replica's part of the limit; the slice is fetched beside it, and what was too much is paid back. While the database is away,
//! each replica goes by its part alone.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use toolfold_config::Rate;
use toolfold_store::cluster::Cluster;

/// Slices that wait to be fetched; who comes then goes by their part.
const MOST_WAITING: usize = 1024;
/// Who has not beaten for this long takes nothing out of a bucket.
const GONE: Duration = Duration::from_secs(30);

/// Empty where this is the only one.
#[derive(Default)]
pub(crate) struct Slices(OnceLock<Sharing>);

pub(crate) struct Sharing {
    wishes: mpsc::Sender<Wish>,
    replicas: AtomicUsize,
    away: AtomicBool,
}

/// Somebody who needs more; told how much there was, nothing where nobody could say.
pub(crate) struct Wish {
    pub(crate) bucket: String,
    pub(crate) rate: Rate,
    pub(crate) amount: u32,
    pub(crate) give: Box<dyn FnOnce(Option<u32>) + Send>,
}

impl Slices {
    /// From now on limits are those of all replicas together.
    pub(crate) fn share(&self, cluster: Cluster) {
        let (wishes, mut wished) = mpsc::channel::<Wish>(MOST_WAITING);
        let sharing = Sharing { wishes, replicas: AtomicUsize::new(1), away: AtomicBool::new(false) };
        if self.0.set(sharing).is_err() {
            return;
        }
        tokio::spawn(async move {
            while let Some(Wish { bucket, rate, amount, give }) = wished.recv().await {
                let most = f64::from(rate.count);
                let granted = cluster.reserve(&bucket, amount, most / rate.per.as_secs_f64(), most).await;
                give(granted.ok());
            }
        });
    }

    pub(crate) fn sharing(&self) -> Option<&Sharing> {
        self.0.get()
    }

    /// How many share, for their parts.
    pub(crate) fn count(&self, silent: impl Iterator<Item = Duration>) {
        if let Some(sharing) = self.sharing() {
            sharing.replicas.store(silent.filter(|silent| *silent < GONE).count().max(1), Ordering::Relaxed);
        }
    }

    /// Whether the database can be asked.
    pub(crate) fn set_away(&self, away: bool) {
        if let Some(sharing) = self.sharing() {
            sharing.away.store(away, Ordering::Relaxed);
        }
    }
}

impl Sharing {
    pub(crate) fn replicas(&self) -> f64 {
        self.replicas.load(Ordering::Relaxed) as f64
    }

    pub(crate) fn is_away(&self) -> bool {
        self.away.load(Ordering::Relaxed)
    }

    /// Whether it will be fetched.
    pub(crate) fn wish(&self, wish: Wish) -> bool {
        self.wishes.try_send(wish).is_ok()
    }
}
