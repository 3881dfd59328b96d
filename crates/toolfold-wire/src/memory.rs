//! A budget of bytes: what is queued or kept for somebody takes a share of it first, and gives it back when it is
//! dropped.
//!
//! What a reader would get wrong: a budget can be a part of another one, and a share is then taken from both. So one
//! client or server is bounded by its part, and all of them together by the whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many bytes may be held, by whoever holds a clone of this.
#[derive(Debug, Clone)]
pub struct Memory(Arc<Budget>);

#[derive(Debug)]
struct Budget {
    most: usize,
    used: AtomicUsize,
    whole: Option<Memory>,
}

/// Bytes that are held. Given back when dropped.
#[derive(Debug)]
pub struct Share {
    memory: Memory,
    bytes: usize,
}

impl Memory {
    pub fn new(most: usize) -> Self {
        Memory(Arc::new(Budget { most, used: AtomicUsize::new(0), whole: None }))
    }

    /// A part of this budget, for one client or server.
    pub fn part(&self, most: usize) -> Self {
        Memory(Arc::new(Budget { most, used: AtomicUsize::new(0), whole: Some(self.clone()) }))
    }

    /// Takes a share; `None` where that would be more than there is, here or in the whole.
    pub fn take(&self, bytes: usize) -> Option<Share> {
        self.reserve(bytes).then(|| Share { memory: self.clone(), bytes })
    }

    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    pub fn most(&self) -> usize {
        self.0.most
    }

    fn reserve(&self, bytes: usize) -> bool {
        let within = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= self.0.most);
        if self.0.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within).is_err() {
            return false;
        }
        let granted = self.0.whole.as_ref().is_none_or(|whole| whole.reserve(bytes));
        if !granted {
            self.0.used.fetch_sub(bytes, Ordering::Relaxed);
        }
        granted
    }

    fn give_back(&self, bytes: usize) {
        self.0.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(whole) = &self.0.whole {
            whole.give_back(bytes);
        }
    }
}

impl Share {
    /// Takes that much more; `false`, and nothing taken, where there is not as much left.
    #[must_use]
    pub fn grow(&mut self, bytes: usize) -> bool {
        let granted = self.memory.reserve(bytes);
        if granted {
            self.bytes += bytes;
        }
        granted
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.memory.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_given_back_when_it_is_dropped() {
        let memory = Memory::new(10);
        let share = memory.take(8).unwrap();
        assert!(memory.take(3).is_none());
        drop(share);
        assert_eq!(memory.take(10).map(|share| share.bytes()), Some(10));
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn a_part_is_bounded_by_itself_and_by_the_whole() {
        let whole = Memory::new(10);
        let (one, other) = (whole.part(8), whole.part(8));
        let mut held = one.take(8).unwrap();
        assert!(!held.grow(1), "more than its part");
        assert!(other.take(3).is_none(), "more than what the whole has left");
        assert_eq!((whole.used(), other.used()), (8, 0), "what was refused took nothing");
        drop(held);
        assert_eq!((whole.used(), one.used()), (0, 0));
    }

    #[test]
    fn no_number_of_bytes_wraps_around() {
        let memory = Memory::new(usize::MAX);
        let _held = memory.take(usize::MAX - 1).unwrap();
        assert!(memory.take(usize::MAX).is_none());
    }
}
