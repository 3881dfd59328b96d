//! How long a process has computed: this one by its own clock, another one as the system tells.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Of this process, which stands still while it waits.
pub(crate) fn of_this_process() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or_default(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Of another process; `None` where the system does not tell, or it is gone.
#[cfg(target_os = "linux")]
pub(crate) fn of(process: u32) -> Option<Duration> {
    let line = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program is in parentheses and may hold any character; the fourteenth and fifteenth field of all are
    // the twelfth and thirteenth after it.
    let mut fields = line.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    let all = ticks()? + ticks()?;
    let a_second = rustix::param::clock_ticks_per_second().max(1);
    Some(Duration::from_millis(all * 1000 / a_second))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn of(_: u32) -> Option<Duration> {
    None
}
