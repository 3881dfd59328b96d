//! How sure an answer is: the chance that a hit is what was asked for, learned from requests with known answers.
//! `training/calibrate.py` finds the numbers; `docs/search.md` shows how well they hold on requests it never saw.

use crate::ask::Asked;
use crate::index::Index;
use crate::names::Named;
use crate::rank::Scored;
use crate::semantic::{self, model};

/// Of a logistic regression over the features below.
const BASE: f32 = -3.67;
const SEMANTIC: f32 = 2.41;
const NEAR: f32 = 1.47;
const AHEAD: f32 = 14.04;
const WORDS: f32 = 0.43;
/// Of a request in words that nobody knows, as one in another language.
const STRANGE: f32 = -1.5;
/// Of one that does something else than was asked for.
const DISAGREES: f32 = -1.5;

/// Of another one: whether anything is there that a short request can be about. Being ahead of others says nothing of it, and among
/// many entries something is always somewhat alike.
const FITS_BASE: f32 = -3.71;
const FITS_SEMANTIC: f32 = 9.34;
const FITS_LEAST_NEAR: f32 = 1.29;
const FITS_LEXICAL: f32 = 1.21;
const FITS_DEED: f32 = 0.62;
const FITS_SUBJECT: f32 = 0.85;
const FITS_WORDS: f32 = 0.10;
const FITS_SIZE: f32 = -0.34;
/// Words that mean something in a request that this can be told of. A longer one tells of more than it asks for.
const SHORT: usize = 4;

/// Below this the best hit is no answer: nearly nine in ten such hits are wrong.
pub const FLOOR: f32 = 0.14;
/// Above this a hit counts half of the rest, so that what a query names is surer than everything else.
const NEARLY_SURE: f32 = 0.9;

/// The confidences of ranked hits, never rising.
pub(crate) fn confidences(asked: &Asked, ranked: &[(Scored, usize)]) -> Vec<f32> {
    let said = BASE + WORDS * (asked.words as f32).ln_1p() + STRANGE * asked.unknown;
    let mut last = 1f32;
    let mut confidence = |place: usize| {
        let other = ranked.get(if place == 0 { 1 } else { 0 });
        let value = of(asked, said, &ranked[place].0, other.map_or(0.0, |(other, _)| other.score));
        last = last.min(value);
        last
    };
    (0..ranked.len()).map(&mut confidence).collect()
}

/// The chance that one of the entries is what was asked for, by how the best hit fits. Certain where that cannot be told: of long
/// requests, and of what was named or chosen before.
pub(crate) fn fits(index: &Index, asked: &Asked, best: Option<&Scored>) -> f32 {
    let known = |best: &Scored| best.named != Named::No || best.learned.is_some();
    let Some(best) = best.filter(|best| asked.words <= SHORT && !known(best)) else { return 1.0 };
    let (deed, subject) = asked.wanted.met(&index.base.documents[best.entry].done);
    let sum = FITS_BASE
        + FITS_SEMANTIC * best.semantic
        + FITS_LEAST_NEAR * least_near(index, asked, best)
        + FITS_LEXICAL * share_of_words(asked, best)
        + FITS_DEED * deed
        + FITS_SUBJECT * subject
        + FITS_WORDS * (asked.words as f32).ln_1p()
        + FITS_SIZE * (index.len().max(2) as f32).ln();
    1.0 / (1.0 + (-sum).exp())
}

/// How near the entry comes to the thing that is named, of several to the one that it comes least near: "reserve a table at a
/// restaurant" is about no other table.
pub(crate) fn least_near(index: &Index, asked: &Asked, scored: &Scored) -> f32 {
    semantic::least_near(model(), &asked.named, index.base.pieces(scored.entry))
}

/// What the words earn, against what an entry would earn that has them all and nothing else.
fn share_of_words(asked: &Asked, scored: &Scored) -> f32 {
    (scored.lexical / asked.best.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0)
}

/// `said` is what the query adds by itself, `other` the score of the best among the others.
fn of(asked: &Asked, said: f32, scored: &Scored, other: f32) -> f32 {
    let lexical = share_of_words(asked, scored);
    let near = scored.near.unwrap_or(0.0);
    // Scores are relative to the best: how far ahead it is says little where even the best is hardly alike.
    let ahead = (scored.score - other).clamp(-1.0, 1.0) * scored.semantic.max(lexical).max(0.0);
    let sum = said + SEMANTIC * scored.semantic + NEAR * near + AHEAD * ahead + DISAGREES * scored.disagreement;
    let chance = 1.0 / (1.0 + (-sum).exp());
    match scored.named {
        Named::Exactly => 0.97 + 0.03 * chance,
        Named::Nearly => 0.95 + 0.02 * chance,
        // Grammar alone asks for nothing.
        Named::No if asked.words == 0 => 0.0,
        Named::No => chance - (chance - NEARLY_SURE).max(0.0) / 2.0,
    }
}
