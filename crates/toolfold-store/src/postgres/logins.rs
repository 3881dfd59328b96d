//! Logins at servers, in PostgreSQL. Whether a lease is free is decided under a lock of its row, so that of all replicas one
//! renews a login.

use std::time::Duration;

use tokio_postgres::Row;

use super::{Lane, Postgres, notify, text};
use crate::cluster::Topic;
use crate::engine::Pending;
use crate::logins::{Lease, LoginKey, StoredLogin};
use crate::microseconds;

const FIND: &str = "SELECT version, issuer, sealed FROM logins WHERE server = $1 AND url = $2 AND principal = $3";

impl Postgres {
    pub(crate) fn load_login(&self, key: LoginKey) -> Pending<Option<StoredLogin>> {
        self.ask(Lane::Record, async move |link| {
            let (server, url, principal) = columns(&key);
            Ok(link.query_opt(FIND, &[&server, &url, &principal]).await?.as_ref().map(read))
        })
    }

    pub(crate) fn save_login(&self, key: LoginKey, issuer: String, sealed: Vec<u8>) -> Pending<i64> {
        let now = microseconds();
        self.ask(Lane::Record, async move |link| {
            let upsert =
                "INSERT INTO logins AS known (server, url, principal, version, issuer, sealed, saved_at, lease, leased_until)
                 VALUES ($1, $2, $3, $4, $5, $6, $4::bigint / 1000, NULL, 0)
                 ON CONFLICT (server, url, principal) DO UPDATE SET version = greatest(known.version + 1, $4),
                 issuer = $5, sealed = $6, saved_at = $4::bigint / 1000, lease = NULL, leased_until = 0 RETURNING version";
            let (server, url, principal) = columns(&key);
            let transaction = link.transaction().await?;
            let given: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
                [&server, &url, &principal, &now, &issuer.as_bytes(), &sealed];
            let version = transaction.query_one(upsert, &given).await?.get(0);
            notify(&transaction, &Topic::Logins).await?;
            transaction.commit().await?;
            Ok(version)
        })
    }

    pub(crate) fn replace_login(
        &self,
        key: LoginKey,
        known: Option<i64>,
        issuer: String,
        sealed: Vec<u8>,
    ) -> Pending<Option<i64>> {
        let now = microseconds();
        self.ask(Lane::Record, async move |link| {
            let (server, url, principal) = columns(&key);
            let transaction = link.transaction().await?;
            let written = match known {
                Some(known) => {
                    let update = "UPDATE logins SET version = greatest(version + 1, $4), issuer = $5, sealed = $6, saved_at = $4::bigint / 1000,
                                  lease = NULL, leased_until = 0
                                  WHERE server = $1 AND url = $2 AND principal = $3 AND version = $7 RETURNING version";
                    let given: [&(dyn tokio_postgres::types::ToSql + Sync); 7] =
                        [&server, &url, &principal, &now, &issuer.as_bytes(), &sealed, &known];
                    transaction.query_opt(update, &given).await?
                }
                None => {
                    let insert = "INSERT INTO logins (server, url, principal, version, issuer, sealed, saved_at, lease, leased_until)
                                  VALUES ($1, $2, $3, $4, $5, $6, $4::bigint / 1000, NULL, 0) ON CONFLICT DO NOTHING RETURNING version";
                    let given: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
                        [&server, &url, &principal, &now, &issuer.as_bytes(), &sealed];
                    transaction.query_opt(insert, &given).await?
                }
            };
            if written.is_some() {
                notify(&transaction, &Topic::Logins).await?;
            }
            transaction.commit().await?;
            Ok(written.map(|row| row.get(0)))
        })
    }

    pub(crate) fn lease_login(&self, key: LoginKey, known: i64, holder: String, time: Duration) -> Pending<Lease> {
        let time = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        self.ask(Lane::Record, async move |link| {
            let transaction = link.transaction().await?;
            let (server, url, principal) = columns(&key);
            let find = format!("{FIND} FOR UPDATE");
            let found = transaction.query_opt(&find, &[&server, &url, &principal]).await?.as_ref().map(read);
            if found.as_ref().is_none_or(|login| login.version != known) {
                return Ok(Lease::Changed(found));
            }
            // By the clock of the database: replicas need not agree on the time.
            let take = "UPDATE logins SET lease = $4, leased_until = $5 + (extract(epoch FROM clock_timestamp()) * 1000)::bigint
                        WHERE server = $1 AND url = $2 AND principal = $3 AND (lease IS NULL OR lease = $4
                        OR leased_until <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint)";
            let taken = transaction.execute(take, &[&server, &url, &principal, &holder, &time]).await?;
            transaction.commit().await?;
            Ok(if taken == 1 { Lease::Ours } else { Lease::Taken })
        })
    }

    pub(crate) fn release_login(&self, key: LoginKey, holder: String) -> Pending<()> {
        self.ask(Lane::Record, async move |link| {
            let update = "UPDATE logins SET lease = NULL, leased_until = 0
                          WHERE server = $1 AND url = $2 AND principal = $3 AND lease = $4";
            let (server, url, principal) = columns(&key);
            link.execute(update, &[&server, &url, &principal, &holder]).await.map(|_| ())
        })
    }

    pub(crate) fn forget_login(&self, key: LoginKey, version: Option<i64>) -> Pending<bool> {
        self.ask(Lane::Record, async move |link| {
            let delete = "DELETE FROM logins WHERE server = $1 AND url = $2 AND principal = $3
                          AND version = coalesce($4, version)";
            let (server, url, principal) = columns(&key);
            Ok(link.execute(delete, &[&server, &url, &principal, &version]).await? > 0)
        })
    }
}

fn columns(key: &LoginKey) -> (&str, &[u8], &[u8]) {
    (key.server.as_str(), key.url.as_bytes(), key.principal.as_bytes())
}

fn read(row: &Row) -> StoredLogin {
    StoredLogin { version: row.get(0), issuer: text(row.get(1)), sealed: row.get(2) }
}
