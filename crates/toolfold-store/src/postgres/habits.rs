//! Which requests ended in the call of which tool, in PostgreSQL.

use tokio_postgres::Row;

use super::schema::LOCKS;
use super::{Answer, Lane, Postgres, text};
use crate::engine::Pending;
use crate::habits::{KEPT_MS, MOST, MOST_OF_ALL, StoredChoice, StoredHabit};
use crate::now;

/// Whoever remembers something waits for whoever else does: what is counted is read before it is written.
const REMEMBERING: i32 = 1;
const COLUMNS: &str = "request, tool, marks, text, times, occasions";

impl Postgres {
    pub(crate) fn remember_choice(&self, choice: StoredChoice) -> Pending<Option<StoredHabit>> {
        let now = now();
        self.ask(Lane::Memory, async move |link| {
            let transaction = link.transaction().await?;
            transaction.execute("SELECT pg_advisory_xact_lock($1, $2)", &[&LOCKS, &REMEMBERING]).await?;
            let select = format!("SELECT {COLUMNS} FROM habits WHERE catalog = $1 AND request = $2 AND tool = $3");
            let key: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
                [&choice.catalog, &choice.request.as_slice(), &choice.tool.as_bytes()];
            let known = transaction.query_opt(&select, &key).await?.as_ref().map(read);
            let Some(habit) = choice.habit(known) else { return Ok(None) };
            let upsert = "INSERT INTO habits (catalog, request, tool, marks, text, times, occasions, used_at)
                          VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (catalog, request, tool) DO UPDATE
                          SET marks = $4, text = $5, times = $6, occasions = $7, used_at = $8";
            let given: [&(dyn tokio_postgres::types::ToSql + Sync); 8] = [
                &choice.catalog,
                &habit.request,
                &habit.tool.as_bytes(),
                &habit.marks,
                &habit.text.as_deref().map(str::as_bytes),
                &i64::from(habit.times),
                &habit.occasions.concat(),
                &now,
            ];
            transaction.execute(upsert, &given).await?;
            make_room(&transaction, &choice.catalog, now).await?;
            transaction.commit().await?;
            Ok(Some(habit))
        })
    }

    pub(crate) fn habits(&self, catalog: Vec<u8>, texts: bool) -> Pending<Vec<StoredHabit>> {
        let oldest = now() - KEPT_MS;
        self.ask(Lane::Memory, async move |link| {
            if !texts {
                let delete = "UPDATE habits SET text = NULL WHERE catalog = $1 AND text IS NOT NULL";
                link.execute(delete, &[&catalog]).await?;
            }
            let select =
                format!("SELECT {COLUMNS} FROM habits WHERE catalog = $1 AND used_at >= $2 ORDER BY request, tool");
            Ok(link.query(&select, &[&catalog, &oldest]).await?.iter().map(read).collect())
        })
    }

    pub(crate) fn forget_habits(&self, catalog: Option<Vec<u8>>, tool: Option<String>) -> Pending<usize> {
        self.ask(Lane::Memory, async move |link| {
            let delete =
                "DELETE FROM habits WHERE ($1::bytea IS NULL OR catalog = $1) AND ($2::bytea IS NULL OR tool = $2)";
            let gone = link.execute(delete, &[&catalog, &tool.as_deref().map(str::as_bytes)]).await?;
            Ok(usize::try_from(gone).unwrap_or(usize::MAX))
        })
    }
}

async fn make_room(transaction: &deadpool_postgres::Transaction<'_>, catalog: &[u8], now: i64) -> Answer<()> {
    transaction.execute("DELETE FROM habits WHERE used_at < $1", &[&(now - KEPT_MS)]).await?;
    let count = "SELECT (SELECT count(*) FROM habits WHERE catalog = $1), (SELECT count(*) FROM habits)";
    let row = transaction.query_one(count, &[&catalog]).await?;
    let (here, all): (i64, i64) = (row.get(0), row.get(1));
    // Those that happened once make room before those that are habits.
    let surplus = "DELETE FROM habits WHERE (catalog, request, tool) IN (SELECT catalog, request, tool FROM habits
                   WHERE $1::bytea IS NULL OR catalog = $1 ORDER BY times > 1, used_at LIMIT $2)";
    if here > MOST {
        transaction.execute(surplus, &[&Some(catalog), &(here - MOST)]).await?;
    }
    if all > MOST_OF_ALL {
        transaction.execute(surplus, &[&None::<&[u8]>, &(all - MOST_OF_ALL)]).await?;
    }
    Ok(())
}

fn read(row: &Row) -> StoredHabit {
    let occasions: Vec<u8> = row.get(5);
    StoredHabit {
        request: row.get(0),
        tool: text(row.get(1)),
        marks: row.get(2),
        text: row.get::<_, Option<Vec<u8>>>(3).map(text),
        times: u32::try_from(row.get::<_, i64>(4)).unwrap_or(u32::MAX),
        occasions: occasions.as_chunks().0.to_vec(),
    }
}
