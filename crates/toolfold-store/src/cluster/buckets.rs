//! What is left of limits that all replicas share.

use super::Cluster;
use crate::engine::Pending;
use crate::postgres::Lane;

impl Cluster {
    /// Takes as much as there is of `amount` out of a bucket that is filled by `rate` a second and holds `most`: how much that
    /// was. One statement; a replica takes a slice for some time at once, and asks again when it is used up.
    pub fn reserve(&self, bucket: &str, amount: u32, rate: f64, most: f64) -> Pending<u32> {
        let bucket = bucket.to_owned();
        self.postgres.ask(Lane::Free, async move |link| {
            // A statement that waited for another began before it: time does not run backwards for a bucket.
            let filled =
                "least($4::float8, known.left_over + $3::float8 * greatest(0, extract(epoch FROM now() - known.filled_at)::float8))";
            let upsert = format!(
                "INSERT INTO buckets AS known (name, left_over, granted, filled_at)
                 VALUES ($1, $4::float8 - floor(least($2::float8, $4::float8)), floor(least($2::float8, $4::float8)), now())
                 ON CONFLICT (name) DO UPDATE SET left_over = {filled} - floor(least($2::float8, {filled})),
                 granted = floor(least($2::float8, {filled})), filled_at = greatest(known.filled_at, now()) RETURNING granted"
            );
            let upsert = link.prepare_cached(&upsert).await?;
            let granted: f64 =
                link.query_one(&upsert, &[&bucket.as_bytes(), &f64::from(amount), &rate, &most]).await?.get(0);
            Ok((granted.max(0.0) as u32).min(amount))
        })
    }
}
