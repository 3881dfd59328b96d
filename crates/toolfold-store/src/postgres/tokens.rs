//! Tokens that were given out, in PostgreSQL.

use tokio_postgres::Row;

use super::{Lane, Postgres, notify};
use crate::cluster::Topic;
use crate::engine::Pending;
use crate::now;
use crate::tokens::{COLUMNS, StoredToken};

impl Postgres {
    pub(crate) fn add_token(&self, hash: [u8; 32], token: StoredToken) -> Pending<bool> {
        self.ask(Lane::Record, async move |link| {
            let insert =
                format!("INSERT INTO tokens (hash, {COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING");
            let StoredToken { name, groups, beginning, created_at, expires_at } = token;
            let (hash, groups) = (hash.as_slice(), groups.join("\n"));
            let given: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
                [&hash, &name, &groups, &beginning, &created_at, &expires_at];
            let transaction = link.transaction().await?;
            let added = transaction.execute(&insert, &given).await? > 0;
            notify(&transaction, &Topic::Tokens).await?;
            transaction.commit().await?;
            Ok(added)
        })
    }

    pub(crate) fn tokens(&self) -> Pending<Vec<StoredToken>> {
        self.ask(Lane::Record, async |link| {
            let rows = link.query(&format!("SELECT {COLUMNS} FROM tokens ORDER BY name"), &[]).await?;
            Ok(rows.iter().map(read).collect())
        })
    }

    pub(crate) fn revoke_token(&self, name: String) -> Pending<bool> {
        self.ask(Lane::Record, async move |link| {
            let transaction = link.transaction().await?;
            let gone = transaction.execute("DELETE FROM tokens WHERE name = $1", &[&name]).await? > 0;
            notify(&transaction, &Topic::Tokens).await?;
            transaction.commit().await?;
            Ok(gone)
        })
    }

    pub(crate) fn token(&self, hash: [u8; 32]) -> Pending<Option<StoredToken>> {
        let now = now();
        self.ask(Lane::Free, async move |link| {
            let select =
                format!("SELECT {COLUMNS} FROM tokens WHERE hash = $1 AND (expires_at IS NULL OR expires_at > $2)");
            let select = link.prepare_cached(&select).await?;
            Ok(link.query_opt(&select, &[&hash.as_slice(), &now]).await?.as_ref().map(read))
        })
    }
}

pub(crate) fn read(row: &Row) -> StoredToken {
    let groups: String = row.get(1);
    StoredToken {
        name: row.get(0),
        groups: groups.lines().map(str::to_owned).collect(),
        beginning: row.get(2),
        created_at: row.get(3),
        expires_at: row.get(4),
    }
}
