//! Vectors of texts, in PostgreSQL.

use std::collections::HashMap;

use toolfold_core::Fingerprint;

use super::{Lane, Postgres};
use crate::engine::Pending;
use crate::vectors::MOST;

impl Postgres {
    pub(crate) fn save_vectors(&self, encoder: Fingerprint, vectors: Vec<(Fingerprint, Vec<u8>)>) -> Pending<()> {
        self.ask(Lane::Memory, async move |link| {
            // The last of each, in an order that is the same for everybody: two who save the same must not wait for each other.
            let vectors: std::collections::BTreeMap<[u8; 32], Vec<u8>> =
                vectors.into_iter().map(|(text, vector)| (*text.as_bytes(), vector)).collect();
            let (texts, vectors): (Vec<&[u8]>, Vec<&[u8]>) =
                vectors.iter().map(|(text, vector)| (text.as_slice(), vector.as_slice())).unzip();
            let transaction = link.transaction().await?;
            let upsert = "INSERT INTO vectors (encoder, text, vector)
                          SELECT $1::bytea, new.text, new.vector FROM unnest($2::bytea[], $3::bytea[]) AS new (text, vector)
                          ON CONFLICT (encoder, text) DO UPDATE SET vector = excluded.vector, seq = DEFAULT";
            transaction.execute(upsert, &[&encoder.as_bytes().as_slice(), &texts, &vectors]).await?;
            let prune = "DELETE FROM vectors WHERE seq <= (SELECT max(seq) FROM vectors) - $1";
            transaction.execute(prune, &[&MOST]).await?;
            transaction.commit().await
        })
    }

    pub(crate) fn load_vectors(&self, encoder: Fingerprint, texts: Vec<Fingerprint>) -> Pending<Vec<Option<Vec<u8>>>> {
        self.ask(Lane::Memory, async move |link| {
            let wanted: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes().as_slice()).collect();
            let select = "SELECT text, vector FROM vectors WHERE encoder = $1 AND text = ANY ($2)";
            let rows = link.query(select, &[&encoder.as_bytes().as_slice(), &wanted]).await?;
            let found: HashMap<Vec<u8>, Vec<u8>> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
            Ok(texts.iter().map(|text| found.get(text.as_bytes().as_slice()).cloned()).collect())
        })
    }
}
