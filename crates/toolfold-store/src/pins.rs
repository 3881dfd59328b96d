//! What was accepted of what servers say, and as what: the fingerprint of everything that a model may read, and the
//! definition behind it. Part of the record: a pin that is lost must not look like one that never was.
//!
//! What a reader would get wrong: that a source has been pinned is written in the memory as well. Of the two files each
//! may be lost on its own; where the memory knows of a source and the record does not, the record is gone, and what
//! the source says is not believed as it would be the first time. And a source is sealed (`seal.rs`): whoever writes to one
//! looks first whether it still is what was left, because sealing it again would hide that it is not.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use toolfold_core::{Fingerprint, ServerName};

use crate::engine::Pending;
use crate::error::StoreError;
use crate::seal::{Read, digest};
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
    /// What risk it has declared since it was accepted; what that means is not known here.
    pub raised: u8,
}

/// Everything that is known of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPins {
    /// Sources are numbered in the order they came.
    pub number: i64,
    /// The record of it was lost once: what is new is not accepted by itself.
    pub strict: bool,
    pub pins: Vec<StoredPin>,
    /// What is known of other sources that had the same name, the oldest first.
    pub former: Vec<StoredPin>,
}

/// What is known of a source, or why it cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pinned {
    /// It has never been seen. What is known of others of its name, as in [`StoredPins::former`].
    Never {
        former: Vec<StoredPin>,
    },
    Known(StoredPins),
    /// It has been pinned, and the record does not know.
    Lost,
    /// What the record has of it, or of another of its name, is not what was written there.
    Damaged,
}

/// A pin to be kept, and the definition that was accepted, if one was.
#[derive(Debug, Clone)]
pub struct NewPin {
    pub pin: StoredPin,
    pub definition: Option<String>,
}

/// Words for a source whose rows are not what was written.
const UNSEALED: &str = "what it has of a server is not what was written there";

impl Store {
    /// What is known of a source. An error where the record cannot be read, which is not the same as knowing nothing.
    pub async fn pins(&self, source: &PinSource) -> Result<Pinned, StoreError> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.pins(source.clone()).await;
        }
        let server = source.server.clone();
        let sources = self.record.look(move |connection| {
            // Of one moment: others write, and what they have half seen would not fit.
            let transaction = connection.transaction()?;
            sources(&transaction, &server)
        });
        let pinned = Pinned::among(sources.await?, &source.key);
        let Pinned::Never { .. } = pinned else { return Ok(pinned) };
        let (server, key) = (source.server.clone(), source.key);
        let select = "SELECT 1 FROM pinned WHERE server = ?1 AND config_key = ?2";
        let seen = self.memory.run(move |connection| {
            connection.query_row(select, params![server.as_str(), key.as_bytes()], |_| Ok(())).optional()
        });
        Ok(if seen.await?.is_some() { Pinned::Lost } else { pinned })
    }

    /// Keeps what was new and is accepted as it came: the number of the source. What another process has pinned meanwhile
    /// stays, and whether there was any such is in the answer. On the disk when this answers.
    pub async fn pin_new(&self, source: &PinSource, pins: Vec<NewPin>) -> Result<(i64, bool), StoreError> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.pin_new(source.clone(), pins).await?.ok_or_else(|| self.unsealed());
        }
        let (server, key) = (source.server.clone(), source.key);
        let kept = self.record.run(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if find(&transaction, &server, &key)?.is_some_and(|known| known.pins.is_none()) {
                return Ok(None);
            }
            let number = number(&transaction, &server, &key, None)?;
            let mut left = 0;
            for new in &pins {
                left += usize::from(insert(&transaction, number, &new.pin)? == 0);
                keep_definition(&transaction, new)?;
            }
            seal(&transaction, number)?;
            transaction.commit()?;
            Ok(Some((number, left > 0)))
        });
        let kept = kept.await?.ok_or_else(|| self.unsealed())?;
        self.remember_pinned(source);
        Ok(kept)
    }

    /// Keeps what somebody decided, in place of what was known. `strict`: whether what is new must be approved from now
    /// on, because the record had been lost. `anew`: they know that it was, so that a source which is damaged begins again with
    /// this; otherwise that is an error. On the disk when this answers.
    pub async fn decide(
        &self,
        source: &PinSource,
        (strict, anew): (bool, bool),
        pins: Vec<NewPin>,
    ) -> Result<(), StoreError> {
        if let Some(postgres) = self.record.postgres() {
            let decided = postgres.decide_pins(source.clone(), (strict, anew), pins).await?;
            return decided.ok_or_else(|| self.unsealed());
        }
        let (server, key) = (source.server.clone(), source.key);
        let decided = self.record.run(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if let Some(damaged) = find(&transaction, &server, &key)?.filter(|known| known.pins.is_none()) {
                if !anew {
                    return Ok(None);
                }
                transaction.execute("DELETE FROM pins WHERE source = ?1", [damaged.number])?;
            }
            let number = number(&transaction, &server, &key, Some(strict))?;
            for new in &pins {
                replace(&transaction, number, &new.pin)?;
                keep_definition(&transaction, new)?;
            }
            seal(&transaction, number)?;
            // Texts that nobody refers to any more. Rare enough to look through them all.
            let unused =
                "DELETE FROM definitions WHERE fingerprint NOT IN (SELECT accepted FROM pins WHERE accepted NOT NULL)";
            transaction.execute(unused, [])?;
            transaction.commit().map(Some)
        });
        decided.await?.ok_or_else(|| self.unsealed())?;
        self.remember_pinned(source);
        Ok(())
    }

    /// Adds to what risk entries have declared since they were accepted, each by kind and name: others may know of more.
    pub async fn raise(&self, source: &PinSource, raised: Vec<(String, String, u8)>) -> Result<(), StoreError> {
        if let Some(postgres) = self.record.postgres() {
            let damaged = postgres.raise(source.clone(), raised).await?;
            return if damaged { Err(self.unsealed()) } else { Ok(()) };
        }
        let update = "UPDATE pins SET raised = raised | ?4 WHERE source = ?1 AND kind = ?2 AND name = ?3";
        let damaged = self.change(source, move |transaction, number| {
            let mut update = transaction.prepare_cached(update)?;
            raised
                .iter()
                .try_for_each(|(kind, name, raised)| update.execute(params![number, kind, name, raised]).map(|_| ()))
        });
        if damaged.await? { Err(self.unsealed()) } else { Ok(()) }
    }

    /// Forgets entries that a source does not have any more, so that there is room for others. Whether it is damaged, and
    /// nothing was done.
    pub fn forget_pins(&self, source: &PinSource, names: Vec<(String, String)>) -> Pending<bool> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.forget_pins(source.clone(), names);
        }
        let delete = "DELETE FROM pins WHERE source = ?1 AND kind = ?2 AND name = ?3";
        self.change(source, move |transaction, number| {
            let mut delete = transaction.prepare_cached(delete)?;
            names.iter().try_for_each(|(kind, name)| delete.execute(params![number, kind, name]).map(|_| ()))
        })
    }

    /// Has a source that was known by another key go on under its own, where nothing is known of it yet.
    pub async fn adopt(&self, source: &PinSource, former: &Fingerprint) -> Result<(), StoreError> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.adopt(source.clone(), *former).await;
        }
        let rename = |table: &'static str| {
            let (server, key, former) = (source.server.clone(), source.key, *former);
            move |connection: &mut Connection| {
                let rename =
                    format!("UPDATE OR IGNORE {table} SET config_key = ?3 WHERE server = ?1 AND config_key = ?2");
                let given = params![server.as_str(), former.as_bytes(), key.as_bytes()];
                connection.execute(&rename, given).map(|_| ())
            }
        };
        self.record.look(rename("sources")).await?;
        self.memory.run(rename("pinned")).await
    }

    /// The definitions that were accepted under these fingerprints, as far as there are any. Whether each still is what its
    /// fingerprint says is for whoever knows what was fingerprinted.
    pub fn accepted_definitions(&self, wanted: Vec<Fingerprint>) -> Pending<HashMap<Fingerprint, String>> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.accepted_definitions(wanted);
        }
        self.record.look(move |connection| {
            let mut select =
                connection.prepare_cached("SELECT CAST(json AS BLOB) FROM definitions WHERE fingerprint = ?1")?;
            let mut found = HashMap::new();
            for fingerprint in wanted {
                let json: Option<Vec<u8>> = select.query_row([fingerprint.as_bytes()], |row| row.get(0)).optional()?;
                // What is no text any more is lost.
                let json = json.and_then(|json| String::from_utf8(json).ok());
                found.extend(json.map(|json| (fingerprint, json)));
            }
            Ok(found)
        })
    }

    /// Changes rows of a source that is there; whether it is damaged, and nothing was done.
    fn change(
        &self,
        source: &PinSource,
        work: impl FnOnce(&Transaction<'_>, i64) -> rusqlite::Result<()> + Send + 'static,
    ) -> Pending<bool> {
        let (server, key) = (source.server.clone(), source.key);
        self.record.look(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            match find(&transaction, &server, &key)? {
                Some(Read { pins: None, .. }) => return Ok(true),
                Some(Read { number, .. }) => {
                    work(&transaction, number)?;
                    seal(&transaction, number)?;
                }
                None => {}
            }
            transaction.commit().map(|()| false)
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

    fn unsealed(&self) -> StoreError {
        StoreError::RecordDamaged { path: self.record.shown(), why: UNSEALED.to_owned() }
    }
}

/// Seals every source as it is: once, when a file is made one that has seals.
pub(crate) fn seal_all(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut select = transaction.prepare("SELECT number FROM sources")?;
    let numbers: Vec<i64> = select.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    numbers.into_iter().try_for_each(|number| seal(transaction, number))
}

fn seal(transaction: &Transaction<'_>, number: i64) -> rusqlite::Result<()> {
    let strict = transaction.query_row("SELECT strict FROM sources WHERE number = ?1", [number], |row| row.get(0))?;
    // What cannot even be read stays without.
    let seal = rows(transaction, number)?.map(|pins| digest(strict, &pins));
    let mut update = transaction.prepare_cached("UPDATE sources SET seal = ?2 WHERE number = ?1")?;
    update.execute(params![number, seal.as_ref().map(Fingerprint::as_bytes)]).map(|_| ())
}

fn find(transaction: &Transaction<'_>, server: &ServerName, key: &Fingerprint) -> rusqlite::Result<Option<Read>> {
    let all = sources(transaction, server)?;
    Ok(all.into_iter().find(|source| source.key == key.as_bytes().as_slice()))
}

/// Everything that has this name.
fn sources(transaction: &Transaction<'_>, server: &ServerName) -> rusqlite::Result<Vec<Read>> {
    let mut select =
        transaction.prepare_cached("SELECT number, config_key, strict, seal FROM sources WHERE server = ?1")?;
    type Source = (i64, Vec<u8>, bool, Option<Vec<u8>>);
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let found: Vec<Source> = select.query_map([server.as_str()], read)?.collect::<rusqlite::Result<_>>()?;
    let source = |(number, key, strict, seal): Source| {
        Ok(match rows(transaction, number)? {
            Some(pins) => Read::new(number, key, strict, seal.as_deref(), pins),
            None => Read { number, key, strict, pins: None },
        })
    };
    found.into_iter().map(source).collect()
}

/// The pins of a source; `None` where one of them is none.
fn rows(transaction: &Transaction<'_>, source: i64) -> rusqlite::Result<Option<Vec<StoredPin>>> {
    let mut select = transaction.prepare_cached(
        "SELECT kind, name, accepted, denied, decided_by, findings, raised FROM pins WHERE source = ?1",
    )?;
    let rows = select.query_map([source], |row| {
        Ok(StoredPin {
            kind: row.get(0)?,
            name: row.get(1)?,
            accepted: row.get::<_, Option<[u8; 32]>>(2)?.map(Fingerprint::from_bytes),
            denied: row.get::<_, Option<[u8; 32]>>(3)?.map(Fingerprint::from_bytes),
            by: row.get(4)?,
            findings: row.get(5)?,
            raised: row.get(6)?,
        })
    })?;
    match rows.collect::<rusqlite::Result<Vec<_>>>() {
        Ok(pins) => Ok(Some(pins)),
        // Said by SQLite: the file is at fault, or the disk. Said by nobody else: what is in it is not what was written.
        Err(error) if error.sqlite_error_code().is_some() => Err(error),
        Err(_) => Ok(None),
    }
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
        "UPDATE SET accepted = ?4, denied = ?5, decided_at = ?6, decided_by = ?7, findings = ?8, raised = ?9",
    )
}

fn write(transaction: &Transaction<'_>, source: i64, pin: &StoredPin, or: &str) -> rusqlite::Result<usize> {
    let mut upsert = transaction.prepare_cached(&format!(
        "INSERT INTO pins (source, kind, name, accepted, denied, decided_at, decided_by, findings, raised)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (source, kind, name) DO {or}"
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
        pin.findings,
        pin.raised
    ])
}

fn keep_definition(transaction: &Transaction<'_>, new: &NewPin) -> rusqlite::Result<()> {
    let (Some(fingerprint), Some(json)) = (&new.pin.accepted, &new.definition) else { return Ok(()) };
    // A text that was damaged is mended by whoever has it whole.
    let mut insert = transaction.prepare_cached(
        "INSERT INTO definitions (fingerprint, json) VALUES (?1, ?2)
         ON CONFLICT (fingerprint) DO UPDATE SET json = ?2 WHERE json <> ?2",
    )?;
    insert.execute(params![fingerprint.as_bytes(), json]).map(|_| ())
}
