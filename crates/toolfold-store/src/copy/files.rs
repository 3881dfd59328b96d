//! A store in files, read and written whole.

use std::path::Path;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ToSql, TransactionBehavior};

use super::tables::{Cell, CellKind};
use super::{Contents, TABLES, Table};
use crate::error::StoreError;
use crate::open::{Place, beside, move_to};
use crate::{Store, now};

fn places(path: &Path) -> [(bool, Place); 2] {
    [(false, Place::Memory(path.to_owned())), (true, Place::Record(Store::record_path(path)))]
}

fn tables(is_record: bool) -> impl Iterator<Item = &'static Table> {
    TABLES.iter().filter(move |table| table.is_record == is_record)
}

/// Whether there is anything in it.
pub(super) fn is_occupied(path: &Path) -> Result<bool, StoreError> {
    for (is_record, place) in places(path) {
        if !place.exists() {
            continue;
        }
        let (connection, _) = place.open()?;
        for table in tables(is_record) {
            let any = format!("SELECT EXISTS (SELECT 1 FROM {})", table.name);
            if connection.query_row(&any, [], |row| row.get(0)).map_err(|error| place.failed(&error))? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

pub(super) fn read(path: &Path) -> Result<Contents, StoreError> {
    if !path.exists() {
        return Err(StoreError::Missing { path: path.to_owned() });
    }
    let mut contents = Contents::new();
    for (is_record, place) in places(path) {
        if !place.exists() {
            contents.extend(tables(is_record).map(|table| (table, Vec::new())));
            continue;
        }
        let (mut connection, notice) = place.open()?;
        if let Some(why) = notice {
            return Err(StoreError::Damaged { path: path.to_owned(), why });
        }
        let mut read = || -> rusqlite::Result<Contents> {
            let transaction = connection.transaction()?;
            tables(is_record).map(|table| Ok((table, rows(&transaction, table)?))).collect()
        };
        contents.extend(read().map_err(|error| place.failed(&error))?);
    }
    Ok(contents)
}

fn rows(connection: &Connection, table: &Table) -> rusqlite::Result<Vec<Vec<Cell>>> {
    let select = format!("SELECT {} FROM {} ORDER BY {}", table.names(), table.name, table.order.0);
    let mut select = connection.prepare(&select)?;
    let rows = select.query_map([], |row| (0..table.columns.len()).map(|i| Ok(cell(row.get_ref(i)?))).collect())?;
    rows.collect()
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null | ValueRef::Real(_) => Cell::Nothing,
        ValueRef::Integer(number) => Cell::Number(number),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
    }
}

/// Made aside, and put in their places when both are whole: the record first, which is missed where the other knows of it.
pub(super) fn write(path: &Path, contents: Contents) -> Result<(), StoreError> {
    let aside = beside(path, &format!(".copying-{}", std::process::id()));
    let written = fill(&aside, &contents);
    let made = [(Store::record_path(&aside), Store::record_path(path)), (aside.clone(), path.to_owned())];
    if written.is_ok() {
        for (new, place) in &made {
            if place.exists() {
                move_to(place, &beside(place, &format!(".before-copy-{}", now())))?;
            }
            move_to(new, place)?;
        }
    }
    for (new, _) in &made {
        for file in [new.clone(), beside(new, ".lock"), beside(new, "-wal"), beside(new, "-shm")] {
            // Whether or not it is there.
            let _ = std::fs::remove_file(file);
        }
    }
    written
}

fn fill(aside: &Path, contents: &Contents) -> Result<(), StoreError> {
    for (is_record, place) in places(aside) {
        let (mut connection, _) = place.open()?;
        let mut fill = || -> rusqlite::Result<()> {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (table, rows) in contents.iter().filter(|(table, _)| table.is_record == is_record) {
                let marks: Vec<String> = (1..=table.columns.len()).map(|i| format!("?{i}")).collect();
                let insert = format!("INSERT INTO {} ({}) VALUES ({})", table.name, table.names(), marks.join(", "));
                let mut insert = transaction.prepare(&insert)?;
                for row in rows {
                    let cells = row.iter().zip(table.columns).map(|(cell, (_, kind))| Typed(cell, *kind));
                    insert.execute(rusqlite::params_from_iter(cells))?;
                }
            }
            transaction.commit()?;
            // Everything into the one file, which is then moved.
            connection.pragma_update_and_check(None, "wal_checkpoint", "TRUNCATE", |_| Ok(()))
        };
        fill().map_err(|error| place.failed(&error))?;
    }
    Ok(())
}

struct Typed<'a>(&'a Cell, CellKind);

impl ToSql for Typed<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match (self.0, self.1) {
            (Cell::Nothing, _) => ToSqlOutput::Owned(Value::Null),
            (Cell::Number(number), _) => ToSqlOutput::Owned(Value::Integer(*number)),
            (Cell::Bytes(bytes), CellKind::Text | CellKind::Words) => ToSqlOutput::Borrowed(ValueRef::Text(bytes)),
            (Cell::Bytes(bytes), _) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}
