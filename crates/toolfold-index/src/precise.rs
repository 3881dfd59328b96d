//! The precise side: vectors of a sentence encoder, one for every entry, attached to an index when all are there.
//!
//! What a reader would get wrong: it is all or nothing. An entry with such a vector cannot be compared with one without,
//! so an index is either precise or it is not; the same query has one of two answers, never one in between.

use std::fmt;
use std::sync::Arc;

use toolfold_core::{Entry, words};

use crate::analyse::EVERY_SERVER;
use crate::semantic::{Row, Vector, Vectors};

/// Entries by which the usual likeness of a query is found.
const SAMPLE: usize = 256;
/// How much of an entry is encoded, in characters. Encoders see little more.
const LONGEST: usize = 400;

/// Turns a query into a vector; takes milliseconds.
pub type Encode = Arc<dyn Fn(&str) -> Vec<f32> + Send + Sync>;

pub struct Precise {
    encode: Encode,
    pub(crate) vectors: Vectors,
}

impl Precise {
    pub fn new(encode: Encode) -> Precise {
        Precise { encode, vectors: Vectors::default() }
    }

    /// Adds the vector of the next entry, in the order of the catalog, as [`packed`] made it.
    pub fn push(&mut self, packed: &[u8]) {
        if let Some(row) = Row::read(packed) {
            self.vectors.push(row);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.vectors.len()
    }

    pub(crate) fn query(&self, text: &str) -> Vector {
        Vector::new(&(self.encode)(text))
    }

    /// How much more alike each candidate is than entries usually are: an encoder finds everything somewhat alike.
    pub(crate) fn likeness(&self, query: &Vector, candidates: &[u32]) -> Vec<f32> {
        let sample: Vec<u32> = (0..self.len() as u32).step_by(self.len().div_ceil(SAMPLE).max(1)).collect();
        let usual = self.vectors.likeness(query, &sample).iter().sum::<f32>() / sample.len().max(1) as f32;
        self.vectors.likeness(query, candidates).into_iter().map(|likeness| (likeness - usual).max(0.0)).collect()
    }
}

impl fmt::Debug for Precise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Precise({} entries)", self.len())
    }
}

/// A vector as it is kept: four bytes for the scale, then one for each dimension. Search compares bytes anyway.
pub fn packed(vector: &[f32]) -> Vec<u8> {
    Vector::new(vector).to_bytes()
}

/// What an entry says of itself, the way the encoder was trained on it (`training/data.py`).
pub fn text_of(entry: &Entry) -> String {
    let server = entry.server().as_str().split(|character: char| !character.is_alphanumeric());
    let mut text = String::new();
    for word in server.filter(|word| !word.is_empty() && !EVERY_SERVER.contains(&word.to_lowercase().as_str())) {
        text.push_str(word);
        text.push(' ');
    }
    text.push_str(&words::split(entry.name()).join(" "));
    text.push_str(": ");
    text.extend(entry.own_description().trim().chars().take(LONGEST));
    let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(end, _)| end);
    text[..end].trim().to_owned()
}
