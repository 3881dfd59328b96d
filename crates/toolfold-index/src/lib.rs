//! Finding entries by words and by meaning, in memory and offline: BM25F over eight fields, vectors of a static model
//! that is part of the binary, and a mix of both.
//!
//! Why not a search library: catalogs are immutable and rebuilt whenever a server changes its list; flat arrays of
//! postings and vectors are built in milliseconds, answer in microseconds and need no files, no segments and no merging.
//! `cargo bench -p toolfold-bench` measures it against one.
//!
//! What a reader would get wrong: an index belongs to the catalog it was built from. Hits are positions in that one.

mod analyse;
mod ask;
mod candidates;
mod close;
mod compound;
mod confidence;
mod deed;
mod explain;
mod fold;
mod index;
mod language;
mod learned;
mod names;
mod ontology;
mod precise;
mod query;
mod rank;
mod semantic;
mod vocabulary;
mod weight;

pub use analyse::Field;
pub use confidence::FLOOR;
pub use deed::{Deeds, Risk, is_deed, is_same_thing, names_something, without_verbs};
pub use index::Index;
pub use learned::{Habit, Learned, Lift, Mark, Occasion};
pub use ontology::{OTHER, Placement, study};
pub use precise::{Encode, Precise, is_packed, packed, text_of};
pub use query::{Explain, Filter, Found, Hit, Query, Ranker, TermMatch};
