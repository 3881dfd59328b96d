//! The words of concepts: a table each for what is done, what it is done to, and how. English first, then German,
//! Spanish, French, Chinese and, where it is short, others. Accents are off here, as in a folded text.

mod acts;
mod manner;
mod things;

use crate::concept::Lexeme;

pub(crate) fn all() -> impl Iterator<Item = &'static Lexeme> {
    acts::ACTS.iter().chain(things::THINGS).chain(manner::MANNER)
}
