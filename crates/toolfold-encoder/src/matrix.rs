//! Products of int8 matrices with rows of numbers: four fifths of the time goes here.
//!
//! The numbers are rounded to 16 bits a row and not to 8 as usual. Vector instructions without special support for int8
//! widen both sides to 16 bits anyway, so this costs nothing, and all that is lost is what int8 weights lose.

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, i8x32, i16x16, i32x8};

/// How many values of a matrix are taken at once.
const LANES: usize = 32;
/// Rows of a matrix, and rows of numbers, that are multiplied together: as many sums as there are registers for.
const TILE: (usize, usize) = (2, 4);

/// Rows of numbers, one for each piece of a text.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    pub(crate) width: usize,
    pub(crate) numbers: Vec<f32>,
}

impl Rows {
    pub(crate) fn zeros(count: usize, width: usize) -> Rows {
        Rows { width, numbers: vec![0.0; count * width] }
    }

    pub(crate) fn count(&self) -> usize {
        self.numbers.len() / self.width
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[f32]> {
        self.numbers.chunks_exact(self.width)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut [f32]> {
        self.numbers.chunks_exact_mut(self.width)
    }
}

#[derive(Debug)]
pub(crate) struct Linear {
    pub(crate) matrix: Matrix,
    pub(crate) bias: Vec<f32>,
}

impl Linear {
    pub(crate) fn apply(&self, level: Level, input: &Rows) -> Rows {
        let mut output = Rows::zeros(input.count(), self.bias.len());
        dispatch!(level, simd => self.multiply(simd, &Rounded::new(input), &mut output));
        output
    }

    #[inline(always)]
    fn multiply<S: Simd>(&self, simd: S, input: &Rounded, output: &mut Rows) {
        let (rows, width) = (self.bias.len(), output.width);
        for first in (0..rows).step_by(TILE.0) {
            let weights = std::array::from_fn(|row| self.matrix.padded_row(first + row));
            for (group, numbers) in input.groups() {
                let sums = products(simd, weights, numbers);
                for (row, sums) in (first..rows).zip(sums) {
                    for (piece, sum) in (group..input.scales.len()).zip(sums) {
                        let scale = self.matrix.scales[row] * input.scales[piece];
                        output.numbers[piece * width + row] = sum as f32 * scale + self.bias[row];
                    }
                }
            }
        }
    }
}

/// Padded with zeros to whole tiles.
#[derive(Debug)]
pub(crate) struct Matrix {
    scales: Vec<f32>,
    columns: usize,
    values: Vec<[i8; LANES]>,
}

impl Matrix {
    pub(crate) fn new(scales: Vec<f32>, columns: usize, bytes: &[u8]) -> Matrix {
        let stride = columns.div_ceil(LANES);
        let mut values = vec![[0; LANES]; scales.len().next_multiple_of(TILE.0) * stride];
        for (row, bytes) in values.chunks_exact_mut(stride).zip(bytes.chunks_exact(columns)) {
            row.as_flattened_mut().iter_mut().zip(bytes).for_each(|(value, byte)| *value = *byte as i8);
        }
        Matrix { scales, columns, values }
    }

    pub(crate) fn rows(&self) -> usize {
        self.scales.len()
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = f32> {
        let scale = self.scales[row];
        let values = &self.padded_row(row).as_flattened()[..self.columns];
        values.iter().map(move |value| f32::from(*value) * scale)
    }

    #[inline(always)]
    fn padded_row(&self, row: usize) -> &[[i8; LANES]] {
        let stride = self.columns.div_ceil(LANES);
        &self.values[row * stride..][..stride]
    }
}

/// Rows of numbers as whole numbers, each row with a scale of its own. Padded like a matrix.
struct Rounded {
    stride: usize,
    numbers: Vec<[i16; LANES]>,
    scales: Vec<f32>,
}

impl Rounded {
    #[inline(always)]
    fn new(input: &Rows) -> Rounded {
        let stride = input.width.div_ceil(LANES);
        let mut numbers = vec![[0; LANES]; input.count().next_multiple_of(TILE.1) * stride];
        let mut scales = vec![0.0; input.count()];
        let most = largest(input.width);
        for ((rounded, row), scale) in numbers.chunks_exact_mut(stride).zip(input.iter()).zip(&mut scales) {
            *scale = round(row, most, rounded.as_flattened_mut());
        }
        Rounded { stride, numbers, scales }
    }

    /// So many rows at a time, with the number of the first.
    #[inline(always)]
    fn groups(&self) -> impl Iterator<Item = (usize, [&[[i16; LANES]]; TILE.1])> {
        let groups = self.numbers.chunks_exact(TILE.1 * self.stride).zip((0..).step_by(TILE.1));
        groups.map(|(group, first)| (first, std::array::from_fn(|row| &group[row * self.stride..][..self.stride])))
    }
}

/// So large that a sum over a row can never leave 32 bits.
fn largest(width: usize) -> f32 {
    (i32::MAX / (128 * width as i32)).min(i32::from(i16::MAX)) as f32
}

/// Returns the scale.
#[inline(always)]
fn round(row: &[f32], most: f32, rounded: &mut [i16]) -> f32 {
    let peak = row.iter().fold(0.0_f32, |peak, number| if number.abs() > peak { number.abs() } else { peak });
    let factor = if peak > 0.0 { most / peak } else { 0.0 };
    for (rounded, number) in rounded.iter_mut().zip(row) {
        let number = number * factor;
        *rounded = (number + 0.5_f32.copysign(number)) as i16;
    }
    peak / most
}

/// Plain loops throughout: what is in a closure is compiled without the vector instructions of its caller.
#[inline(always)]
fn products<S: Simd>(
    simd: S,
    weights: [&[[i8; LANES]]; TILE.0],
    numbers: [&[[i16; LANES]]; TILE.1],
) -> [[i32; TILE.1]; TILE.0] {
    let mut sums = [[i32x8::splat(simd, 0); TILE.1]; TILE.0];
    // All are of one length. Said like this, the compiler knows it too and checks no index in the loop.
    let length = weights[0].len();
    let (weights, numbers) = (weights.map(|row| &row[..length]), numbers.map(|row| &row[..length]));
    for at in 0..length {
        for row in 0..TILE.0 {
            let (low, high) = i8x32::simd_from(simd, weights[row][at]).widen();
            for piece in 0..TILE.1 {
                let (halves, _) = numbers[piece][at].as_chunks::<16>();
                let products = low.pairwise_dot_product(i16x16::simd_from(simd, halves[0]))
                    + high.pairwise_dot_product(i16x16::simd_from(simd, halves[1]));
                sums[row][piece] += products;
            }
        }
    }
    let mut totals = [[0; TILE.1]; TILE.0];
    for row in 0..TILE.0 {
        for piece in 0..TILE.1 {
            totals[row][piece] = sums[row][piece].reduce_sum();
        }
    }
    totals
}
