//! Where a token stands in the table. Shared by the build script, which fills the table, and the counter, which reads
//! it: a change here changes both.

/// Slots of the table: a power of two, about two and a half times the vocabulary.
pub(crate) const SLOTS: usize = 1 << 19;

pub(crate) fn slot(token: &[u8]) -> usize {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in token {
        hash = (hash ^ *byte as u64).wrapping_mul(0x0000_0100_0000_01b3);
    }
    (hash ^ (hash >> 32)) as usize & (SLOTS - 1)
}
