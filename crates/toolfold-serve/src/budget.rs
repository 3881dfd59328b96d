//! How many bytes clients may have lying here: bodies on their way in, answers on their way out, and what is kept for
//! somebody who may come back. Each has its part, so that who fills one does not take the others from anybody.
//!
//! What a reader would get wrong: what is small is not counted. The number of connections and of requests bounds it, and
//! an ordinary call must go through while somebody else uses up a whole part.

use bytes::Bytes;
use toolfold_gateway::Gateway;
use toolfold_wire::{Memory, Share};

/// From here on, bytes are counted.
pub(crate) const SMALL: usize = 64 * 1024;

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
        let all = gateway.memory();
        let most = all.most();
        Budget { bodies: all.part(most / 2), answers: all.part(most / 2), kept: all.part(most / 4) }
    }

    /// An answer that may go out; `None` where too much waits to go out already.
    pub(crate) fn answer(&self, line: impl Into<Bytes>) -> Option<Bytes> {
        let line = line.into();
        if line.len() <= SMALL {
            return Some(line);
        }
        self.answers.take(line.len()).map(|share| counted(line, share))
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
