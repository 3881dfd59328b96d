//! Who was not let in at all: without a valid token, or too often. It is counted, and written down now and then: whoever
//! storms the door must not fill the record as well.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use toolfold_audit::EventKind;
use toolfold_core::{Code, Principal};

use crate::recording::{Occurrence, Recording};

/// How often the same is told of the same.
const EVERY: Duration = Duration::from_secs(10);
/// Of whom it is remembered.
const MOST: usize = 1_000;

type Key = (Option<Principal>, &'static str);

/// When each was told last, and how often it happened since.
#[derive(Default)]
pub(crate) struct TurnedAway(Mutex<HashMap<Key, (Instant, u64)>>);

impl TurnedAway {
    /// Somebody was not let in, and nothing of what they wanted was looked at. `None`: it is not known who.
    pub(crate) fn tell(&self, recording: &Recording, who: Option<&Principal>, code: Code) {
        if let Some(times) = self.count((who.cloned(), code.as_str())) {
            tell(recording, who, code.as_str(), times);
        }
    }

    /// How often it happened since it was told last, this time included; `None` while that is not long ago.
    fn count(&self, key: Key) -> Option<u64> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST && !all.contains_key(&key) {
            all.retain(|_, (told, since)| *since > 0 || told.elapsed() < EVERY);
            if all.len() >= MOST {
                return None;
            }
        }
        let now = Instant::now();
        match all.get_mut(&key) {
            Some((told, since)) if now - *told < EVERY => {
                *since += 1;
                None
            }
            Some((told, since)) => {
                *told = now;
                Some(std::mem::take(since) + 1)
            }
            None => {
                all.insert(key, (now, 0));
                Some(1)
            }
        }
    }

    /// What has not been told yet.
    pub(crate) fn tell_rest(&self, recording: &Recording) {
        let rest = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for ((who, code), (_, since)) in rest.into_iter().filter(|(_, (_, since))| *since > 0) {
            tell(recording, who.as_ref(), code, since);
        }
    }
}

fn tell(recording: &Recording, who: Option<&Principal>, code: &'static str, times: u64) {
    let kind = if code == Code::RateLimited.as_str() { EventKind::Refuse } else { EventKind::Login };
    let refused =
        Occurrence { by: who, about: Some(code.to_owned()), times: Some(times), ..Occurrence::new(kind, "refused") };
    recording.happened(refused);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_storm_is_told_now_and_then_and_nothing_of_it_is_lost() {
        let all = TurnedAway::default();
        let key = || (None, "NOT_AUTHORIZED");
        assert_eq!(all.count(key()), Some(1));
        assert!((0..1_000).all(|_| all.count(key()).is_none()));
        assert_eq!(all.count((Some(Principal::local()), "RATE_LIMITED")), Some(1), "another is told at once");
        tokio::time::advance(EVERY).await;
        assert_eq!(all.count(key()), Some(1_001));
        assert_eq!(all.count(key()), None);
    }
}
