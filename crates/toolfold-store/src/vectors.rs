//! Vectors of texts, by the encoder that made them and the fingerprint of the text. Each took tens of milliseconds of
//! arithmetic, so they are kept as long as there is room; the oldest go first. As with manifests, what is in them is
//! their writer's business.

use rusqlite::{OptionalExtension, TransactionBehavior, params};
use toolfold_core::Fingerprint;

use crate::Store;
use crate::engine::Pending;

/// Some fifty megabytes.
pub(crate) const MOST: i64 = 100_000;

impl Store {
    /// Remembers vectors, all or none.
    pub fn save_vectors(&self, encoder: &Fingerprint, vectors: Vec<(Fingerprint, Vec<u8>)>) -> Pending<()> {
        if let Some(postgres) = self.memory.postgres() {
            return postgres.save_vectors(*encoder, vectors);
        }
        let encoder = *encoder;
        self.memory.run(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            {
                let insert = "INSERT OR REPLACE INTO vectors (encoder, text, vector) VALUES (?1, ?2, ?3)";
                let mut insert = transaction.prepare_cached(insert)?;
                for (text, vector) in vectors {
                    insert.execute(params![encoder.as_bytes(), text.as_bytes(), vector])?;
                }
            }
            // Row numbers grow, so they tell the age.
            let prune = "DELETE FROM vectors WHERE rowid <= (SELECT max(rowid) FROM vectors) - ?1";
            transaction.prepare_cached(prune)?.execute([MOST])?;
            transaction.commit()
        })
    }

    /// The vectors of these texts, in their order, where there are any.
    pub fn load_vectors(&self, encoder: &Fingerprint, texts: Vec<Fingerprint>) -> Pending<Vec<Option<Vec<u8>>>> {
        if let Some(postgres) = self.memory.postgres() {
            return postgres.load_vectors(*encoder, texts);
        }
        let encoder = *encoder;
        self.memory.run(move |connection| {
            let transaction = connection.transaction()?;
            let select = "SELECT vector FROM vectors WHERE encoder = ?1 AND text = ?2";
            let mut select = transaction.prepare_cached(select)?;
            let mut load = |text: &Fingerprint| {
                select.query_row(params![encoder.as_bytes(), text.as_bytes()], |row| row.get(0)).optional()
            };
            texts.iter().map(&mut load).collect()
        })
    }
}
