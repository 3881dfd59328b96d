//! Results that are larger than a model should read at once: kept whole, shown in outline, read in parts.
//!
//! What a reader would get wrong: nothing here decides which result is kept, or for how long anybody may want it. That is the
//! gateway's business; this crate knows how to keep bytes that may be secrets ([`Shelf`]), what to say of them
//! ([`summary`]), and how to answer questions about them within counted work ([`read`]).

mod body;
mod excerpt;
mod fields;
mod functions;
mod items;
mod lexer;
mod operand;
mod outline;
mod pages;
mod piece;
mod query;
mod read;
mod sealed;
mod shelf;
mod spool;
mod summary;
mod survey;
mod walk;

pub use body::{Body, Notation, body_of};
pub use fields::{Fields, cut};
pub use pages::read_kept;
pub use query::{QueryError, query};
pub use read::{Reading, WrongReading, read};
pub use shelf::{Handle, KeptResult, NotKept, Room, Shelf, Shelved};
pub use spool::{Slot, Spooled};
pub use summary::summary;
pub use survey::Surveyed;
