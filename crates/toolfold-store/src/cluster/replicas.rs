//! Who is there.

use std::time::Duration;

use super::{Cluster, Topic, duration};
use crate::engine::Pending;
use crate::postgres::{Lane, notify};

#[derive(Debug, Clone, PartialEq)]
pub struct Replica {
    pub id: String,
    /// Where others reach it.
    pub address: String,
    /// Another one with each start.
    pub epoch: i64,
    /// How long ago it last beat.
    pub silent: Duration,
    /// It takes no more sessions.
    pub draining: bool,
}

impl Cluster {
    /// Says that a replica is there, in place of whoever had this id: its epoch.
    pub fn register(&self, id: &str, address: &str) -> Pending<i64> {
        let (id, address) = (id.to_owned(), address.to_owned());
        self.postgres.ask(Lane::Free, async move |link| {
            let transaction = link.transaction().await?;
            let upsert = "INSERT INTO replicas (id, address, epoch, beat_at, draining)
                          VALUES ($1, $2, nextval('epochs'), clock_timestamp(), false)
                          ON CONFLICT (id) DO UPDATE SET address = $2, epoch = nextval('epochs'),
                          beat_at = clock_timestamp(), draining = false RETURNING epoch";
            let epoch = transaction.query_one(upsert, &[&id, &address]).await?.get(0);
            notify(&transaction, &Topic::Replicas).await?;
            transaction.commit().await?;
            Ok(epoch)
        })
    }

    /// Says that a replica is still there: what time it is for all of them, in seconds since 1970. `None` where nobody knows it
    /// any more, or another has its id: register again.
    pub fn beat(&self, id: &str, epoch: i64) -> Pending<Option<u64>> {
        let id = id.to_owned();
        self.postgres.ask(Lane::Free, async move |link| {
            let update = "UPDATE replicas SET beat_at = clock_timestamp() WHERE id = $1 AND epoch = $2
                          RETURNING floor(extract(epoch FROM beat_at))::bigint";
            let update = link.prepare_cached(update).await?;
            let heard = link.query_opt(&update, &[&id, &epoch]).await?;
            Ok(heard.map(|row| row.get::<_, i64>(0).unsigned_abs()))
        })
    }

    /// Everybody, by id; those that are silent too.
    pub fn replicas(&self) -> Pending<Vec<Replica>> {
        self.postgres.ask(Lane::Free, async |link| {
            let select = "SELECT id, address, epoch, extract(epoch FROM clock_timestamp() - beat_at)::float8, draining
                          FROM replicas ORDER BY id";
            let select = link.prepare_cached(select).await?;
            let replica = |row: &tokio_postgres::Row| Replica {
                id: row.get(0),
                address: row.get(1),
                epoch: row.get(2),
                silent: duration(row.get(3)),
                draining: row.get(4),
            };
            Ok(link.query(&select, &[]).await?.iter().map(replica).collect())
        })
    }

    /// Says that a replica is about to end.
    pub fn set_draining(&self, id: &str) -> Pending<()> {
        self.change_replica(id, "UPDATE replicas SET draining = true WHERE id = $1")
    }

    /// Takes a replica out. Its sessions stay, and whoever is asked for one takes it over.
    pub fn leave(&self, id: &str) -> Pending<()> {
        self.change_replica(id, "DELETE FROM replicas WHERE id = $1")
    }

    /// Takes out who has been silent for so long that nobody waits for them: how many.
    pub fn forget_silent(&self, after: Duration) -> Pending<u64> {
        self.postgres.ask(Lane::Free, async move |link| {
            let delete = "DELETE FROM replicas WHERE beat_at < clock_timestamp() - make_interval(secs => $1)";
            link.execute(delete, &[&after.as_secs_f64()]).await
        })
    }

    fn change_replica(&self, id: &str, change: &'static str) -> Pending<()> {
        let id = id.to_owned();
        self.postgres.ask(Lane::Free, async move |link| {
            let transaction = link.transaction().await?;
            transaction.execute(change, &[&id]).await?;
            notify(&transaction, &Topic::Replicas).await?;
            transaction.commit().await
        })
    }
}
