//! What all replicas hold copies of, and how each finds out that its own is old: a number for each matter, which grows with every
//! change. Looking at the numbers is one small question, however much there is.

use std::collections::HashMap;

use toolfold_core::{Fingerprint, ServerName};

use super::{Cluster, Topic};
use crate::engine::Pending;
use crate::manifests::StoredManifest;
use crate::postgres::{Lane, keyed, text, token};
use crate::tokens::StoredToken;

/// How often each matter has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Versions(HashMap<String, i64>);

impl Versions {
    pub fn of(&self, change: &Topic) -> i64 {
        self.0.get(change.as_str()).copied().unwrap_or_default()
    }
}

/// A manifest that is newer than what was known, and its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewerManifest {
    pub manifest: StoredManifest,
    pub version: i64,
}

impl Cluster {
    pub fn versions(&self) -> Pending<Versions> {
        self.postgres.ask(Lane::Free, async |link| {
            let select = link.prepare_cached("SELECT topic, number FROM versions").await?;
            Ok(Versions(link.query(&select, &[]).await?.iter().map(|row| (row.get(0), row.get(1))).collect()))
        })
    }

    /// Of these servers in these configurations, what was said after the versions that are known. A version grows only where
    /// something else was said.
    pub fn newer_manifests(&self, known: Vec<(ServerName, Fingerprint, i64)>) -> Pending<Vec<NewerManifest>> {
        self.postgres.ask(Lane::Free, async move |link| {
            let select = "SELECT found.server, found.config_key, found.json, found.seq FROM manifests found
                          JOIN unnest($1::text[], $2::bytea[], $3::bigint[]) AS known (server, config_key, seq)
                          ON found.server = known.server AND found.config_key = known.config_key AND found.seq > known.seq";
            let servers: Vec<&str> = known.iter().map(|(server, _, _)| server.as_str()).collect();
            let keys: Vec<&[u8]> = known.iter().map(|(_, key, _)| key.as_bytes().as_slice()).collect();
            let versions: Vec<i64> = known.iter().map(|(_, _, version)| *version).collect();
            let rows = link.query(select, &[&servers, &keys, &versions]).await?;
            let newer = |row: &tokio_postgres::Row| {
                let (server, config_key) = keyed(row.get(0), row.get(1))?;
                let manifest = StoredManifest { server, config_key, json: text(row.get(2)) };
                Some(NewerManifest { manifest, version: row.get(3) })
            };
            Ok(rows.iter().filter_map(newer).collect())
        })
    }

    /// Every token with its hash, those that have expired too: to know them while the database is away.
    pub fn all_tokens(&self) -> Pending<Vec<([u8; 32], StoredToken)>> {
        self.postgres.ask(Lane::Free, async |link| {
            let rows = link.query(&format!("SELECT {}, hash FROM tokens", crate::tokens::COLUMNS), &[]).await?;
            let hash = |row: &tokio_postgres::Row| <[u8; 32]>::try_from(row.get::<_, Vec<u8>>(5)).ok();
            Ok(rows.iter().filter_map(|row| Some((hash(row)?, token(row)))).collect())
        })
    }

    /// The tools that had been called at least so many times when this day began for the first replica that asked, the most
    /// called first, and which day it is. All replicas get the same until the next day.
    pub fn used_of_the_day(&self, at_least: i64, limit: i64) -> Pending<(i64, Vec<String>)> {
        self.postgres.ask(Lane::Free, async move |link| {
            let today = "floor(extract(epoch FROM clock_timestamp()) / 86400)::bigint";
            let insert = format!(
                "INSERT INTO used (day, tools) SELECT {today}, coalesce(array_agg(tool ORDER BY calls DESC, tool), '{{}}')
                 FROM (SELECT tool, calls FROM usage WHERE calls >= $1 ORDER BY calls DESC, tool LIMIT $2) AS most
                 ON CONFLICT (day) DO NOTHING"
            );
            let select = "SELECT day, tools FROM used ORDER BY day DESC LIMIT 1";
            let found = link.query_opt(&format!("SELECT day, tools FROM used WHERE day = {today}"), &[]).await?;
            let row = match found {
                Some(row) => row,
                None => {
                    link.execute(&insert, &[&at_least, &limit]).await?;
                    link.execute(&format!("DELETE FROM used WHERE day < {today} - 7"), &[]).await?;
                    link.query_one(select, &[]).await?
                }
            };
            Ok((row.get(0), row.get::<_, Vec<Vec<u8>>>(1).into_iter().map(text).collect()))
        })
    }
}
