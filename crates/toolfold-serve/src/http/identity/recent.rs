//! Tokens that were accepted a while ago, as numbers: whoever has one is not kept out while others try wrong ones.
//!
//! What a reader would get wrong: nothing is accepted because of this. It only says who is looked at when there is no time
//! to look at everybody.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long a token is remembered, and how many are.
const REMEMBERED: Duration = Duration::from_secs(60 * 60);
const MOST: usize = 10_000;

#[derive(Default)]
pub(super) struct Familiar {
    seed: RandomState,
    at: Mutex<HashMap<u64, Instant>>,
}

impl Familiar {
    pub(super) fn remember(&self, token: &str) {
        let (key, now) = (self.seed.hash_one(token), Instant::now());
        let mut all = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST && !all.contains_key(&key) {
            all.retain(|_, at| now - *at < REMEMBERED);
            if all.len() >= MOST {
                return;
            }
        }
        all.insert(key, now);
    }

    pub(super) fn knows(&self, token: &str) -> bool {
        let all = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&self.seed.hash_one(token)).is_some_and(|at| at.elapsed() < REMEMBERED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_token_is_remembered_for_a_while_and_no_more_than_there_is_room_for() {
        let recent = Familiar::default();
        recent.remember("a");
        assert!(recent.knows("a") && !recent.knows("b"));
        tokio::time::advance(REMEMBERED).await;
        assert!(!recent.knows("a"));
        (0..2 * MOST).for_each(|number| recent.remember(&number.to_string()));
        assert!(recent.knows("0") && !recent.knows(&(2 * MOST - 1).to_string()));
    }
}
