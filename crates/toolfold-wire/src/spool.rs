//! Long answers on their way in: whoever asks may offer a place that they are put into piece by piece, so that they are never
//! in memory as a whole.
//!
//! What a reader would get wrong: the transport is told nothing of what becomes of them. It hands in the bytes of one
//! message and gets a message back, which it treats as if it had come like that.

use std::sync::Arc;

use bytes::Bytes;

/// A place for the answer to one call.
pub trait Spool: Send + Sync {
    /// Begins to take the answer to this request in; `None` where there is no room for it.
    fn begin(self: Arc<Self>, id: u64) -> Option<Box<dyn Intake>>;
}

/// A message that is being taken in. What it does may wait for a disk.
pub trait Intake: Send {
    /// Takes more of it. `false`: it took nothing of this, and will take nothing more.
    fn take(&mut self, bytes: &[u8]) -> bool;

    /// Everything that was taken, given back; `None` where it is lost.
    fn give_back(self: Box<Self>) -> Option<Vec<u8>>;

    /// The message is whole; `None` where it is lost.
    fn end(self: Box<Self>) -> Option<Taken>;
}

/// A message that was taken in.
pub enum Taken {
    /// With its long texts cut short: the whole of them is where it was put.
    Short(Bytes),
    /// As it came, because it is not to be kept.
    Whole(Vec<u8>),
}
