//! A query taken apart: its words as weighted terms of the catalog, its pieces and their meaning, and the parts of a
//! request that asks for several things.

use std::collections::HashMap;
use std::sync::Arc;

use toolfold_core::words;

use crate::analyse::beginning;
use crate::deed::{Wanted, synonyms};
use crate::index::{Index, stemmer};
use crate::names::Hash;
use crate::precise::{Precise, Read};
use crate::semantic::{Vector, model};
use crate::weight;

/// The share of the surface form; the stem has the rest.
const SURFACE: f32 = 0.4;
/// What a word counts that was read as another.
const MISSPELT: f32 = 0.6;
/// What a plain verb counts in the meaning of a request that says it otherwise: "get rid of" is near nothing that deletes.
const PLAIN: f32 = 0.5;
/// What another word for the same thing counts.
const SYNONYM: f32 = 0.3;
const MOST_WORDS: usize = 200;
/// Bytes of a query that are looked at.
const LONGEST_QUERY: usize = 8 * 1024;
/// Parts that are looked up one by one: as many as a term has bits for.
const MOST_CLAUSES: usize = 32;
/// Words that mean something, without which a part of a request cannot stand alone; and in a list of many, where the parts
/// are short and the commas tell.
const FEWEST_IN_CLAUSE: usize = 3;
const FEWEST_IN_LIST: usize = 2;
/// From so many parts on a request is a list.
pub(crate) const LIST: usize = 4;

/// Words that say nothing about which tool is meant: grammar, and politeness. In their order, to be found quickly.
const STOP_WORDS: [&str; 96] = [
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
    "could", "d", "did", "do", "does", "each", "for", "from", "given", "had", "has", "have", "hello", "help", "hey",
    "hi", "how", "i", "if", "in", "into", "is", "it", "its", "just", "kindly", "let", "like", "ll", "m", "may", "me",
    "might", "my", "need", "of", "on", "or", "our", "please", "re", "s", "shall", "should", "so", "some", "t", "thank",
    "thanks", "that", "the", "their", "them", "then", "there", "these", "this", "those", "to", "tool", "tools", "us",
    "use", "using", "ve", "via", "want", "was", "we", "were", "what", "when", "where", "which", "who", "will", "with",
    "would", "you", "your",
];

/// What ends a part of a request, beside punctuation.
const JOINTS: [&str; 6] = ["and", "then", "also", "because", "but", "while"];

/// A query ready for the index.
pub(crate) struct Asked {
    pub(crate) terms: Vec<Term>,
    /// How many words that mean something were said.
    pub(crate) words: usize,
    /// The share of these that neither the catalog nor the model knows: names, slips, another language.
    pub(crate) unknown: f32,
    /// The lexical score of an entry that is all about this query.
    pub(crate) best: f32,
    pub(crate) pieces: Vec<u16>,
    /// The same of each word that says what kind of thing is named.
    pub(crate) named: Vec<Vec<u16>>,
    pub(crate) meaning: Meaning,
    /// The encoder's side, the same for the whole search.
    pub(crate) precise: Option<Arc<Precise>>,
    /// Of a request for several things; otherwise none.
    pub(crate) clauses: Vec<Clause>,
    /// What is to be done.
    pub(crate) wanted: Wanted,
    pub(crate) letters: u64,
    pub(crate) stems: u64,
}

pub(crate) struct Clause {
    pub(crate) text: String,
    pub(crate) meaning: Meaning,
}

/// A part of a request, not yet understood.
#[derive(Debug, PartialEq)]
struct Part {
    text: String,
    words: Vec<String>,
}

/// What a text means to the static model, and to the encoder where the index has one.
pub(crate) struct Meaning {
    pub(crate) fast: Vector,
    pub(crate) precise: Option<Read>,
}

impl Meaning {
    fn new(fast: Vector, precise: Option<&Precise>, text: &str) -> Meaning {
        Meaning { fast, precise: precise.map(|precise| precise.query(text)) }
    }
}

/// A term to look up and what it counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Term {
    pub(crate) number: u32,
    /// With the rarity of the term.
    pub(crate) weight: f32,
    /// The clauses that have it, a bit each.
    pub(crate) clauses: u32,
}

/// One word as the catalog knows it.
struct Word {
    said: String,
    stem: String,
    /// What a misspelling was read as.
    meant: Option<u32>,
    terms: Vec<(u32, f32)>,
}

impl Asked {
    /// Nothing where nothing was asked.
    pub(crate) fn new(index: &Index, text: &str) -> Option<Asked> {
        let text = beginning(text, LONGEST_QUERY);
        let all: Vec<Word> = split(text).into_iter().map(|word| Word::read(index, word)).collect();
        if all.is_empty() {
            return None;
        }
        let parts = parts(text);
        // A request for several things has several deeds, and no tool does them all.
        let wanted =
            if parts.is_empty() { Wanted::read(text, |word| telling(index, &all, word)) } else { Wanted::default() };
        let letters = Hash::of(all.iter().map(|word| &word.said), "");
        let stems = stems(index, &all);
        let telling = all.iter().filter(|word| word.says_something()).count();
        let strange = all.iter().filter(|word| word.says_something() && word.is_strange()).count();
        let precise = index.precise().cloned();
        let (terms, best) = terms(index, &all, &parts);
        let pieces = model().pieces(all.iter().map(|word| word.meant(index)));
        let plain = wanted.plainly().into_iter().filter(|verb| !all.iter().any(|word| word.said == *verb));
        let plain = model().pieces(plain);
        let fast = model().weighed(&[(&pieces, 1.0), (&plain, PLAIN)]);
        let clause = |Part { text, words }: Part| Clause {
            meaning: Meaning::new(model().meaning(&words), precise.as_deref(), &text),
            text,
        };
        let common = all.iter().filter(|word| wanted.common.contains(&word.said));
        let named =
            common.map(|word| model().pieces([word.meant(index)])).filter(|pieces| !pieces.is_empty()).collect();
        Some(Asked {
            named,
            meaning: Meaning::new(fast, precise.as_deref(), text),
            wanted,
            letters,
            stems,
            clauses: parts.into_iter().map(clause).collect(),
            words: telling,
            unknown: strange as f32 / telling.max(1) as f32,
            terms,
            best,
            pieces,
            precise,
        })
    }
}

/// The stems of all words in their order, as a hash. What was read as another word has that one's stem.
fn stems(index: &Index, all: &[Word]) -> u64 {
    let stemmer = stemmer();
    let stem = |word: &Word| match word.meant {
        Some(_) => stemmer.stem(word.meant(index)).into_owned(),
        None => word.stem.clone(),
    };
    Hash::of(all.iter().map(stem), " ")
}

/// How much a word tells apart: nothing where the catalog does not know it, as with the name of a person.
fn telling(index: &Index, all: &[Word], word: &str) -> f32 {
    let terms = all.iter().find(|known| known.said == word).map_or(&[][..], |word| &word.terms);
    let rarities = terms.iter().map(|(number, _)| weight::rarity(index.base.frequency(*number), index.len()));
    rarities.fold(f32::MIN_POSITIVE, f32::max)
}

fn split(text: &str) -> Vec<String> {
    let mut words = words::split(text);
    words.truncate(MOST_WORDS);
    words
}

impl Word {
    fn read(index: &Index, said: String) -> Word {
        let stem = stemmer().stem(&said).into_owned();
        let surface = index.base.vocabulary.number(&said);
        let root = index.base.vocabulary.number(&stem).filter(|_| stem != said);
        // A word that is known to the model is not in the catalog because nothing there is about it, not by mistake.
        let slip = surface.is_none() && root.is_none() && !model().knows(&said);
        let meant =
            if slip { index.base.vocabulary.nearest(&said, |number| index.base.frequency(number)) } else { None };
        let mut terms = match (surface, root, meant) {
            (Some(surface), Some(root), _) => vec![(surface, SURFACE), (root, 1.0 - SURFACE)],
            (Some(surface), None, _) => vec![(surface, 1.0)],
            (None, Some(root), _) => vec![(root, 1.0 - SURFACE)],
            (None, None, Some(meant)) => vec![(meant, MISSPELT)],
            (None, None, None) => Vec::new(),
        };
        let others = synonyms(&stem).iter().filter(|other| **other != stem);
        terms.extend(others.filter_map(|other| Some((index.base.vocabulary.number(other)?, SYNONYM))));
        Word { said, stem, meant, terms }
    }

    fn meant<'a>(&'a self, index: &'a Index) -> &'a str {
        self.meant.map_or(&self.said, |number| index.base.vocabulary.term(number))
    }

    fn says_something(&self) -> bool {
        says_something(&self.said)
    }

    /// Whether nobody knows it. Numbers are no words.
    fn is_strange(&self) -> bool {
        self.terms.is_empty() && !model().knows(&self.said) && !self.said.contains(char::is_numeric)
    }
}

pub(crate) fn says_something(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_err()
}

/// The weighted terms, and what an entry would earn that has them all and nothing else.
fn terms(index: &Index, all: &[Word], parts: &[Part]) -> (Vec<Term>, f32) {
    let only_grammar = !all.iter().any(Word::says_something);
    let rarity = |number: u32| weight::rarity(index.base.frequency(number), index.len());
    let mut best = 0.0;
    let mut found: HashMap<u32, Term> = HashMap::new();
    let mut seen: Vec<&str> = Vec::new();
    for word in all.iter().filter(|word| only_grammar || word.says_something()) {
        // A word said twice is not meant twice.
        if seen.contains(&word.said.as_str()) {
            continue;
        }
        seen.push(&word.said);
        let having = (0u32..).zip(parts).filter(|(_, part)| part.words.contains(&word.said));
        let having: u32 = having.map(|(place, _)| 1 << place).sum();
        let unknown = if word.terms.is_empty() { weight::rarity(0, index.len()) } else { 0.0 };
        best += unknown + word.terms.iter().map(|(number, weight)| weight * rarity(*number)).sum::<f32>();
        for (number, weight) in &word.terms {
            let weight = weight * rarity(*number);
            let term = found.entry(*number).or_insert(Term { number: *number, weight, clauses: 0 });
            term.weight = term.weight.max(weight);
            term.clauses |= having;
        }
    }
    let mut terms: Vec<Term> = found.into_values().collect();
    terms.sort_by_key(|term| term.number);
    (terms, best * weight::MOST)
}

/// The parts of a request that could stand alone, where there are several: "look up the weather in Rome and mail it to
/// the whole team" asks for two things.
fn parts(text: &str) -> Vec<Part> {
    let mut texts = vec![String::new()];
    let end = |texts: &mut Vec<String>| {
        if texts.last().is_some_and(|last| !last.is_empty()) {
            texts.push(String::new());
        }
    };
    for line in text.lines() {
        for word in line.split_whitespace() {
            if JOINTS.contains(&word.to_ascii_lowercase().as_str()) {
                end(&mut texts);
                continue;
            }
            if let Some(text) = texts.last_mut() {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(word);
            }
            if word.ends_with(['.', '?', '!', ';', ':', ',']) {
                end(&mut texts);
            }
        }
        end(&mut texts);
    }
    let parts = texts.into_iter().map(|text| Part { words: split(&text), text });
    let telling = |part: &Part| part.words.iter().filter(|word| says_something(word)).count();
    let mut parts: Vec<Part> = parts.filter(|part| telling(part) >= FEWEST_IN_LIST).take(MOST_CLAUSES).collect();
    if parts.len() < LIST {
        parts.retain(|part| telling(part) >= FEWEST_IN_CLAUSE);
    }
    if parts.len() > 1 { parts } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::{STOP_WORDS, parts};

    #[test]
    fn stop_words_are_in_their_order() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn a_request_is_cut_where_a_part_can_stand_alone() {
        let texts = |text| parts(text).into_iter().map(|part| part.text).collect::<Vec<_>>();
        assert_eq!(
            texts("Look up the weather in Rome and then mail the forecast to Bob, please."),
            ["Look up the weather in Rome", "mail the forecast to Bob,"]
        );
        assert!(texts("list and search issues").is_empty());
        assert!(texts("").is_empty());
        assert_eq!(texts("resize big image files\ncompress large video files").len(), 2);
        let many = "list issues, close issue, merge branch, tag release, deploy app, send mail, mute host";
        assert_eq!(texts(many).len(), 7);
    }
}
