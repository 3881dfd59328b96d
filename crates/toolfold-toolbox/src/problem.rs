//! Why a tool has no answer: a sentence for the model, or a bound.

use toolfold_core::{Code, Refusal, Spent};
use toolfold_gateway::Output;

/// The most bytes of an answer: beyond it a model could not read it anyway.
pub(crate) const LARGEST: usize = 1 << 20;
/// A sentence may quote what it is about, and that may be long.
const LONGEST: usize = 2000;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    /// Says what to do instead.
    #[error("{0}")]
    Told(String),
    #[error("The result would be too large. {0}")]
    TooLarge(&'static str),
    #[error("This was not finished: {0}. Ask for less at a time.")]
    Spent(#[from] Spent),
}

/// `told!("{path:?} does not exist.")`
macro_rules! told {
    ($($said:tt)*) => { $crate::problem::Problem::told(format!($($said)*)) };
}
pub(crate) use told;

impl Problem {
    pub(crate) fn told(mut sentence: String) -> Problem {
        if let Some((end, _)) = sentence.char_indices().nth(LONGEST) {
            sentence.truncate(end);
            sentence.push('…');
        }
        Problem::Told(sentence)
    }

    pub(crate) fn into_output(self) -> Output {
        match self {
            Problem::Told(sentence) => Output::Failure(sentence),
            bound => Output::Refusal(Refusal::new(Code::TooLarge, bound.to_string())),
        }
    }
}
