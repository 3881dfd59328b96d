//! How many bytes clients may have lying here: bodies on their way in, answers on their way out, and what is kept for
//! somebody who may come back. Each has its part, so that who fills one does not take the others from anybody.
//!
//! What a reader would get wrong: what is little is not counted. The number of connections bounds it, and an ordinary call must go
//! through while somebody else uses up a whole part. What is small has a part of its own, so that who sends much that is large takes
//! nothing from those who send some.

use bytes::Bytes;
use toolfold_gateway::Gateway;
use toolfold_wire::{Memory, Share};

/// Up to here bytes are not counted: so many for every connection are less than all the rest.
pub(crate) const LITTLE: usize = 4 * 1024;
/// Up to here a body or an answer is small.
pub(crate) const SMALL: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) struct Budget {
    /// Heads of requests that are still coming.
    pub(crate) heads: Memory,
    /// Requests and answers that are more than little and not large.
    pub(crate) small: Memory,
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
        let (heads, small) = (all.part(most / 8), all.part(most / 4));
        Budget { heads, small, bodies: all.part(most / 2), answers: all.part(most / 2), kept: all.part(most / 4) }
    }

    /// An answer that may go out; `None` where too much waits to go out already.
    pub(crate) fn answer(&self, line: impl Into<Bytes>) -> Option<Bytes> {
        let line = line.into();
        if line.len() <= LITTLE {
            return Some(line);
        }
        let part = if line.len() <= SMALL { &self.small } else { &self.answers };
        part.take(line.len()).map(|share| counted(line, share))
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
}
