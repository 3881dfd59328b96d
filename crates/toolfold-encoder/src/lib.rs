//! A sentence encoder (BERT, a few dozen megabytes) that runs in the process: text in, one unit vector out, and a shorter
//! one for each of its wordpieces. Search by meaning compares the vector of a query with those of the tools, and the pieces
//! of the query with those of the few tools that come closest.
//!
//! A query takes milliseconds, a tool tens of them; so tools are encoded in the background and their vectors remembered.
//! The same file and text give the same bits on every machine: the long sums are of integers, and the others keep their
//! order.

mod error;
mod file;
mod maths;
mod matrix;
mod network;
mod pieces;

use std::path::Path;

use toolfold_core::Fingerprint;

pub use error::{EncoderError, Problem};

use network::Network;
use pieces::Pieces;

/// Text beyond this many wordpieces is not looked at.
const LONGEST: usize = 128;

/// What a text means.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Encoded {
    /// All of it, as a vector of length 1. Only a damaged file can give one of length 0: it is like nothing else.
    pub whole: Vec<f32>,
    /// Its pieces in their order, each in the light of the others; none where the file is of the older kind.
    pub pieces: Vec<Piece>,
}

/// A part of a text, to be compared with the parts of another.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Of length 1, or 0.
    pub vector: Vec<f32>,
    /// How much it says, as a share of what the text says.
    pub says: f32,
}

impl From<Vec<f32>> for Encoded {
    fn from(whole: Vec<f32>) -> Encoded {
        Encoded { whole, pieces: Vec::new() }
    }
}

#[derive(Debug)]
pub struct Encoder {
    pieces: Pieces,
    network: Network,
    identity: Fingerprint,
}

impl Encoder {
    /// Reads the whole file and checks it. Takes about as long as reading it, so an asynchronous caller takes a thread.
    pub fn open(path: &Path) -> Result<Encoder, EncoderError> {
        let failed = |problem| EncoderError { path: path.to_owned(), problem };
        let bytes = file::whole(path).map_err(failed)?;
        Encoder::from_bytes(&bytes).map_err(failed)
    }

    /// The encoder in a file's content.
    pub fn from_bytes(bytes: &[u8]) -> Result<Encoder, Problem> {
        file::read(bytes)
    }

    pub fn encode(&self, text: &str) -> Encoded {
        self.network.encode(&self.pieces(text))
    }

    /// The wordpieces of a text as the network sees them: by number, with those for beginning and end around them.
    pub fn pieces(&self, text: &str) -> Vec<u32> {
        self.pieces.of(text, LONGEST.min(self.network.positions()))
    }

    /// Vectors of different encoders cannot be compared. Two with the same identity are the same.
    pub fn identity(&self) -> Fingerprint {
        self.identity
    }

    /// How long the vector of a text is.
    pub fn dims(&self) -> usize {
        self.network.dims()
    }

    /// How long the vector of a piece is; 0 where pieces have none.
    pub fn piece_dims(&self) -> usize {
        self.network.pieces.as_ref().map_or(0, |pieces| pieces.bias.len() - 1)
    }
}
