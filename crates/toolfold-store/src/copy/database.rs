//! A store in PostgreSQL, read and written whole, in one transaction. The deadlines of single questions do not hold here.

use std::pin::pin;

use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, IsolationLevel};
use toolfold_core::DatabaseUrl;

use super::tables::{Cell, CellKind, Row};
use super::{Contents, TABLES, Table};
use crate::error::StoreError;
use crate::postgres::{Address, Postgres, settings};

/// A link with patience, to a database whose tables are up to date.
async fn connect(url: &DatabaseUrl) -> Result<(Client, Address), StoreError> {
    let postgres = Postgres::open(url).await?;
    let address = postgres.address().clone();
    postgres.close().await;
    let (client, connection) = address.connect().await?;
    // It ends with the client.
    tokio::spawn(connection);
    let begin = format!("{} SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0", settings());
    client.batch_execute(&begin).await.map_err(|error| StoreError::database(&address.shown, &error))?;
    Ok((client, address))
}

pub(super) async fn is_occupied(url: &DatabaseUrl) -> Result<bool, StoreError> {
    let (client, address) = connect(url).await?;
    let any: Vec<String> = TABLES.iter().map(|table| format!("EXISTS (SELECT 1 FROM {})", table.name)).collect();
    let found = client.query_one(&format!("SELECT {}", any.join(" OR ")), &[]).await;
    found.map(|row| row.get(0)).map_err(|error| StoreError::database(&address.shown, &error))
}

pub(super) async fn read(url: &DatabaseUrl) -> Result<Contents, StoreError> {
    let (mut client, address) = connect(url).await?;
    let failed = |error| StoreError::database(&address.shown, &error);
    let transaction = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    let transaction = transaction.start().await.map_err(failed)?;
    let mut contents = Contents::new();
    for table in &TABLES {
        let select = format!("SELECT {} FROM {} ORDER BY {}", table.names(), table.name, table.order.1);
        let rows = transaction.query(&select, &[]).await.map_err(failed)?;
        contents.push((table, rows.iter().map(|row| cells(row, table)).collect()));
    }
    Ok(contents)
}

fn cells(row: &tokio_postgres::Row, table: &Table) -> Row {
    let cell = |(place, (_, kind)): (usize, &(&str, CellKind))| match kind {
        CellKind::Text => row.get::<_, Option<String>>(place).map(|text| Cell::Bytes(text.into_bytes())),
        CellKind::Words | CellKind::Bytes => row.get::<_, Option<Vec<u8>>>(place).map(Cell::Bytes),
        CellKind::Number => row.get::<_, Option<i64>>(place).map(Cell::Number),
        CellKind::Flag => row.get::<_, Option<bool>>(place).map(|flag| Cell::Number(i64::from(flag))),
    };
    table.columns.iter().enumerate().map(cell).map(|cell| cell.unwrap_or(Cell::Nothing)).collect()
}

pub(super) async fn write(url: &DatabaseUrl, contents: Contents) -> Result<(), StoreError> {
    let (mut client, address) = connect(url).await?;
    let failed = |error| StoreError::database(&address.shown, &error);
    let transaction = client.transaction().await.map_err(failed)?;
    let all: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
    transaction.batch_execute(&format!("TRUNCATE {}", all.join(", "))).await.map_err(failed)?;
    for (table, rows) in &contents {
        let copy = format!("COPY {} ({}) FROM STDIN BINARY", table.name, table.names());
        let types: Vec<Type> = table.columns.iter().map(|(_, kind)| type_of(*kind)).collect();
        let sink = transaction.copy_in(&copy).await.map_err(failed)?;
        let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
        for row in rows {
            let cells: Vec<Box<dyn ToSql + Sync>> =
                row.iter().zip(table.columns).map(|(cell, (_, kind))| typed(cell, *kind)).collect();
            writer.as_mut().write_raw(cells.iter().map(|cell| cell.as_ref() as &dyn ToSql)).await.map_err(failed)?;
        }
        writer.finish().await.map_err(failed)?;
    }
    let next = "SELECT setval(pg_get_serial_sequence('sources', 'number'), greatest(max(number), 1)) FROM sources";
    transaction.execute(next, &[]).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)
}

fn type_of(kind: CellKind) -> Type {
    match kind {
        CellKind::Text => Type::TEXT,
        CellKind::Words | CellKind::Bytes => Type::BYTEA,
        CellKind::Number => Type::INT8,
        CellKind::Flag => Type::BOOL,
    }
}

fn typed(cell: &Cell, kind: CellKind) -> Box<dyn ToSql + Sync> {
    match (cell, kind) {
        (Cell::Nothing, CellKind::Text) => Box::new(None::<String>),
        (Cell::Nothing, CellKind::Words | CellKind::Bytes) => Box::new(None::<Vec<u8>>),
        (Cell::Nothing, _) => Box::new(None::<i64>),
        (Cell::Number(number), CellKind::Flag) => Box::new(*number != 0),
        (Cell::Number(number), _) => Box::new(*number),
        (Cell::Bytes(bytes), CellKind::Text) => Box::new(String::from_utf8_lossy(bytes).into_owned()),
        (Cell::Bytes(bytes), _) => Box::new(bytes.clone()),
    }
}
