//! Bytes that come in from a server, counted while they come in and for as long as any part of them is kept: the share of
//! the memory that a message takes is given back when its last slice is dropped.

use bytes::Bytes;
use toolfold_wire::{Memory, Share, Taken};

use crate::intake::{SPOOLED_OVER, Spooling};

/// So much of a message is free: nearly all are smaller.
const FREE: usize = 64 * 1024;

/// Where a long message may go, by how it begins.
pub(crate) type Offer = Box<dyn Fn(&[u8]) -> Option<Spooling> + Send + Sync>;

/// A message that is being read.
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    limit: usize,
    memory: Option<Memory>,
    share: Option<Share>,
    offer: Option<Offer>,
    /// Whether this message was offered a place.
    is_offered: bool,
    spooling: Option<Spooling>,
    /// How much of it is there.
    spooled: usize,
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
        let (offer, spooling) = (None, None);
        Buffer { bytes: Vec::new(), limit, memory, share: None, offer, is_offered: false, spooling, spooled: 0 }
    }

    /// Long messages go where there is a place for them, and not into memory.
    pub(crate) fn offering(self, offer: Offer) -> Self {
        Buffer { offer: Some(offer), ..self }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether nothing has been read yet, also not of what was put away.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.spooled == 0
    }

    /// The request that this is known to answer.
    pub(crate) fn answers(&self) -> Option<u64> {
        self.spooling.as_ref().map(|spooling| spooling.id)
    }

    /// Adds to it, or leaves it as it was. Where it [is due](Buffer::is_due) afterwards, it is settled next.
    pub(crate) fn extend(&mut self, more: &[u8]) -> Result<(), Overflow> {
        let sum = self.bytes.len() + more.len();
        if self.spooled + sum > self.limit {
            return Err(Overflow::TooLarge);
        }
        if sum > FREE && !self.take(sum) {
            return Err(Overflow::NoRoom);
        }
        self.bytes.extend_from_slice(more);
        if self.bytes.len() > SPOOLED_OVER && !std::mem::replace(&mut self.is_offered, true) {
            self.spooling = self.offer.as_ref().and_then(|offer| offer(&self.bytes));
        }
        Ok(())
    }

    /// Whether there is enough to be put away.
    pub(crate) fn is_due(&self) -> bool {
        self.spooling.is_some() && self.bytes.len() > SPOOLED_OVER
    }

    /// Puts away what there is.
    pub(crate) async fn settle(&mut self) -> Result<(), Overflow> {
        let Some(spooling) = &mut self.spooling else { return Ok(()) };
        let bytes = std::mem::take(&mut self.bytes);
        let length = bytes.len();
        match spooling.take(bytes).await {
            Ok(()) => {
                self.spooled += length;
                Ok(())
            }
            Err(given) => self.adopt(given),
        }
    }

    /// The message, which is whole now; the buffer is empty afterwards.
    pub(crate) async fn take_message(&mut self) -> Result<Bytes, Overflow> {
        if let Some(spooling) = self.spooling.take() {
            match spooling.finish(std::mem::take(&mut self.bytes)).await {
                Some(Taken::Short(message)) => {
                    self.clear();
                    return Ok(message);
                }
                Some(Taken::Whole(whole)) => self.adopt(Some(whole))?,
                None => self.adopt(None)?,
            }
        }
        Ok(self.take_bytes())
    }

    /// Takes back what was put away.
    fn adopt(&mut self, given: Option<Vec<u8>>) -> Result<(), Overflow> {
        (self.spooling, self.spooled) = (None, 0);
        self.bytes = given.ok_or(Overflow::NoRoom)?;
        if self.take(self.bytes.len()) { Ok(()) } else { Err(Overflow::NoRoom) }
    }

    fn take_bytes(&mut self) -> Bytes {
        self.is_offered = false;
        let (bytes, share) = (std::mem::take(&mut self.bytes), self.share.take());
        match share {
            Some(share) => Bytes::from_owner(Held { bytes: bytes.into_boxed_slice(), _share: share }),
            None => Bytes::from(bytes),
        }
    }

    pub(crate) fn clear(&mut self) {
        (self.bytes, self.share, self.spooling) = (Vec::new(), None, None);
        (self.is_offered, self.spooled) = (false, 0);
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
