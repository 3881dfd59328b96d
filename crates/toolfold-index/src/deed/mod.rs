//! What is done: the deed that a request wants and the deeds that a tool does, and how the two go together.
//!
//! Words and vectors know what a request is about; they hardly know what is to happen to it. "turn off the flag" and
//! `delete-flag` are near each other by every measure of likeness, and yet one must not come before `update-flag`.
//!
//! What a reader would get wrong: nothing here decides. A deed is one more thing that is known about a candidate, and what
//! it counts was learned (`training/deeds.py`), like the share of words and the share of meaning.

mod choices;
mod compare;
mod lexicon;
mod object;
mod request;
mod risk;
mod same;
mod tool;

pub(crate) use object::synonyms;
pub(crate) use request::Wanted;
pub use risk::Risk;
pub use same::{Deeds, is_deed, is_same_thing, names_something, without_verbs};
pub(crate) use tool::{Done, filed_under, product};
