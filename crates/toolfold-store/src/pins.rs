//! What was accepted of what servers say, and as what: the fingerprint of everything that a model may read, and the
//! definition behind it. Part of the record: a pin that is lost must not look like one that never was.
//!
//! What a reader would get wrong: that a source has been pinned is written in the memory as well. Of the two files each
//! may be lost on its own; where the memory knows of a source and the record does not, the record is gone, and what
//! the source says is not believed as it would be the first time.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use toolfold_core::{Fingerprint, ServerName};

use crate::engine::Pending;
use crate::error::StoreError;
use crate::{Store, now};

/// Who says something: a server's name, and which program or address it is. The same name may stand for another program
/// in another project that shares the files.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PinSource {
    pub server: ServerName,
    pub key: Fingerprint,
}

/// What is known of one entry of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPin {
    /// What it is: `tool`, `prompt` and so on.
    pub kind: String,
    pub name: String,
    /// How it looked when it was accepted; `None` where it never was.
    pub accepted: Option<Fingerprint>,
    /// How it looked when it was refused, if it was.
    pub denied: Option<Fingerprint>,
    /// Who accepted or refused it; `None`: nobody, it was new.
    pub by: Option<String>,
    /// Things worth a look that were found in it and that nobody has looked at.
    pub findings: u32,
}

/// Everything that is known of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPins {
    /// Sources are numbered in the order they came.
    pub number: i64,
    /// The record of it was lost once: what is new is not accepted by itself.
    pub strict: bool,
    pub pins: Vec<StoredPin>,
}

/// What is known of a source, or why it cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pinned {
    /// It has never been seen.
    Never,
    Known(StoredPins),
    /// It has been pinned, and the record does not know.
    Lost,
}

/// A pin to be kept, and the definition that was accepted, if one was.
#[derive(Debug, Clone)]
pub struct NewPin {
    pub pin: StoredPin,
    pub definition: Option<String>,
}

impl Store {
    /// What is known of a source. An error where the record cannot be read, which is not the same as knowing nothing.
    pub async fn pins(&self, source: &PinSource) -> Result<Pinned, StoreError> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.pins(source.clone()).await;
        }
        let (server, key) = (source.server.clone(), source.key);
        let known = self.record.look(move |connection| load(connection, &server, &key)).await?;
        if let Some(known) = known {
            return Ok(Pinned::Known(known));
        }
        let (server, key) = (source.server.clone(), source.key);
        let select = "SELECT 1 FROM pinned WHERE server = ?1 AND config_key = ?2";
        let seen = self.memory.run(move |connection| {
            connection.query_row(select, params![server.as_str(), key.as_bytes()], |_| Ok(())).optional()
        });
        Ok(if seen.await?.is_some() { Pinned::Lost } else { Pinned::Never })
    }

    /// Keeps what was new and is accepted as it came: the number of the source. What another process has pinned meanwhile
    /// stays, and whether there was any such is in the answer. On the disk when this answers.
    pub async fn pin_new(&self, source: &PinSource, pins: Vec<NewPin>) -> Result<(i64, bool), StoreError> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.pin_new(source.clone(), pins).await;
        }
        let (server, key) = (source.server.clone(), source.key);
        let kept = self.record.run(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let number = number(&transaction, &server, &key, None)?;
            let mut left = 0;
            for new in &pins {
                left += usize::from(insert(&transaction, number, &new.pin)? == 0);
                keep_definition(&transaction, new)?;
            }
            transaction.commit()?;
            Ok((number, left > 0))
        });
        let kept = kept.await?;
        self.remember_pinned(source);
        Ok(kept)
    }

    /// Keeps what somebody decided, in place of what was known. `strict`: whether what is new must be approved from now
    /// on, because the record had been lost. On the disk when this answers.
    pub async fn decide(&self, source: &PinSource, strict: bool, pins: Vec<NewPin>) -> Result<(), StoreError> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.decide_pins(source.clone(), strict, pins).await;
        }
        let (server, key) = (source.server.clone(), source.key);
        let decided = self.record.run(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let number = number(&transaction, &server, &key, Some(strict))?;
            for new in &pins {
                replace(&transaction, number, &new.pin)?;
                keep_definition(&transaction, new)?;
            }
            // Texts that nobody refers to any more. Rare enough to look through them all.
            let unused =
                "DELETE FROM definitions WHERE fingerprint NOT IN (SELECT accepted FROM pins WHERE accepted NOT NULL)";
            transaction.execute(unused, [])?;
            transaction.commit()
        });
        decided.await?;
        self.remember_pinned(source);
        Ok(())
    }

    /// Forgets entries that a source does not have any more, so that there is room for others.
    pub fn forget_pins(&self, source: &PinSource, names: Vec<(String, String)>) -> Pending<()> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.forget_pins(source.clone(), names);
        }
        let (server, key) = (source.server.clone(), source.key);
        self.record.look(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if let Some((number, _)) = find(&transaction, &server, &key)? {
                let mut delete =
                    transaction.prepare_cached("DELETE FROM pins WHERE source = ?1 AND kind = ?2 AND name = ?3")?;
                for (kind, name) in &names {
                    delete.execute(params![number, kind, name])?;
                }
            }
            transaction.commit()
        })
    }

    /// The definitions that were accepted under these fingerprints, as far as there are any.
    pub fn accepted_definitions(&self, wanted: Vec<Fingerprint>) -> Pending<HashMap<Fingerprint, String>> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.accepted_definitions(wanted);
        }
        self.record.look(move |connection| {
            let mut select = connection.prepare_cached("SELECT json FROM definitions WHERE fingerprint = ?1")?;
            let mut found = HashMap::new();
            for fingerprint in wanted {
                let json = select.query_row([fingerprint.as_bytes()], |row| row.get(0)).optional()?;
                found.extend(json.map(|json| (fingerprint, json)));
            }
            Ok(found)
        })
    }

    /// The other half of the knowledge that a source was pinned: after the record has it, or a crash in between would look
    /// like a record that was lost. Nobody waits for it, as it is worth something only when that happens.
    fn remember_pinned(&self, source: &PinSource) {
        let (server, key) = (source.server.clone(), source.key);
        drop(self.memory.run(move |connection| {
            let insert = "INSERT INTO pinned (server, config_key) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
            connection.execute(insert, params![server.as_str(), key.as_bytes()]).map(|_| ())
        }));
    }
}

fn load(connection: &Connection, server: &ServerName, key: &Fingerprint) -> rusqlite::Result<Option<StoredPins>> {
    let Some((number, strict)) = find(connection, server, key)? else { return Ok(None) };
    let mut select = connection
        .prepare_cached("SELECT kind, name, accepted, denied, decided_by, findings FROM pins WHERE source = ?1")?;
    let rows = select.query_map([number], |row| {
        Ok(StoredPin {
            kind: row.get(0)?,
            name: row.get(1)?,
            accepted: row.get::<_, Option<[u8; 32]>>(2)?.map(Fingerprint::from_bytes),
            denied: row.get::<_, Option<[u8; 32]>>(3)?.map(Fingerprint::from_bytes),
            by: row.get(4)?,
            findings: row.get(5)?,
        })
    })?;
    Ok(Some(StoredPins { number, strict, pins: rows.collect::<rusqlite::Result<_>>()? }))
}

fn find(connection: &Connection, server: &ServerName, key: &Fingerprint) -> rusqlite::Result<Option<(i64, bool)>> {
    let mut select =
        connection.prepare_cached("SELECT number, strict FROM sources WHERE server = ?1 AND config_key = ?2")?;
    select.query_row(params![server.as_str(), key.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// The number of a source, which it gets now where it has none.
fn number(
    transaction: &Transaction<'_>,
    server: &ServerName,
    key: &Fingerprint,
    strict: Option<bool>,
) -> rusqlite::Result<i64> {
    let insert = "INSERT INTO sources (server, config_key, pinned_at, strict) VALUES (?1, ?2, ?3, ?4)
                  ON CONFLICT (server, config_key) DO UPDATE SET strict = coalesce(?5, strict) RETURNING number";
    let given = params![server.as_str(), key.as_bytes(), now(), strict.unwrap_or(false), strict];
    transaction.query_row(insert, given, |row| row.get(0))
}

fn insert(transaction: &Transaction<'_>, source: i64, pin: &StoredPin) -> rusqlite::Result<usize> {
    write(transaction, source, pin, "NOTHING")
}

fn replace(transaction: &Transaction<'_>, source: i64, pin: &StoredPin) -> rusqlite::Result<usize> {
    write(
        transaction,
        source,
        pin,
        "UPDATE SET accepted = ?4, denied = ?5, decided_at = ?6, decided_by = ?7, findings = ?8",
    )
}

fn write(transaction: &Transaction<'_>, source: i64, pin: &StoredPin, or: &str) -> rusqlite::Result<usize> {
    let mut upsert = transaction.prepare_cached(&format!(
        "INSERT INTO pins (source, kind, name, accepted, denied, decided_at, decided_by, findings)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (source, kind, name) DO {or}"
    ))?;
    let (accepted, denied) = (pin.accepted.as_ref(), pin.denied.as_ref());
    upsert.execute(params![
        source,
        pin.kind,
        pin.name,
        accepted.map(Fingerprint::as_bytes),
        denied.map(Fingerprint::as_bytes),
        now(),
        pin.by,
        pin.findings
    ])
}

fn keep_definition(transaction: &Transaction<'_>, new: &NewPin) -> rusqlite::Result<()> {
    let (Some(fingerprint), Some(json)) = (&new.pin.accepted, &new.definition) else { return Ok(()) };
    let mut insert = transaction
        .prepare_cached("INSERT INTO definitions (fingerprint, json) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
    insert.execute(params![fingerprint.as_bytes(), json]).map(|_| ())
}
