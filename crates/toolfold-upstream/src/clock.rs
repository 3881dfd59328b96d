//! The time of day, as tokens and what is sealed count it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970. A clock that is before that is at its beginning.
pub fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
