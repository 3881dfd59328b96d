//! Files that are not what they should be: told apart with a sentence, and never a panic.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use proptest::prelude::*;
use toolfold_encoder::Encoder;

use crate::{PIECES, TINY};

/// What a person reads for this content.
fn complaint(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("precise.bin");
    fs::write(&path, bytes).expect("it can be written");
    match Encoder::open(&path) {
        Ok(_) => "a good encoder".to_owned(),
        Err(error) => format!("{}\nhint: {}", error.problem, error.hint()),
    }
}

fn changed(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut changed = TINY.to_vec();
    changed[at..at + bytes.len()].copy_from_slice(bytes);
    changed
}

#[test]
fn a_good_file_opens_and_says_who_it_is() {
    assert_eq!(complaint(TINY), "a good encoder");
    let encoder = Encoder::from_bytes(TINY).expect("it is good");
    let other = Encoder::from_bytes(&changed(TINY.len() - 1, &[7])).expect("one number is another");
    assert_ne!(encoder.identity(), other.identity());
    assert_eq!(encoder.identity(), Encoder::from_bytes(TINY).expect("it is good").identity());
}

#[test]
fn complaints_say_what_to_do() {
    assert_snapshot!(complaint(b""), @r"
    it is not an encoder file
    hint: `precise` below [search] must name a precise.bin, as it is released with Toolfold
    ");
    assert_snapshot!(complaint(b"SQLite format 3\0"), @r"
    it is not an encoder file
    hint: `precise` below [search] must name a precise.bin, as it is released with Toolfold
    ");
    assert_snapshot!(complaint(&changed(8, &[9])), @r"
    its format is 9, this Toolfold knows 2
    hint: take the precise.bin that was released with this version of Toolfold
    ");
    assert_snapshot!(complaint(&changed(16, &[255, 255, 255, 255])), @r"
    it says that it has 4294967295 dimensions
    hint: the file is damaged or was not copied to its end: get it again
    ");
    assert_snapshot!(complaint(&changed(24, &[5])), @r"
    it says that it has 5 heads for its dimensions
    hint: the file is damaged or was not copied to its end: get it again
    ");
    assert_snapshot!(complaint(&changed(40, b"\n")), @r"
    its vocabulary has 81 wordpieces where 80 were announced
    hint: the file is damaged or was not copied to its end: get it again
    ");
    assert_snapshot!(complaint(&changed(46, b"[HUH]")), @r"
    its vocabulary lacks [UNK]
    hint: the file is damaged or was not copied to its end: get it again
    ");
    assert_snapshot!(complaint(&changed(TINY.len() - 4, &f32::NAN.to_le_bytes())), @r"
    there is a number in it that is none
    hint: the file is damaged or was not copied to its end: get it again
    ");
    let cut = complaint(&TINY[..TINY.len() - 1]);
    assert!(cut.starts_with("it should have"), "{cut}");
    let longer = complaint(&[TINY, b"!"].concat());
    assert!(longer.starts_with("it should have"), "{longer}");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Encoder::open(Path::new("no/such/precise.bin")).expect_err("there is none");
    assert!(error.to_string().starts_with("the encoder no/such/precise.bin cannot be used: "), "{error}");
}

proptest! {
    #[test]
    fn a_part_of_a_file_is_refused(end in 0..TINY.len()) {
        prop_assert!(Encoder::from_bytes(&TINY[..end]).is_err());
    }

    #[test]
    fn a_changed_file_is_refused_or_works(at in 0..TINY.len(), byte in any::<u8>(), text in any::<String>()) {
        if let Ok(encoder) = Encoder::from_bytes(&changed(at, &[byte])) {
            let vector = encoder.encode(&text).whole;
            prop_assert!(vector.iter().all(|number| number.is_finite()));
            let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
            prop_assert!(length == 0.0 || (length - 1.0).abs() < 1e-4, "{}", length);
        }
    }

    #[test]
    fn a_changed_file_with_pieces_is_refused_or_works(at in 0..PIECES.len(), byte in any::<u8>(), text in any::<String>()) {
        let mut changed = PIECES.to_vec();
        changed[at] = byte;
        if let Ok(encoder) = Encoder::from_bytes(&changed) {
            let pieces = encoder.encode(&text).pieces;
            prop_assert!(pieces.iter().all(|piece| piece.says.is_finite() && piece.vector.iter().all(|x| x.is_finite())));
        }
        prop_assert!(Encoder::from_bytes(&PIECES[..at]).is_err());
    }

    #[test]
    fn anything_else_is_refused(bytes in any::<Vec<u8>>()) {
        prop_assert!(Encoder::from_bytes(&bytes).is_err());
        for version in [b"TFENCODE\x01\0\0\0", b"TFENCODE\x02\0\0\0"] {
            prop_assert!(Encoder::from_bytes(&[version.as_slice(), &bytes].concat()).is_err());
        }
    }
}
