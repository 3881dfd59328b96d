//! Likeness by words. Vectors blur what names say outright: a tool called `list_milestones` is about milestones, however
//! near some other node comes to its description. A rare word tells more than one that many nodes have.

use std::collections::HashMap;

use rust_stemmers::Stemmer;
use toolfold_core::{Entry, words};

use super::described::Described;
use crate::analyse::{EVERY_SERVER, first_sentence};
use crate::ask::says_something;
use crate::index::stemmer;

/// What a word counts that is in a node's name or tags, its summary, one of its phrases.
const IN_NAME: f32 = 1.0;
const IN_SUMMARY: f32 = 0.7;
const IN_PHRASE: f32 = 0.5;
/// What a word counts that is in an entry's name, the first sentence about it, the name of its server.
const OF_NAME: f32 = 1.0;
const OF_SENTENCE: f32 = 0.5;
const OF_SERVER: f32 = 0.3;
/// How rare a word is taken to be that no node has.
const UNKNOWN: f32 = 2.0;
const MOST_WORDS: usize = 24;

/// Done to everything, or everything is one, so they tell nothing apart.
const VERBS: [&str; 19] = [
    "add",
    "api",
    "create",
    "delete",
    "fetch",
    "get",
    "list",
    "new",
    "remove",
    "resource",
    "resources",
    "server",
    "servers",
    "service",
    "services",
    "set",
    "specific",
    "up",
    "update",
];

#[derive(Debug)]
pub(super) struct NodeWords {
    /// The stems that nodes have, by number.
    numbers: HashMap<String, u32>,
    known: Vec<Known>,
}

#[derive(Debug, Default)]
struct Known {
    rarity: f32,
    /// Nodes that have the word, and what it counts there.
    nodes: Vec<(usize, f32)>,
}

impl NodeWords {
    pub(super) fn of(nodes: &[Described]) -> NodeWords {
        let mut reader = Reader { numbers: HashMap::new(), words: HashMap::new(), stemmer: stemmer() };
        let mut known: Vec<Known> = Vec::new();
        // Nodes that nothing is placed in do not make a word common.
        let candidates = nodes.iter().enumerate().filter(|(_, node)| !node.phrases.is_empty());
        let count = candidates.clone().count() as f32;
        for (place, node) in candidates {
            let said = reader.of_node(node);
            known.resize_with(reader.numbers.len(), Known::default);
            said.into_iter().for_each(|(stem, weight)| known[stem as usize].nodes.push((place, weight)));
        }
        for word in &mut known {
            word.rarity = (1.0 + count / word.nodes.len() as f32).ln();
        }
        NodeWords { numbers: reader.numbers, known }
    }

    /// Reads entries, any number of them.
    pub(super) fn reader(&self) -> Reader {
        Reader { numbers: self.numbers.clone(), words: HashMap::new(), stemmer: stemmer() }
    }

    /// Calls `each` with the nodes that share words with an entry: how much of what the entry says is said there too,
    /// a part at a time.
    pub(super) fn likeness(&self, reader: &mut Reader, entry: &Entry, mut each: impl FnMut(usize, f32)) {
        let said = reader.of_entry(entry);
        let rarity = |stem: u32| self.known.get(stem as usize).map_or(UNKNOWN, |known| known.rarity);
        let total: f32 = said.iter().map(|(stem, weight)| weight * rarity(*stem)).sum();
        for (stem, weight) in said {
            let Some(known) = self.known.get(stem as usize) else { continue };
            known.nodes.iter().for_each(|(node, there)| each(*node, weight * there * known.rarity / total));
        }
    }
}

/// Reads texts into numbers of stems. Stems that no node has are numbered behind those of the nodes.
pub(super) struct Reader {
    numbers: HashMap<String, u32>,
    /// Each word that was met, with its stem unless it tells nothing.
    words: HashMap<String, Option<u32>>,
    stemmer: Stemmer,
}

/// Stems and what each counts, each stem once.
type Said = Vec<(u32, f32)>;

impl Reader {
    fn of_node(&mut self, node: &Described) -> Said {
        let mut said = Said::new();
        let names = [node.name()].into_iter().chain(node.tags.iter().chain(&node.aliases).map(String::as_str));
        names.for_each(|text| self.read(text, IN_NAME, usize::MAX, &mut said));
        self.read(&node.summary, IN_SUMMARY, usize::MAX, &mut said);
        node.phrases.iter().for_each(|phrase| self.read(phrase, IN_PHRASE, usize::MAX, &mut said));
        said
    }

    fn of_entry(&mut self, entry: &Entry) -> Said {
        let mut said = Said::new();
        self.read(entry.name(), OF_NAME, MOST_WORDS, &mut said);
        self.read(first_sentence(entry.own_description().trim()).0, OF_SENTENCE, MOST_WORDS, &mut said);
        // Agents and skills have no server; the name they are listed under says only what kind they are.
        if entry.is_tool() {
            words::each(entry.server().as_str(), |word| {
                if !EVERY_SERVER.contains(&word) {
                    self.read(word, OF_SERVER, MOST_WORDS, &mut said);
                }
            });
        }
        said
    }

    fn read(&mut self, text: &str, weight: f32, most: usize, said: &mut Said) {
        let mut left = most;
        words::each(text, |word| {
            let Some(stem) = (left > 0).then(|| self.stem(word)).flatten() else { return };
            left -= 1;
            match said.iter_mut().find(|(known, _)| *known == stem) {
                Some((_, best)) => *best = best.max(weight),
                None => said.push((stem, weight)),
            }
        });
    }

    fn stem(&mut self, word: &str) -> Option<u32> {
        if let Some(stem) = self.words.get(word) {
            return *stem;
        }
        let stem = tells(word).then(|| {
            let next = self.numbers.len() as u32;
            *self.numbers.entry(self.stemmer.stem(word).into_owned()).or_insert(next)
        });
        self.words.insert(word.to_owned(), stem);
        stem
    }
}

/// Whether a word tells one kind of thing from another.
pub(super) fn tells(word: &str) -> bool {
    word.chars().count() > 1 && says_something(word) && !VERBS.contains(&word)
}
