//! Looking at what was written. Readers open the file for themselves and wait for nobody.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Row, params};
use toolfold_store::{StoreError, open_audit};

use crate::event::AuditEvent;
use crate::file::{Head, head};
use crate::moment::Moment;

/// Events in a chain of causes: more of them is not what anybody follows.
pub(crate) const LONGEST_CHAIN: usize = 64;

pub struct Reader {
    path: PathBuf,
    pub(crate) connection: Connection,
}

/// An event and the bytes it is stored as.
#[derive(Debug, Clone)]
pub struct Stored {
    /// Whose it is, where there are several.
    pub chain: Option<String>,
    pub number: u64,
    pub time: Moment,
    pub tool: Option<String>,
    pub body: Vec<u8>,
    pub hash: [u8; 32],
}

impl Stored {
    /// What it says, where that can be read.
    pub fn event(&self) -> Option<AuditEvent> {
        serde_json::from_slice(&self.body).ok()
    }
}

const COLUMNS: &str = "number, time, tool, body, hash";

impl Reader {
    /// `None` where there is no audit yet.
    pub fn open(path: &Path) -> Result<Option<Reader>, StoreError> {
        if !path.exists() {
            return Ok(None);
        }
        Ok(Some(Reader { path: path.to_owned(), connection: open_audit(path)? }))
    }

    pub fn head(&self) -> Result<Head, StoreError> {
        head(&self.connection).map_err(|error| self.failed(&error))
    }

    /// The last events, oldest first.
    pub fn tail(&self, count: usize) -> Result<Vec<Stored>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM events ORDER BY number DESC LIMIT ?1");
        let mut last = self.select(&sql, params![count as i64])?;
        last.reverse();
        Ok(last)
    }

    /// What came after this number.
    pub fn after(&self, number: u64, count: usize) -> Result<Vec<Stored>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM events WHERE number > ?1 ORDER BY number LIMIT ?2");
        self.select(&sql, params![number as i64, count as i64])
    }

    pub fn show(&self, number: u64) -> Result<Option<Stored>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM events WHERE number = ?1");
        let row = self.connection.query_row(&sql, [number as i64], read).optional();
        row.map_err(|error| self.failed(&error))
    }

    /// The last events of a tool, and with each what led to it, in order.
    pub fn trace(&self, tool: &str, count: usize) -> Result<Vec<Stored>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM events WHERE tool = ?1 ORDER BY number DESC LIMIT ?2");
        let mut all = self.select(&sql, params![tool, count as i64])?;
        let mut causes: Vec<u64> = all.iter().filter_map(|stored| stored.event()?.follows).collect();
        while let Some(number) = causes.pop() {
            if all.iter().any(|stored| stored.number == number) || all.len() > count + LONGEST_CHAIN * count {
                continue;
            }
            if let Some(cause) = self.show(number)? {
                causes.extend(cause.event().and_then(|event| event.follows));
                all.push(cause);
            }
        }
        all.sort_by_key(|stored| stored.number);
        Ok(all)
    }

    /// Every event from a moment on, in order, until `each` says that it is enough.
    pub fn each(&self, since: Moment, mut each: impl FnMut(&Stored) -> bool) -> Result<(), StoreError> {
        let failed = |error: rusqlite::Error| self.failed(&error);
        let sql = format!("SELECT {COLUMNS} FROM events ORDER BY number");
        let mut select = self.connection.prepare(&sql).map_err(failed)?;
        let mut rows = select.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let stored = read(row).map_err(failed)?;
            if stored.time >= since && !each(&stored) {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn failed(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::new(&self.path, error).of_record()
    }

    fn select(&self, sql: &str, given: &[&dyn rusqlite::ToSql]) -> Result<Vec<Stored>, StoreError> {
        let failed = |error: rusqlite::Error| self.failed(&error);
        let mut select = self.connection.prepare(sql).map_err(failed)?;
        let rows = select.query_map(given, read).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }
}

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Stored> {
    Ok(Stored {
        chain: None,
        number: row.get::<_, i64>(0)? as u64,
        time: Moment(row.get(1)?),
        tool: row.get(2)?,
        body: row.get(3)?,
        hash: row.get(4)?,
    })
}
