//! A scanner of what servers say of themselves: reasons to look at a definition before a model does.
//!
//! Deterministic rules over every text of an entry that a model can read. What a reader would get wrong: this is a hint
//! and no gate. Whoever writes an attack can read these rules; what carries the weight is that a definition which was
//! not approved is not shown. A silent scanner approves nothing.
//!
//! Pure and linear: no IO, no clock, bounded input, and work that grows with the text and not faster.

mod aside;
mod blob;
mod characters;
mod compare;
mod concept;
mod context;
mod finding;
mod fold;
mod imitation;
mod lexicon;
mod lookalike;
mod marks;
mod parameter;
mod piece;
mod rules;
mod scan;
mod schemes;
mod sentence;
mod tags;
mod twice;
mod visible;
mod voice;

pub use compare::{Difference, differences, render, touched};
pub use context::Context;
pub use finding::{Family, Finding, Report, Severity, Unread};
pub use imitation::Accepted;
pub use marks::{Marks, marks, may_be_marked};
pub use piece::{Piece, Role};
pub use scan::{scan_definition, scan_entry, scan_server, scan_texts};
pub use visible::visible;
