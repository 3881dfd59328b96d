//! What servers said of themselves, in PostgreSQL.

use toolfold_core::{Fingerprint, ServerName};

use super::{Lane, Postgres, notify, text};
use crate::cluster::Topic;
use crate::engine::Pending;
use crate::manifests::{PER_NAME, StoredManifest};
use crate::now;

impl Postgres {
    pub(crate) fn save_manifest(
        &self,
        server: &ServerName,
        config_key: &Fingerprint,
        json: impl FnOnce() -> String + Send + 'static,
    ) -> Pending<()> {
        let (server, config_key) = (server.clone(), *config_key);
        self.ask(Lane::Memory, async move |link| {
            let json = json();
            let transaction = link.transaction().await?;
            let (server, key) = (server.as_str(), config_key.as_bytes().as_slice());
            // What was said before and is said again is no news for anybody.
            let same = "UPDATE manifests SET saved_at = $3 WHERE server = $1 AND config_key = $2 AND json = $4";
            if transaction.execute(same, &[&server, &key, &now(), &json.as_bytes()]).await? > 0 {
                return transaction.commit().await;
            }
            let upsert = "INSERT INTO manifests (server, config_key, saved_at, json) VALUES ($1, $2, $3, $4)
                          ON CONFLICT (server, config_key) DO UPDATE SET saved_at = $3, json = $4, seq = DEFAULT";
            transaction.execute(upsert, &[&server, &key, &now(), &json.as_bytes()]).await?;
            let prune = "DELETE FROM manifests WHERE server = $1 AND config_key <> $2 AND seq NOT IN
                         (SELECT seq FROM manifests WHERE server = $1 ORDER BY saved_at DESC, seq DESC LIMIT $3)";
            transaction.execute(prune, &[&server, &key, &PER_NAME]).await?;
            notify(&transaction, &Topic::Manifests).await?;
            transaction.commit().await
        })
    }

    pub(crate) fn load_manifests(&self) -> Pending<Vec<StoredManifest>> {
        self.ask(Lane::Memory, async |link| {
            let rows = link.query("SELECT server, config_key, json FROM manifests", &[]).await?;
            Ok(rows.iter().filter_map(|row| manifest(row.get(0), row.get(1), row.get(2))).collect())
        })
    }

    pub(crate) fn load_manifests_of(&self, wanted: Vec<(ServerName, Fingerprint)>) -> Pending<Vec<StoredManifest>> {
        self.ask(Lane::Memory, async move |link| {
            let select = "SELECT found.server, found.config_key, json FROM manifests found
                          JOIN unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS wanted (server, config_key, place)
                          USING (server, config_key) ORDER BY place";
            let (servers, keys) = columns(&wanted);
            let rows = link.query(select, &[&servers, &keys]).await?;
            Ok(rows.iter().filter_map(|row| manifest(row.get(0), row.get(1), row.get(2))).collect())
        })
    }

    pub(crate) fn forget_manifest(&self, server: &ServerName) -> Pending<()> {
        let server = server.clone();
        self.ask(Lane::Memory, async move |link| {
            link.execute("DELETE FROM manifests WHERE server = $1", &[&server.as_str()]).await.map(|_| ())
        })
    }
}

pub(super) fn columns(wanted: &[(ServerName, Fingerprint)]) -> (Vec<&str>, Vec<&[u8]>) {
    wanted.iter().map(|(server, key)| (server.as_str(), key.as_bytes().as_slice())).unzip()
}

/// `None` where a name or a key is none: it was not written by us.
pub(crate) fn keyed(server: String, key: Vec<u8>) -> Option<(ServerName, Fingerprint)> {
    Some((ServerName::new(server).ok()?, Fingerprint::from_bytes(key.try_into().ok()?)))
}

fn manifest(server: String, key: Vec<u8>, json: Vec<u8>) -> Option<StoredManifest> {
    let (server, config_key) = keyed(server, key)?;
    Some(StoredManifest { server, config_key, json: text(json) })
}
