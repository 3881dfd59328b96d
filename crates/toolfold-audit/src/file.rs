//! The file: a chain of events, each with a hash over the one before it and its own bytes.
//!
//! Several processes may share it, so a number is given where it is written, inside a transaction that nobody else can
//! write in, and never before.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use sha2::{Digest, Sha256};
use toolfold_core::to_hex;
use toolfold_store::{AuditRow, StoreError, open_audit};

use crate::event::AuditEvent;
use crate::moment::Moment;
use crate::ship::row;

pub(crate) type Hash = [u8; 32];

/// The end of the chain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Head {
    /// 0: nothing happened yet.
    pub number: u64,
    pub hash: [u8; 32],
}

impl std::fmt::Display for Head {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.number, to_hex(&self.hash))
    }
}

pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) connection: Connection,
}

/// A transaction that is being filled.
pub(crate) struct Batch<'c> {
    pub(crate) transaction: Transaction<'c>,
    pub(crate) head: Head,
    /// What was added, where it is to be sent.
    pub(crate) added: Option<Vec<AuditRow>>,
}

impl File {
    /// Opens it, or begins one. The last event is looked at: to add to a chain that is broken at its end would hide that.
    pub(crate) fn open(path: &Path, durable: bool) -> Result<File, StoreError> {
        let connection = open_audit(path)?;
        let file = File { path: path.to_owned(), connection };
        file.set_durable(durable)?;
        let failed = |error| StoreError::new(path, &error).of_record();
        // What was moved or cut leaves nothing behind: whatever can be read in the file is under the chain.
        file.connection.pragma_update_and_check(None, "secure_delete", "ON", |_| Ok(())).map_err(failed)?;
        if !end_is_sound(&file.connection).map_err(failed)? {
            let why = "its last event is not what was written".to_owned();
            return Err(StoreError::RecordDamaged { path: path.to_owned(), why });
        }
        Ok(file)
    }

    /// Whether what is written survives a loss of power. It survives the end of the process in any case.
    pub(crate) fn set_durable(&self, durable: bool) -> Result<(), StoreError> {
        let level = if durable { "FULL" } else { "NORMAL" };
        self.connection.pragma_update(None, "synchronous", level).map_err(|error| self.failed(&error))
    }

    pub(crate) fn begin(&mut self) -> Result<Batch<'_>, StoreError> {
        let path = self.path.clone();
        let failed = move |error: rusqlite::Error| StoreError::new(&path, &error).of_record();
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
        let head = head(&transaction).map_err(&failed)?;
        Ok(Batch { transaction, head, added: None })
    }

    /// Writes what changes nothing, as far as the disk.
    pub(crate) fn touch(&mut self) -> Result<(), StoreError> {
        let batch = self.begin()?;
        let written = batch.touch();
        written.map_err(|error| self.failed(&error))
    }

    pub(crate) fn failed(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::new(&self.path, error).of_record()
    }
}

impl Batch<'_> {
    /// The number of the next event.
    pub(crate) fn next(&self) -> u64 {
        self.head.number + 1
    }

    pub(crate) fn append(&mut self, event: &AuditEvent) -> rusqlite::Result<()> {
        // A struct of strings and numbers always has a JSON form.
        let body = serde_json::to_vec(event).unwrap_or_default();
        let hash = chained(&self.head.hash, &body);
        let insert = "INSERT INTO events (number, time, tool, body, hash) VALUES (?1, ?2, ?3, ?4, ?5)";
        let mut insert = self.transaction.prepare_cached(insert)?;
        insert.execute(params![event.number as i64, event.time.0, event.tool, &body, hash])?;
        self.head = Head { number: event.number, hash };
        if let Some(added) = &mut self.added {
            added.push(row(self.head, event.time.0, event.tool.clone(), body));
        }
        Ok(())
    }

    /// Writes the same number once more that is there.
    fn touch(self) -> rusqlite::Result<()> {
        let version: i64 = self.transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        self.transaction.pragma_update(None, "user_version", version)?;
        self.commit()
    }

    pub(crate) fn commit(self) -> rusqlite::Result<()> {
        self.transaction.commit()
    }
}

pub(crate) fn chained(before: &Hash, body: &[u8]) -> Hash {
    Sha256::new().chain_update(before).chain_update(body).finalize().into()
}

pub(crate) fn head(connection: &Connection) -> rusqlite::Result<Head> {
    let last = "SELECT number, hash FROM events ORDER BY number DESC LIMIT 1";
    match connection.prepare_cached(last)?.query_row([], read_head).optional()? {
        Some(head) => Ok(head),
        None => Ok(last_cut(connection)?.unwrap_or_default()),
    }
}

/// The last event of those that were cut off.
pub(crate) fn last_cut(connection: &Connection) -> rusqlite::Result<Option<Head>> {
    let last = "SELECT number, hash FROM cuts ORDER BY number DESC LIMIT 1";
    connection.prepare_cached(last)?.query_row([], read_head).optional()
}

pub(crate) fn cut(transaction: &Transaction<'_>, last: Head) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM events WHERE number <= ?1", [last.number as i64])?;
    transaction.execute("DELETE FROM cuts", [])?;
    let insert = "INSERT INTO cuts (number, hash, at) VALUES (?1, ?2, ?3)";
    transaction.execute(insert, params![last.number as i64, last.hash, Moment::now().0]).map(|_| ())
}

fn read_head(row: &rusqlite::Row<'_>) -> rusqlite::Result<Head> {
    Ok(Head { number: row.get::<_, i64>(0)? as u64, hash: row.get(1)? })
}

fn end_is_sound(connection: &Connection) -> rusqlite::Result<bool> {
    let mut select = connection.prepare("SELECT number, hash, body FROM events ORDER BY number DESC LIMIT 2")?;
    let rows = select.query_map([], |row| Ok((read_head(row)?, row.get::<_, Vec<u8>>(2)?)))?;
    let rows: Vec<(Head, Vec<u8>)> = rows.collect::<rusqlite::Result<_>>()?;
    let Some((last, body)) = rows.first() else { return Ok(true) };
    let before = match rows.get(1) {
        Some((before, _)) => *before,
        None => last_cut(connection)?.unwrap_or_default(),
    };
    Ok(before.number + 1 == last.number && chained(&before.hash, body) == last.hash)
}
