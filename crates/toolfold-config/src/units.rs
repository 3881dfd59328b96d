//! Durations and sizes as people write them.

use std::time::Duration;

use crate::operation::Rate;
use crate::table::Amount;

/// Longer than anybody waits, and far from where adding it to a clock would overflow.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);
const SMALLEST_MESSAGE: f64 = 1024.0;
const LARGEST_MESSAGE: f64 = (1u64 << 30) as f64;
const SMALLEST_HEAP: f64 = (4u64 << 20) as f64;
const SMALLEST_ROOM: f64 = (1u64 << 20) as f64;
const LARGEST_ROOM: f64 = (1u64 << 40) as f64;

/// Seconds as a number, or a number with a unit.
pub(crate) fn duration(amount: &Amount) -> Result<Duration, &'static str> {
    let (number, unit) = parts(amount).ok_or(HOW_DURATION)?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "" | "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(HOW_DURATION),
    };
    let duration = Duration::try_from_secs_f64(seconds).map_err(|_| RANGE_DURATION)?;
    if duration.is_zero() || duration > LONGEST { Err(RANGE_DURATION) } else { Ok(duration) }
}

/// Bytes as a number, or a number with a unit: `MB` is a million, `MiB` is 1,048,576.
pub(crate) fn size(amount: &Amount) -> Result<usize, &'static str> {
    let bytes = bytes(amount)?;
    if (SMALLEST_MESSAGE..=LARGEST_MESSAGE).contains(&bytes) { Ok(bytes as usize) } else { Err(RANGE_SIZE) }
}

/// As much of memory for one script: less than a few megabytes and there is no room for the language itself.
pub(crate) fn heap(amount: &Amount) -> Result<usize, &'static str> {
    let bytes = bytes(amount)?;
    if (SMALLEST_HEAP..=LARGEST_MESSAGE).contains(&bytes) { Ok(bytes as usize) } else { Err(RANGE_HEAP) }
}

/// As much of a disk.
pub(crate) fn room(amount: &Amount) -> Result<u64, &'static str> {
    let bytes = bytes(amount)?;
    if (SMALLEST_ROOM..=LARGEST_ROOM).contains(&bytes) { Ok(bytes as u64) } else { Err(RANGE_ROOM) }
}

/// So many in a time: `"20/s"`, `"600/m"`, `"5000/h"`.
pub(crate) fn rate(amount: &Amount) -> Result<Rate, &'static str> {
    let Amount::Text(text) = amount else { return Err(HOW_RATE) };
    let (count, unit) = text.split_once('/').ok_or(HOW_RATE)?;
    let per = match unit.trim() {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err(HOW_RATE),
    };
    match count.trim().parse() {
        Ok(count @ 1..=1_000_000_000) => Ok(Rate { count, per: Duration::from_secs(per) }),
        _ => Err(HOW_RATE),
    }
}

fn bytes(amount: &Amount) -> Result<f64, &'static str> {
    let (number, unit) = parts(amount).ok_or(HOW_SIZE)?;
    let factor = match unit {
        "" | "B" => 1.0,
        "KB" | "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(HOW_SIZE),
    };
    Ok(number * factor)
}

const HOW_DURATION: &str = "write seconds as a number, or \"500ms\", \"90s\", \"5m\", \"1h\"";
const RANGE_DURATION: &str = "it must be more than nothing and at most seven days";
const HOW_SIZE: &str = "write bytes as a number, or \"512KB\", \"32MB\", \"32MiB\"";
const RANGE_HEAP: &str = "it must be at least 4 MiB and at most 1 GiB";
const RANGE_SIZE: &str = "it must be at least 1 KiB and at most 1 GiB";
const RANGE_ROOM: &str = "it must be at least 1 MiB and at most 1 TiB";
const HOW_RATE: &str = "write how many in a second, a minute or an hour: \"20/s\", \"600/m\", \"5000/h\"";

fn parts(amount: &Amount) -> Option<(f64, &str)> {
    match amount {
        Amount::Number(number) => Some((*number, "")),
        Amount::Text(text) => {
            let text = text.trim();
            let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
            Some((text[..end].parse().ok()?, text[end..].trim_start()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Amount {
        Amount::Text(text.to_owned())
    }

    #[test]
    fn durations() {
        assert_eq!(duration(&Amount::Number(1.5)), Ok(Duration::from_millis(1500)));
        assert_eq!(duration(&text("500ms")), Ok(Duration::from_millis(500)));
        assert_eq!(duration(&text("5 m")), Ok(Duration::from_secs(300)));
        assert_eq!(duration(&text("2h")), Ok(Duration::from_secs(7200)));
        for wrong in ["", "s", "-3s", "3 weeks", "1.2.3s", "٣s"] {
            assert_eq!(duration(&text(wrong)), Err(HOW_DURATION), "{wrong}");
        }
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(duration(&Amount::Number(wrong)), Err(RANGE_DURATION), "{wrong}");
        }
    }

    #[test]
    fn rates() {
        let rate = |shown: &str| rate(&text(shown));
        assert_eq!(rate("20/s"), Ok(Rate { count: 20, per: Duration::from_secs(1) }));
        assert_eq!(rate(" 600 / m "), Ok(Rate { count: 600, per: Duration::from_secs(60) }));
        for wrong in ["", "20", "/s", "0/s", "-1/s", "1.5/s", "20/day", "20/s/s"] {
            assert_eq!(rate(wrong), Err(HOW_RATE), "{wrong}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(size(&text("32MB")), Ok(32_000_000));
        assert_eq!(size(&text("32 MiB")), Ok(33_554_432));
        assert_eq!(size(&Amount::Number(4096.0)), Ok(4096));
        assert_eq!(size(&text("32 apples")), Err(HOW_SIZE));
        for wrong in [0.0, 1.0, f64::NAN, 1e300] {
            assert_eq!(size(&Amount::Number(wrong)), Err(RANGE_SIZE), "{wrong}");
        }
    }
}
