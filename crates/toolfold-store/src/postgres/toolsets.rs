//! Sets of tools, in PostgreSQL.

use super::{Lane, Postgres, text};
use crate::engine::Pending;
use crate::now;
use crate::toolsets::{KEPT_MS, MOST};

impl Postgres {
    pub(crate) fn save_toolset(&self, handle: String, json: String) -> Pending<()> {
        let now = now();
        self.ask(Lane::Memory, async move |link| {
            let transaction = link.transaction().await?;
            let upsert = "INSERT INTO toolsets (handle, used_at, json) VALUES ($1, $2, $3)
                          ON CONFLICT (handle) DO UPDATE SET used_at = $2, json = $3";
            let handle = handle.as_bytes();
            transaction.execute(upsert, &[&handle, &now, &json.as_bytes()]).await?;
            transaction.execute("DELETE FROM toolsets WHERE used_at < $1", &[&(now - KEPT_MS)]).await?;
            // Those beyond the most, the longest unused first; the one just made is not among them.
            let surplus = "DELETE FROM toolsets WHERE handle <> $1 AND handle IN
                           (SELECT handle FROM toolsets ORDER BY used_at DESC, handle DESC OFFSET $2)";
            transaction.execute(surplus, &[&handle, &MOST]).await?;
            transaction.commit().await
        })
    }

    pub(crate) fn load_toolset(&self, handle: String) -> Pending<Option<String>> {
        let now = now();
        self.ask(Lane::Memory, async move |link| {
            let update = "UPDATE toolsets SET used_at = $2 WHERE handle = $1 AND used_at >= $3 RETURNING json";
            let found = link.query_opt(update, &[&handle.as_bytes(), &now, &(now - KEPT_MS)]).await?;
            Ok(found.map(|row| text(row.get(0))))
        })
    }
}
