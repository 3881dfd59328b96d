//! Sets of tools that clients without a session hold by a handle. A set that nobody asked for in a month is forgotten,
//! and the least used ones are where there are too many: a handle is a convenience, and loading again costs one request.
//! As with manifests, the text is carried and never read.

use rusqlite::{OptionalExtension, TransactionBehavior, params};

use crate::engine::Pending;
use crate::{Store, now};

pub(crate) const KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1000;
pub(crate) const MOST: i64 = 10_000;

impl Store {
    /// Keeps a set under a handle.
    pub fn save_toolset(&self, handle: &str, json: String) -> Pending<()> {
        if let Some(postgres) = self.memory.postgres() {
            return postgres.save_toolset(handle.to_owned(), json);
        }
        let (handle, now) = (handle.to_owned(), now());
        self.memory.run(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute(
                "INSERT INTO toolsets (handle, used_at, json) VALUES (?1, ?2, ?3)
                 ON CONFLICT (handle) DO UPDATE SET used_at = ?2, json = ?3",
                params![handle, now, json],
            )?;
            transaction.execute("DELETE FROM toolsets WHERE used_at < ?1", [now - KEPT_MS])?;
            transaction.execute(
                "DELETE FROM toolsets WHERE handle <> ?1 AND rowid NOT IN
                 (SELECT rowid FROM toolsets ORDER BY used_at DESC, rowid DESC LIMIT ?2)",
                params![handle, MOST],
            )?;
            transaction.commit()
        })
    }

    /// What is kept under a handle; to ask for it keeps it for longer.
    pub fn load_toolset(&self, handle: &str) -> Pending<Option<String>> {
        if let Some(postgres) = self.memory.postgres() {
            return postgres.load_toolset(handle.to_owned());
        }
        let (handle, now) = (handle.to_owned(), now());
        self.memory.run(move |connection| {
            let update = "UPDATE toolsets SET used_at = ?2 WHERE handle = ?1 AND used_at >= ?3 RETURNING json";
            connection.query_row(update, params![handle, now, now - KEPT_MS], |row| row.get(0)).optional()
        })
    }
}
