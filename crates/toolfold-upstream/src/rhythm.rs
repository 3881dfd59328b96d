//! How often a server is listed that keeps announcing changes: half a second after the last time, then less and less, up
//! to once a minute. One that was quiet for a while is heard at once again.

use std::time::{Duration, Instant};

const SHORTEST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(60);
/// A list that takes long to read is read less often: for each second of reading, so many of rest.
const REST: u32 = 10;

pub(crate) struct Rhythm {
    /// When the latest list was complete.
    listed_at: Option<Instant>,
    pause: Duration,
}

impl Default for Rhythm {
    fn default() -> Self {
        Rhythm { listed_at: None, pause: SHORTEST }
    }
}

impl Rhythm {
    /// When a list that is stale now may be read again.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.listed_at.map(|at| at + self.pause)
    }

    /// A list is about to be read. Where that is as soon as it may be, the server leaves no peace.
    pub(crate) fn begin(&mut self, now: Instant) {
        let hurried = self.listed_at.is_some_and(|at| now < at + self.pause * 2);
        self.pause = if hurried { (self.pause * 2).min(LONGEST) } else { SHORTEST };
    }

    pub(crate) fn end(&mut self, now: Instant, took: Duration) {
        self.listed_at = Some(now);
        self.pause = self.pause.max(took * REST).min(LONGEST);
    }

    /// Somebody asked for the list: that is no flood.
    pub(crate) fn hurry(&mut self) {
        self.pause = SHORTEST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long a server that announces a change at once after every list waits for the next, each time.
    fn pauses(count: usize, took: Duration) -> Vec<f32> {
        let (mut rhythm, mut now) = (Rhythm::default(), Instant::now());
        let list = |_| {
            rhythm.begin(now);
            now += took;
            rhythm.end(now, took);
            let due = rhythm.due().unwrap();
            let pause = (due - now).as_secs_f32();
            now = due;
            pause
        };
        (0..count).map(list).collect()
    }

    #[test]
    fn a_server_that_changes_without_end_is_listened_to_less_and_less() {
        assert_eq!(pauses(9, Duration::ZERO), [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]);
        assert_eq!(pauses(3, Duration::from_secs(2)), [20.0, 40.0, 60.0]);
    }

    #[test]
    fn one_that_was_quiet_is_heard_at_once() {
        let (mut rhythm, now) = (Rhythm::default(), Instant::now());
        for _ in 0..5 {
            rhythm.begin(now);
            rhythm.end(now, Duration::ZERO);
        }
        rhythm.begin(now + Duration::from_secs(60));
        assert_eq!(rhythm.pause, SHORTEST);
    }
}
