//! The words of concepts: a table each for what is done, what it is done to, how, and for whole schemes. English first, then German,
//! Spanish, French, Chinese and, where it is short, others. Accents are off here, as in a folded text.

mod acts;
mod calm;
mod manner;
mod schemes;
mod telling;
mod things;

use crate::concept::Lexeme;

pub(crate) fn all() -> impl Iterator<Item = &'static Lexeme> {
    let tables = [acts::ACTS, things::THINGS, manner::MANNER, schemes::SCHEMES, calm::CALM, telling::TELLING];
    tables.into_iter().flatten()
}
