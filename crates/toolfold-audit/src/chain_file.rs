//! The file of a replica whose audit is kept in a database: which chain it is, what of it is to be sent, and what came back.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use toolfold_store::{AuditRow, StoreError};

use crate::file::{File, Hash, Head, chained, cut, head, last_cut};

impl File {
    /// The name of this chain among those of other replicas, which it gets when it is first asked for.
    pub(crate) fn chain(&mut self) -> Result<String, StoreError> {
        let known = |file: &File| -> rusqlite::Result<Option<String>> {
            file.connection.execute_batch("CREATE TABLE IF NOT EXISTS chain (id TEXT PRIMARY KEY NOT NULL) STRICT")?;
            file.connection.query_row("SELECT id FROM chain", [], |row| row.get(0)).optional()
        };
        match known(self).map_err(|error| self.failed(&error))? {
            Some(chain) => Ok(chain),
            None => self.new_chain(),
        }
    }

    pub(crate) fn new_chain(&mut self) -> Result<String, StoreError> {
        let mut chance = [0; 8];
        getrandom::fill(&mut chance).map_err(|error| StoreError::Other {
            path: self.path.clone(),
            why: format!("there are no random numbers: {error}"),
        })?;
        let made = format!("{:016x}", u64::from_ne_bytes(chance));
        let mut write = || -> rusqlite::Result<()> {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute("DELETE FROM chain", [])?;
            transaction.execute("INSERT INTO chain (id) VALUES (?1)", [&made])?;
            transaction.commit()
        };
        let written = write();
        written.map_err(|error| self.failed(&error))?;
        Ok(made)
    }

    pub(crate) fn head(&self) -> Result<Head, StoreError> {
        head(&self.connection).map_err(|error| self.failed(&error))
    }

    /// The number of the first event that is still here, or would be.
    pub(crate) fn first(&self) -> Result<u64, StoreError> {
        let cut = last_cut(&self.connection).map_err(|error| self.failed(&error))?;
        Ok(cut.map_or(0, |cut| cut.number) + 1)
    }

    /// The hash of an event, as far as it is known here.
    pub(crate) fn hash_of(&self, number: u64) -> Result<Option<Hash>, StoreError> {
        let select = "SELECT hash FROM events WHERE number = ?1";
        let found = self.connection.query_row(select, [number as i64], |row| row.get(0)).optional();
        if let Some(hash) = found.map_err(|error| self.failed(&error))? {
            return Ok(Some(hash));
        }
        let cut = last_cut(&self.connection).map_err(|error| self.failed(&error))?;
        Ok(cut.filter(|cut| cut.number == number).map(|cut| cut.hash))
    }

    pub(crate) fn after(&self, number: u64, most: usize) -> Result<Vec<AuditRow>, StoreError> {
        rows_after(&self.connection, number, most).map_err(|error| self.failed(&error))
    }

    /// Takes events into the file that only the database has, where they go on from its end.
    pub(crate) fn take_in(&mut self, mut known: Head, rows: &[AuditRow]) -> Result<Head, StoreError> {
        let path = self.path.clone();
        let failed = |error: rusqlite::Error| StoreError::new(&path, &error).of_record();
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        for row in rows {
            if row.number as u64 != known.number + 1 || chained(&known.hash, &row.body) != row.hash {
                let why = "what the database has of it does not go on from its end".to_owned();
                return Err(StoreError::RecordDamaged { path: path.clone(), why });
            }
            let insert = "INSERT INTO events (number, time, tool, body, hash) VALUES (?1, ?2, ?3, ?4, ?5)";
            let given = params![row.number, row.time, row.tool, row.body, row.hash];
            transaction.execute(insert, given).map_err(failed)?;
            known = Head { number: row.number as u64, hash: row.hash };
        }
        transaction.commit().map_err(failed)?;
        Ok(known)
    }

    /// Lets go of what the database has: its number and hash are enough to go on from.
    pub(crate) fn let_go(&mut self, shipped: u64) -> Result<(), StoreError> {
        let Some(hash) = self.hash_of(shipped)? else { return Ok(()) };
        let path = self.path.clone();
        let failed = |error: rusqlite::Error| StoreError::new(&path, &error).of_record();
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        cut(&transaction, Head { number: shipped, hash }).map_err(failed)?;
        transaction.commit().map_err(failed)
    }
}

pub(crate) fn rows_after(connection: &Connection, number: u64, most: usize) -> rusqlite::Result<Vec<AuditRow>> {
    let select = "SELECT number, time, tool, body, hash FROM events WHERE number > ?1 ORDER BY number LIMIT ?2";
    let mut select = connection.prepare_cached(select)?;
    let rows = select.query_map(params![number as i64, most as i64], |row| {
        Ok(AuditRow { number: row.get(0)?, time: row.get(1)?, tool: row.get(2)?, body: row.get(3)?, hash: row.get(4)? })
    })?;
    rows.collect()
}
