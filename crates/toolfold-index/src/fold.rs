//! Near-copies: tools of one server that say the same in the same words. One of them stands for all in an answer, so that
//! a server with a hundred variants of one tool gets one line.

use fearless_simd::{Level, dispatch};
use toolfold_catalog::Catalog;

use crate::analyse::Field;
use crate::index::Index;
use crate::names::{Hash, Named};
use crate::rank::Scored;

/// Texts shorter than this are alike by chance.
const FEWEST_WORDS: u32 = 8;
const MOST_DIFFERENT_BITS: u32 = 3;
/// Only the best hits are compared with each other.
const FOLDED: usize = 100;

/// A 64-bit simhash of an entry's words: texts that share most words share most bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Likeness {
    bits: u64,
    words: u32,
}

pub(crate) struct LikenessBuilder {
    weights: [i32; 64],
    words: u32,
}

impl LikenessBuilder {
    pub(crate) fn new() -> Self {
        LikenessBuilder { weights: [0; 64], words: 0 }
    }

    /// Numbers do not tell copies apart, nor does what all tools of a server have in common. Prose about parameters is
    /// left out because there is so much of it.
    pub(crate) fn add(&mut self, field: Field, word: &str) {
        let passed_over = matches!(field, Field::Server | Field::ParameterDescription);
        if passed_over || word.chars().all(char::is_numeric) {
            return;
        }
        self.words += 1;
        let hash = spread(Hash::new().add(word).0);
        for (bit, weight) in self.weights.iter_mut().enumerate() {
            *weight += if hash >> bit & 1 == 1 { 1 } else { -1 };
        }
    }

    pub(crate) fn finish(self) -> Likeness {
        let bits = self.weights.iter().enumerate().filter(|(_, weight)| **weight > 0).map(|(bit, _)| 1u64 << bit).sum();
        Likeness { bits, words: self.words }
    }
}

impl Likeness {
    #[inline(always)]
    fn is_copy_of(self, other: Likeness) -> bool {
        self.words.min(other.words) >= FEWEST_WORDS && (self.bits ^ other.bits).count_ones() <= MOST_DIFFERENT_BITS
    }
}

/// FNV leaves the high bits of short words alike; this mixes them (the finaliser of splitmix64).
fn spread(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// Takes near-copies out of ranked hits and counts them with the one that stays. An entry that is asked for by name
/// is never folded away.
pub(crate) fn fold(index: &Index, catalog: &Catalog, ranked: Vec<Scored>) -> Vec<(Scored, usize)> {
    let mut kept: Vec<(Scored, usize)> = Vec::with_capacity(ranked.len());
    let mut likenesses: Vec<Likeness> = Vec::with_capacity(ranked.len());
    for (place, scored) in ranked.into_iter().enumerate() {
        let likeness = index.base.documents[scored.entry].likeness;
        let of_its_server = |other: &usize| {
            let (other, _) = &kept[*other];
            catalog.entry(other.entry).server() == catalog.entry(scored.entry).server()
        };
        let may_be_copy = place < FOLDED && scored.named == Named::No;
        let copies = if may_be_copy { copies_of(likeness, &likenesses) } else { Vec::new() };
        match copies.into_iter().find(of_its_server) {
            Some(original) => kept[original].1 += 1,
            None => {
                kept.push((scored, 0));
                likenesses.push(likeness);
            }
        }
    }
    kept
}

/// The places of those that say the same.
fn copies_of(one: Likeness, others: &[Likeness]) -> Vec<usize> {
    dispatch!(Level::new(), _ => copies(one, others))
}

#[inline(always)]
fn copies(one: Likeness, others: &[Likeness]) -> Vec<usize> {
    let mut found = Vec::new();
    for (place, other) in others.iter().enumerate() {
        if one.is_copy_of(*other) {
            found.push(place);
        }
    }
    found
}
