//! From one store to another: everything that is kept, all of it or nothing. What replicas know of each other stays behind, as it
//! is true of the moment only, and so does the audit: a chain is not continued elsewhere.
//!
//! What a reader would get wrong: a file that is copied to is made aside and put in its place when it is whole, so that a copy
//! which was interrupted has left nothing behind but a file to delete. What was there before is kept beside it.

mod database;
mod files;
mod tables;

use toolfold_core::StorePlace;

use crate::error::StoreError;
use tables::{Row, TABLES, Table};

/// How many rows of what were copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    pub rows: Vec<(&'static str, u64)>,
}

impl Copied {
    pub fn of(&self, table: &str) -> u64 {
        self.rows.iter().find(|(name, _)| *name == table).map_or(0, |(_, rows)| *rows)
    }
}

/// A table and what is in it.
type Contents = Vec<(&'static Table, Vec<Row>)>;

/// Copies a store. A target that holds something is refused, unless it is to be replaced. `tell` hears of each table as it is
/// read and written.
pub async fn copy(
    from: &StorePlace,
    to: &StorePlace,
    replace: bool,
    mut tell: impl FnMut(&str),
) -> Result<Copied, StoreError> {
    // Asked first: nobody wants to hear it after minutes.
    let occupied = match to {
        StorePlace::File(path) => files::is_occupied(path)?,
        StorePlace::Database(url) => database::is_occupied(url).await?,
    };
    if occupied && !replace {
        return Err(StoreError::Occupied { path: to.to_string().into() });
    }
    let contents = match from {
        StorePlace::File(path) => files::read(path)?,
        StorePlace::Database(url) => database::read(url).await?,
    };
    let rows: Vec<_> = contents.iter().map(|(table, rows)| (table.name, rows.len() as u64)).collect();
    for (name, count) in rows.iter().filter(|(_, count)| *count > 0) {
        tell(&format!("{name}: {count}"));
    }
    match to {
        StorePlace::File(path) => files::write(path, contents)?,
        StorePlace::Database(url) => database::write(url, contents).await?,
    }
    Ok(Copied { rows })
}
