//! Tokens that were given out to people and programs, each under a name. Part of the record: one that was revoked must
//! not come back with an older file.
//!
//! What a reader would get wrong: there is no cache in front of this. A token is looked up whenever it is presented, by
//! whichever process it is presented to, so that revoking it takes effect everywhere at once.

use rusqlite::{OptionalExtension, Row, params};

use crate::engine::Pending;
use crate::{Store, now};

/// What is kept of a token: everything but the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredToken {
    pub name: String,
    pub groups: Vec<String>,
    /// How it begins, for people who have several.
    pub beginning: String,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// `None`: never.
    pub expires_at: Option<i64>,
}

pub(crate) const COLUMNS: &str = "name, groups, beginning, created_at, expires_at";

impl Store {
    /// Keeps a token under its name. False where the name is taken: nothing changes then.
    pub fn add_token(&self, hash: [u8; 32], token: StoredToken) -> Pending<bool> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.add_token(hash, token);
        }
        self.record.run(move |connection| {
            let insert =
                format!("INSERT INTO tokens (hash, {COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING");
            let StoredToken { name, groups, beginning, created_at, expires_at } = token;
            let given = params![hash, name, groups.join("\n"), beginning, created_at, expires_at];
            Ok(connection.execute(&insert, given)? > 0)
        })
    }

    /// By name; those that have expired too.
    pub fn tokens(&self) -> Pending<Vec<StoredToken>> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.tokens();
        }
        self.record.look(|connection| {
            let mut select = connection.prepare(&format!("SELECT {COLUMNS} FROM tokens ORDER BY name"))?;
            let rows = select.query_map([], read)?;
            rows.collect()
        })
    }

    /// Takes a token back; false where there is none of this name.
    pub fn revoke_token(&self, name: &str) -> Pending<bool> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.revoke_token(name.to_owned());
        }
        let name = name.to_owned();
        self.record.look(move |connection| Ok(connection.execute("DELETE FROM tokens WHERE name = ?1", [name])? > 0))
    }

    /// The token with this hash, unless it has expired.
    pub fn token(&self, hash: [u8; 32]) -> Pending<Option<StoredToken>> {
        if let Some(postgres) = self.record.postgres() {
            return postgres.token(hash);
        }
        let now = now();
        self.record.look(move |connection| {
            let select =
                format!("SELECT {COLUMNS} FROM tokens WHERE hash = ?1 AND (expires_at IS NULL OR expires_at > ?2)");
            connection.prepare_cached(&select)?.query_row(params![hash, now], read).optional()
        })
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoredToken> {
    let groups: String = row.get(1)?;
    Ok(StoredToken {
        name: row.get(0)?,
        groups: groups.lines().map(str::to_owned).collect(),
        beginning: row.get(2)?,
        created_at: row.get(3)?,
        expires_at: row.get(4)?,
    })
}
