//! A budget of bytes: what is queued or kept for somebody takes a share of it first, and gives it back when it is
//! dropped.
//!
//! What a reader would get wrong: a budget can be a part of another one, and a share is then taken from both. So one
//! client or server is bounded by its part, and all of them together by the whole. What is set apart from a budget is no part of
//! it: nobody else can use that up, and the two together are what the budget was.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many bytes may be held, by whoever holds a clone of this.
#[derive(Debug, Clone)]
pub struct Memory(Arc<Budget>);

#[derive(Debug)]
struct Budget {
    most: usize,
    used: AtomicUsize,
    /// What has been set apart.
    apart: AtomicUsize,
    whole: Option<Memory>,
    /// What this was set apart from.
    source: Option<Memory>,
}

/// Bytes that are held. Given back when dropped.
#[derive(Debug)]
pub struct Share {
    memory: Memory,
    bytes: usize,
}

impl Memory {
    pub fn new(most: usize) -> Self {
        Memory::of(most, None, None)
    }

    /// A part of this budget, for one client or server.
    pub fn part(&self, most: usize) -> Self {
        Memory::of(most, Some(self.clone()), None)
    }

    /// A budget of its own, by which this one is smaller for as long as it exists.
    pub fn set_apart(&self, most: usize) -> Self {
        self.0.apart.fetch_add(most, Ordering::Relaxed);
        Memory::of(most, None, Some(self.clone()))
    }

    fn of(most: usize, whole: Option<Memory>, source: Option<Memory>) -> Self {
        let (used, apart) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Memory(Arc::new(Budget { most, used, apart, whole, source }))
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
        let most = self.0.most.saturating_sub(self.0.apart.load(Ordering::Relaxed));
        let within = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= most);
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

impl Drop for Budget {
    fn drop(&mut self) {
        if let Some(source) = &self.source {
            source.0.apart.fetch_sub(self.most, Ordering::Relaxed);
        }
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
    fn what_is_set_apart_is_there_when_all_the_rest_is_used_up() {
        let all = Memory::new(10);
        let own = all.set_apart(4);
        assert!(all.take(7).is_none(), "no more than what was left");
        let rest = all.take(6).unwrap();
        assert!(all.take(1).is_none());
        let held = own.take(4).unwrap();
        assert!(own.take(1).is_none());
        drop((own, rest));
        assert!(all.take(7).is_none(), "it exists for as long as a share of it");
        drop(held);
        assert!(all.take(10).is_some());
    }

    #[test]
    fn no_number_of_bytes_wraps_around() {
        let memory = Memory::new(usize::MAX);
        let _held = memory.take(usize::MAX - 1).unwrap();
        assert!(memory.take(usize::MAX).is_none());
    }
}
