//! What an entry says of itself in words, as the trained weights know it: numbers of stems, each with what it counts.
//! Pairs of words that stand together in a name are traits too: an access key is no key of a store.

use std::collections::HashMap;

use rust_stemmers::Stemmer;
use toolfold_core::{Entry, words};

use super::words::tells;
use crate::analyse::first_sentence;
use crate::index::stemmer;
use crate::names::Hash;

/// What a name and a first sentence count together, each.
const OF_NAME: f32 = 1.0;
const OF_SENTENCE: f32 = 0.7;
const MOST_OF_NAME: usize = 12;
const MOST_OF_SENTENCE: usize = 24;

/// A trait by its number, and what it counts.
pub(super) type Trait = (u32, f32);

/// Reads entries, any number of them.
pub(super) struct TraitReader {
    /// Each word that was met, with its stem unless it tells nothing.
    stems: HashMap<String, Option<String>>,
    stemmer: Stemmer,
}

impl TraitReader {
    pub(super) fn new() -> Self {
        TraitReader { stems: HashMap::new(), stemmer: stemmer() }
    }

    pub(super) fn read(&mut self, entry: &Entry) -> Vec<Trait> {
        let name = self.stems(entry.name(), MOST_OF_NAME);
        let pairs = name.windows(2).map(|pair| number('b', &[&pair[0], &pair[1]]));
        let of_name: Vec<u32> = name.iter().map(|stem| number('n', &[stem])).chain(pairs).collect();
        let sentence = self.stems(first_sentence(entry.own_description().trim()).0, MOST_OF_SENTENCE);
        let of_sentence: Vec<u32> = sentence.iter().map(|stem| number('s', &[stem])).collect();
        let mut traits = shared(of_name, OF_NAME);
        traits.extend(shared(of_sentence, OF_SENTENCE));
        traits
    }

    fn stems(&mut self, text: &str, most: usize) -> Vec<String> {
        let mut found = Vec::new();
        words::each(text, |word| {
            if found.len() < most {
                found.extend(self.stem(word));
            }
        });
        found
    }

    fn stem(&mut self, word: &str) -> Option<String> {
        if let Some(stem) = self.stems.get(word) {
            return stem.clone();
        }
        let stem = tells(word).then(|| self.stemmer.stem(word).into_owned());
        self.stems.insert(word.to_owned(), stem.clone());
        stem
    }
}

/// Each once, and all together as long as `whole`.
fn shared(mut numbers: Vec<u32>, whole: f32) -> Vec<Trait> {
    numbers.sort_unstable();
    numbers.dedup();
    let each = whole / (numbers.len().max(1) as f32).sqrt();
    numbers.into_iter().map(|number| (number, each)).collect()
}

fn number(kind: char, stems: &[&String]) -> u32 {
    let start = Hash::new().add(kind.encode_utf8(&mut [0; 4]));
    stems.iter().fold(start, |hash, stem| hash.add(" ").add(stem)).0 as u32
}
