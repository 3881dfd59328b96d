//! How many bytes clients may have lying here: bodies on their way in, answers on their way out, and what is kept for
//! somebody who may come back. Each has its part, so that who fills one does not take the others from anybody.
//!
//! What a reader would get wrong: what is little is not counted, the number of connections bounds it; and what is small has memory
//! set apart, so that who uses up all the rest takes nothing from it. What a client lets us wait for is counted by its connection
//! (`http/connections.rs`), which goes before anybody else is told that there is no room.

use bytes::Bytes;
use toolfold_gateway::Gateway;
use toolfold_wire::{Memory, Share};

/// Up to here bytes are not counted: so many for every connection are less than all the rest.
pub(crate) const LITTLE: usize = 4 * 1024;
/// Up to here a body or an answer is small.
pub(crate) const SMALL: usize = 64 * 1024;
/// For what is small a part of all the memory is set apart: one over this for what is waited for, and as much for what is worked on.
const APART: usize = 8;

#[derive(Debug)]
pub(crate) struct Budget {
    /// Requests that are being read or worked on.
    pub(crate) bodies: Memory,
    /// Answers that wait for their client to read them.
    pub(crate) answers: Memory,
    /// What was said and may be asked for again.
    pub(crate) kept: Memory,
}

impl Budget {
    pub(crate) fn of(gateway: &Gateway) -> Self {
        Budget::within(gateway.memory())
    }

    pub(crate) fn within(all: &Memory) -> Self {
        let most = all.most();
        Budget { bodies: all.part(most / 2), answers: all.part(most / 2), kept: all.part(most / 4) }
    }

    /// An answer that may go out; `None` where too much that is large waits to go out already.
    pub(crate) fn answer(&self, line: impl Into<Bytes>) -> Option<Bytes> {
        let line = line.into();
        if line.len() <= SMALL {
            return Some(line);
        }
        self.answers.take(line.len()).map(|share| counted(line, share))
    }
}

/// Memory for what is small, set apart from the rest for as long as this exists.
#[derive(Debug)]
pub(crate) struct Reserve {
    /// What lies here of clients that may go for it: heads, bodies that are still coming, answers that nothing is taken of.
    pub(crate) waiting: Memory,
    /// Bodies of requests that are worked on.
    working: Memory,
}

impl Reserve {
    pub(crate) fn within(all: &Memory) -> Self {
        let each = all.most() / APART;
        Reserve { waiting: all.set_apart(each), working: all.set_apart(each) }
    }

    /// A share for something small that is worked on; where all that is set apart is taken, one of what large bodies may use.
    pub(crate) fn work(&self, bytes: usize, budget: &Budget) -> Option<Share> {
        let bytes = if bytes <= LITTLE { 0 } else { bytes };
        self.working.take(bytes).or_else(|| budget.bodies.take(bytes))
    }
}

/// Bytes that give their share back when the last slice of them is gone.
pub(crate) fn counted(bytes: impl AsRef<[u8]> + Send + 'static, share: Share) -> Bytes {
    Bytes::from_owner(Counted { bytes, _share: share })
}

struct Counted<B> {
    bytes: B,
    _share: Share,
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for Counted<B> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_lives_as_long_as_any_slice_of_its_bytes() {
        let memory = Memory::new(100);
        let bytes = counted(vec![0u8; 80], memory.take(80).unwrap());
        let slice = bytes.slice(10..12);
        drop(bytes);
        assert_eq!(memory.used(), 80);
        drop(slice);
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn what_is_small_has_room_while_all_the_rest_is_used_up() {
        let all = Memory::new(16 * SMALL);
        let (budget, reserve) = (Budget::within(&all), Reserve::within(&all));
        let rest: Vec<_> = std::iter::from_fn(|| all.take(SMALL)).collect();
        assert_eq!(rest.len(), 12, "a quarter is set apart");
        assert!(budget.answers.take(SMALL).is_none() && budget.answer(vec![0; SMALL + 1]).is_none());
        assert!(budget.answer(vec![0; SMALL]).is_some());
        let small: Vec<_> = std::iter::from_fn(|| reserve.work(SMALL, &budget)).collect();
        assert_eq!(small.len(), 2);
        assert!(reserve.work(LITTLE, &budget).is_some(), "what is little passes always");
        drop(rest);
        let more: Vec<_> = std::iter::from_fn(|| reserve.work(SMALL, &budget)).collect();
        assert_eq!(more.len(), 8, "what large bodies do not use");
        assert_eq!(reserve.waiting.take(2 * SMALL).map(|share| share.bytes()), Some(2 * SMALL));
    }
}
