//! The audit of all replicas. Each has a chain of its own, which is numbered without gaps and linked by hashes; there is no order
//! among chains but the one in which their events were committed.
//!
//! What a reader would get wrong: whoever follows must not go by a number that the database gives out, since a transaction that
//! began earlier may end later. An event is shown once every transaction that began before its own has ended, in the
//! order of transactions, so that nothing ever appears behind what was shown.

use tokio_postgres::Row;
use toolfold_core::DatabaseUrl;

use crate::engine::Pending;
use crate::error::StoreError;
use crate::postgres::{LOCKS, Lane, Postgres, text};

/// An event as it is kept, its chain aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    pub number: i64,
    pub time: i64,
    pub tool: Option<String>,
    pub body: Vec<u8>,
    pub hash: [u8; 32],
}

/// The end of a chain, or where one was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditHead {
    pub number: i64,
    pub hash: [u8; 32],
}

/// What of a chain is too much: events before a time, and all but the last so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditBound {
    pub older_than: i64,
    pub most: i64,
}

/// Up to where somebody has seen everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditPlace(Option<(String, String, i64)>);

/// The audit in a database, over links of its own.
#[derive(Debug, Clone)]
pub struct AuditDatabase(Postgres);

const COLUMNS: &str = "chain, number, time, tool, body, hash";
/// Every chain, from one to the next: there are few of them and many events of each.
const CHAINS: &str = "WITH RECURSIVE found AS (
                      (SELECT chain FROM audit ORDER BY chain LIMIT 1) UNION ALL
                      SELECT (SELECT chain FROM audit WHERE chain > found.chain ORDER BY chain LIMIT 1)
                      FROM found WHERE found.chain IS NOT NULL) SELECT chain FROM found WHERE chain IS NOT NULL";
const CUTTING: i32 = 3;
/// The most that is taken away at once.
const AT_ONCE: i64 = 20_000;
const SETTLED: &str = "committed < pg_snapshot_xmin(pg_current_snapshot())";
/// Of a transaction that is still to come, and yet seen: it was committed in another database, and brought here from a backup.
const BROUGHT: &str = "committed >= pg_snapshot_xmax(pg_current_snapshot())";

impl AuditDatabase {
    pub async fn open(url: &DatabaseUrl) -> Result<AuditDatabase, StoreError> {
        Postgres::open(url).await.map(AuditDatabase)
    }

    /// The same for a thread that waits.
    pub fn open_waiting(url: &DatabaseUrl) -> Result<AuditDatabase, StoreError> {
        let (postgres, opened) = Postgres::begin(url)?;
        opened.wait()?;
        Ok(AuditDatabase(postgres))
    }

    pub async fn close(&self) {
        self.0.close().await;
    }

    /// Adds events to a chain, all or none. What is there already stays as it is.
    pub fn add(&self, chain: &str, rows: Vec<AuditRow>) -> Pending<()> {
        let chain = chain.to_owned();
        self.0.ask(Lane::Record, async move |link| {
            let insert = "INSERT INTO audit (chain, number, time, tool, body, hash)
                          SELECT $1::text, new.* FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bytea[], $6::bytea[]) AS new
                          ON CONFLICT (chain, number) DO NOTHING";
            let insert = link.prepare_cached(insert).await?;
            let numbers: Vec<i64> = rows.iter().map(|row| row.number).collect();
            let times: Vec<i64> = rows.iter().map(|row| row.time).collect();
            let tools: Vec<Option<&[u8]>> = rows.iter().map(|row| row.tool.as_deref().map(str::as_bytes)).collect();
            let bodies: Vec<&[u8]> = rows.iter().map(|row| row.body.as_slice()).collect();
            let hashes: Vec<&[u8]> = rows.iter().map(|row| row.hash.as_slice()).collect();
            link.execute(&insert, &[&chain, &numbers, &times, &tools, &bodies, &hashes]).await.map(|_| ())
        })
    }

    /// The end of a chain; what it was cut at, where nothing else is left.
    pub fn head(&self, chain: &str) -> Pending<Option<AuditHead>> {
        let chain = chain.to_owned();
        self.0.ask(Lane::Record, async move |link| {
            let select = "(SELECT number, hash FROM audit WHERE chain = $1 ORDER BY number DESC LIMIT 1)
                          UNION ALL SELECT number, hash FROM audit_cuts WHERE chain = $1 ORDER BY number DESC LIMIT 1";
            Ok(link.query_opt(select, &[&chain]).await?.as_ref().and_then(end))
        })
    }

    /// Every chain, and what it was cut at.
    pub fn chains(&self) -> Pending<Vec<(String, Option<AuditHead>)>> {
        self.0.ask(Lane::Free, async |link| {
            let select = format!(
                "SELECT cut.number, cut.hash, chain FROM ({CHAINS}) AS all_chains
                 LEFT JOIN audit_cuts AS cut USING (chain) ORDER BY chain"
            );
            Ok(link.query(&select, &[]).await?.iter().map(|row| (row.get(2), end(row))).collect())
        })
    }

    /// Of one chain what comes after a number.
    pub fn after(&self, chain: &str, number: i64, most: i64) -> Pending<Vec<AuditRow>> {
        let chain = chain.to_owned();
        self.0.ask(Lane::Free, async move |link| {
            let select =
                format!("SELECT {COLUMNS} FROM audit WHERE chain = $1 AND number > $2 ORDER BY number LIMIT $3");
            let select = link.prepare_cached(&select).await?;
            let rows = link.query(&select, &[&chain, &number, &most]).await?;
            Ok(rows.iter().filter_map(read).map(|(_, row)| row).collect())
        })
    }

    /// The last events of all chains, oldest first, and the place up to where that is.
    pub fn last(&self, most: i64) -> Pending<(Vec<(String, AuditRow)>, AuditPlace)> {
        self.0.ask(Lane::Free, async move |link| {
            let last = |which: &str| {
                format!(
                    "SELECT {COLUMNS}, committed::text FROM audit WHERE {which}
                     ORDER BY committed DESC, chain DESC, number DESC LIMIT $1"
                )
            };
            let mut rows = link.query(&last(SETTLED), &[&most]).await?;
            let seen = place(rows.first()).unwrap_or_default();
            let room = most.saturating_sub(i64::try_from(rows.len()).unwrap_or(i64::MAX));
            if room > 0 {
                // It is from before everything that happened here.
                rows.extend(link.query(&last(BROUGHT), &[&room]).await?);
            }
            rows.reverse();
            Ok((rows.iter().filter_map(read).collect(), seen))
        })
    }

    /// What was committed after a place, in order, and the place up to where that is.
    pub fn since(&self, place_before: AuditPlace, most: i64) -> Pending<(Vec<(String, AuditRow)>, AuditPlace)> {
        self.0.ask(Lane::Free, async move |link| {
            let (committed, chain, number) =
                place_before.0.clone().unwrap_or_else(|| ("0".to_owned(), String::new(), 0));
            let select = format!(
                "SELECT {COLUMNS}, committed::text FROM audit
                 WHERE {SETTLED} AND (committed, chain, number) > ($1::text::xid8, $2, $3)
                 ORDER BY committed, chain, number LIMIT $4"
            );
            let rows = link.query(&select, &[&committed, &chain, &number, &most]).await?;
            Ok((rows.iter().filter_map(read).collect(), place(rows.last()).unwrap_or(place_before)))
        })
    }

    /// The last events of a tool, the newest first.
    pub fn of_tool(&self, tool: &str, most: i64) -> Pending<Vec<(String, AuditRow)>> {
        let tool = tool.to_owned();
        self.0.ask(Lane::Free, async move |link| {
            let select =
                format!("SELECT {COLUMNS} FROM audit WHERE tool = $1 ORDER BY committed DESC, number DESC LIMIT $2");
            Ok(link.query(&select, &[&tool.as_bytes(), &most]).await?.iter().filter_map(read).collect())
        })
    }

    /// The event of this number, of the chain that is named or of all of them.
    pub fn numbered(&self, chain: Option<&str>, number: i64) -> Pending<Vec<(String, AuditRow)>> {
        let chain = chain.map(str::to_owned);
        self.0.ask(Lane::Free, async move |link| {
            let select = format!(
                "SELECT {COLUMNS} FROM audit WHERE ($1::text IS NULL OR chain = $1) AND number = $2 ORDER BY chain"
            );
            Ok(link.query(&select, &[&chain, &number]).await?.iter().filter_map(read).collect())
        })
    }

    /// Takes events away from the beginning of every chain that is beyond `over`, as far as `to`: which chains, and up to which
    /// number. The last event of a chain stays. One replica does it at a time, some thousands of events at once.
    pub fn cut(&self, over: AuditBound, to: AuditBound) -> Pending<Vec<(String, i64)>> {
        self.0.ask(Lane::Record, async move |link| {
            let transaction = link.transaction().await?;
            let lock = "SELECT pg_try_advisory_xact_lock($1, $2)";
            let mut due = Vec::new();
            if !transaction.query_one(lock, &[&LOCKS, &CUTTING]).await?.get::<_, bool>(0) {
                return Ok(due);
            }
            for row in transaction.query(CHAINS, &[]).await? {
                let chain: String = row.get(0);
                let ends = "SELECT min(number), max(number) FROM audit WHERE chain = $1";
                let ends = transaction.query_one(ends, &[&chain]).await?;
                let (first, last): (i64, i64) = (ends.get(0), ends.get(1));
                let until = last.min(first.saturating_add(AT_ONCE));
                let mut up_to = 0;
                for bound in [over, to] {
                    let old = "SELECT max(number) FROM audit WHERE chain = $1 AND number < $2 AND time < $3";
                    let old = transaction.query_one(old, &[&chain, &until, &bound.older_than]).await?;
                    let old = old.get::<_, Option<i64>>(0).unwrap_or(0);
                    up_to = old.max(last.saturating_sub(bound.most).min(until - 1));
                    if up_to < first {
                        break;
                    }
                }
                if up_to >= first {
                    due.push((chain, up_to));
                }
            }
            for (chain, number) in &due {
                let keep = "INSERT INTO audit_cuts (chain, number, hash)
                            SELECT chain, number, hash FROM audit WHERE chain = $1 AND number = $2
                            ON CONFLICT (chain) DO UPDATE SET number = excluded.number, hash = excluded.hash";
                transaction.execute(keep, &[chain, number]).await?;
                transaction.execute("DELETE FROM audit WHERE chain = $1 AND number <= $2", &[chain, number]).await?;
            }
            transaction.commit().await?;
            Ok(due)
        })
    }
}

fn end(row: &Row) -> Option<AuditHead> {
    let hash = row.get::<_, Option<Vec<u8>>>(1)?;
    Some(AuditHead { number: row.get(0), hash: hash.try_into().ok()? })
}

fn read(row: &Row) -> Option<(String, AuditRow)> {
    let hash = row.get::<_, Vec<u8>>(5).try_into().unwrap_or_default();
    let tool = row.get::<_, Option<Vec<u8>>>(3).map(text);
    let kept = AuditRow { number: row.get(1), time: row.get(2), tool, body: row.get(4), hash };
    Some((row.get(0), kept))
}

fn place(last: Option<&Row>) -> Option<AuditPlace> {
    last.map(|row| AuditPlace(Some((row.get(6), row.get(0), row.get(1)))))
}
