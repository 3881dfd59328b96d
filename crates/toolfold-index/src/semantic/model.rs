//! The table itself, read from the bytes in the binary. Its format is described where it is made, in
//! `training/model.py`; rows stay where they are and are never copied.

use std::sync::OnceLock;

use toolfold_core::words;

use super::pieces::Pieces;
use super::vectors::{Row, Vector};
use crate::analyse::{Field, Texts};

/// The fields a meaning is made of, in the order of the file. Title and tags count with the name.
const MEANT: [&[Field]; 6] = [
    &[Field::Server],
    &[Field::Name, Field::Title, Field::Tag],
    &[Field::Summary],
    &[Field::Description],
    &[Field::Parameter],
    &[Field::ParameterDescription],
];
/// The fields whose pieces are compared one by one, by their places above.
const COMPARED: [usize; 4] = [1, 2, 0, 4];
const MOST_COMPARED: usize = 32;
const MAGIC: &[u8] = b"TFSTATIC";
const VERSION: u32 = 1;

static BYTES: &[u8] = include_bytes!("../../data/model.bin");

pub(crate) struct Model {
    pub(crate) dimensions: usize,
    pieces: Pieces,
    scales: Vec<f32>,
    /// Of each piece's row.
    lengths: Vec<f32>,
    /// Signed bytes, `dimensions` for each piece.
    rows: &'static [u8],
    shares: [Share; MEANT.len()],
}

#[derive(Clone, Copy)]
struct Share {
    /// How many pieces of the field count.
    limit: usize,
    weight: f32,
}

/// The shipped model. A test reads it, so that no build with a broken file passes.
pub(crate) fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| Model::read(BYTES).expect("the model in this binary is whole"))
}

impl Model {
    fn read(bytes: &'static [u8]) -> Option<Model> {
        let mut reader = Reader { rest: bytes.strip_prefix(MAGIC)? };
        let [version, dimensions, count, fields] = [reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?];
        if version != VERSION || fields as usize != MEANT.len() {
            return None;
        }
        let mut shares = [Share { limit: 0, weight: 0.0 }; MEANT.len()];
        for share in &mut shares {
            *share = Share { limit: reader.u32()? as usize, weight: f32::from_bits(reader.u32()?) };
        }
        let length = reader.u32()? as usize;
        let vocabulary = std::str::from_utf8(reader.take(length)?).ok()?;
        let scales = (0..count).map(|_| reader.u32().map(f32::from_bits)).collect::<Option<Vec<_>>>()?;
        let rows = reader.take(count as usize * dimensions as usize)?;
        let pieces = Pieces::new(vocabulary.lines());
        let whole = reader.rest.is_empty() && vocabulary.lines().count() == count as usize;
        let dimensions = dimensions as usize;
        let length = |(bytes, scale): (&[u8], &f32)| Row { bytes, scale: *scale }.length();
        let lengths = rows.chunks_exact(dimensions.max(1)).zip(&scales).map(length).collect();
        whole.then_some(Model { dimensions, pieces, scales, lengths, rows, shares })
    }

    /// Whether the word is one the model knows whole, so that it is no slip.
    pub(crate) fn knows(&self, word: &str) -> bool {
        self.pieces.is_whole(word)
    }

    /// The pieces of some words, in their order.
    pub(crate) fn pieces<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Vec<u16> {
        let mut pieces = Vec::new();
        words.into_iter().for_each(|word| self.pieces.of_word(word, &mut pieces));
        pieces
    }

    /// The meaning of some words.
    pub(crate) fn meaning(&self, words: &[String]) -> Vector {
        self.query(&self.pieces(words.iter().map(String::as_str)))
    }

    /// The meaning of a query.
    pub(crate) fn query(&self, pieces: &[u16]) -> Vector {
        self.weighed(&[(pieces, 1.0)])
    }

    /// The meaning of pieces of which some count less than others.
    pub(crate) fn weighed(&self, parts: &[(&[u16], f32)]) -> Vector {
        let mut sum = vec![0.0; self.dimensions];
        for (pieces, weight) in parts {
            pieces.iter().for_each(|piece| self.row(*piece).add_to(*weight, &mut sum));
        }
        Vector::new(&sum)
    }

    /// The meaning of an entry, and its pieces that are compared one by one.
    pub(crate) fn entry(&self, texts: &Texts) -> (Vector, Vec<u16>) {
        let mut sum = vec![0.0; self.dimensions];
        let mut by_field: [Vec<u16>; MEANT.len()] = Default::default();
        for ((pieces, fields), share) in by_field.iter_mut().zip(MEANT).zip(&self.shares) {
            fields.iter().for_each(|field| self.first_pieces(texts.get(*field), share.limit, pieces));
            let weight = share.weight / (pieces.len().max(1) as f32).sqrt();
            pieces.iter().for_each(|piece| self.row(*piece).add_to(weight, &mut sum));
        }
        let mut compared: Vec<u16> = Vec::with_capacity(MOST_COMPARED);
        for piece in COMPARED.iter().flat_map(|field| &by_field[*field]) {
            if compared.len() < MOST_COMPARED && !compared.contains(piece) {
                compared.push(*piece);
            }
        }
        (Vector::new(&sum), compared)
    }

    fn first_pieces(&self, text: &str, limit: usize, pieces: &mut Vec<u16>) {
        words::each(text, |word| {
            if pieces.len() < limit {
                self.pieces.of_word(word, pieces);
            }
        });
        pieces.truncate(limit);
    }

    /// How long the row of a piece is: how much the piece says.
    pub(crate) fn length(&self, piece: u16) -> f32 {
        self.lengths[usize::from(piece)]
    }

    pub(crate) fn row(&self, piece: u16) -> Row<'static> {
        let row = &self.rows[usize::from(piece) * self.dimensions..][..self.dimensions];
        Row { bytes: row, scale: self.scales[usize::from(piece)] }
    }
}

struct Reader {
    rest: &'static [u8],
}

impl Reader {
    fn take(&mut self, length: usize) -> Option<&'static [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// What the training side computed for the same texts.
    fn golden() -> Value {
        serde_json::from_str(include_str!("../../data/golden.json")).expect("the file is JSON")
    }

    #[test]
    fn pieces_and_vectors_are_those_of_the_training_side() {
        for query in golden()["queries"].as_array().expect("a list") {
            let words = words::split(query["text"].as_str().expect("a text"));
            let pieces = model().pieces(words.iter().map(String::as_str));
            assert_eq!(Value::from(pieces.clone()), query["pieces"], "{}", query["text"]);
            assert_near(&model().query(&pieces), &query["vector"]);
        }
        let golden = &golden()["document"];
        let text = |field: &str| golden[field].as_str().expect("a text");
        let texts = ["server", "name", "", "", "first", "rest", "parameters", "prose"];
        let texts = Texts::from(texts.map(|field| if field.is_empty() { "" } else { text(field) }));
        assert_near(&model().entry(&texts).0, &golden["vector"]);
    }

    /// The file has the first few dimensions.
    fn assert_near(vector: &Vector, golden: &Value) {
        for (byte, golden) in vector.row().bytes.iter().zip(golden.as_array().expect("a list")) {
            let value = f32::from(*byte as i8) * vector.row().scale;
            assert!((f64::from(value) - golden.as_f64().expect("a number")).abs() < 0.003, "{value} is not {golden}");
        }
    }

    #[test]
    fn a_broken_file_is_not_read() {
        assert!(Model::read(b"TFSTATIC").is_none());
        assert!(Model::read(&BYTES[..BYTES.len() - 1]).is_none());
        assert!(Model::read(&BYTES[1..]).is_none());
    }
}
