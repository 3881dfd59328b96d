//! The precise side: what a sentence encoder makes of every entry, attached to an index when all are there. A vector of the
//! whole finds what is meant; vectors of its pieces tell the best apart.
//!
//! What a reader would get wrong: it is all or nothing. An entry with such a vector cannot be compared with one without,
//! so an index is either precise or it is not; the same query has one of two answers, never one in between.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use fearless_simd::{Level, dispatch};
use toolfold_core::{Entry, words};
use toolfold_encoder::Encoded;

use crate::analyse::EVERY_SERVER;
use crate::semantic::{Row, Vector, Vectors};

/// Entries by which the usual likeness of a query is found.
const SAMPLE: usize = 256;
/// How much of an entry is encoded, in characters. Encoders see little more.
const LONGEST: usize = 400;
/// How many pieces of an entry are kept: server, name and the beginning of what it says. All of them find nothing more.
const PIECES: usize = 24;
/// Bytes of a number of dimensions, and of a scale.
const DIMS: usize = 2;
const SCALE: usize = 4;

/// Turns a query into vectors; takes milliseconds.
pub type Encode = Arc<dyn Fn(&str) -> Encoded + Send + Sync>;

pub struct Precise {
    encode: Encode,
    pub(crate) vectors: Vectors,
    pieces: Pieces,
}

/// The pieces of all entries, one behind the other: each a scale and a byte for every dimension.
#[derive(Default)]
struct Pieces {
    bytes: Vec<u8>,
    /// Where the pieces of each entry end, and how many bytes one has there.
    ends: Vec<(usize, usize)>,
}

/// A query as the encoder reads it.
pub(crate) struct Read {
    pub(crate) whole: Vector,
    /// With how much each says, as a share.
    pieces: Vec<(Vector, f32)>,
}

impl Precise {
    pub fn new(encode: Encode) -> Precise {
        Precise { encode, vectors: Vectors::default(), pieces: Pieces::default() }
    }

    /// Adds the next entry, in the order of the catalog, as [`packed`] made it.
    pub fn push(&mut self, packed: &[u8]) {
        if let Some((whole, width, pieces)) = parts(packed) {
            self.vectors.push(whole);
            self.pieces.bytes.extend_from_slice(pieces);
            self.pieces.ends.push((self.pieces.bytes.len(), width));
        }
    }

    /// Of these entries alone, in this order.
    pub(crate) fn part(&self, positions: &[usize]) -> Precise {
        let mut part = Precise::new(self.encode.clone());
        for position in positions {
            part.vectors.push(self.vectors.row(*position));
            let (range, width) = self.pieces.of(*position);
            part.pieces.bytes.extend_from_slice(&self.pieces.bytes[range]);
            part.pieces.ends.push((part.pieces.bytes.len(), width));
        }
        part
    }

    pub(crate) fn len(&self) -> usize {
        self.vectors.len()
    }

    pub(crate) fn query(&self, text: &str) -> Read {
        let encoded = (self.encode)(text);
        let pieces = encoded.pieces.iter().map(|piece| (Vector::new(&piece.vector), piece.says)).collect();
        Read { whole: Vector::new(&encoded.whole), pieces }
    }

    /// How much more alike each candidate is than entries usually are: an encoder finds everything somewhat alike.
    pub(crate) fn likeness(&self, query: &Read, candidates: &[u32]) -> Vec<f32> {
        let sample: Vec<u32> = (0..self.len() as u32).step_by(self.len().div_ceil(SAMPLE).max(1)).collect();
        let usual = self.vectors.likeness(&query.whole, &sample).iter().sum::<f32>() / sample.len().max(1) as f32;
        let found = self.vectors.likeness(&query.whole, candidates);
        found.into_iter().map(|likeness| (likeness - usual).max(0.0)).collect()
    }

    /// How near each piece of the query comes to some piece of an entry, by how much it says. Nothing where there are no
    /// pieces.
    pub(crate) fn nearness(&self, query: &Read, entries: &[usize]) -> Option<Vec<f32>> {
        let has_pieces = !query.pieces.is_empty() && !self.pieces.bytes.is_empty();
        has_pieces.then(|| dispatch!(Level::new(), _ => self.pieces.nearness(query, entries)))
    }
}

impl Pieces {
    /// A loop, because the closure of an iterator would be compiled apart, without the instructions chosen here.
    #[inline(always)]
    fn nearness(&self, query: &Read, entries: &[usize]) -> Vec<f32> {
        let mut found = Vec::with_capacity(entries.len());
        for entry in entries {
            let (range, width) = self.of(*entry);
            let mut near = 0.0;
            for (piece, says) in &query.pieces {
                let mut best = -1f32;
                for other in self.bytes[range.clone()].chunks_exact(width) {
                    if let Some(other) = Row::read(other) {
                        best = best.max(other.likeness(piece.row()));
                    }
                }
                near += says * best;
            }
            found.push(near);
        }
        found
    }

    /// Where the pieces of an entry are, and how many bytes each has.
    fn of(&self, entry: usize) -> (Range<usize>, usize) {
        let start = entry.checked_sub(1).map_or(0, |before| self.ends[before].0);
        let (end, width) = self.ends[entry];
        (start..end, width)
    }
}

impl fmt::Debug for Precise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Precise({} entries)", self.len())
    }
}

/// What an encoder made of an entry, as it is kept: the number of dimensions, a scale and a byte for each of them; then the
/// same for the pieces, where each has its own scale. Search compares bytes anyway.
pub fn packed(encoded: &Encoded) -> Vec<u8> {
    let dims = |dims: usize| (dims as u16).to_le_bytes();
    let pieces = || encoded.pieces.iter().take(PIECES);
    let mut bytes = dims(encoded.whole.len()).to_vec();
    bytes.extend(Vector::new(&encoded.whole).to_bytes());
    bytes.extend(dims(pieces().next().map_or(0, |piece| piece.vector.len())));
    bytes.extend(pieces().flat_map(|piece| Vector::new(&piece.vector).to_bytes()));
    bytes
}

/// Whether something that was kept can be compared with what an encoder of so many dimensions makes.
pub fn is_packed(bytes: &[u8], dims: usize, piece_dims: usize) -> bool {
    parts(bytes).is_some_and(|(whole, width, pieces)| {
        whole.bytes.len() == dims && width == SCALE + piece_dims && (pieces.is_empty() == (piece_dims == 0))
    })
}

/// The whole, how many bytes a piece has, and all pieces.
fn parts(packed: &[u8]) -> Option<(Row<'_>, usize, &[u8])> {
    let (dims, rest) = packed.split_first_chunk::<DIMS>()?;
    let (whole, rest) = rest.split_at_checked(SCALE + usize::from(u16::from_le_bytes(*dims)))?;
    let (dims, pieces) = rest.split_first_chunk::<DIMS>()?;
    let width = SCALE + usize::from(u16::from_le_bytes(*dims));
    (pieces.len().is_multiple_of(width)).then_some((Row::read(whole)?, width, pieces))
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

#[cfg(test)]
mod tests {
    use toolfold_encoder::Piece;

    use super::*;

    fn encoded(pieces: &[[f32; 2]]) -> Encoded {
        let piece = |vector: &[f32; 2]| Piece { vector: vector.to_vec(), says: 1.0 / pieces.len() as f32 };
        Encoded { whole: vec![1.0, 0.0, 0.0], pieces: pieces.iter().map(piece).collect() }
    }

    #[test]
    fn each_piece_of_a_query_is_looked_for() {
        let mut precise = Precise::new(Arc::new(|_| encoded(&[[1.0, 0.0], [0.0, 1.0]])));
        precise.push(&packed(&encoded(&[[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])));
        precise.push(&packed(&encoded(&[[1.0, 0.0]])));
        let near = precise.nearness(&precise.query(""), &[0, 1]).expect("both have pieces");
        assert!((near[0] - 1.0).abs() < 0.01 && (near[1] - 0.5).abs() < 0.01, "{near:?}");
    }

    #[test]
    fn without_pieces_nothing_is_compared() {
        let whole = Encoded::from(vec![1.0, 0.0, 0.0]);
        let mut precise = Precise::new(Arc::new(|_| Encoded::from(vec![1.0, 0.0, 0.0])));
        precise.push(&packed(&whole));
        assert!(precise.nearness(&precise.query(""), &[0]).is_none());
        assert_eq!(precise.likeness(&precise.query(""), &[0]), [0.0]);
    }

    #[test]
    fn what_another_encoder_made_or_half_of_it_is_not_taken() {
        let good = packed(&encoded(&[[1.0, 0.0], [0.0, 1.0]]));
        assert!(is_packed(&good, 3, 2));
        assert!(!is_packed(&good, 4, 2) && !is_packed(&good, 3, 3) && !is_packed(&good, 3, 0));
        for end in 0..good.len() {
            let whole_pieces = end == good.len() - SCALE - 2;
            assert_eq!(is_packed(&good[..end], 3, 2), whole_pieces, "{end}");
        }
        assert!(is_packed(&packed(&Encoded::from(vec![0.5; 3])), 3, 0));
    }
}
