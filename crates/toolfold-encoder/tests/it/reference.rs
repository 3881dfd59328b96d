//! Wordpieces and vectors as `tokenizers` and `numpy` have them. The sizes of the tiny network are odd on purpose: nothing
//! in it fills a whole tile.

use toolfold_encoder::Encoder;

use crate::{PIECES, tiny};

/// Text, pieces, vector.
fn expected() -> Vec<(String, Vec<u32>, Vec<f32>)> {
    serde_json::from_str(include_str!("../data/tiny.json")).expect("the file was written by its exporter")
}

#[test]
fn pieces_are_those_of_the_reference() {
    let encoder = tiny();
    for (text, pieces, _) in expected() {
        assert_eq!(encoder.pieces(&text), pieces, "{text:?}");
    }
}

#[test]
fn vectors_are_those_of_the_reference() {
    let encoder = tiny();
    for (text, _, expected) in expected() {
        let vector = encoder.encode(&text).whole;
        assert_eq!(vector.len(), encoder.dims());
        for (ours, theirs) in vector.iter().zip(&expected) {
            assert!((ours - theirs).abs() < 5e-4, "{text:?}: {ours} is not {theirs}");
        }
    }
}

#[test]
fn each_piece_has_the_vector_of_the_reference() {
    let expected: Vec<(String, Vec<f32>, Vec<Vec<f32>>)> =
        serde_json::from_str(include_str!("../data/pieces.json")).expect("the file was written by its exporter");
    let (encoder, without) = (Encoder::from_bytes(PIECES).expect("it is good"), tiny());
    assert_eq!((encoder.piece_dims(), without.piece_dims()), (10, 0));
    for (text, says, vectors) in expected {
        let encoded = encoder.encode(&text);
        assert_eq!(encoded.whole, without.encode(&text).whole, "{text:?}");
        assert_eq!(encoded.pieces.len(), vectors.len(), "{text:?}");
        for ((piece, says), vector) in encoded.pieces.iter().zip(says).zip(vectors) {
            let ours = piece.vector.iter().chain([&piece.says]);
            for (ours, theirs) in ours.zip(vector.iter().chain([&says])) {
                assert!((ours - theirs).abs() < 2e-3, "{text:?}: {ours} is not {theirs}");
            }
        }
    }
}
