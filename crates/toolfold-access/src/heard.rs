//! Words of other replicas that were heard, so that none counts twice.
//!
//! What a reader would get wrong: nothing is forgotten one by one. What was heard goes in two piles, and the older one is dropped when
//! everything in it has long been over.

use std::collections::HashSet;

use crate::replica::{LONGEST, ReplicaId};

/// In one pile. Whoever hears more in a minute forgets earlier.
const MOST: usize = 500_000;

#[derive(Default)]
pub(crate) struct Heard {
    now: HashSet<(ReplicaId, u64)>,
    before: HashSet<(ReplicaId, u64)>,
    /// When the newer pile was begun, in seconds since 1970.
    since: u64,
}

impl Heard {
    /// Hears a word; whether for the first time.
    pub(crate) fn hear(&mut self, word: (ReplicaId, u64), now: u64) -> bool {
        if now >= self.since + LONGEST || self.now.len() >= MOST {
            self.before = std::mem::take(&mut self.now);
            self.since = now;
        }
        !self.before.contains(&word) && self.now.insert(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_new_once_for_as_long_as_it_is_good() {
        let (mut heard, from) = (Heard::default(), ReplicaId::new([1; 8]));
        assert!(heard.hear((from, 1), 1000) && heard.hear((ReplicaId::new([2; 8]), 1), 1000));
        for now in 1000..=1000 + LONGEST {
            assert!(!heard.hear((from, 1), now), "{now}");
            assert!(heard.hear((from, now), now));
        }
        assert!(heard.hear((from, 1), 1000 + 2 * LONGEST), "and not for ever");
        assert!(heard.now.len() + heard.before.len() < 3 * LONGEST as usize);
    }
}
