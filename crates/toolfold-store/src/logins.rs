//! Logins at servers: who gave the tokens out, and the tokens, sealed by whoever keeps them here. Part of the record: a
//! login that is lost has to be made again by a person.
//!
//! What a reader would get wrong: who renews a login takes a lease on it first. The lease is a row like any other, so it
//! holds for all processes that share the file, and it ends by itself if its holder is killed. Whoever finds that the
//! login has changed since they looked at it renews nothing.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use toolfold_core::ServerName;

use crate::engine::Pending;
use crate::{Store, microseconds, now};

/// Whose login it is. The same name may stand for another server in another project that shares the file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LoginKey {
    pub server: ServerName,
    pub url: String,
    pub principal: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLogin {
    /// Another one with every change.
    pub version: i64,
    /// Who gave it out; empty where nobody has yet.
    pub issuer: String,
    pub sealed: Vec<u8>,
}

/// What came of asking for a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lease {
    /// It is ours until it is saved, given back, or over.
    Ours,
    /// Somebody has changed the login meanwhile.
    Changed(Option<StoredLogin>),
    /// Somebody else has it.
    Taken,
}

const FIND: &str = "SELECT version, issuer, sealed FROM logins WHERE server = ?1 AND url = ?2 AND principal = ?3";

impl Store {
    pub fn load_login(&self, key: &LoginKey) -> Pending<Option<StoredLogin>> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.load_login(key.clone());
        }
        let key = key.clone();
        self.record.look(move |connection| find(connection, &key))
    }

    /// Keeps a login in place of the one before: its version.
    pub fn save_login(&self, key: &LoginKey, issuer: &str, sealed: Vec<u8>) -> Pending<i64> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.save_login(key.clone(), issuer.to_owned(), sealed);
        }
        let (key, issuer) = (key.clone(), issuer.to_owned());
        self.record.run(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let known = find(&transaction, &key)?.map(|login| login.version);
            let version = write(&transaction, &key, known, (&issuer, &sealed))?;
            transaction.commit()?;
            Ok(version)
        })
    }

    /// The same, if what is kept is still what is known, or still nothing: its version. `None`: somebody has changed it
    /// meanwhile, and nothing is written.
    pub fn replace_login(
        &self,
        key: &LoginKey,
        known: Option<i64>,
        issuer: &str,
        sealed: Vec<u8>,
    ) -> Pending<Option<i64>> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.replace_login(key.clone(), known, issuer.to_owned(), sealed);
        }
        let (key, issuer) = (key.clone(), issuer.to_owned());
        self.record.run(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if find(&transaction, &key)?.map(|login| login.version) != known {
                return Ok(None);
            }
            let version = write(&transaction, &key, known, (&issuer, &sealed))?;
            transaction.commit()?;
            Ok(Some(version))
        })
    }

    /// Takes the login for `holder` alone, if it is still the one they know.
    pub fn lease_login(&self, key: &LoginKey, known: i64, holder: &str, time: Duration) -> Pending<Lease> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.lease_login(key.clone(), known, holder.to_owned(), time);
        }
        let (key, holder, time) = (key.clone(), holder.to_owned(), time.as_millis() as i64);
        self.record.run(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let found = find(&transaction, &key)?;
            if found.as_ref().is_none_or(|login| login.version != known) {
                return Ok(Lease::Changed(found));
            }
            let taken = transaction.execute(
                "UPDATE logins SET lease = ?4, leased_until = ?5 WHERE server = ?1 AND url = ?2 AND principal = ?3
                 AND (lease IS NULL OR lease = ?4 OR leased_until <= ?6)",
                params![key.server.as_str(), key.url, key.principal, holder, now() + time, now()],
            )?;
            transaction.commit()?;
            Ok(if taken == 1 { Lease::Ours } else { Lease::Taken })
        })
    }

    /// Gives a lease back without having changed anything.
    pub fn release_login(&self, key: &LoginKey, holder: &str) -> Pending<()> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.release_login(key.clone(), holder.to_owned());
        }
        let (key, holder) = (key.clone(), holder.to_owned());
        self.record.look(move |connection| {
            let update = "UPDATE logins SET lease = NULL, leased_until = 0
                          WHERE server = ?1 AND url = ?2 AND principal = ?3 AND lease = ?4";
            connection.execute(update, params![key.server.as_str(), key.url, key.principal, holder]).map(|_| ())
        })
    }

    /// Forgets a login: this one, or whatever there is. Whether there was one.
    pub fn forget_login(&self, key: &LoginKey, version: Option<i64>) -> Pending<bool> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.forget_login(key.clone(), version);
        }
        let key = key.clone();
        self.record.look(move |connection| {
            let delete = "DELETE FROM logins WHERE server = ?1 AND url = ?2 AND principal = ?3
                          AND version = coalesce(?4, version)";
            let gone = connection.execute(delete, params![key.server.as_str(), key.url, key.principal, version])?;
            Ok(gone > 0)
        })
    }
}

/// Writes a login down in place of the version before: its own.
fn write(
    transaction: &Transaction<'_>,
    key: &LoginKey,
    before: Option<i64>,
    (issuer, sealed): (&str, &[u8]),
) -> rusqlite::Result<i64> {
    // A version is never used twice, a deleted login's neither: whoever remembers one must see that it changed. In
    // microseconds: nobody writes so many that they are ahead of the clock.
    let version = (before.unwrap_or(0) + 1).max(microseconds());
    transaction.execute(
        "INSERT INTO logins (server, url, principal, version, issuer, sealed, saved_at, lease, leased_until)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, NULL, 0)
         ON CONFLICT (server, url, principal) DO UPDATE SET
         version = ?4, issuer = ?5, sealed = ?6, saved_at = ?7, lease = NULL, leased_until = 0",
        params![key.server.as_str(), key.url, key.principal, version, issuer, sealed, now()],
    )?;
    Ok(version)
}

fn find(connection: &Connection, key: &LoginKey) -> rusqlite::Result<Option<StoredLogin>> {
    let read = |row: &Row<'_>| Ok(StoredLogin { version: row.get(0)?, issuer: row.get(1)?, sealed: row.get(2)? });
    let mut select = connection.prepare_cached(FIND)?;
    select.query_row(params![key.server.as_str(), key.url, key.principal], read).optional()
}
