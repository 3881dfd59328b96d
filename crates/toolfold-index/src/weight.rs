//! What a term weighs in an entry: BM25F without the rarity of the term, which depends on the rest of the catalog.
//!
//! What a reader would get wrong: fields are held against the length that is usual in real catalogs, not against the
//! mean of this one. That ranks a little better, and a tool's weights stay the same when its neighbours change.

use crate::analyse::FIELDS;

/// In the order of `Field::ALL`: what a word counts in the field.
const WEIGHTS: [f32; FIELDS] = [1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.3];
/// How far a long field is held against its words.
const LENGTH: [f32; FIELDS] = [0.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5];
/// Words in a field of the usual length.
const USUAL: [f32; FIELDS] = [2.0, 3.0, 3.0, 3.0, 11.0, 20.0, 6.0, 30.0];
const SATURATION: f32 = 0.9;

/// The most that a term can weigh.
pub(crate) const MOST: f32 = SATURATION + 1.0;

/// From how often a term is said in each field, and the lengths of all fields.
pub(crate) fn packed(counts: impl Iterator<Item = (usize, usize)>, lengths: &[usize; FIELDS]) -> u16 {
    let amount: f32 = counts
        .map(|(field, count)| {
            let length = lengths[field] as f32 / USUAL[field];
            WEIGHTS[field] * count as f32 / (1.0 - LENGTH[field] + LENGTH[field] * length)
        })
        .sum();
    (amount / (amount + SATURATION) * f32::from(u16::MAX)).round() as u16
}

pub(crate) fn unpacked(weight: u16) -> f32 {
    f32::from(weight) * (MOST / f32::from(u16::MAX))
}

/// How much a term says that `having` of `all` entries have.
pub(crate) fn rarity(having: usize, all: usize) -> f32 {
    (1.0 + (all as f32 - having as f32 + 0.5) / (having as f32 + 0.5)).ln()
}
