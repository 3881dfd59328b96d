//! What servers said of themselves when they last ran, so that the next start can answer without them. The text is
//! carried, never read: its meaning is its writer's.

use rusqlite::{Connection, Row, params};
use toolfold_core::{Fingerprint, ServerName};

use crate::engine::Pending;
use crate::keyed::rows_of;
use crate::{Store, now};

/// How many configurations of one server name are remembered: projects share this file, and forgotten ones must not
/// fill it for ever.
pub(crate) const PER_NAME: i64 = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredManifest {
    pub server: ServerName,
    /// For which configuration it holds. One of the same name with another key is another server's.
    pub config_key: Fingerprint,
    pub json: String,
}

impl Store {
    /// Remembers this in place of what was remembered for the same server and key. The text is made on the store's
    /// thread: to write down twenty thousand tools takes a while.
    pub fn save_manifest(
        &self,
        server: &ServerName,
        config_key: &Fingerprint,
        json: impl FnOnce() -> String + Send + 'static,
    ) -> Pending<()> {
        if let Some(postgres) = self.memory.postgres() {
            return postgres.save_manifest(server, config_key, json);
        }
        let (server, config_key) = (server.clone(), *config_key);
        self.memory.run(move |connection| {
            let json = json();
            let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            save(&transaction, &server, &config_key, &json)?;
            transaction.commit()
        })
    }

    /// Everything that is remembered, of whatever configuration.
    pub fn load_manifests(&self) -> Pending<Vec<StoredManifest>> {
        if let Some(postgres) = self.memory.postgres() {
            return postgres.load_manifests();
        }
        self.memory.run(|connection| {
            let mut select = connection.prepare_cached("SELECT server, config_key, json FROM manifests")?;
            let rows = select.query_map([], read)?;
            // A row with a name or a key that is none was not written by us; it helps nobody.
            rows.filter_map(Result::transpose).collect()
        })
    }

    /// What is remembered of these servers in exactly these configurations, in their order.
    pub fn load_manifests_of(&self, wanted: Vec<(ServerName, Fingerprint)>) -> Pending<Vec<StoredManifest>> {
        const SELECT: &str = "SELECT json FROM manifests WHERE server = ?1 AND config_key = ?2";
        if let Some(postgres) = self.memory.postgres() {
            return postgres.load_manifests_of(wanted);
        }
        self.memory.run(move |connection| {
            let manifest = |((server, config_key), json)| StoredManifest { server, config_key, json };
            Ok(rows_of(connection, SELECT, wanted, |row| row.get(0))?.into_iter().map(manifest).collect())
        })
    }

    /// Forgets this server in all its configurations.
    pub fn forget_manifest(&self, server: &ServerName) -> Pending<()> {
        if let Some(postgres) = self.memory.postgres() {
            return postgres.forget_manifest(server);
        }
        let server = server.clone();
        self.memory.run(move |connection| {
            connection.execute("DELETE FROM manifests WHERE server = ?1", [server.as_str()]).map(|_| ())
        })
    }
}

fn save(connection: &Connection, server: &ServerName, key: &Fingerprint, json: &str) -> rusqlite::Result<()> {
    let mut upsert = connection.prepare_cached(
        "INSERT INTO manifests (server, config_key, saved_at, json) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (server, config_key) DO UPDATE SET saved_at = ?3, json = ?4",
    )?;
    upsert.execute(params![server.as_str(), key.as_bytes(), now(), json])?;
    let mut prune = connection.prepare_cached(
        "DELETE FROM manifests WHERE server = ?1 AND config_key <> ?2 AND rowid NOT IN
         (SELECT rowid FROM manifests WHERE server = ?1 ORDER BY saved_at DESC, rowid DESC LIMIT ?3)",
    )?;
    prune.execute(params![server.as_str(), key.as_bytes(), PER_NAME]).map(|_| ())
}

fn read(row: &Row<'_>) -> rusqlite::Result<Option<StoredManifest>> {
    let (server, key) = (ServerName::new(row.get::<_, String>(0)?), <[u8; 32]>::try_from(row.get_ref(1)?.as_blob()?));
    let (Ok(server), Ok(key)) = (server, key) else { return Ok(None) };
    Ok(Some(StoredManifest { server, config_key: Fingerprint::from_bytes(key), json: row.get(2)? }))
}
