//! How often an issuer is asked about tokens that nobody knows. Those that turn out to be good cost nothing; of the others there is
//! a bound, so that a stranger with made-up tokens is heard by us and not by them.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Wrong ones that are asked about at once, and how soon one more is.
const AT_ONCE: u32 = 32;
const EACH: Duration = Duration::from_millis(250);
/// How long somebody waits for room, and how often they look.
const PATIENCE: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(50);

pub(super) struct Questions(Mutex<Room>);

struct Room {
    left: u32,
    /// Since when there is room for less than all.
    since: Instant,
}

impl Questions {
    pub(super) fn new() -> Self {
        Questions(Mutex::new(Room { left: AT_ONCE, since: Instant::now() }))
    }

    /// Waits until one may be asked; whether that was soon enough. Whoever hangs up meanwhile has asked all the same.
    pub(super) async fn wait(&self) -> bool {
        let until = Instant::now() + PATIENCE;
        loop {
            if self.take() {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            sleep(LOOK).await;
        }
    }

    fn take(&self) -> bool {
        let mut room = self.room();
        let more = (room.since.elapsed().as_millis() / EACH.as_millis()).min(u128::from(AT_ONCE)) as u32;
        if more > 0 {
            room.left = (room.left + more).min(AT_ONCE);
            room.since = Instant::now();
        }
        let may = room.left > 0;
        room.left -= u32::from(may);
        may
    }

    /// It was good.
    pub(super) fn give_back(&self) {
        let mut room = self.room();
        room.left = (room.left + 1).min(AT_ONCE);
    }

    fn room(&self) -> std::sync::MutexGuard<'_, Room> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn wrong_ones_are_bounded_and_good_ones_are_not() {
        let questions = Questions::new();
        for _ in 0..1_000 {
            assert!(questions.wait().await);
            questions.give_back();
        }
        let begun = Instant::now();
        for _ in 0..AT_ONCE + 8 {
            assert!(questions.wait().await, "there is room again in time for one that waits");
        }
        assert!(begun.elapsed() >= EACH * 8, "{:?}", begun.elapsed());
        // A hundred who come at once: most of them hear that it cannot be found out now.
        let asked = (0..100).map(|_| questions.wait());
        let heard = futures_util::future::join_all(asked).await;
        let asked = heard.into_iter().filter(|asked| *asked).count();
        assert!(asked <= (PATIENCE.as_millis() / EACH.as_millis()) as usize + 1, "{asked}");
    }
}
