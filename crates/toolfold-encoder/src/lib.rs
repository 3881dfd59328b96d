//! A sentence encoder (BERT, a few dozen megabytes) that runs in the process: text in, one unit vector out. Search by
//! meaning compares the vector of a query with those of the tools.
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

    /// What a text means, as a vector of length 1. Only a damaged file can give one of length 0: it is like nothing else.
    pub fn encode(&self, text: &str) -> Vec<f32> {
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

    /// How long a vector is.
    pub fn dims(&self) -> usize {
        self.network.dims()
    }
}
