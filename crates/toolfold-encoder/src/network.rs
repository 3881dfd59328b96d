//! The network: embeddings, layers of attention and of a wide step, and of what comes out the mean, and each piece made shorter.

use fearless_simd::{Level, dispatch};

use crate::maths::{gelu, normalise, softmax, sum};
use crate::matrix::{Linear, Matrix, Rows};
use crate::{Encoded, Piece};

/// How many sums are kept at once: four registers' worth, and what a head of the usual models has.
const BLOCK: usize = 32;

#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) heads: usize,
    pub(crate) words: Matrix,
    pub(crate) positions: Matrix,
    pub(crate) norm: Norm,
    pub(crate) layers: Vec<Layer>,
    /// What makes a short vector of a piece; the last number is not of the vector: it tells how much the piece says.
    pub(crate) pieces: Option<Linear>,
}

#[derive(Debug)]
pub(crate) struct Norm {
    pub(crate) gain: Vec<f32>,
    pub(crate) shift: Vec<f32>,
}

#[derive(Debug)]
pub(crate) struct Layer {
    /// Queries, keys and values in one.
    pub(crate) attention: Linear,
    pub(crate) gathered: Linear,
    pub(crate) attention_norm: Norm,
    pub(crate) widen: Linear,
    pub(crate) narrow: Linear,
    pub(crate) norm: Norm,
}

impl Network {
    pub(crate) fn dims(&self) -> usize {
        self.words.columns()
    }

    pub(crate) fn positions(&self) -> usize {
        self.positions.rows()
    }

    /// The pieces must be numbers of the vocabulary, and no more than there are positions.
    pub(crate) fn encode(&self, pieces: &[u32]) -> Encoded {
        self.encode_at(Level::new(), pieces)
    }

    fn encode_at(&self, level: Level, pieces: &[u32]) -> Encoded {
        let mut rows = self.embed(level, pieces);
        for layer in &self.layers {
            layer.apply(level, self.heads, &mut rows);
        }
        let pieces = self.pieces.as_ref().map(|linear| each(&linear.apply(level, &rows))).unwrap_or_default();
        Encoded { whole: unit(mean(&rows)), pieces }
    }

    fn embed(&self, level: Level, pieces: &[u32]) -> Rows {
        let mut rows = Rows::zeros(pieces.len(), self.dims());
        for ((row, piece), position) in rows.iter_mut().zip(pieces).zip(0..) {
            let sums = self.words.row(*piece as usize).zip(self.positions.row(position));
            row.iter_mut().zip(sums).for_each(|(number, (word, position))| *number = word + position);
        }
        self.norm.apply(level, &mut rows);
        rows
    }
}

impl Norm {
    fn apply(&self, level: Level, rows: &mut Rows) {
        dispatch!(level, _ => self.normalise(rows));
    }

    #[inline(always)]
    fn normalise(&self, rows: &mut Rows) {
        for row in rows.iter_mut() {
            normalise(row, &self.gain, &self.shift);
        }
    }
}

impl Layer {
    fn apply(&self, level: Level, heads: usize, rows: &mut Rows) {
        let attention = self.attention.apply(level, rows);
        let mut gathered = Rows::zeros(rows.count(), rows.width);
        dispatch!(level, _ => gather(&attention, heads, &mut gathered));
        add(rows, &self.gathered.apply(level, &gathered));
        self.attention_norm.apply(level, rows);
        let mut wide = self.widen.apply(level, rows);
        dispatch!(level, _ => bend(&mut wide.numbers));
        add(rows, &self.narrow.apply(level, &wide));
        self.norm.apply(level, rows);
    }
}

#[inline(always)]
fn bend(numbers: &mut [f32]) {
    for number in numbers {
        *number = gelu(*number);
    }
}

/// Every piece looks at all others: how much its query agrees with a key is how much it takes of that piece's value.
#[inline(always)]
fn gather(attention: &Rows, heads: usize, gathered: &mut Rows) {
    let dims = gathered.width;
    let size = dims / heads;
    let count = gathered.count();
    let room = count.next_multiple_of(BLOCK);
    let scale = 1.0 / (size as f32).sqrt();
    let mut keys = vec![0.0; size * room];
    let mut shares = vec![0.0; room];
    for head in (0..dims).step_by(size) {
        for (piece, row) in attention.iter().enumerate() {
            // On their side, so that one number of a query meets that number of every key at once.
            for (at, number) in row[dims + head..][..size].iter().enumerate() {
                keys[at * room + piece] = number * scale;
            }
        }
        let values = &attention.numbers[2 * dims + head..];
        for (row, into) in attention.iter().zip(gathered.iter_mut()) {
            combine(&row[head..][..size], &keys, room, &mut shares);
            softmax(&mut shares[..count]);
            combine(&shares[..count], values, attention.width, &mut into[head..][..size]);
        }
    }
}

/// The sum of rows, each times its factor. Block by block, so that the sums stay in registers.
#[inline(always)]
fn combine(factors: &[f32], rows: &[f32], stride: usize, into: &mut [f32]) {
    let (blocks, rest) = into.as_chunks_mut::<BLOCK>();
    let done = blocks.len() * BLOCK;
    for (block, first) in blocks.iter_mut().zip((0..).step_by(BLOCK)) {
        let mut sums = [0.0; BLOCK];
        for (factor, row) in factors.iter().zip(rows.chunks(stride)) {
            for (sum, number) in sums.iter_mut().zip(&row[first..first + BLOCK]) {
                *sum += factor * number;
            }
        }
        *block = sums;
    }
    for (sum, at) in rest.iter_mut().zip(done..) {
        *sum = 0.0;
        for (factor, row) in factors.iter().zip(rows.chunks(stride)) {
            *sum += factor * row[at];
        }
    }
}

fn add(into: &mut Rows, more: &Rows) {
    into.numbers.iter_mut().zip(&more.numbers).for_each(|(into, more)| *into += more);
}

/// The vector of every piece, and what it says as a share of all.
fn each(rows: &Rows) -> Vec<Piece> {
    let mut says: Vec<f32> = rows.iter().filter_map(|row| row.last().copied()).collect();
    softmax(&mut says);
    let vectors = rows.iter().map(|row| unit(row[..rows.width - 1].to_vec()));
    let usable = |says: f32| if says.is_finite() { says } else { 0.0 };
    vectors.zip(says).map(|(vector, says)| Piece { vector, says: usable(says) }).collect()
}

/// The mean has the direction of the sum, and only that is asked for.
fn mean(rows: &Rows) -> Vec<f32> {
    let mut total = vec![0.0; rows.width];
    for row in rows.iter() {
        total.iter_mut().zip(row).for_each(|(total, number)| *total += number);
    }
    total
}

/// Numbers from a damaged file can grow beyond all bounds; such a vector is worth nothing and becomes zeros.
fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = sum(&vector, |number| number * number).sqrt();
    let factor = if length.is_finite() && length > 0.0 { 1.0 / length } else { 0.0 };
    let usable = factor.is_normal();
    vector.iter_mut().for_each(|number| *number = if usable { *number * factor } else { 0.0 });
    vector
}

#[cfg(test)]
mod tests {
    use fearless_simd::Level;

    use crate::Encoder;

    #[test]
    fn every_machine_has_the_same_bits() {
        let encoder = Encoder::from_bytes(include_bytes!("../tests/data/tiny.bin")).expect("a good file");
        let pieces = encoder.pieces("create the file in the weather, then the issue");
        assert_eq!(encoder.network.encode_at(Level::baseline(), &pieces), encoder.network.encode(&pieces));
    }
}
