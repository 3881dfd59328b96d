//! The meaning of texts as vectors: a table of word pieces, shipped in the binary, added up.
//!
//! What a reader would get wrong: there is no neural network here. A text's vector is the sum of its pieces' vectors,
//! which costs a microsecond; all the learning went into the table (`training/` in the repository makes it).

mod model;
mod near;
mod pieces;
mod vectors;

pub(crate) use model::model;
pub(crate) use near::{least_near, nearness};
pub(crate) use vectors::{Row, Vector, Vectors};
