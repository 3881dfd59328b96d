//! Wordpieces and vectors as `tokenizers` and `numpy` have them. The sizes of the tiny network are odd on purpose: nothing
//! in it fills a whole tile.

use crate::tiny;

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
        let vector = encoder.encode(&text);
        assert_eq!(vector.len(), encoder.dims());
        for (ours, theirs) in vector.iter().zip(&expected) {
            assert!((ours - theirs).abs() < 5e-4, "{text:?}: {ours} is not {theirs}");
        }
    }
}
