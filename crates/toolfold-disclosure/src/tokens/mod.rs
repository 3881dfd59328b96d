//! How many tokens a text costs, exactly as o200k_base counts them.
//!
//! Why not a tokenizer crate: those keep tens of megabytes in memory to encode and decode at full speed. Counting needs
//! the ranks alone, and those are a table in the binary. The result is the same, which the tests prove.

mod hash;
mod merge;
mod pieces;

/// The number of o200k_base tokens in a text. Linear in its length but for a logarithm: safe on anything.
pub fn count(text: &str) -> usize {
    pieces::pieces(text).map(|piece| merge::count(piece.as_bytes())).sum()
}

static SLOTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/slots.bin"));
static STARTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/starts.bin"));
static TOKENS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tokens.bin"));

const LONGEST_TOKEN: usize = 128;

/// A token's rank; lower ranks are merged first.
fn rank(token: &[u8]) -> Option<u32> {
    if token.len() > LONGEST_TOKEN {
        return None;
    }
    let mut slot = hash::slot(token);
    loop {
        let rank = number(SLOTS, slot).checked_sub(1)?;
        let (start, end) = (number(STARTS, rank as usize), number(STARTS, rank as usize + 1));
        if &TOKENS[start as usize..end as usize] == token {
            return Some(rank);
        }
        slot = (slot + 1) % hash::SLOTS;
    }
}

fn number(table: &[u8], place: usize) -> u32 {
    let at = place * 4;
    u32::from_le_bytes([table[at], table[at + 1], table[at + 2], table[at + 3]])
}
