//! The precise side: vectors of a sentence encoder, one for every entry, attached to an index when all are there.
//!
//! What a reader would get wrong: it is all or nothing. An entry with such a vector cannot be compared with one without,
//! so an index is either precise or it is not; the same query has one of two answers, never one in between.

use std::fmt;
use std::sync::Arc;

use crate::semantic::{Vector, Vectors};

/// Entries by which the usual likeness of a query is found.
const SAMPLE: usize = 256;

/// Turns a query into a vector; takes milliseconds.
pub type Encode = Arc<dyn Fn(&str) -> Vec<f32> + Send + Sync>;

pub struct Precise {
    encode: Encode,
    pub(crate) vectors: Vectors,
    entries: usize,
}

impl Precise {
    pub fn new(encode: Encode) -> Precise {
        Precise { encode, vectors: Vectors::default(), entries: 0 }
    }

    /// Adds the vector of the next entry, in the order of the catalog.
    pub fn push(&mut self, vector: &[f32]) {
        self.vectors.push(Vector::new(vector).row());
        self.entries += 1;
    }

    pub(crate) fn len(&self) -> usize {
        self.entries
    }

    pub(crate) fn query(&self, text: &str) -> Vector {
        Vector::new(&(self.encode)(text))
    }

    /// How much more alike each candidate is than entries usually are: an encoder finds everything somewhat alike.
    pub(crate) fn likeness(&self, query: &Vector, candidates: &[u32]) -> Vec<f32> {
        let sample: Vec<u32> = (0..self.entries as u32).step_by(self.entries.div_ceil(SAMPLE).max(1)).collect();
        let usual = self.vectors.likeness(query, &sample).iter().sum::<f32>() / sample.len().max(1) as f32;
        self.vectors.likeness(query, candidates).into_iter().map(|likeness| (likeness - usual).max(0.0)).collect()
    }
}

impl fmt::Debug for Precise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Precise({} entries)", self.entries)
    }
}
