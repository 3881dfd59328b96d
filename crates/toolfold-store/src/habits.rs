//! Which requests ended in the call of which tool, by catalog. What was not done again within half a year is forgotten, and
//! the oldest are where there are too many.
//!
//! What a reader would get wrong: a request is kept as opaque bytes that whoever writes them can read. Its text is beside
//! them only where it was given, and is taken out again as soon as somebody reads who must not keep any.

use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

use crate::engine::Pending;
use crate::{Store, now};

pub(crate) const KEPT_MS: i64 = 180 * 24 * 60 * 60 * 1000;
/// Habits of one catalog, and of all of them.
pub(crate) const MOST: i64 = 4_000;
pub(crate) const MOST_OF_ALL: i64 = 40_000;
/// The latest occasions of each: enough to tell a habit from an accident.
const OCCASIONS: usize = 8;
const OCCASION: usize = 8;

/// One call after a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChoice {
    pub catalog: Vec<u8>,
    pub request: Vec<u8>,
    pub tool: String,
    pub marks: Vec<u8>,
    pub text: Option<String>,
    /// Whose call it was and in which conversation. The same occasion counts once.
    pub occasion: [u8; OCCASION],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredHabit {
    pub request: Vec<u8>,
    pub tool: String,
    pub marks: Vec<u8>,
    pub text: Option<String>,
    /// On how many occasions.
    pub times: u32,
    /// The latest of these.
    pub occasions: Vec<[u8; OCCASION]>,
}

impl StoredChoice {
    /// What it makes of what was known; `None` where this occasion has been counted.
    pub(crate) fn habit(&self, known: Option<StoredHabit>) -> Option<StoredHabit> {
        let mut habit = known.unwrap_or_else(|| StoredHabit {
            request: self.request.to_vec(),
            tool: self.tool.clone(),
            marks: self.marks.clone(),
            text: None,
            times: 0,
            occasions: Vec::new(),
        });
        if habit.occasions.contains(&self.occasion) {
            return None;
        }
        habit.text = self.text.clone().or(habit.text);
        habit.times = habit.times.saturating_add(1);
        habit.occasions.push(self.occasion);
        let surplus = habit.occasions.len().saturating_sub(OCCASIONS);
        habit.occasions.drain(..surplus);
        Some(habit)
    }
}

impl Store {
    /// Remembers a choice; the habit that it makes, where it is on an occasion of its own.
    pub fn remember_choice(&self, choice: StoredChoice) -> Pending<Option<StoredHabit>> {
        if let Some(postgres) = self.memory.postgres() {
            return postgres.remember_choice(choice);
        }
        let now = now();
        self.memory.run(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let known = known(&transaction, &choice)?;
            let Some(habit) = choice.habit(known) else { return Ok(None) };
            transaction.execute(
                "INSERT OR REPLACE INTO habits (catalog, request, tool, marks, text, times, occasions, used_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    choice.catalog,
                    habit.request,
                    habit.tool,
                    habit.marks,
                    habit.text,
                    habit.times,
                    habit.occasions.concat(),
                    now
                ],
            )?;
            make_room(&transaction, &choice.catalog, now)?;
            transaction.commit()?;
            Ok(Some(habit))
        })
    }

    /// What is remembered of a catalog. Where texts must not be kept, those that are there are taken out first.
    pub fn habits(&self, catalog: &[u8], texts: bool) -> Pending<Vec<StoredHabit>> {
        if let Some(postgres) = self.memory.postgres() {
            return postgres.habits(catalog.to_vec(), texts);
        }
        let (catalog, oldest) = (catalog.to_vec(), now() - KEPT_MS);
        self.memory.run(move |connection| {
            if !texts {
                let delete = "UPDATE habits SET text = NULL WHERE catalog = ?1 AND text IS NOT NULL";
                connection.execute(delete, [&catalog])?;
            }
            let select = "SELECT request, tool, marks, text, times, occasions FROM habits
                          WHERE catalog = ?1 AND used_at >= ?2 ORDER BY request, tool";
            connection.prepare_cached(select)?.query_map(params![catalog, oldest], read)?.collect()
        })
    }

    /// Forgets what was learned: in one catalog or all, of one tool or all. How many habits that were.
    pub fn forget_habits(&self, catalog: Option<&[u8]>, tool: Option<&str>) -> Pending<usize> {
        if let Some(postgres) = self.memory.postgres() {
            return postgres.forget_habits(catalog.map(<[u8]>::to_vec), tool.map(str::to_owned));
        }
        let (catalog, tool) = (catalog.map(<[u8]>::to_vec), tool.map(str::to_owned));
        self.memory.run(move |connection| {
            let delete = "DELETE FROM habits WHERE (?1 IS NULL OR catalog = ?1) AND (?2 IS NULL OR tool = ?2)";
            connection.execute(delete, params![catalog, tool])
        })
    }
}

fn known(connection: &Connection, choice: &StoredChoice) -> rusqlite::Result<Option<StoredHabit>> {
    let select = "SELECT request, tool, marks, text, times, occasions FROM habits
                  WHERE catalog = ?1 AND request = ?2 AND tool = ?3";
    connection.query_row(select, params![choice.catalog, choice.request, choice.tool], read).optional()
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoredHabit> {
    let occasions: Vec<u8> = row.get(5)?;
    Ok(StoredHabit {
        request: row.get(0)?,
        tool: row.get(1)?,
        marks: row.get(2)?,
        text: row.get(3)?,
        times: row.get(4)?,
        occasions: occasions.as_chunks().0.to_vec(),
    })
}

fn make_room(connection: &Connection, catalog: &[u8], now: i64) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM habits WHERE used_at < ?1", [now - KEPT_MS])?;
    let (here, all): (i64, i64) = connection.query_row(
        "SELECT (SELECT count(*) FROM habits WHERE catalog = ?1), (SELECT count(*) FROM habits)",
        [catalog],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    // Those that happened once make room before those that are habits.
    let surplus = "DELETE FROM habits WHERE rowid IN
                   (SELECT rowid FROM habits WHERE ?1 IS NULL OR catalog = ?1 ORDER BY times > 1, used_at LIMIT ?2)";
    if here > MOST {
        connection.execute(surplus, params![catalog, here - MOST])?;
    }
    if all > MOST_OF_ALL {
        connection.execute(surplus, params![None::<Vec<u8>>, all - MOST_OF_ALL])?;
    }
    Ok(())
}
