//! The format of the file, step by step. A step that has been released is never edited: a file remembers in
//! `user_version` how many it has been through, and only the rest are applied.

use rusqlite::{Connection, TransactionBehavior};

/// "Tlfd", in the field of the header that says whose database it is.
pub(crate) const APPLICATION: i64 = 0x546C_6664;

const STEPS: [&str; 4] = [
    // The same server name may stand for different programs in different projects that share this file: hence two
    // columns in the key.
    "CREATE TABLE manifests (
        server TEXT NOT NULL,
        config_key BLOB NOT NULL,
        saved_at INTEGER NOT NULL,
        json TEXT NOT NULL,
        PRIMARY KEY (server, config_key)
    ) STRICT;",
    "CREATE TABLE toolsets (
        handle TEXT PRIMARY KEY NOT NULL,
        used_at INTEGER NOT NULL,
        json TEXT NOT NULL
    ) STRICT;
    CREATE INDEX toolsets_by_use ON toolsets (used_at);",
    "CREATE TABLE usage (
        tool TEXT PRIMARY KEY NOT NULL,
        calls INTEGER NOT NULL
    ) STRICT;",
    "CREATE TABLE vectors (
        encoder BLOB NOT NULL,
        text BLOB NOT NULL,
        vector BLOB NOT NULL,
        PRIMARY KEY (encoder, text)
    ) STRICT;",
];

pub(crate) const NEWEST: i64 = STEPS.len() as i64;

/// All or nothing: a process killed in the middle leaves the file as it was.
pub(crate) fn apply(connection: &mut Connection) -> rusqlite::Result<()> {
    if version(connection)? == NEWEST {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = usize::try_from(version(&transaction)?).unwrap_or_default();
    for step in STEPS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", NEWEST)?;
    transaction.commit()
}

pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
