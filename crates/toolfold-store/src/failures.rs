//! Why servers did not start when they were last tried, so that the next start can say so at once instead of waiting for
//! them to fail again. A failure holds for one configuration: another program under the same name has not been tried.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, Row, TransactionBehavior, params};
use toolfold_core::{Fingerprint, ServerName};

use crate::engine::Pending;
use crate::keyed::rows_of;
use crate::{Store, now};

/// In characters. What a server printed may be part of it, and must not fill the file.
const LONGEST: usize = 4_000;
/// As with manifests.
pub(crate) const PER_NAME: i64 = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFailure {
    pub server: ServerName,
    pub config_key: Fingerprint,
    pub why: String,
    pub at: SystemTime,
}

impl Store {
    /// Remembers this in place of an earlier failure of the same server in the same configuration.
    pub fn save_failure(&self, server: &ServerName, config_key: &Fingerprint, why: &str) -> Pending<()> {
        let why: String = why.chars().take(LONGEST).collect();
        if let Some(postgres) = self.memory.postgres() {
            return postgres.save_failure(server, config_key, why);
        }
        let (server, config_key) = (server.clone(), *config_key);
        self.memory.run(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            save(&transaction, &server, &config_key, &why)?;
            transaction.commit()
        })
    }

    /// The failures of these servers in exactly these configurations, in their order.
    pub fn load_failures(&self, wanted: Vec<(ServerName, Fingerprint)>) -> Pending<Vec<StoredFailure>> {
        const SELECT: &str = "SELECT why, failed_at FROM failures WHERE server = ?1 AND config_key = ?2";
        if let Some(postgres) = self.memory.postgres() {
            return postgres.load_failures(wanted);
        }
        self.memory.run(move |connection| {
            let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let failure = |((server, config_key), (why, at))| StoredFailure { server, config_key, why, at: time(at) };
            Ok(rows_of(connection, SELECT, wanted, read)?.into_iter().map(failure).collect())
        })
    }

    /// It started after all.
    pub fn clear_failure(&self, server: &ServerName, config_key: &Fingerprint) -> Pending<()> {
        if let Some(postgres) = self.memory.postgres() {
            return postgres.clear_failure(server, config_key);
        }
        let (server, config_key) = (server.clone(), *config_key);
        self.memory.run(move |connection| {
            let delete = "DELETE FROM failures WHERE server = ?1 AND config_key = ?2";
            connection.execute(delete, params![server.as_str(), config_key.as_bytes()]).map(|_| ())
        })
    }
}

fn save(connection: &Connection, server: &ServerName, key: &Fingerprint, why: &str) -> rusqlite::Result<()> {
    let mut upsert = connection.prepare_cached(
        "INSERT INTO failures (server, config_key, failed_at, why) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (server, config_key) DO UPDATE SET failed_at = ?3, why = ?4",
    )?;
    upsert.execute(params![server.as_str(), key.as_bytes(), now(), why])?;
    let mut prune = connection.prepare_cached(
        "DELETE FROM failures WHERE server = ?1 AND config_key <> ?2 AND rowid NOT IN
         (SELECT rowid FROM failures WHERE server = ?1 ORDER BY failed_at DESC, rowid DESC LIMIT ?3)",
    )?;
    prune.execute(params![server.as_str(), key.as_bytes(), PER_NAME]).map(|_| ())
}

pub(crate) fn time(milliseconds: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(milliseconds).unwrap_or_default())
}
