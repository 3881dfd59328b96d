//! How many hits are worth reading, and how much of each. Where the best is clear a few lines are enough; where it is not,
//! more of them are cheaper than another search.
//!
//! What a reader would get wrong: what is cut here is not what a budget cuts. A hit that is left out is one that hardly
//! anybody meant: in the mean of public sets the right tool is lost with it in one request of a hundred, which `toolfold eval`
//! measures beside Recall@10.

use toolfold_index::Hit;

use super::alike::Line;
use crate::level::Level;

/// Below this even the best hit is nothing that could have been meant.
pub(super) const NOTHING: f32 = 0.025;
/// From here on the best hit leaves no room for a choice.
const CLEAR: f32 = 0.9;
/// From here on it was named.
const NAMED: f32 = 0.95;
/// By the confidence of the best hit: how many lines there are at most.
const LINES: [(f32, usize); 4] = [(NAMED, 4), (CLEAR, 7), (0.8, 9), (0.0, 10)];
/// Lines where nothing here is about what is asked for: more of them are only filling.
const UNLIKE_LINES: usize = 5;
/// Against the best hit: what may be called next needs its parameters, what may be meant needs a sentence, and what is
/// possible at all is named.
const LIKELY: f32 = 0.2;
const POSSIBLE: f32 = 0.05;
const IMAGINABLE: f32 = 0.005;
/// Signatures are the most of an answer's cost: one of these will be called.
const MOST_SIGNATURES: usize = 4;

/// Whether the first hit is what was asked for, as far as one can tell.
pub(super) fn is_clear(hits: &[Line]) -> bool {
    hits.first().is_some_and(|best| best.confidence >= CLEAR)
}

/// How many of the hits could be meant at all.
pub(super) fn imaginable(hits: &[Hit]) -> usize {
    let least = hits.first().map_or(0.0, |best| IMAGINABLE * best.confidence);
    hits.iter().take_while(|hit| hit.confidence >= least).count()
}

/// How many of the lines are shown.
pub(super) fn shown(lines: &[Line], unlike: bool) -> usize {
    let best = lines.first().map_or(0.0, |best| best.confidence);
    let most = LINES.iter().find(|(least, _)| best >= *least).map_or(0, |(_, lines)| *lines);
    lines.len().min(if unlike { UNLIKE_LINES } else { most })
}

/// The most that is shown of the hit at a place. Where none is a close match, what each does is asked before how it is called.
pub(super) fn detail(hits: &[Line], place: usize, doubtful: bool) -> Level {
    let best = hits[0].confidence;
    let share = hits[place].confidence / best.max(f32::MIN_POSITIVE);
    let signatures = if doubtful { 1 } else { MOST_SIGNATURES };
    match place {
        0 => Level::Signature,
        place if share >= LIKELY && place < signatures => Level::Signature,
        _ if share >= POSSIBLE => Level::Summary,
        _ => Level::Name,
    }
}
