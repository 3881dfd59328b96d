//! Work that is counted while it is done, and can be stopped from outside.
//!
//! What a reader would get wrong: fuel is no estimate made beforehand. Whoever does something that strangers decide the
//! size of (checks arguments, runs a tool) burns as it goes and passes [`Spent`] on, so that it ends when the fuel does
//! or when nobody waits for it any more.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much may be done. A step is a few nanoseconds of work: a look-up, a comparison, some bytes copied.
#[derive(Debug)]
pub struct Fuel {
    left: Cell<u64>,
    stop: Stop,
}

/// Tells work on another thread that it is not wanted any more. Every clone is the same one.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

/// Why work ended before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Spent {
    #[error("it takes more work than is allowed")]
    Empty,
    #[error("it was cancelled")]
    Stopped,
}

impl Fuel {
    pub fn new(steps: u64) -> Fuel {
        Fuel::stoppable(steps, Stop::default())
    }

    pub fn stoppable(steps: u64, stop: Stop) -> Fuel {
        Fuel { left: Cell::new(steps), stop }
    }

    pub fn burn(&self, steps: u64) -> Result<(), Spent> {
        match self.left.get().checked_sub(steps) {
            Some(left) => self.left.set(left),
            None => {
                self.left.set(0);
                return Err(Spent::Empty);
            }
        }
        if self.stop.is_set() { Err(Spent::Stopped) } else { Ok(()) }
    }

    /// For work that is proportional to a text or a list: a step for so many parts of it, and one for having begun.
    pub fn burn_for(&self, length: usize, parts_in_a_step: usize) -> Result<(), Spent> {
        self.burn(1 + (length / parts_in_a_step.max(1)) as u64)
    }

    pub fn left(&self) -> u64 {
        self.left.get()
    }
}

impl Stop {
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets this when it is dropped: for a future that may be dropped while a thread works for it.
    pub fn when_dropped(&self) -> StopWhenDropped {
        StopWhenDropped(self.clone())
    }
}

#[derive(Debug)]
pub struct StopWhenDropped(Stop);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.set();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_burnt_is_gone() {
        let fuel = Fuel::new(3);
        assert_eq!(fuel.burn(2), Ok(()));
        assert_eq!(fuel.burn(2), Err(Spent::Empty));
        assert_eq!(fuel.burn(1), Err(Spent::Empty), "empty stays empty");
    }

    #[test]
    fn work_stops_when_nobody_waits_for_it() {
        let stop = Stop::default();
        let fuel = Fuel::stoppable(100, stop.clone());
        drop(stop.when_dropped());
        assert_eq!(fuel.burn(1), Err(Spent::Stopped));
    }
}
