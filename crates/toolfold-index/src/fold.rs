//! Near-copies: tools of one server that say the same in the same words. One of them stands for all in an answer, so that
//! a server with a hundred variants of one tool gets one line.
//!
//! What a reader would get wrong: texts that are alike need not be of tools that are. What gets a thing and what deletes it are often
//! described in the same hundred words but one, and that one is in their names. So those whose names have other words stand for
//! themselves, up to a number that leaves room for the rest.

use fearless_simd::{Level, dispatch};
use toolfold_catalog::Catalog;

use crate::analyse::Field;
use crate::index::Index;
use crate::names::{Hash, Named};
use crate::rank::Scored;

/// Texts shorter than this are alike by chance.
const FEWEST_WORDS: u32 = 8;
const MOST_DIFFERENT_BITS: u32 = 3;
/// Tools that say the same and have names of other words, which are shown each for itself.
const MOST_NAMES: usize = 4;
/// Only the best hits are compared with each other.
const FOLDED: usize = 100;

/// A 64-bit simhash of an entry's words: texts that share most words share most bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Likeness {
    bits: u64,
    words: u32,
    /// Of the words of its name, in any order and without numbers.
    name: u64,
}

pub(crate) struct LikenessBuilder {
    weights: [i32; 64],
    words: u32,
    name: u64,
}

impl LikenessBuilder {
    pub(crate) fn new() -> Self {
        LikenessBuilder { weights: [0; 64], words: 0, name: 0 }
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
        if field == Field::Name {
            self.name = self.name.wrapping_add(hash);
        }
        for (bit, weight) in self.weights.iter_mut().enumerate() {
            *weight += if hash >> bit & 1 == 1 { 1 } else { -1 };
        }
    }

    pub(crate) fn finish(self) -> Likeness {
        let bits = self.weights.iter().enumerate().filter(|(_, weight)| **weight > 0).map(|(bit, _)| 1u64 << bit).sum();
        Likeness { bits, words: self.words, name: self.name }
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
    let likenesses: Vec<Likeness> =
        ranked.iter().take(FOLDED).map(|scored| index.base.documents[scored.entry].likeness).collect();
    let named: Vec<bool> = ranked.iter().take(FOLDED).map(|scored| scored.named != Named::No).collect();
    let server = |place: usize| catalog.entry(ranked[place].entry).server();
    let same_server = |a: usize, b: usize| server(a) == server(b);
    let originals = dispatch!(Level::new(), _ => originals(&likenesses, &named, same_server));
    let mut kept: Vec<(Scored, usize)> = Vec::with_capacity(ranked.len());
    let mut places: Vec<usize> = Vec::with_capacity(originals.len());
    for (place, scored) in ranked.iter().enumerate() {
        match originals.get(place).copied().flatten() {
            Some(original) => {
                places.push(places[original]);
                kept[places[original]].1 += 1;
            }
            None => {
                places.push(kept.len());
                kept.push((*scored, 0));
            }
        }
    }
    kept
}

/// For each the place of the first one before it that it is a copy of, among those that stay: of the same name but for numbers, or
/// of any where there are several already. Comparing two is counting
/// bits, so this is one function for the instructions that the machine has for it.
#[inline(always)]
fn originals(all: &[Likeness], named: &[bool], same_server: impl Fn(usize, usize) -> bool) -> Vec<Option<usize>> {
    let mut originals: Vec<Option<usize>> = Vec::with_capacity(all.len());
    for (place, one) in all.iter().enumerate() {
        let (mut found, mut first, mut names) = (None, None, 0);
        if !named[place] {
            for (other, before) in all[..place].iter().enumerate() {
                if one.is_copy_of(*before) && originals[other].is_none() && same_server(other, place) {
                    first = first.or(Some(other));
                    names += 1;
                    if one.name == before.name || names == MOST_NAMES {
                        found = if one.name == before.name { Some(other) } else { first };
                        break;
                    }
                }
            }
        }
        originals.push(found);
    }
    originals
}
