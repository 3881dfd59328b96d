//! So many of something in a second, and no more: what a server writes and says without end costs nobody anything.

use std::time::Duration;

use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

pub(crate) struct Allowance {
    most: u32,
    since: Instant,
    used: u32,
}

impl Allowance {
    pub(crate) fn new(most: u32) -> Self {
        Allowance { most, since: Instant::now(), used: 0 }
    }

    /// Counts one more, and says whether it is admitted.
    pub(crate) fn admits(&mut self) -> bool {
        self.renewed();
        self.used = self.used.saturating_add(1);
        self.used <= self.most
    }

    /// The rest of a second in which as many were counted as are admitted.
    pub(crate) fn rest(&self) -> Option<Duration> {
        (self.used >= self.most).then(|| SECOND.saturating_sub(self.since.elapsed())).filter(|rest| !rest.is_zero())
    }

    /// Begins a new second where the last one is over, and says how many were not admitted in that.
    pub(crate) fn renewed(&mut self) -> u32 {
        if self.since.elapsed() < SECOND {
            return 0;
        }
        let left_out = self.used.saturating_sub(self.most);
        *self = Allowance::new(self.most);
        left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn so_many_a_second() {
        let mut allowance = Allowance::new(100);
        let admitted = (0..250).filter(|_| allowance.admits()).count();
        assert_eq!((admitted, allowance.renewed()), (100, 0));
        tokio::time::advance(SECOND).await;
        assert_eq!((allowance.renewed(), allowance.renewed()), (150, 0));
        assert!(allowance.admits());
        assert_eq!(allowance.rest(), None);
        assert!((0..99).all(|_| allowance.admits()));
        tokio::time::advance(SECOND / 4).await;
        assert_eq!(allowance.rest(), Some(SECOND / 4 * 3));
        tokio::time::advance(SECOND).await;
        assert_eq!(allowance.rest(), None);
    }
}
