//! What one of all replicas does at a time.

use std::time::Duration;

use super::{Cluster, Topic, duration};
use crate::engine::Pending;
use crate::postgres::{Lane, notify};

/// Who has a lease.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaseHolder {
    /// Whoever asked, if they have it.
    pub holder: String,
    /// Grows with each new holder: what is done under an older one may be refused.
    pub fence: i64,
    /// Until it is over.
    pub left: Duration,
}

impl Cluster {
    /// Takes a lease where nobody has it, or keeps it where the same holder does: who has it now.
    pub fn try_lease(&self, name: &str, holder: &str, time: Duration) -> Pending<LeaseHolder> {
        let (name, holder, time) = (name.to_owned(), holder.to_owned(), time.as_secs_f64());
        self.postgres.ask(Lane::Free, async move |link| {
            let left = "extract(epoch FROM until - clock_timestamp())::float8";
            let take = format!(
                "INSERT INTO leases AS known (name, holder, fence, until)
                 VALUES ($1, $2, 1, clock_timestamp() + make_interval(secs => $3))
                 ON CONFLICT (name) DO UPDATE SET holder = $2, until = clock_timestamp() + make_interval(secs => $3),
                 fence = known.fence + CASE WHEN known.holder = $2 AND known.until > clock_timestamp() THEN 0 ELSE 1 END
                 WHERE known.holder = $2 OR known.until <= clock_timestamp() RETURNING holder, fence, {left}"
            );
            let select = format!("SELECT holder, fence, {left} FROM leases WHERE name = $1");
            let row = match link.query_opt(&take, &[&name, &holder, &time]).await? {
                Some(row) => row,
                None => link.query_one(&select, &[&name]).await?,
            };
            Ok(LeaseHolder { holder: row.get(0), fence: row.get(1), left: duration(row.get(2)) })
        })
    }

    /// Who has a lease, or had it last; `None` where nobody ever did. A holder without a name has given it back.
    pub fn lease(&self, name: &str) -> Pending<Option<LeaseHolder>> {
        let name = name.to_owned();
        self.postgres.ask(Lane::Free, async move |link| {
            // What was given back was over for ever, and nothing can be subtracted from that.
            let select = "SELECT holder, fence, CASE WHEN holder = '' THEN 0
                          ELSE extract(epoch FROM until - clock_timestamp()) END::float8 FROM leases WHERE name = $1";
            let select = link.prepare_cached(select).await?;
            let holder = |row: tokio_postgres::Row| LeaseHolder {
                holder: row.get(0),
                fence: row.get(1),
                left: duration(row.get(2)),
            };
            Ok(link.query_opt(&select, &[&name]).await?.map(holder))
        })
    }

    /// Keeps a lease for longer, also one that was over and that nobody has taken since. False where it is somebody else's:
    /// what it was for must stop.
    pub fn renew_lease(&self, name: &str, holder: &str, fence: i64, time: Duration) -> Pending<bool> {
        let (name, holder, time) = (name.to_owned(), holder.to_owned(), time.as_secs_f64());
        self.postgres.ask(Lane::Free, async move |link| {
            let update = "UPDATE leases SET until = clock_timestamp() + make_interval(secs => $4)
                          WHERE name = $1 AND holder = $2 AND fence = $3";
            let update = link.prepare_cached(update).await?;
            Ok(link.execute(&update, &[&name, &holder, &fence, &time]).await? > 0)
        })
    }

    /// Gives a lease back before it is over.
    pub fn release_lease(&self, name: &str, holder: &str, fence: i64) -> Pending<()> {
        let (name, holder) = (name.to_owned(), holder.to_owned());
        self.postgres.ask(Lane::Free, async move |link| {
            let transaction = link.transaction().await?;
            // The row stays, so that its fence goes on from where it is.
            let update =
                "UPDATE leases SET holder = '', until = '-infinity' WHERE name = $1 AND holder = $2 AND fence = $3";
            transaction.execute(update, &[&name, &holder, &fence]).await?;
            notify(&transaction, &Topic::Leases).await?;
            transaction.commit().await
        })
    }
}
