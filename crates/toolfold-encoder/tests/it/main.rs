//! The encoder against a reference that was computed elsewhere, and against whatever else it may be given.

mod damage;
mod reference;
mod texts;

use toolfold_encoder::Encoder;

/// A network of two layers that knows a few words, made by `training/tiny_encoder.py`.
const TINY: &[u8] = include_bytes!("../data/tiny.bin");

/// The same with what makes vectors of its pieces.
const PIECES: &[u8] = include_bytes!("../data/pieces.bin");

fn tiny() -> Encoder {
    Encoder::from_bytes(TINY).expect("the file was written by its exporter")
}
