//! Whose a session is, and what it takes to go on with it elsewhere. What is in `initialize` and `loaded` is their writer's
//! business.

use std::time::Duration;

use tokio_postgres::Row;

use super::{Cluster, duration};
use crate::engine::Pending;
use crate::postgres::{Lane, text};

/// A session that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    pub id: String,
    /// The id of a replica.
    pub owner: String,
    pub principal: String,
    pub initialize: String,
    pub surface: String,
    pub loaded: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StoredSession {
    pub id: String,
    /// Empty where nobody has it: it was given up, and is there to be claimed.
    pub owner: String,
    /// Grows with each owner.
    pub fence: i64,
    pub principal: String,
    pub initialize: String,
    pub surface: String,
    pub loaded: String,
    /// Since it was last said to be used.
    pub idle: Duration,
}

/// What came of trying to take a session over.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    /// As it is now, with the fence that is ours.
    Ours(StoredSession),
    /// Somebody was faster: as it is now.
    Lost(StoredSession),
    Gone,
}

const COLUMNS: &str = "id, owner, fence, principal, initialize, surface, loaded,
                       extract(epoch FROM clock_timestamp() - used_at)::float8";

impl Cluster {
    /// Keeps a session that begins: its fence.
    pub fn put_session(&self, session: NewSession) -> Pending<i64> {
        self.postgres.ask(Lane::Free, async move |link| {
            let insert = "INSERT INTO sessions (id, owner, fence, principal, initialize, surface, loaded, used_at)
                          VALUES ($1, $2, 1, $3, $4, $5, $6, clock_timestamp()) RETURNING fence";
            let insert = link.prepare_cached(insert).await?;
            let NewSession { id, owner, principal, initialize, surface, loaded } = &session;
            let (principal, initialize, loaded) = (principal.as_bytes(), initialize.as_bytes(), loaded.as_bytes());
            let row = link.query_one(&insert, &[id, owner, &principal, &initialize, surface, &loaded]).await?;
            Ok(row.get(0))
        })
    }

    pub fn get_session(&self, id: &str) -> Pending<Option<StoredSession>> {
        let id = id.to_owned();
        self.postgres.ask(Lane::Free, async move |link| {
            let select = link.prepare_cached(&format!("SELECT {COLUMNS} FROM sessions WHERE id = $1")).await?;
            Ok(link.query_opt(&select, &[&id]).await?.as_ref().map(read))
        })
    }

    /// Takes a session over from whoever had it under this fence.
    pub fn claim_session(&self, id: &str, fence: i64, owner: &str) -> Pending<Claim> {
        let (id, owner) = (id.to_owned(), owner.to_owned());
        self.postgres.ask(Lane::Free, async move |link| {
            let update = format!(
                "UPDATE sessions SET owner = $3, fence = fence + 1, used_at = clock_timestamp()
                 WHERE id = $1 AND fence = $2 RETURNING {COLUMNS}"
            );
            if let Some(row) = link.query_opt(&update, &[&id, &fence, &owner]).await? {
                return Ok(Claim::Ours(read(&row)));
            }
            let select = format!("SELECT {COLUMNS} FROM sessions WHERE id = $1");
            let found = link.query_opt(&select, &[&id]).await?;
            Ok(found.as_ref().map_or(Claim::Gone, |row| Claim::Lost(read(row))))
        })
    }

    /// Keeps what a session has become. False where the fence is not the session's any more: somebody else has it.
    pub fn update_session(&self, id: &str, fence: i64, surface: &str, loaded: &str) -> Pending<bool> {
        let (id, surface, loaded) = (id.to_owned(), surface.to_owned(), loaded.to_owned());
        self.postgres.ask(Lane::Free, async move |link| {
            let update = "UPDATE sessions SET surface = $3, loaded = $4, used_at = clock_timestamp()
                          WHERE id = $1 AND fence = $2";
            let update = link.prepare_cached(update).await?;
            Ok(link.execute(&update, &[&id, &fence, &surface, &loaded.as_bytes()]).await? > 0)
        })
    }

    /// Says that sessions are in use, many at a time: how many of them this owner has.
    pub fn touch_sessions(&self, owner: &str, ids: Vec<String>) -> Pending<u64> {
        let owner = owner.to_owned();
        self.postgres.ask(Lane::Free, async move |link| {
            let update = "UPDATE sessions SET used_at = clock_timestamp() WHERE owner = $1 AND id = ANY ($2)";
            link.execute(update, &[&owner, &ids]).await
        })
    }

    /// Ends a session: whether there was one.
    pub fn remove_session(&self, id: &str) -> Pending<bool> {
        let id = id.to_owned();
        self.postgres.ask(Lane::Free, async move |link| {
            Ok(link.execute("DELETE FROM sessions WHERE id = $1", &[&id]).await? > 0)
        })
    }

    pub fn sessions_of(&self, owner: &str) -> Pending<Vec<StoredSession>> {
        let owner = owner.to_owned();
        self.postgres.ask(Lane::Free, async move |link| {
            let select = format!("SELECT {COLUMNS} FROM sessions WHERE owner = $1 ORDER BY id");
            Ok(link.query(&select, &[&owner]).await?.iter().map(read).collect())
        })
    }

    /// Gives these sessions of an owner up, for whoever is asked for one next: those that it had.
    pub fn give_up_sessions(&self, owner: &str, ids: Vec<String>) -> Pending<Vec<String>> {
        let owner = owner.to_owned();
        self.postgres.ask(Lane::Free, async move |link| {
            let update =
                "UPDATE sessions SET owner = '', fence = fence + 1 WHERE owner = $1 AND id = ANY ($2) RETURNING id";
            Ok(link.query(update, &[&owner, &ids]).await?.iter().map(|row| row.get(0)).collect())
        })
    }

    /// Gives all sessions of an owner up: how many.
    pub fn release_sessions(&self, owner: &str) -> Pending<u64> {
        let owner = owner.to_owned();
        self.postgres.ask(Lane::Free, async move |link| {
            link.execute("UPDATE sessions SET owner = '', fence = fence + 1 WHERE owner = $1", &[&owner]).await
        })
    }

    /// Ends sessions that nobody has used for so long: how many. Limits that nobody has used for a day are forgotten with them.
    pub fn expire_sessions(&self, idle: Duration) -> Pending<u64> {
        self.postgres.ask(Lane::Free, async move |link| {
            link.execute("DELETE FROM buckets WHERE filled_at < clock_timestamp() - interval '1 day'", &[]).await?;
            let delete = "DELETE FROM sessions WHERE used_at < clock_timestamp() - make_interval(secs => $1)";
            link.execute(delete, &[&idle.as_secs_f64()]).await
        })
    }
}

fn read(row: &Row) -> StoredSession {
    StoredSession {
        id: row.get(0),
        owner: row.get(1),
        fence: row.get(2),
        principal: text(row.get(3)),
        initialize: text(row.get(4)),
        surface: row.get(5),
        loaded: text(row.get(6)),
        idle: duration(row.get(7)),
    }
}
