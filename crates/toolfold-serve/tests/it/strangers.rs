//! Those who come with wrong tokens, in numbers.

use std::sync::atomic::Ordering;
use std::time::Duration;

use toolfold_config::{Limits, Rate};

use crate::issuers::limited;

#[tokio::test]
async fn wrong_tokens_without_end_cost_nobody_anything() {
    let rate = Rate { count: 3, per: Duration::from_secs(3600) };
    let world = limited(Vec::new(), Limits { unauthenticated: Some(rate), ..Limits::default() }).await;
    let good = world.provider.token(&world.provider.claims());
    assert_eq!(world.with_token("/mcp", &good).await, 200);
    let mut answers = Vec::new();
    for number in 0..30 {
        answers.push(world.with_token("/mcp", &format!("opaque-mallory-{number}")).await);
    }
    let (looked_at, refused) = answers.split_at(3);
    assert!(
        looked_at.iter().all(|status| *status == 401) && refused.iter().all(|status| *status == 429),
        "{answers:?}"
    );
    assert_eq!(world.provider.introspected.load(Ordering::SeqCst), 3, "nobody is asked about what is refused anyway");
    assert_eq!(world.with_token("/mcp", &good).await, 200, "who was let in before still is");
    assert_eq!(world.with_token("/mcp", "opaque-alice").await, 429, "who comes anew has to wait with the others");
}
