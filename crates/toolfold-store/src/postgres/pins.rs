//! What was accepted of what servers say, in PostgreSQL. Who decides or pins waits for whoever else does, so that a definition
//! is not thrown away as unused while somebody begins to use it.

use std::collections::HashMap;

use deadpool_postgres::Transaction;
use tokio_postgres::IsolationLevel;
use tokio_postgres::types::ToSql;
use toolfold_core::Fingerprint;

use super::schema::LOCKS;
use super::{Answer, Lane, Link, Postgres, notify, text};
use crate::cluster::Topic;
use crate::engine::Pending;
use crate::now;
use crate::pins::{NewPin, PinSource, Pinned, StoredPin};
use crate::seal::{Read, digest};

const PINNING: i32 = 2;

impl Postgres {
    pub(crate) fn pins(&self, source: PinSource) -> Pending<Pinned> {
        self.ask(Lane::Record, async move |link| {
            // Of one moment: others write, and what they have half seen would not fit.
            let moment = link.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
            let transaction = moment.start().await?;
            let pinned = Pinned::among(sources(&transaction, source.server.as_str()).await?, &source.key);
            let Pinned::Never { .. } = pinned else { return Ok(pinned) };
            let (server, key) = columns(&source);
            let select = "SELECT 1 FROM pinned WHERE server = $1 AND config_key = $2";
            let seen = transaction.query_opt(select, &[&server, &key]).await?;
            Ok(if seen.is_some() { Pinned::Lost } else { pinned })
        })
    }

    /// `None`: it is damaged, and left as it is.
    pub(crate) fn pin_new(&self, source: PinSource, pins: Vec<NewPin>) -> Pending<Option<(i64, bool)>> {
        self.ask(Lane::Record, async move |link| {
            let transaction = begin(link).await?;
            if find(&transaction, &source).await?.is_some_and(|known| known.pins.is_none()) {
                return Ok(None);
            }
            let number = number(&transaction, &source, None).await?;
            let kept = write(&transaction, number, &pins, "NOTHING").await?;
            end(transaction, number).await?;
            Ok(Some((number, kept < pins.len())))
        })
    }

    pub(crate) fn decide_pins(
        &self,
        source: PinSource,
        (strict, anew): (bool, bool),
        pins: Vec<NewPin>,
    ) -> Pending<Option<()>> {
        self.ask(Lane::Record, async move |link| {
            let transaction = begin(link).await?;
            if let Some(damaged) = find(&transaction, &source).await?.filter(|known| known.pins.is_none()) {
                if !anew {
                    return Ok(None);
                }
                transaction.execute("DELETE FROM pins WHERE source = $1", &[&damaged.number]).await?;
            }
            let number = number(&transaction, &source, Some(strict)).await?;
            let or =
                "UPDATE SET accepted = excluded.accepted, denied = excluded.denied, decided_at = excluded.decided_at,
                      decided_by = excluded.decided_by, findings = excluded.findings, raised = excluded.raised";
            // The last word on each: one row is not changed twice in one go.
            let last: HashMap<_, _> =
                pins.into_iter().map(|new| ((new.pin.kind.clone(), new.pin.name.clone()), new)).collect();
            let pins: Vec<NewPin> = last.into_values().collect();
            write(&transaction, number, &pins, or).await?;
            // Texts that nobody refers to any more. Rare enough to look through them all.
            let unused = "DELETE FROM definitions WHERE NOT EXISTS (SELECT 1 FROM pins WHERE accepted = fingerprint)";
            transaction.execute(unused, &[]).await?;
            end(transaction, number).await.map(Some)
        })
    }

    /// Whether it is damaged, here as below, and nothing was done.
    pub(crate) fn raise(&self, source: PinSource, raised: Vec<(String, String, u8)>) -> Pending<bool> {
        self.ask(Lane::Record, async move |link| {
            let transaction = begin(link).await?;
            let number = match find(&transaction, &source).await? {
                Some(Read { number, pins: Some(_), .. }) => number,
                known => return Ok(known.is_some()),
            };
            let update = "UPDATE pins SET raised = raised | $4 WHERE source = $1 AND kind = $2 AND name = $3";
            for (kind, name, raised) in &raised {
                let given: [&(dyn ToSql + Sync); 4] = [&number, kind, &name.as_bytes(), &i64::from(*raised)];
                transaction.execute(update, &given).await?;
            }
            end(transaction, number).await.map(|()| false)
        })
    }

    pub(crate) fn forget_pins(&self, source: PinSource, names: Vec<(String, String)>) -> Pending<bool> {
        self.ask(Lane::Record, async move |link| {
            let transaction = begin(link).await?;
            let number = match find(&transaction, &source).await? {
                Some(Read { number, pins: Some(_), .. }) => number,
                known => return Ok(known.is_some()),
            };
            let (kinds, names): (Vec<&str>, Vec<&[u8]>) =
                names.iter().map(|(kind, name)| (kind.as_str(), name.as_bytes())).unzip();
            let delete = "DELETE FROM pins WHERE source = $1
                          AND (kind, name) IN (SELECT * FROM unnest($2::text[], $3::bytea[]))";
            transaction.execute(delete, &[&number, &kinds, &names]).await?;
            end(transaction, number).await.map(|()| false)
        })
    }

    pub(crate) fn adopt(&self, source: PinSource, former: Fingerprint) -> Pending<()> {
        self.ask(Lane::Record, async move |link| {
            let transaction = begin(link).await?;
            let ((server, key), former) = (columns(&source), former.as_bytes().as_slice());
            for table in ["sources", "pinned"] {
                let rename = format!(
                    "UPDATE {table} SET config_key = $3 WHERE server = $1 AND config_key = $2
                     AND NOT EXISTS (SELECT 1 FROM {table} WHERE server = $1 AND config_key = $3)"
                );
                transaction.execute(&rename, &[&server, &former, &key]).await?;
            }
            transaction.commit().await
        })
    }

    pub(crate) fn accepted_definitions(&self, wanted: Vec<Fingerprint>) -> Pending<HashMap<Fingerprint, String>> {
        self.ask(Lane::Record, async move |link| {
            let wanted: Vec<&[u8]> = wanted.iter().map(|one| one.as_bytes().as_slice()).collect();
            let select = "SELECT fingerprint, json FROM definitions WHERE fingerprint = ANY ($1)";
            let rows = link.query(select, &[&wanted]).await?;
            let one = |row: &tokio_postgres::Row| Some((fingerprint(row.get(0))?, text(row.get(1))));
            Ok(rows.iter().filter_map(one).collect())
        })
    }
}

fn columns(source: &PinSource) -> (&str, &[u8]) {
    (source.server.as_str(), source.key.as_bytes().as_slice())
}

fn fingerprint(bytes: Option<Vec<u8>>) -> Option<Fingerprint> {
    Some(Fingerprint::from_bytes(bytes?.try_into().ok()?))
}

/// Seals every source as it is: once, when a database is made one that has seals.
pub(super) async fn seal_all(transaction: &Transaction<'_>) -> Answer<()> {
    for row in transaction.query("SELECT number FROM sources", &[]).await? {
        seal(transaction, row.get(0)).await?;
    }
    Ok(())
}

/// From here on nobody else pins.
async fn begin(link: &mut Link) -> Answer<Transaction<'_>> {
    let transaction = link.transaction().await?;
    transaction.execute("SELECT pg_advisory_xact_lock($1, $2)", &[&LOCKS, &PINNING]).await?;
    Ok(transaction)
}

async fn end(transaction: Transaction<'_>, number: i64) -> Answer<()> {
    seal(&transaction, number).await?;
    notify(&transaction, &Topic::Pins).await?;
    transaction.commit().await
}

async fn seal(transaction: &Transaction<'_>, number: i64) -> Answer<()> {
    let strict = transaction.query_one("SELECT strict FROM sources WHERE number = $1", &[&number]).await?.get(0);
    let seal = digest(strict, &rows(transaction, number).await?);
    let update = "UPDATE sources SET seal = $2 WHERE number = $1";
    transaction.execute(update, &[&number, &seal.as_bytes().as_slice()]).await.map(|_| ())
}

async fn find(transaction: &Transaction<'_>, source: &PinSource) -> Answer<Option<Read>> {
    let all = sources(transaction, source.server.as_str()).await?;
    Ok(all.into_iter().find(|known| known.key == source.key.as_bytes().as_slice()))
}

/// Everything that has this name.
async fn sources(transaction: &Transaction<'_>, server: &str) -> Answer<Vec<Read>> {
    let select = "SELECT number, config_key, strict, seal FROM sources WHERE server = $1";
    let mut all = Vec::new();
    for row in transaction.query(select, &[&server]).await? {
        let (number, seal): (i64, Option<Vec<u8>>) = (row.get(0), row.get(3));
        all.push(Read::new(number, row.get(1), row.get(2), seal.as_deref(), rows(transaction, number).await?));
    }
    Ok(all)
}

/// The pins of a source. One that is not what was written is read as something else, and does not fit the seal.
async fn rows(transaction: &Transaction<'_>, number: i64) -> Answer<Vec<StoredPin>> {
    let select = "SELECT kind, name, accepted, denied, decided_by, findings, raised FROM pins WHERE source = $1";
    let rows = transaction.query(select, &[&number]).await?;
    let pin = |row: &tokio_postgres::Row| StoredPin {
        kind: row.get(0),
        name: text(row.get(1)),
        accepted: fingerprint(row.get(2)),
        denied: fingerprint(row.get(3)),
        by: row.get::<_, Option<Vec<u8>>>(4).map(text),
        findings: u32::try_from(row.get::<_, i64>(5)).unwrap_or(u32::MAX),
        raised: u8::try_from(row.get::<_, i64>(6)).unwrap_or(u8::MAX),
    };
    Ok(rows.iter().map(pin).collect())
}

/// The number of a source, which it gets now where it has none.
async fn number(transaction: &Transaction<'_>, source: &PinSource, strict: Option<bool>) -> Answer<i64> {
    let (server, key) = columns(source);
    let seen = "INSERT INTO pinned (server, config_key) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    transaction.execute(seen, &[&server, &key]).await?;
    let insert = "INSERT INTO sources AS known (server, config_key, pinned_at, strict)
                  VALUES ($1, $2, $3, coalesce($4::boolean, false)) ON CONFLICT (server, config_key)
                  DO UPDATE SET strict = coalesce($4, known.strict) RETURNING number";
    Ok(transaction.query_one(insert, &[&server, &key, &now(), &strict]).await?.get(0))
}

/// Keeps pins, and the definitions behind them; how many were.
async fn write(transaction: &Transaction<'_>, number: i64, pins: &[NewPin], or: &str) -> Answer<usize> {
    let upsert = format!(
        "INSERT INTO pins (source, kind, name, accepted, denied, decided_at, decided_by, findings, raised)
         SELECT $1::bigint, new.kind, new.name, new.accepted, new.denied, $2::bigint, new.by, new.findings, new.raised
         FROM unnest($3::text[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[], $8::bigint[], $9::bigint[])
         AS new (kind, name, accepted, denied, by, findings, raised) ON CONFLICT (source, kind, name) DO {or}"
    );
    let bytes = |fingerprint: &Option<Fingerprint>| fingerprint.as_ref().map(|one| one.as_bytes().to_vec());
    let kinds: Vec<&str> = pins.iter().map(|new| new.pin.kind.as_str()).collect();
    let names: Vec<&[u8]> = pins.iter().map(|new| new.pin.name.as_bytes()).collect();
    let accepted: Vec<Option<Vec<u8>>> = pins.iter().map(|new| bytes(&new.pin.accepted)).collect();
    let denied: Vec<Option<Vec<u8>>> = pins.iter().map(|new| bytes(&new.pin.denied)).collect();
    let by: Vec<Option<&[u8]>> = pins.iter().map(|new| new.pin.by.as_deref().map(str::as_bytes)).collect();
    let findings: Vec<i64> = pins.iter().map(|new| i64::from(new.pin.findings)).collect();
    let raised: Vec<i64> = pins.iter().map(|new| i64::from(new.pin.raised)).collect();
    let given: [&(dyn ToSql + Sync); 9] =
        [&number, &now(), &kinds, &names, &accepted, &denied, &by, &findings, &raised];
    let kept = transaction.execute(&upsert, &given).await?;
    let texts = pins.iter().filter_map(|new| Some((new.pin.accepted.as_ref()?, new.definition.as_deref()?)));
    let (fingerprints, texts): (Vec<&[u8]>, Vec<&[u8]>) =
        texts.map(|(fingerprint, json)| (fingerprint.as_bytes().as_slice(), json.as_bytes())).unzip();
    // A text that was damaged is mended by whoever has it whole. Two entries may look the same.
    let insert = "INSERT INTO definitions AS known (fingerprint, json)
                  SELECT DISTINCT ON (new.fingerprint) new.fingerprint, new.json
                  FROM unnest($1::bytea[], $2::bytea[]) AS new (fingerprint, json)
                  ON CONFLICT (fingerprint) DO UPDATE SET json = excluded.json WHERE known.json <> excluded.json";
    transaction.execute(insert, &[&fingerprints, &texts]).await?;
    Ok(usize::try_from(kept).unwrap_or_default())
}
