//! Rows that belong to a server in one configuration of it.

use rusqlite::{Connection, OptionalExtension, Row, params};
use toolfold_core::{Fingerprint, ServerName};

/// A server, and what of its configuration decides whether it is still the same.
pub(crate) type Key = (ServerName, Fingerprint);

/// The rows of these, in their order; `select` finds one by server and key. Those that are not there are left out.
pub(crate) fn rows_of<T>(
    connection: &mut Connection,
    select: &str,
    wanted: Vec<Key>,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<(Key, T)>> {
    let transaction = connection.transaction()?;
    let mut select = transaction.prepare_cached(select)?;
    let mut found = Vec::new();
    for (server, key) in wanted {
        let row = select.query_row(params![server.as_str(), key.as_bytes()], &read).optional()?;
        found.extend(row.map(|row| ((server, key), row)));
    }
    Ok(found)
}
