//! The close comparison: of the best few everything that is known is weighed anew, and each is compared with the query piece by
//! piece. A vector of a whole text blurs; this asks for every single thing that was said.
//!
//! The vectors of the encoder's pieces are learned (`training/late.py`). What nearness counts is where `training/close.py` finds
//! requests for servers that nothing else was trained on answered best; it is flat there.

use crate::ask::{Asked, Meaning};
use crate::index::Index;
use crate::rank::{Scored, stay_behind};
use crate::semantic::{model, nearness};

/// How many are compared. It costs as much as all the rest together, and the right one is hardly ever behind the twentieth;
/// with an encoder it is worth looking further.
const COMPARED: usize = 20;
const COMPARED_PRECISELY: usize = 30;

/// What is added to the score for each, which is a share between the least and the most among those compared.
struct Weights {
    near: f32,
    precisely_near: f32,
}

const FAST: Weights = Weights { near: 0.2, precisely_near: 0.0 };
const PRECISE: Weights = Weights { near: 0.2, precisely_near: 0.3 };

/// How many of the best are compared.
pub(crate) fn compared(asked: &Asked) -> usize {
    if asked.precise.is_some() { COMPARED_PRECISELY } else { COMPARED }
}

/// Compares the best, which stand before all others. What is not compared stays behind, in its order.
pub(crate) fn compare(index: &Index, asked: &Asked, ranked: &mut [Scored]) {
    let count = ranked.len().min(compared(asked));
    let (best, rest) = ranked.split_at_mut(count);
    let entries: Vec<usize> = best.iter().map(|scored| scored.entry).collect();
    let pieces: Vec<&[u16]> = entries.iter().map(|entry| index.base.pieces(*entry)).collect();
    let near = nearness(model(), &asked.pieces, &pieces);
    let precisely_near = precisely_near(asked, &asked.meaning, &entries);
    let weights = if precisely_near.is_some() { PRECISE } else { FAST };
    add(best, &near, weights.near);
    best.iter_mut().zip(near).for_each(|(scored, near)| scored.near = Some(near));
    if let Some(near) = precisely_near {
        add(best, &near, weights.precisely_near);
        best.iter_mut().zip(near).for_each(|(scored, near)| scored.precisely_near = Some(near));
    }
    stay_behind(best, rest);
}

fn precisely_near(asked: &Asked, meaning: &Meaning, entries: &[usize]) -> Option<Vec<f32>> {
    asked.precise.as_ref()?.nearness(meaning.precise.as_ref()?, entries)
}

/// Adds to each score its place between the least and the most.
fn add(best: &mut [Scored], values: &[f32], weight: f32) {
    let (low, high) = values.iter().fold((f32::MAX, f32::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
    let spread = (high - low).max(f32::MIN_POSITIVE);
    for (scored, value) in best.iter_mut().zip(values) {
        scored.score += weight * (value - low) / spread;
    }
}
