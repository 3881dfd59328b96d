//! What was accepted of what servers say, in PostgreSQL. Who decides or pins waits for whoever else does, so that a definition
//! is not thrown away as unused while somebody begins to use it.

use std::collections::HashMap;

use deadpool_postgres::Transaction;
use tokio_postgres::types::ToSql;
use toolfold_core::Fingerprint;

use super::schema::LOCKS;
use super::{Answer, Lane, Link, Postgres, notify, text};
use crate::cluster::Topic;
use crate::engine::Pending;
use crate::now;
use crate::pins::{NewPin, PinSource, Pinned, StoredPin, StoredPins};

const PINNING: i32 = 2;

impl Postgres {
    pub(crate) fn pins(&self, source: PinSource) -> Pending<Pinned> {
        self.ask(Lane::Record, async move |link| {
            let (server, key) = columns(&source);
            let find = "SELECT number, strict FROM sources WHERE server = $1 AND config_key = $2";
            if let Some(found) = link.query_opt(find, &[&server, &key]).await? {
                return Ok(Pinned::Known(known(link, found.get(0), found.get(1)).await?));
            }
            let select = "SELECT 1 FROM pinned WHERE server = $1 AND config_key = $2";
            let seen = link.query_opt(select, &[&server, &key]).await?;
            Ok(if seen.is_some() { Pinned::Lost } else { Pinned::Never })
        })
    }

    pub(crate) fn pin_new(&self, source: PinSource, pins: Vec<NewPin>) -> Pending<(i64, bool)> {
        self.ask(Lane::Record, async move |link| {
            let transaction = link.transaction().await?;
            let number = number(&transaction, &source, None).await?;
            let kept = write(&transaction, number, &pins, "NOTHING").await?;
            notify(&transaction, &Topic::Pins).await?;
            transaction.commit().await?;
            Ok((number, kept < pins.len()))
        })
    }

    pub(crate) fn decide_pins(&self, source: PinSource, strict: bool, pins: Vec<NewPin>) -> Pending<()> {
        self.ask(Lane::Record, async move |link| {
            let transaction = link.transaction().await?;
            let number = number(&transaction, &source, Some(strict)).await?;
            let or =
                "UPDATE SET accepted = excluded.accepted, denied = excluded.denied, decided_at = excluded.decided_at,
                      decided_by = excluded.decided_by, findings = excluded.findings";
            // The last word on each: one row is not changed twice in one go.
            let last: HashMap<_, _> =
                pins.into_iter().map(|new| ((new.pin.kind.clone(), new.pin.name.clone()), new)).collect();
            let pins: Vec<NewPin> = last.into_values().collect();
            write(&transaction, number, &pins, or).await?;
            // Texts that nobody refers to any more. Rare enough to look through them all.
            let unused = "DELETE FROM definitions WHERE NOT EXISTS (SELECT 1 FROM pins WHERE accepted = fingerprint)";
            transaction.execute(unused, &[]).await?;
            notify(&transaction, &Topic::Pins).await?;
            transaction.commit().await
        })
    }

    pub(crate) fn forget_pins(&self, source: PinSource, names: Vec<(String, String)>) -> Pending<()> {
        self.ask(Lane::Record, async move |link| {
            let (server, key) = columns(&source);
            let (kinds, names): (Vec<&str>, Vec<&[u8]>) =
                names.iter().map(|(kind, name)| (kind.as_str(), name.as_bytes())).unzip();
            let delete =
                "DELETE FROM pins WHERE source = (SELECT number FROM sources WHERE server = $1 AND config_key = $2)
                          AND (kind, name) IN (SELECT * FROM unnest($3::text[], $4::bytea[]))";
            link.execute(delete, &[&server, &key, &kinds, &names]).await.map(|_| ())
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

async fn known(link: &Link, number: i64, strict: bool) -> Answer<StoredPins> {
    let select = "SELECT kind, name, accepted, denied, decided_by, findings FROM pins WHERE source = $1";
    let rows = link.query(select, &[&number]).await?;
    let pin = |row: &tokio_postgres::Row| StoredPin {
        kind: row.get(0),
        name: text(row.get(1)),
        accepted: fingerprint(row.get(2)),
        denied: fingerprint(row.get(3)),
        by: row.get::<_, Option<Vec<u8>>>(4).map(text),
        findings: u32::try_from(row.get::<_, i64>(5)).unwrap_or(u32::MAX),
    };
    Ok(StoredPins { number, strict, pins: rows.iter().map(pin).collect() })
}

/// The number of a source, which it gets now where it has none; from here on nobody else pins.
async fn number(transaction: &Transaction<'_>, source: &PinSource, strict: Option<bool>) -> Answer<i64> {
    transaction.execute("SELECT pg_advisory_xact_lock($1, $2)", &[&LOCKS, &PINNING]).await?;
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
        "INSERT INTO pins (source, kind, name, accepted, denied, decided_at, decided_by, findings)
         SELECT $1::bigint, new.kind, new.name, new.accepted, new.denied, $2::bigint, new.by, new.findings
         FROM unnest($3::text[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[], $8::bigint[])
         AS new (kind, name, accepted, denied, by, findings) ON CONFLICT (source, kind, name) DO {or}"
    );
    let bytes = |fingerprint: &Option<Fingerprint>| fingerprint.as_ref().map(|one| one.as_bytes().to_vec());
    let kinds: Vec<&str> = pins.iter().map(|new| new.pin.kind.as_str()).collect();
    let names: Vec<&[u8]> = pins.iter().map(|new| new.pin.name.as_bytes()).collect();
    let accepted: Vec<Option<Vec<u8>>> = pins.iter().map(|new| bytes(&new.pin.accepted)).collect();
    let denied: Vec<Option<Vec<u8>>> = pins.iter().map(|new| bytes(&new.pin.denied)).collect();
    let by: Vec<Option<&[u8]>> = pins.iter().map(|new| new.pin.by.as_deref().map(str::as_bytes)).collect();
    let findings: Vec<i64> = pins.iter().map(|new| i64::from(new.pin.findings)).collect();
    let given: [&(dyn ToSql + Sync); 8] = [&number, &now(), &kinds, &names, &accepted, &denied, &by, &findings];
    let kept = transaction.execute(&upsert, &given).await?;
    let texts = pins.iter().filter_map(|new| Some((new.pin.accepted.as_ref()?, new.definition.as_deref()?)));
    let (fingerprints, texts): (Vec<&[u8]>, Vec<&[u8]>) =
        texts.map(|(fingerprint, json)| (fingerprint.as_bytes().as_slice(), json.as_bytes())).unzip();
    let insert = "INSERT INTO definitions (fingerprint, json)
                  SELECT * FROM unnest($1::bytea[], $2::bytea[]) ON CONFLICT DO NOTHING";
    transaction.execute(insert, &[&fingerprints, &texts]).await?;
    Ok(usize::try_from(kept).unwrap_or_default())
}
