//! Bytes that come in from a server, counted while they come in and for as long as any part of them is kept: the share of
//! the memory that a message takes is given back when its last slice is dropped.

use bytes::Bytes;
use toolfold_wire::{Memory, Share};

/// So much of a message is free: nearly all are smaller.
const FREE: usize = 64 * 1024;

/// A message that is being read.
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    limit: usize,
    memory: Option<Memory>,
    share: Option<Share>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// The message is larger than a message may be.
    TooLarge,
    /// There is no room for it beside what is held already.
    NoRoom,
}

impl Buffer {
    pub(crate) fn new(limit: usize, memory: Option<Memory>) -> Self {
        Buffer { bytes: Vec::new(), limit, memory, share: None }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds to it, or leaves it as it was.
    pub(crate) fn extend(&mut self, more: &[u8]) -> Result<(), Overflow> {
        let sum = self.bytes.len() + more.len();
        if sum > self.limit {
            return Err(Overflow::TooLarge);
        }
        if sum > FREE && !self.take(sum) {
            return Err(Overflow::NoRoom);
        }
        self.bytes.extend_from_slice(more);
        Ok(())
    }

    /// What was read; the buffer is empty afterwards.
    pub(crate) fn take_bytes(&mut self) -> Bytes {
        let (bytes, share) = (std::mem::take(&mut self.bytes), self.share.take());
        match share {
            Some(share) => Bytes::from_owner(Held { bytes: bytes.into_boxed_slice(), _share: share }),
            None => Bytes::from(bytes),
        }
    }

    pub(crate) fn clear(&mut self) {
        (self.bytes, self.share) = (Vec::new(), None);
    }

    /// Sees to it that so many bytes are paid for. In steps, so that a long message does not count every piece.
    fn take(&mut self, bytes: usize) -> bool {
        let Some(memory) = &self.memory else { return true };
        let paid = self.share.as_ref().map_or(0, Share::bytes);
        if bytes <= paid {
            return true;
        }
        let wanted = bytes + bytes / 4 - paid;
        match &mut self.share {
            Some(share) => share.grow(wanted) || share.grow(bytes - paid),
            None => {
                self.share = memory.take(wanted).or_else(|| memory.take(bytes));
                self.share.is_some()
            }
        }
    }
}

/// What is paid for a message that somebody else puts together.
pub(crate) struct Payment {
    memory: Memory,
    share: Option<Share>,
}

impl Payment {
    pub(crate) fn from(memory: Memory) -> Self {
        Payment { memory, share: None }
    }

    /// Pays for as many bytes as there are now.
    pub(crate) fn hold(&mut self, bytes: usize) -> Result<(), Overflow> {
        if bytes <= FREE {
            self.share = None;
            return Ok(());
        }
        let paid = match &mut self.share {
            Some(share) => share.grow(bytes.saturating_sub(share.bytes())),
            None => {
                self.share = self.memory.take(bytes);
                self.share.is_some()
            }
        };
        paid.then_some(()).ok_or(Overflow::NoRoom)
    }

    /// The message, which takes what was paid for it along.
    pub(crate) fn settle(&mut self, message: String) -> Bytes {
        match self.share.take() {
            Some(share) => Bytes::from_owner(Held { bytes: message.into_bytes().into_boxed_slice(), _share: share }),
            None => Bytes::from(message),
        }
    }
}

struct Held {
    bytes: Box<[u8]>,
    _share: Share,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_paid_for_until_its_last_slice_is_dropped() {
        let memory = Memory::new(1 << 20);
        let mut buffer = Buffer::new(1 << 20, Some(memory.clone()));
        buffer.extend(&[b'x'; 1000]).unwrap();
        assert_eq!(memory.used(), 0, "small ones are free");
        buffer.extend(&vec![b'x'; 200_000]).unwrap();
        let slice = buffer.take_bytes().slice(5..6);
        assert!(memory.used() >= 201_000);
        drop(slice);
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn a_message_that_another_puts_together_is_paid_for_too() {
        let memory = Memory::new(1 << 20);
        let mut payment = Payment::from(memory.clone());
        for n in 1..=10 {
            payment.hold(n * 50_000).unwrap();
        }
        assert_eq!(payment.hold(2 << 20), Err(Overflow::NoRoom));
        let message = payment.settle("x".repeat(500_000));
        assert_eq!(memory.used(), 500_000);
        drop(message);
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn what_is_too_large_or_has_no_room_is_told_apart() {
        let memory = Memory::new(300_000);
        let mut one = Buffer::new(250_000, Some(memory.clone()));
        one.extend(&vec![0; 240_000]).unwrap();
        assert_eq!(one.extend(&[0; 20_000]), Err(Overflow::TooLarge));
        let mut other = Buffer::new(250_000, Some(memory.clone()));
        assert_eq!(other.extend(&vec![0; 100_000]), Err(Overflow::NoRoom));
        one.clear();
        other.extend(&vec![0; 100_000]).unwrap();
    }
}
