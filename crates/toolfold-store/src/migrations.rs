//! The formats of the files, step by step. A step that has been released is never edited: a file remembers in
//! `user_version` how many it has been through, and only the rest are applied.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::pins::seal_all;

/// The format of one class of file.
pub(crate) struct Schema {
    /// In the field of the header that says whose database it is. One for each class, so that neither file is ever
    /// taken for the other.
    pub(crate) application: i64,
    steps: &'static [&'static str],
    /// What SQL has no words for, each right after the step of this number.
    after: &'static [(usize, Work)],
}

type Work = fn(&Transaction<'_>) -> rusqlite::Result<()>;

/// "Tlfd".
pub(crate) const MEMORY: Schema = Schema { application: 0x546C_6664, steps: &MEMORY_STEPS, after: &[] };
/// "Tlfr".
pub(crate) const RECORD: Schema = Schema { application: 0x546C_6672, steps: &RECORD_STEPS, after: &[(5, seal_all)] };
/// "Tlfa".
pub(crate) const AUDIT: Schema = Schema { application: 0x546C_6661, steps: &AUDIT_STEPS, after: &[] };

const MEMORY_STEPS: [&str; 7] = [
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
    "CREATE TABLE failures (
        server TEXT NOT NULL,
        config_key BLOB NOT NULL,
        failed_at INTEGER NOT NULL,
        why TEXT NOT NULL,
        PRIMARY KEY (server, config_key)
    ) STRICT;",
    // Sources that the record knows, so that a record which is lost is missed.
    "CREATE TABLE pinned (
        server TEXT NOT NULL,
        config_key BLOB NOT NULL,
        PRIMARY KEY (server, config_key)
    ) STRICT, WITHOUT ROWID;",
    // What requests ended in the call of a tool. A request is there as numbers; its text only where somebody wants that.
    "CREATE TABLE habits (
        catalog BLOB NOT NULL,
        request BLOB NOT NULL,
        tool TEXT NOT NULL,
        marks BLOB NOT NULL,
        text TEXT,
        times INTEGER NOT NULL,
        occasions BLOB NOT NULL,
        used_at INTEGER NOT NULL,
        PRIMARY KEY (catalog, request, tool)
    ) STRICT;
    CREATE INDEX habits_by_use ON habits (catalog, used_at);",
];

const RECORD_STEPS: [&str; 5] = [
    // What was approved, and the fingerprint of how it looked then: whatever looks different has not been approved.
    "CREATE TABLE approvals (
        kind TEXT NOT NULL,
        subject TEXT NOT NULL,
        fingerprint BLOB NOT NULL,
        approved_at INTEGER NOT NULL,
        approved_by TEXT NOT NULL,
        PRIMARY KEY (kind, subject)
    ) STRICT;",
    // The first table was never written to. Definitions stand apart from pins: all pins are read at a start, and hardly
    // ever a definition.
    "DROP TABLE approvals;
    CREATE TABLE sources (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        server TEXT NOT NULL,
        config_key BLOB NOT NULL,
        pinned_at INTEGER NOT NULL,
        strict INTEGER NOT NULL,
        UNIQUE (server, config_key)
    ) STRICT;
    CREATE TABLE pins (
        source INTEGER NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        accepted BLOB,
        denied BLOB,
        decided_at INTEGER NOT NULL,
        decided_by TEXT,
        findings INTEGER NOT NULL,
        PRIMARY KEY (source, kind, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE definitions (
        fingerprint BLOB PRIMARY KEY NOT NULL,
        json TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;",
    // Tokens that were given out. Of a token itself there is its hash, and enough of its beginning to tell it from others.
    "CREATE TABLE tokens (
        hash BLOB PRIMARY KEY NOT NULL,
        name TEXT NOT NULL UNIQUE,
        groups TEXT NOT NULL,
        beginning TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER
    ) STRICT, WITHOUT ROWID;",
    // What is in `sealed` nobody here can read. `version` changes with it, and `lease` is who renews it now.
    "CREATE TABLE logins (
        server TEXT NOT NULL,
        url TEXT NOT NULL,
        principal TEXT NOT NULL,
        version INTEGER NOT NULL,
        issuer TEXT NOT NULL,
        sealed BLOB NOT NULL,
        saved_at INTEGER NOT NULL,
        lease TEXT,
        leased_until INTEGER NOT NULL,
        PRIMARY KEY (server, url, principal)
    ) STRICT;",
    // A digest over all pins of a source, and what risk an entry has declared since it was accepted. What was written before
    // there were digests gets one now, and never later: one that is missing is damage.
    "ALTER TABLE sources ADD COLUMN seal BLOB;
    ALTER TABLE pins ADD COLUMN raised INTEGER NOT NULL DEFAULT 0;",
];

const AUDIT_STEPS: [&str; 1] = [
    // What happened, each event with a hash over the one before it and its own bytes. `time` and `tool` say again what the
    // body says, to be found by. Of what was cut off at the beginning, the last number and hash are left.
    "CREATE TABLE events (
        number INTEGER PRIMARY KEY NOT NULL,
        time INTEGER NOT NULL,
        tool TEXT,
        body BLOB NOT NULL,
        hash BLOB NOT NULL
    ) STRICT;
    CREATE INDEX events_by_tool ON events (tool) WHERE tool IS NOT NULL;
    CREATE TABLE cuts (
        number INTEGER PRIMARY KEY NOT NULL,
        hash BLOB NOT NULL,
        at INTEGER NOT NULL
    ) STRICT;",
];

impl Schema {
    pub(crate) const fn newest(&self) -> i64 {
        self.steps.len() as i64
    }

    /// All or nothing: a process killed in the middle leaves the file as it was.
    pub(crate) fn apply(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        if version(connection)? == self.newest() {
            return Ok(());
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = usize::try_from(version(&transaction)?).unwrap_or_default();
        for (place, step) in self.steps.iter().enumerate().skip(done) {
            transaction.execute_batch(step)?;
            let work = self.after.iter().filter(|(number, _)| *number == place + 1);
            work.into_iter().try_for_each(|(_, work)| work(&transaction))?;
        }
        transaction.pragma_update(None, "application_id", self.application)?;
        transaction.pragma_update(None, "user_version", self.newest())?;
        transaction.commit()
    }
}

pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
