//! The tools whose names are most like one that nobody has. Made for answers that show them, and only then: what it
//! needs of every name is written down once, when somebody first misses.
//!
//! What a reader would get wrong: letters are compared in two steps. Counting them says how near two names can be at
//! most, for nothing; only the few that could be nearest are compared in their order.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use toolfold_core::words;

use crate::catalog::Catalog;
use crate::resolve::{LONGEST_SPELLING, ids};
use crate::spelling::folded;

/// Half of the words right, or half of the letters.
const NEAR_ENOUGH: f32 = 0.5;
/// How many names are compared letter by letter.
const COMPARED: usize = 256;
/// Words of a name that count.
const MOST_WORDS: usize = 24;
/// Letters of a name that count.
const LETTERS: usize = 128;
const KINDS: usize = 32;

/// How often a text has each letter, letters being told apart by their last bits.
#[derive(Debug, Clone, Copy, Default)]
struct Bag([u8; KINDS]);

/// What is known of every entry's name, in the order of the catalog.
#[derive(Debug)]
pub(crate) struct Outlines {
    state: RandomState,
    names: Vec<Bag>,
    servers: Vec<Bag>,
    /// The entries that have a word in the tool's name or the server's, by the word's hash, each once.
    words: HashMap<u64, Vec<u32>>,
}

impl Outlines {
    pub(crate) fn of(catalog: &Catalog) -> Outlines {
        let (mut names, mut servers) = (Vec::with_capacity(catalog.len()), Vec::with_capacity(catalog.len()));
        let mut by_word: HashMap<u64, Vec<u32>> = HashMap::new();
        let state = RandomState::new();
        for (position, entry) in (0u32..).zip(catalog.entries()) {
            names.push(Bag::of(&folded(beginning(entry.name()))));
            servers.push(Bag::of(&folded(entry.server().as_str())));
            for word in split(entry.name()).into_iter().chain(split(entry.server().as_str())) {
                let having = by_word.entry(state.hash_one(&word)).or_default();
                if having.last() != Some(&position) {
                    having.push(position);
                }
            }
        }
        Outlines { state, names, servers, words: by_word }
    }
}

/// Ids of those that `admits` lets through, the nearest first.
pub(crate) fn nearest(catalog: &Catalog, spelling: &str, admits: &dyn Fn(usize) -> bool) -> Vec<String> {
    let spelling = spelling.trim();
    if spelling.len() > LONGEST_SPELLING {
        return Vec::new();
    }
    let outlines = catalog.outlines();
    let (wanted, wanted_words) = (folded(spelling), split(spelling));
    let by_words = shared(outlines, catalog.len(), &wanted_words);
    let bag = Bag::of(&wanted);
    let at_most = |position: usize| {
        let whole = outlines.names[position].with(outlines.servers[position]);
        mixed(bag.likeness(outlines.names[position]).max(bag.likeness(whole)), by_words[position])
    };
    let possible: Vec<(f32, usize)> = (0..catalog.len())
        .map(|position| (at_most(position), position))
        .filter(|(most, position)| *most >= NEAR_ENOUGH && admits(*position))
        .collect();
    let exactly =
        |(_, position): (f32, usize)| (mixed(letters(catalog, &wanted, position), by_words[position]), position);
    let mut near: Vec<(f32, usize)> =
        likeliest(possible).into_iter().map(exactly).filter(|(likeness, _)| *likeness >= NEAR_ENOUGH).collect();
    near.sort_by(order);
    ids(catalog, near.into_iter().map(|(_, position)| position))
}

/// As many as are compared letter by letter, in no order.
fn likeliest(mut possible: Vec<(f32, usize)>) -> Vec<(f32, usize)> {
    if possible.len() > COMPARED {
        possible.select_nth_unstable_by(COMPARED, order);
        possible.truncate(COMPARED);
    }
    possible
}

fn order(a: &(f32, usize), b: &(f32, usize)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

/// The better of shared words and shared letters, 0 to 1, with a little of the other to break ties.
fn mixed(by_letters: f32, by_words: f32) -> f32 {
    by_letters.max(by_words) + 0.1 * by_letters.min(by_words)
}

/// For each entry the share of the words that it has too.
fn shared(outlines: &Outlines, entries: usize, wanted: &[String]) -> Vec<f32> {
    let mut shares = vec![0.0; entries];
    for having in wanted.iter().filter_map(|word| outlines.words.get(&outlines.state.hash_one(word))) {
        having.iter().for_each(|position| shares[*position as usize] += 1.0);
    }
    shares.iter_mut().for_each(|share| *share /= wanted.len().max(1) as f32);
    shares
}

fn letters(catalog: &Catalog, wanted: &str, position: usize) -> f32 {
    let entry = catalog.entry(position);
    let name = folded(beginning(entry.name()));
    let whole = folded(entry.server().as_str()) + &name;
    likeness(wanted, &name).max(likeness(wanted, &whole))
}

fn likeness(a: &str, b: &str) -> f32 {
    let (long, short) = (a.len().max(b.len()).max(1), a.len().min(b.len()));
    // Too different in length to be near: not worth measuring.
    if short * 2 < long {
        return 0.0;
    }
    1.0 - words::distance(a, b) as f32 / long as f32
}

fn split(text: &str) -> Vec<String> {
    let mut words = words::split(beginning(text));
    words.truncate(MOST_WORDS);
    words
}

fn beginning(text: &str) -> &str {
    text.char_indices().nth(LETTERS).map_or(text, |(end, _)| &text[..end])
}

impl Bag {
    fn of(text: &str) -> Bag {
        let mut bag = Bag::default();
        for letter in text.chars().take(LETTERS) {
            let count = &mut bag.0[letter as usize % KINDS];
            *count = count.saturating_add(1);
        }
        bag
    }

    fn with(self, other: Bag) -> Bag {
        let mut both = self;
        both.0.iter_mut().zip(other.0).for_each(|(count, more)| *count = count.saturating_add(more));
        both
    }

    /// How alike texts with these letters can be at most: each letter that one has more of costs a change.
    fn likeness(self, other: Bag) -> f32 {
        let (mut more, mut less, mut own, mut others) = (0u32, 0u32, 0u32, 0u32);
        for (a, b) in self.0.iter().zip(other.0) {
            more += u32::from(a.saturating_sub(b));
            less += u32::from(b.saturating_sub(*a));
            own += u32::from(*a);
            others += u32::from(b);
        }
        let long = own.max(others).max(1);
        if own.min(others) * 2 < long { 0.0 } else { 1.0 - more.max(less) as f32 / long as f32 }
    }
}

#[cfg(test)]
mod tests {
    use super::likeliest;

    #[test]
    fn few_names_are_compared_letter_by_letter() {
        let mut kept = likeliest((0..10_000).map(|position| (position as f32, position)).collect());
        kept.sort_unstable_by_key(|(_, position)| *position);
        let positions: Vec<usize> = kept.into_iter().map(|(_, position)| position).collect();
        assert_eq!(positions, (9_744..10_000).collect::<Vec<_>>());
    }
}
