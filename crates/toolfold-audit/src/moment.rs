//! A moment, to the microsecond, as it is written: RFC 3339 in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Microseconds since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub i64);

impl Moment {
    pub fn now() -> Self {
        SystemTime::now().into()
    }
}

impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        Moment(time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64))
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&shown_time(*self))
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time: Timestamp = text.parse().map_err(D::Error::custom)?;
        Ok(Moment(time.as_microsecond()))
    }
}

/// `2026-11-16T18:05:08.123456Z`, always as long.
pub fn shown_time(moment: Moment) -> String {
    let time = Timestamp::from_microsecond(moment.0).unwrap_or_default();
    format!("{time:.6}")
}
