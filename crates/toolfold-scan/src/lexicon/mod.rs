//! The words of concepts: a table each for what is done, what it is done to, how, and for whole schemes. English first, then German,
//! Spanish, French, Chinese and, where it is short, others. Accents are off here, as in a folded text.

mod acts;
mod calm;
mod manner;
mod schemes;
mod things;

use crate::concept::Lexeme;

pub(crate) fn all() -> impl Iterator<Item = &'static Lexeme> {
    acts::ACTS.iter().chain(things::THINGS).chain(manner::MANNER).chain(schemes::SCHEMES).chain(calm::CALM)
}
