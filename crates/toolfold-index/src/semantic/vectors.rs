//! The meanings of all entries: a byte a dimension for exact comparison, a bit for each of the first dimensions for a
//! first look. The bits of a million entries are thirty megabytes, which is what makes a scan of all of them quick.

use fearless_simd::{Level, dispatch};

/// How many dimensions a first look compares.
const SIGNS: usize = 256;

/// A vector of about length one, its dimensions in signed bytes of a common scale. Zero where nothing was understood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Vector {
    bytes: Box<[u8]>,
    scale: f32,
}

/// A borrowed vector of any length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) scale: f32,
}

impl Vector {
    pub(crate) fn new(direction: &[f32]) -> Self {
        let length = direction.iter().map(|x| x * x).sum::<f32>().sqrt();
        let most = direction.iter().fold(0f32, |most, x| most.max(x.abs()));
        if most == 0.0 || !length.is_finite() {
            return Vector { bytes: vec![0; direction.len()].into(), scale: 0.0 };
        }
        let bytes = direction.iter().map(|x| (x / most * 127.0).round() as i8 as u8).collect();
        Vector { bytes, scale: most / 127.0 / length }
    }

    /// Signed bytes and their scale as they are, of whatever length.
    pub(crate) fn read(scale: f32, bytes: &[u8]) -> Self {
        Vector { bytes: bytes.into(), scale }
    }

    pub(crate) fn row(&self) -> Row<'_> {
        Row { bytes: &self.bytes, scale: self.scale }
    }

    pub(crate) fn to_floats(&self) -> Vec<f32> {
        let mut floats = vec![0.0; self.bytes.len()];
        self.row().add_to(1.0, &mut floats);
        floats
    }

    /// To be kept, and read again by [`Row::read`].
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.scale.to_le_bytes().iter().chain(&self.bytes).copied().collect()
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.scale == 0.0
    }
}

impl<'a> Row<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Row<'a>> {
        let (scale, bytes) = bytes.split_first_chunk()?;
        Some(Row { bytes, scale: f32::from_le_bytes(*scale) })
    }

    /// The dot product: the cosine, where both have length one.
    #[inline(always)]
    pub(crate) fn likeness(self, other: Row<'_>) -> f32 {
        dot(self.bytes, other.bytes) as f32 * self.scale * other.scale
    }

    pub(crate) fn add_to(self, weight: f32, sum: &mut [f32]) {
        let scale = self.scale * weight;
        sum.iter_mut().zip(self.bytes).for_each(|(total, byte)| *total += scale * f32::from(*byte as i8));
    }

    #[inline(always)]
    pub(crate) fn length(self) -> f32 {
        (dot(self.bytes, self.bytes) as f32).sqrt() * self.scale
    }
}

/// Products of two signed bytes fit sixteen bits, which is the form that compilers turn into vector instructions.
#[inline(always)]
fn dot(a: &[u8], b: &[u8]) -> i32 {
    a.iter().zip(b).map(|(x, y)| i32::from(i16::from(*x as i8) * i16::from(*y as i8))).sum()
}

#[derive(Debug, Default)]
pub(crate) struct Vectors {
    dimensions: usize,
    bytes: Vec<u8>,
    scales: Vec<f32>,
    /// The signs of the first dimensions, 64 in a number.
    signs: Vec<u64>,
}

impl Vectors {
    /// All vectors have as many dimensions as the first.
    pub(crate) fn push(&mut self, row: Row<'_>) {
        self.dimensions = row.bytes.len();
        self.bytes.extend_from_slice(row.bytes);
        self.scales.push(row.scale);
        self.signs.extend(signs(row.bytes));
    }

    pub(crate) fn len(&self) -> usize {
        self.scales.len()
    }

    pub(crate) fn row(&self, entry: usize) -> Row<'_> {
        Row { bytes: &self.bytes[entry * self.dimensions..][..self.dimensions], scale: self.scales[entry] }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes.capacity() + 4 * self.scales.capacity() + 8 * self.signs.capacity()
    }

    /// The cosine of a query with each of the entries.
    pub(crate) fn likeness(&self, query: &Vector, entries: &[u32]) -> Vec<f32> {
        dispatch!(Level::new(), _ => self.all_likeness(query, entries))
    }

    /// A loop, because the closure of an iterator would be compiled apart, without the instructions chosen here.
    #[inline(always)]
    fn all_likeness(&self, query: &Vector, entries: &[u32]) -> Vec<f32> {
        let mut found = Vec::with_capacity(entries.len());
        for entry in entries {
            found.push(self.row(*entry as usize).likeness(query.row()));
        }
        found
    }

    /// In how many signs each entry differs from a query.
    pub(crate) fn distances(&self, query: &Vector) -> Vec<u16> {
        let query: Vec<u64> = signs(&query.bytes).collect();
        dispatch!(Level::new(), _ => distances(&self.signs, &query))
    }
}

#[inline(always)]
fn distances(signs: &[u64], query: &[u64]) -> Vec<u16> {
    let distance = |(a, b): (&u64, &u64)| (a ^ b).count_ones() as u16;
    // The usual size, told to the compiler.
    if let Ok(query) = <[u64; SIGNS / 64]>::try_from(query) {
        let (rows, _) = signs.as_chunks::<{ SIGNS / 64 }>();
        return rows.iter().map(|row| row.iter().zip(&query).map(distance).sum()).collect();
    }
    signs.chunks_exact(query.len().max(1)).map(|row| row.iter().zip(query).map(distance).sum()).collect()
}

fn signs(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let bit = |(place, byte): (usize, &u8)| u64::from(*byte as i8 > 0) << place;
    bytes[..SIGNS.min(bytes.len())].chunks(64).map(move |chunk| chunk.iter().enumerate().map(bit).sum())
}
