//! Any text at all.

use proptest::prelude::*;

use crate::tiny;

fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|number| number * number).sum::<f32>().sqrt()
}

proptest! {
    #[test]
    fn every_text_has_one_vector_of_length_one(text in any::<String>()) {
        let encoder = tiny();
        let encoded = encoder.encode(&text);
        prop_assert!((length(&encoded.whole) - 1.0).abs() < 1e-5);
        prop_assert_eq!(encoded, encoder.encode(&text));
    }

    #[test]
    fn pieces_begin_and_end_and_stay_within_bounds(text in "\\PC{0,300}") {
        let pieces = tiny().pieces(&text);
        prop_assert!((2..=40).contains(&pieces.len()));
        prop_assert_eq!((pieces[0], pieces[pieces.len() - 1]), (2, 3));
    }

    /// What is written after the last piece that there is room for changes nothing.
    #[test]
    fn only_the_beginning_counts(rest in any::<String>()) {
        let beginning = "file ".repeat(40);
        prop_assert_eq!(tiny().pieces(&format!("{beginning}{rest}")), tiny().pieces(&beginning));
    }
}

#[test]
fn text_without_end_is_not_read_to_its_end() {
    let encoder = tiny();
    for unit in ["a", " ", "\u{301}", "東", "file ", "\u{0}", "(", "ﷺ"] {
        let vector = encoder.encode(&unit.repeat(10_000_000 / unit.len())).whole;
        assert!((length(&vector) - 1.0).abs() < 1e-5, "{unit:?}");
    }
}

#[test]
fn markers_in_a_text_are_words() {
    let encoder = tiny();
    let pieces = encoder.pieces("[SEP] file");
    assert_eq!(pieces.iter().filter(|piece| **piece == 3).count(), 1, "{pieces:?}");
}

#[test]
fn case_accents_and_white_space_do_not_matter() {
    let encoder = tiny();
    let plain = encoder.encode("create a file");
    for other in ["CREATE A FILE", "créate  à\tfile\n", "cre\u{301}ate a\u{200b} file"] {
        assert_eq!(encoder.encode(other), plain, "{other:?}");
    }
}
