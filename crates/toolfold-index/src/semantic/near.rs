//! How near each piece of a query comes to some piece of an entry. A sum of vectors blurs: this asks for every single
//! thing that was said whether the entry speaks of it. Only for the best entries, because it costs more.

use std::collections::BTreeMap;

use fearless_simd::{Level, dispatch};

use super::model::Model;

/// For each entry's pieces: the best cosine of every piece of the query, by how much that piece says.
pub(crate) fn nearness(model: &Model, query: &[u16], entries: &[&[u16]]) -> Vec<f32> {
    let mut asked: Vec<u16> = query.to_vec();
    asked.sort_unstable();
    asked.dedup();
    let weights: Vec<f32> = asked.iter().map(|piece| model.row(*piece).length()).collect();
    let total: f32 = weights.iter().sum();
    let places = places(entries);
    let cosines = dispatch!(Level::new(), _ => cosines(model, &asked, &weights, places.keys().copied()));
    let near = |pieces: &&[u16]| {
        let best = |asked: usize| {
            pieces.iter().map(|piece| cosines[places[piece] * weights.len() + asked]).fold(0.0, f32::max)
        };
        weights.iter().enumerate().map(|(place, weight)| weight * best(place)).sum::<f32>()
            / total.max(f32::MIN_POSITIVE)
    };
    entries.iter().map(near).collect()
}

/// Every piece once, numbered: the best entries have many words in common.
fn places(entries: &[&[u16]]) -> BTreeMap<u16, usize> {
    let mut places: BTreeMap<u16, usize> =
        entries.iter().flat_map(|pieces| pieces.iter()).map(|piece| (*piece, 0)).collect();
    places.values_mut().enumerate().for_each(|(number, place)| *place = number);
    places
}

/// The cosines of all pieces with those that were asked for, row by row.
#[inline(always)]
fn cosines(model: &Model, asked: &[u16], lengths: &[f32], pieces: impl Iterator<Item = u16>) -> Vec<f32> {
    let mut cosines = Vec::with_capacity(asked.len() * pieces.size_hint().0);
    for piece in pieces {
        let row = model.row(piece);
        let length = row.length();
        for (other, other_length) in asked.iter().zip(lengths) {
            let both = (length * other_length).max(f32::MIN_POSITIVE);
            cosines.push(row.likeness(model.row(*other)) / both);
        }
    }
    cosines
}
