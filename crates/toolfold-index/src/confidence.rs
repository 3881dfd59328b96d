//! How sure an answer is: the chance that a hit is what was asked for, learned from requests with known answers.
//! `training/calibrate.py` finds the numbers; `docs/search.md` shows how well they hold on requests it never saw.

use crate::ask::Asked;
use crate::names::Named;
use crate::rank::Scored;

/// Of a logistic regression over the features below. The base is 0.3 above what fits our own queries best: those are
/// harder than most, and with it 0.8 means eight in ten there still.
const BASE: f32 = -3.29;
const SEMANTIC: f32 = 2.79;
const LEXICAL: f32 = 0.63;
const NEAR: f32 = 1.43;
const AHEAD: f32 = 11.76;

/// Below this the best hit is no answer: nearly nine in ten such hits are wrong.
pub const FLOOR: f32 = 0.13;

/// The confidences of ranked hits, never rising.
pub(crate) fn confidences(asked: &Asked, ranked: &[(Scored, usize)]) -> Vec<f32> {
    let mut last = 1f32;
    let mut confidence = |place: usize| {
        let other = ranked.get(if place == 0 { 1 } else { 0 });
        let value = of(asked, &ranked[place].0, other.map_or(0.0, |(other, _)| other.score));
        last = last.min(value);
        last
    };
    (0..ranked.len()).map(&mut confidence).collect()
}

/// `other` is the score of the best among the others.
fn of(asked: &Asked, scored: &Scored, other: f32) -> f32 {
    let lexical = (scored.lexical / asked.best.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
    let near = scored.near.unwrap_or(0.0);
    // Scores are relative to the best: how far ahead it is says little where even the best is hardly alike.
    let ahead = (scored.score - other).clamp(-1.0, 1.0) * scored.semantic.max(lexical).max(0.0);
    let sum = BASE + SEMANTIC * scored.semantic + LEXICAL * lexical + NEAR * near + AHEAD * ahead;
    let chance = 1.0 / (1.0 + (-sum).exp());
    match scored.named {
        Named::Exactly => 0.97 + 0.03 * chance,
        Named::Nearly => 0.95 + 0.02 * chance,
        Named::No => 0.95 * chance,
    }
}
