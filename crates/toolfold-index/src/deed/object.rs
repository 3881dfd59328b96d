//! Things, as requests and names of tools call them: words with their endings off, and one number for all words that mean
//! the same thing (`data/things.txt`), so that a ticket is an issue.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::index::stemmer;
use crate::names::Hash;

static THINGS: &str = include_str!("../../data/things.txt");

/// A thing by number: the same for all its names.
pub(crate) type Thing = u32;

/// What it takes to be allowed to do something.
pub(crate) const RIGHT: &str = "permissions";

/// What stands between a thing and another one that it belongs to.
const PREPOSITIONS: [&str; 22] = [
    "about", "across", "after", "as", "at", "before", "behind", "between", "by", "for", "from", "in", "inside", "into",
    "of", "on", "onto", "out", "over", "to", "under", "with",
];

pub(crate) fn is_preposition(word: &str) -> bool {
    PREPOSITIONS.binary_search(&word).is_ok()
}

/// Whether it is asked who may do something: "who may see this page" is about its permissions, and does not name them.
pub(crate) fn asks_rights(words: &[String]) -> bool {
    let row: Vec<&str> = words.iter().take(3).map(String::as_str).collect();
    matches!(row[..], ["who", "may" | "can" | "could", ..] | ["who", "is", "allowed" | "permitted"])
}

pub(crate) fn right() -> Option<Thing> {
    read(&[RIGHT]).first().map(|(thing, _)| *thing)
}

/// Other words for the thing that a word means, as stems.
pub(crate) fn synonyms(stem: &str) -> &'static [String] {
    things().one.get(stem).and_then(|group| things().names.get(group)).map_or(&[], Vec::as_slice)
}

/// Somebody, by a name or not.
pub(crate) fn anybody() -> Option<Thing> {
    read(&["anybody"]).first().map(|(thing, _)| *thing)
}

struct Things {
    /// The names of one word that each group has.
    names: HashMap<Thing, Vec<String>>,
    /// The group of each name of one word or two, by stems.
    one: HashMap<String, Thing>,
    two: HashMap<(String, String), Thing>,
}

fn things() -> &'static Things {
    static GROUPS: OnceLock<Things> = OnceLock::new();
    GROUPS.get_or_init(|| {
        let mut things = Things { names: HashMap::new(), one: HashMap::new(), two: HashMap::new() };
        for line in THINGS.lines() {
            // Names of two words are told apart by commas.
            let names: Vec<&str> =
                if line.contains(',') { line.split(',').collect() } else { line.split_whitespace().collect() };
            let Some(first) = names.first() else { continue };
            let group = number(&stem(first.trim()));
            for name in names {
                let words: Vec<String> = name.split_whitespace().map(stem).collect();
                match &words[..] {
                    [one] => {
                        things.one.entry(one.clone()).or_insert(group);
                        things.names.entry(group).or_default().push(one.clone());
                    }
                    [one, two] => drop(things.two.entry((one.clone(), two.clone())).or_insert(group)),
                    _ => {}
                }
            }
        }
        things
    })
}

/// The things that words name, in their order: how many words each takes.
pub(crate) fn read(words: &[&str]) -> Vec<(Thing, usize)> {
    let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
    let mut found = Vec::with_capacity(stems.len());
    let mut at = 0;
    while at < stems.len() {
        let pair = stems.get(at + 1).and_then(|next| things().two.get(&(stems[at].clone(), next.clone())));
        let one = || things().one.get(&stems[at]).copied().unwrap_or_else(|| number(&stems[at]));
        let (thing, length) = pair.map_or_else(|| (one(), 1), |thing| (*thing, 2));
        found.push((thing, length));
        at += length;
    }
    found
}

fn stem(word: &str) -> String {
    stemmer().stem(word).into_owned()
}

fn number(stem: &str) -> Thing {
    let hash = Hash::new().add(stem).0;
    (hash ^ (hash >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prepositions_are_in_their_order() {
        assert!(PREPOSITIONS.is_sorted());
    }

    #[test]
    fn what_means_the_same_is_the_same() {
        assert_eq!(read(&["ticket"]), read(&["issues"]));
        assert_eq!(read(&["pull", "requests"]), read(&["merge", "request"]));
        assert_eq!(read(&["pull", "request"]), [(read(&["pr"])[0].0, 2)]);
        assert_ne!(read(&["branch"]), read(&["bucket"]));
        assert_eq!(read(&["old", "branch"]).len(), 2);
    }
}
