//! Whether everything is as it was written.

use rusqlite::Connection;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::file::{Hash, Head, chained, last_cut};
use crate::moment::Moment;
use crate::read::{Reader, Stored, read};

/// What came of looking at every event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verified {
    Sound {
        /// Events that were looked at.
        events: u64,
        /// The last of those that were taken away before.
        cut: Option<u64>,
        head: Head,
    },
    Broken(Break),
}

/// The first thing that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// `None`: it is none of the events.
    pub number: Option<u64>,
    pub why: String,
}

impl Reader {
    /// Looks at every event, from the first on.
    pub fn verify(&self) -> Verified {
        match verify(&self.connection) {
            Ok(sound) => sound,
            Err(broken) => Verified::Broken(broken),
        }
    }
}

fn verify(connection: &Connection) -> Result<Verified, Break> {
    let nowhere = |error: rusqlite::Error| Break { number: None, why: format!("the file is damaged: {error}") };
    // All of it as it is in one moment: what is written or cut meanwhile is no break.
    let moment = connection.unchecked_transaction().map_err(nowhere)?;
    let connection: &Connection = &moment;
    let cut = last_cut(connection).map_err(nowhere)?;
    let mut before = cut.unwrap_or_default();
    let mut select =
        connection.prepare("SELECT number, time, tool, body, hash FROM events ORDER BY number").map_err(nowhere)?;
    let mut rows = select.query([]).map_err(nowhere)?;
    let (mut events, mut tools) = (0, Sum::default());
    loop {
        let next = before.number + 1;
        let damaged = |error: rusqlite::Error| broken(next, &format!("it cannot be read: {error}"));
        let Some(row) = rows.next().map_err(damaged)? else { break };
        let stored = read(row).map_err(damaged)?;
        check(&stored, &before)?;
        tools.add(&stored);
        before = Head { number: stored.number, hash: stored.hash };
        events += 1;
    }
    drop(rows);
    if tools != indexed(connection).map_err(nowhere)? {
        let why = "what events are found by does not agree with the events".to_owned();
        return Err(Break { number: None, why });
    }
    Ok(Verified::Sound { events, cut: cut.map(|cut| cut.number), head: before })
}

pub(crate) fn check(stored: &Stored, before: &Head) -> Result<(), Break> {
    let next = before.number + 1;
    if stored.number != next {
        return Err(broken(next, "it is missing"));
    }
    if chained(&before.hash, &stored.body) != stored.hash {
        return Err(broken(next, "its bytes, its hash or the hash before it are not what was written"));
    }
    let event: Named = serde_json::from_slice(&stored.body).map_err(|_| broken(next, "it is not an event"))?;
    let same = event.number == stored.number && event.time == stored.time && event.tool == stored.tool;
    if !same {
        return Err(broken(next, "what it is found by is not what it says"));
    }
    Ok(())
}

/// As much of an event as it is found by.
#[derive(Deserialize)]
struct Named {
    number: u64,
    time: Moment,
    tool: Option<String>,
}

pub(crate) fn broken(number: u64, why: &str) -> Break {
    Break { number: Some(number), why: why.to_owned() }
}

/// A sum over tools and numbers that does not depend on their order: the index has them in another one.
#[derive(Default, PartialEq, Eq)]
struct Sum(u64, u64);

impl Sum {
    fn add(&mut self, stored: &Stored) {
        if let Some(tool) = &stored.tool {
            self.add_pair(tool, stored.number);
        }
    }

    fn add_pair(&mut self, tool: &str, number: u64) {
        let hash: Hash = Sha256::new().chain_update(number.to_le_bytes()).chain_update(tool).finalize().into();
        let part = hash.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        (self.0, self.1) = (self.0.wrapping_add(part), self.1 + 1);
    }
}

fn indexed(connection: &Connection) -> rusqlite::Result<Sum> {
    let sql = "SELECT tool, number FROM events INDEXED BY events_by_tool WHERE tool IS NOT NULL ORDER BY tool";
    let mut select = connection.prepare(sql)?;
    let mut rows = select.query([])?;
    let mut sum = Sum::default();
    while let Some(row) = rows.next()? {
        sum.add_pair(&row.get::<_, String>(0)?, row.get::<_, i64>(1)? as u64);
    }
    Ok(sum)
}
