//! How near each piece of a query comes to some piece of an entry. A sum of vectors blurs: this asks for every single
//! thing that was said whether the entry speaks of it. Only for the best entries, because it costs more.

use fearless_simd::{Level, dispatch};

use super::model::Model;

/// A piece that says less than this, against the one that says most, is grammar and not compared.
const LEAST: f32 = 0.15;

/// For each entry's pieces: the best cosine of every piece of the query, by how much that piece says.
pub(crate) fn nearness(model: &Model, query: &[u16], entries: &[&[u16]]) -> Vec<f32> {
    let mut asked: Vec<u16> = query.to_vec();
    asked.sort_unstable();
    asked.dedup();
    let says = |piece: &u16| model.length(*piece);
    let most = asked.iter().map(says).fold(0.0, f32::max);
    asked.retain(|piece| says(piece) > LEAST * most);
    let weights: Vec<f32> = asked.iter().map(says).collect();
    let total = weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    // The best entries have many words in common: each is compared once.
    let mut all: Vec<u16> = entries.concat();
    all.sort_unstable();
    all.dedup();
    let cosines = dispatch!(Level::new(), _ => cosines(model, &asked, &weights, &all));
    let near = |pieces: &&[u16]| {
        let mut best = vec![0f32; asked.len()];
        for place in pieces.iter().filter_map(|piece| all.binary_search(piece).ok()) {
            let row = &cosines[place * asked.len()..][..asked.len()];
            best.iter_mut().zip(row).for_each(|(best, cosine)| *best = best.max(*cosine));
        }
        best.iter().zip(&weights).map(|(best, weight)| best * weight).sum::<f32>() / total
    };
    entries.iter().map(near).collect()
}

/// How near the one of some words comes to an entry that is the least like any of its pieces: what nobody speaks of is not had by
/// speaking of all the rest. 1 where there are no words.
pub(crate) fn least_near(model: &Model, words: &[Vec<u16>], entry: &[u16]) -> f32 {
    words.iter().flat_map(|word| nearness(model, word, &[entry])).fold(1.0, f32::min)
}

/// The cosines of all pieces with those that were asked for, row by row.
#[inline(always)]
fn cosines(model: &Model, asked: &[u16], lengths: &[f32], pieces: &[u16]) -> Vec<f32> {
    let mut cosines = Vec::with_capacity(asked.len() * pieces.len());
    for piece in pieces {
        let row = model.row(*piece);
        let length = model.length(*piece);
        for (other, other_length) in asked.iter().zip(lengths) {
            let both = (length * other_length).max(f32::MIN_POSITIVE);
            cosines.push(row.likeness(model.row(*other)) / both);
        }
    }
    cosines
}
