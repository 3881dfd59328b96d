//! How long to wait before the next try. Jittered, so that twenty servers behind one broken network do not come back
//! in step. A connection must have lived for a while before its failures are forgotten: one that is accepted and then
//! crashes is no success.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(60);
const LONG_ENOUGH: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Counts a failure and says how long to wait after it.
    pub(crate) fn fail(&mut self) -> Duration {
        let whole = FIRST.saturating_mul(1 << self.failures.min(16)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        jitter(whole)
    }

    /// Whether a loss that is nobody's fault (a forgotten session) may be repaired at once; once only, until a
    /// connection has lived.
    pub(crate) fn forgives(&mut self) -> bool {
        let clean = self.failures == 0;
        self.failures = self.failures.max(1);
        clean
    }

    pub(crate) fn lived(&mut self, time: Duration) {
        if time >= LONG_ENOUGH {
            self.failures = 0;
        }
    }
}

/// Between three quarters of the time and all of it.
pub(crate) fn jitter(whole: Duration) -> Duration {
    let random = RandomState::new().build_hasher().finish() % 256;
    whole - (whole / 1024) * random as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_to_a_minute_and_is_forgotten_after_a_long_life() {
        let mut backoff = Backoff::default();
        let mut last = Duration::ZERO;
        for n in 0..40 {
            last = backoff.fail();
            assert!(last <= LONGEST && last >= FIRST.saturating_mul(1 << n.min(7)).min(LONGEST) * 3 / 4);
        }
        assert!(last >= LONGEST * 3 / 4);
        backoff.lived(Duration::from_secs(29));
        assert!(!backoff.forgives());
        backoff.lived(Duration::from_secs(30));
        assert!(backoff.fail() <= FIRST);
    }
}
