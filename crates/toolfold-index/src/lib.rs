//! Finding entries by words: BM25F over six fields, in memory.
//!
//! Why not a search library: catalogs are small, immutable and rebuilt whenever a server changes its list; a flat array
//! of postings is built in milliseconds, answers in microseconds and needs no files, no segments and no merging.
//!
//! What a reader would get wrong: an index belongs to the catalog it was built from. Hits are positions in that one.

mod analyse;
mod explain;
mod fold;
mod index;
mod names;
mod query;
mod score;
mod vocabulary;

pub use analyse::Field;
pub use index::Index;
pub use query::{Explain, Filter, Found, Hit, Query, TermMatch};
