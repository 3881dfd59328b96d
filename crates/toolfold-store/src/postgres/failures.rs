//! Why servers did not start, in PostgreSQL.

use toolfold_core::{Fingerprint, ServerName};

use super::manifests::{columns, keyed};
use super::{Lane, Postgres, text};
use crate::engine::Pending;
use crate::failures::{PER_NAME, StoredFailure, time};
use crate::now;

impl Postgres {
    pub(crate) fn save_failure(&self, server: &ServerName, config_key: &Fingerprint, why: String) -> Pending<()> {
        let (server, config_key) = (server.clone(), *config_key);
        self.ask(Lane::Memory, async move |link| {
            let transaction = link.transaction().await?;
            let upsert = "INSERT INTO failures (server, config_key, failed_at, why) VALUES ($1, $2, $3, $4)
                          ON CONFLICT (server, config_key) DO UPDATE SET failed_at = $3, why = $4";
            let (server, key) = (server.as_str(), config_key.as_bytes().as_slice());
            transaction.execute(upsert, &[&server, &key, &now(), &why.as_bytes()]).await?;
            let prune = "DELETE FROM failures WHERE server = $1 AND config_key <> $2 AND seq NOT IN
                         (SELECT seq FROM failures WHERE server = $1 ORDER BY failed_at DESC, seq DESC LIMIT $3)";
            transaction.execute(prune, &[&server, &key, &PER_NAME]).await?;
            transaction.commit().await
        })
    }

    pub(crate) fn load_failures(&self, wanted: Vec<(ServerName, Fingerprint)>) -> Pending<Vec<StoredFailure>> {
        self.ask(Lane::Memory, async move |link| {
            let select = "SELECT found.server, found.config_key, why, failed_at FROM failures found
                          JOIN unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS wanted (server, config_key, place)
                          USING (server, config_key) ORDER BY place";
            let (servers, keys) = columns(&wanted);
            let rows = link.query(select, &[&servers, &keys]).await?;
            let failure = |row: &tokio_postgres::Row| {
                let (server, config_key) = keyed(row.get(0), row.get(1))?;
                Some(StoredFailure { server, config_key, why: text(row.get(2)), at: time(row.get(3)) })
            };
            Ok(rows.iter().filter_map(failure).collect())
        })
    }

    pub(crate) fn clear_failure(&self, server: &ServerName, config_key: &Fingerprint) -> Pending<()> {
        let (server, config_key) = (server.clone(), *config_key);
        self.ask(Lane::Memory, async move |link| {
            let delete = "DELETE FROM failures WHERE server = $1 AND config_key = $2";
            link.execute(delete, &[&server.as_str(), &config_key.as_bytes().as_slice()]).await.map(|_| ())
        })
    }
}
