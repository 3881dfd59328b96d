//! Durations and sizes as people write them.

use std::time::Duration;

use crate::table::Amount;

/// Longer than anybody waits, and far from where adding it to a clock would overflow.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);
const SMALLEST_MESSAGE: f64 = 1024.0;
const LARGEST_MESSAGE: f64 = (1u64 << 30) as f64;

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
    let bytes = number * factor;
    if (SMALLEST_MESSAGE..=LARGEST_MESSAGE).contains(&bytes) { Ok(bytes as usize) } else { Err(RANGE_SIZE) }
}

const HOW_DURATION: &str = "write seconds as a number, or \"500ms\", \"90s\", \"5m\", \"1h\"";
const RANGE_DURATION: &str = "it must be more than nothing and at most seven days";
const HOW_SIZE: &str = "write bytes as a number, or \"512KB\", \"32MB\", \"32MiB\"";
const RANGE_SIZE: &str = "it must be at least 1 KiB and at most 1 GiB";

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
