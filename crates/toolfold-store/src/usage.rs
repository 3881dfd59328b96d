//! How often each tool was called, for as long as there are not too many different ones.

use rusqlite::{TransactionBehavior, params};

use crate::Store;
use crate::engine::Pending;

pub(crate) const MOST: i64 = 5_000;

impl Store {
    /// One more call of a tool.
    pub fn count_use(&self, tool: &str) -> Pending<()> {
        if let Some(postgres) = self.memory.postgres() {
            return postgres.count_use(tool.to_owned());
        }
        let tool = tool.to_owned();
        self.memory.run(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let known = transaction.execute("UPDATE usage SET calls = calls + 1 WHERE tool = ?1", [&tool])?;
            if known == 0 {
                transaction.execute("INSERT INTO usage (tool, calls) VALUES (?1, 1)", [&tool])?;
                // Those called least make room.
                transaction.execute(
                    "DELETE FROM usage WHERE tool <> ?1 AND tool NOT IN
                     (SELECT tool FROM usage ORDER BY calls DESC, tool LIMIT ?2)",
                    params![tool, MOST],
                )?;
            }
            transaction.commit()
        })
    }

    /// The tools that were called at least so many times, the most called first.
    pub fn most_used(&self, at_least: i64, limit: i64) -> Pending<Vec<String>> {
        if let Some(postgres) = self.memory.postgres() {
            return postgres.most_used(at_least, limit);
        }
        self.memory.run(move |connection| {
            let select = "SELECT tool FROM usage WHERE calls >= ?1 ORDER BY calls DESC, tool LIMIT ?2";
            connection.prepare_cached(select)?.query_map([at_least, limit], |row| row.get(0))?.collect()
        })
    }
}
