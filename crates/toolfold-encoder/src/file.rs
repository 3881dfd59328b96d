//! The format of `precise.bin`, version 2. Little endian, no padding, nothing after the last tensor:
//!
//! ```text
//! header      b"TFENCODE", then u32 each: version, vocab V, dims D, layers, heads, intermediate I, positions P, piece dims L
//! vocabulary  u32 length in bytes, then V wordpieces joined by "\n", by number
//! words       matrix V × D
//! positions   matrix P × D, the embedding of the first segment added
//! norm        vector D (gain), vector D (shift)
//! and for each layer
//!   attention   matrix 3D × D (rows: query, key, value), vector 3D; matrix D × D, vector D; norm
//!   widen       matrix I × D, vector I
//!   narrow      matrix D × I, vector D; norm
//! pieces      matrix (L + 1) × D, vector L + 1; the last row tells how much a piece says
//! ```
//!
//! Version 1 has neither L nor what makes pieces.
//!
//! A vector is f32. A matrix is one f32 scale a row, then its rows as int8: a value is its row's scale times the byte.
//! The length of the file follows from the header and is checked first, so no number in it makes us ask for memory that
//! the file does not fill.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};
use toolfold_core::Fingerprint;

use crate::Encoder;
use crate::error::Problem;
use crate::matrix::{Linear, Matrix};
use crate::network::{Layer, Network, Norm};
use crate::pieces::Pieces;

const MAGIC: &[u8; 8] = b"TFENCODE";
const VERSION: u32 = 2;
const WITHOUT_PIECES: u32 = 1;
/// No encoder for this job is larger; a film that was named by mistake is.
const LARGEST: u64 = 1 << 30;

pub(crate) fn whole(path: &Path) -> Result<Vec<u8>, Problem> {
    let unreadable = |error: std::io::Error| Problem::Unreadable { why: error.to_string() };
    let mut file = File::open(path).map_err(unreadable)?;
    let mut bytes = vec![0; MAGIC.len()];
    // The magic first: a pipe or a disk that was named by mistake is not read to its end.
    file.read_exact(&mut bytes).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => Problem::Foreign,
        _ => unreadable(error),
    })?;
    if bytes != MAGIC {
        return Err(Problem::Foreign);
    }
    file.take(LARGEST).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

pub(crate) fn read(bytes: &[u8]) -> Result<Encoder, Problem> {
    let mut rest = Rest { bytes, whole: bytes.len() as u64 };
    let header = Header::read(&mut rest)?;
    let vocabulary = rest.vocabulary(&header)?;
    let pieces = Pieces::new(vocabulary, header.vocab)?;
    let network = rest.network(&header)?;
    Ok(Encoder { pieces, network, identity: Fingerprint::from_bytes(Sha256::digest(bytes).into()) })
}

struct Header {
    vocab: usize,
    dims: usize,
    layers: usize,
    heads: usize,
    intermediate: usize,
    positions: usize,
    /// 0 where there is nothing for pieces.
    pieces: usize,
}

impl Header {
    fn read(rest: &mut Rest<'_>) -> Result<Header, Problem> {
        if rest.take(MAGIC.len()).ok() != Some(MAGIC) {
            return Err(Problem::Foreign);
        }
        let version = rest.number()?;
        if ![WITHOUT_PIECES, VERSION].contains(&version) {
            return Err(Problem::OtherFormat { found: version, known: VERSION });
        }
        let header = Header {
            vocab: rest.within("wordpieces", 3, 1 << 20)?,
            dims: rest.within("dimensions", 1, 4096)?,
            layers: rest.within("layers", 1, 64)?,
            heads: rest.within("heads", 1, 4096)?,
            intermediate: rest.within("intermediate dimensions", 1, 16_384)?,
            positions: rest.within("positions", 3, 8192)?,
            pieces: if version == VERSION { rest.within("dimensions of a piece", 1, 4096)? } else { 0 },
        };
        if !header.dims.is_multiple_of(header.heads) {
            return Err(Problem::Absurd { what: "heads for its dimensions", value: header.heads as u32 });
        }
        Ok(header)
    }

    /// Bytes of all tensors. The bounds above keep this far from overflowing.
    fn tensors(&self) -> u64 {
        let [vocab, dims, layers, wide, positions, pieces] =
            [self.vocab, self.dims, self.layers, self.intermediate, self.positions, self.pieces]
                .map(|number| number as u64);
        let matrix = |rows: u64, columns: u64| rows * (4 + columns);
        let linear = |rows: u64, columns: u64| matrix(rows, columns) + 4 * rows;
        let norm = 8 * dims;
        let attention = linear(3 * dims, dims) + linear(dims, dims) + norm;
        let forward = linear(wide, dims) + linear(dims, wide) + norm;
        let pieces = if pieces > 0 { linear(pieces + 1, dims) } else { 0 };
        matrix(vocab, dims) + matrix(positions, dims) + norm + layers * (attention + forward) + pieces
    }
}

/// What has not been read yet.
struct Rest<'a> {
    bytes: &'a [u8],
    whole: u64,
}

impl<'a> Rest<'a> {
    fn vocabulary(&mut self, header: &Header) -> Result<&'a str, Problem> {
        let length = self.number()?;
        let before = self.whole - self.bytes.len() as u64;
        let expected = before + u64::from(length) + header.tensors();
        if expected != self.whole {
            return Err(Problem::Length { expected, found: self.whole });
        }
        let text = self.take(length as usize)?;
        std::str::from_utf8(text).map_err(|error| Problem::Vocabulary { why: format!("is no text: {error}") })
    }

    fn network(&mut self, header: &Header) -> Result<Network, Problem> {
        let (dims, wide) = (header.dims, header.intermediate);
        let words = self.matrix(header.vocab, dims)?;
        let positions = self.matrix(header.positions, dims)?;
        let norm = self.norm(dims)?;
        let layer = |_| {
            Ok(Layer {
                attention: self.linear(3 * dims, dims)?,
                gathered: self.linear(dims, dims)?,
                attention_norm: self.norm(dims)?,
                widen: self.linear(wide, dims)?,
                narrow: self.linear(dims, wide)?,
                norm: self.norm(dims)?,
            })
        };
        let layers = (0..header.layers).map(layer).collect::<Result<_, Problem>>()?;
        let pieces = (header.pieces > 0).then(|| self.linear(header.pieces + 1, dims)).transpose()?;
        Ok(Network { heads: header.heads, words, positions, norm, layers, pieces })
    }

    fn norm(&mut self, dims: usize) -> Result<Norm, Problem> {
        Ok(Norm { gain: self.vector(dims)?, shift: self.vector(dims)? })
    }

    fn linear(&mut self, rows: usize, columns: usize) -> Result<Linear, Problem> {
        Ok(Linear { matrix: self.matrix(rows, columns)?, bias: self.vector(rows)? })
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> Result<Matrix, Problem> {
        let scales = self.vector(rows)?;
        Ok(Matrix::new(scales, columns, self.take(rows * columns)?))
    }

    fn vector(&mut self, length: usize) -> Result<Vec<f32>, Problem> {
        let (numbers, _) = self.take(4 * length)?.as_chunks::<4>();
        let vector: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if vector.iter().all(|number| number.is_finite()) { Ok(vector) } else { Err(Problem::NotANumber) }
    }

    fn within(&mut self, what: &'static str, least: u32, most: u32) -> Result<usize, Problem> {
        let value = self.number()?;
        if (least..=most).contains(&value) { Ok(value as usize) } else { Err(Problem::Absurd { what, value }) }
    }

    fn number(&mut self) -> Result<u32, Problem> {
        let bytes = self.take(4)?;
        Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Problem> {
        let short =
            Problem::Length { expected: self.whole - self.bytes.len() as u64 + length as u64, found: self.whole };
        let (taken, bytes) = self.bytes.split_at_checked(length).ok_or(short)?;
        self.bytes = bytes;
        Ok(taken)
    }
}
