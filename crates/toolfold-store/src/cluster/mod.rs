//! What replicas know of each other: who is there, whose a session is, who holds a lease, and how much of a limit is left. It is
//! in the database that they share, so there is none of it where the store is a file.
//!
//! - *Replicas* register under an id of their own and beat. Who has not beaten for a while is silent; what that means is for
//!   the reader to say. All times are the database's: replicas need not agree on a clock.
//! - A *session* has an owner and a fence. Whoever takes it over raises the fence, and only the fence that was seen can be
//!   raised: of several who try, one succeeds, and the one before can change nothing any more.
//! - A *lease* has a holder until it is over or given back, and a fence that grows with each new holder.
//! - A *bucket* holds what is left of a limit. Replicas take slices out of it; it is the one table that a crash of the
//!   database empties.
//!
//! What a reader would get wrong: [`Cluster::changes`] is a hint. A notice is lost where nobody listens, so whoever needs
//! to know looks by themselves every few seconds too. As everywhere in the store, a question is put when the method is called, and a
//! deadline is on every answer; [`StoreError::Unreachable`](crate::StoreError::Unreachable) says that the database is away.

mod buckets;
mod changes;
mod common;
mod leases;
mod replicas;
mod sessions;

use std::time::Duration;

use crate::postgres::Postgres;

pub use changes::Topic;
pub use common::{NewerManifest, Versions};
pub use leases::LeaseHolder;
pub use replicas::Replica;
pub use sessions::{Claim, NewSession, StoredSession};

/// The part of a store that replicas share. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Cluster {
    postgres: Postgres,
}

impl Cluster {
    pub(crate) fn new(postgres: Postgres) -> Self {
        Cluster { postgres }
    }
}

/// Of seconds, as the database counts them: ages that are below nothing are none.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
