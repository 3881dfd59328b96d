//! How often each tool was called, in PostgreSQL.

use super::{Lane, Postgres, text};
use crate::engine::Pending;
use crate::usage::MOST;

impl Postgres {
    pub(crate) fn count_use(&self, tool: String) -> Pending<()> {
        self.ask(Lane::Memory, async move |link| {
            let upsert = "INSERT INTO usage AS known (tool, calls) VALUES ($1, 1)
                          ON CONFLICT (tool) DO UPDATE SET calls = known.calls + 1 RETURNING calls";
            let tool = tool.as_bytes();
            let calls: i64 = link.query_one(upsert, &[&tool]).await?.get(0);
            if calls == 1 {
                // Those called least make room.
                let surplus = "DELETE FROM usage WHERE tool <> $1 AND tool IN
                               (SELECT tool FROM usage ORDER BY calls DESC, tool OFFSET $2)";
                link.execute(surplus, &[&tool, &MOST]).await?;
            }
            Ok(())
        })
    }

    pub(crate) fn most_used(&self, at_least: i64, limit: i64) -> Pending<Vec<String>> {
        self.ask(Lane::Memory, async move |link| {
            let select = "SELECT tool FROM usage WHERE calls >= $1 ORDER BY calls DESC, tool LIMIT $2";
            let rows = link.query(select, &[&at_least, &limit]).await?;
            Ok(rows.iter().map(|row| text(row.get(0))).collect())
        })
    }
}
