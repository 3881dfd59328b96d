//! From a query to ranked entries. Three steps: words to weighted terms, terms to BM25F scores, and names before
//! everything else.

use std::collections::HashMap;

use toolfold_catalog::Catalog;
use toolfold_core::words;

use crate::explain::explain;
use crate::fold::fold;
use crate::index::{FIELDS, Index, Posting, stemmer};
use crate::names::{Hash, Named};
use crate::query::{Found, Hit, Query};

/// In the order of `Field::ALL`.
const WEIGHTS: [f32; FIELDS] = [1.0, 2.0, 1.0, 1.0, 0.5, 0.3];
/// How far a long field is held against its words.
const LENGTH: [f32; FIELDS] = [0.0, 0.5, 0.5, 0.75, 0.75, 0.75];
const SATURATION: f32 = 1.2;
/// The share of the surface form; the stem has the rest.
const SURFACE: f32 = 0.4;
/// What a word counts that was read as another.
const MISSPELT: f32 = 0.6;
const MOST_WORDS: usize = 64;

/// Words that say nothing about which tool is meant: grammar, and politeness.
const STOP_WORDS: [&str; 96] = [
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did",
    "do", "does", "each", "for", "from", "given", "had", "has", "have", "help", "hello", "hey", "hi", "how", "i", "if",
    "in", "into", "is", "it", "its", "just", "kindly", "let", "like", "ll", "m", "may", "me", "might", "my", "need",
    "of", "on", "or", "our", "please", "re", "s", "shall", "should", "so", "some", "t", "thank", "thanks", "that",
    "the", "their", "them", "then", "there", "these", "this", "those", "to", "tool", "tools", "us", "use", "using",
    "ve", "via", "want", "was", "we", "were", "what", "when", "where", "which", "who", "will", "with", "would", "you",
    "your", "d", "also",
];

/// A term to look up and what it counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Term {
    pub(crate) number: u32,
    pub(crate) weight: f32,
}

/// A query ready for the index.
pub(crate) struct Terms {
    pub(crate) terms: Vec<Term>,
    /// The score of an entry that is all about this query: what confidence is measured against.
    best: f32,
    letters: u64,
    stems: u64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Scored {
    pub(crate) entry: usize,
    pub(crate) score: f32,
    pub(crate) named: Named,
}

pub(crate) fn search(index: &Index, catalog: &Catalog, query: &Query<'_>) -> Found {
    if words::split(query.text).is_empty() {
        return everything(index, catalog, query);
    }
    let terms = terms(index, query.text);
    let ranked = fold(index, catalog, rank(index, catalog, query, &terms));
    let page = ranked.iter().skip(query.offset).take(query.limit);
    let hits = page.map(|(scored, copies)| Hit {
        entry: scored.entry,
        score: scored.score,
        confidence: confidence(scored, terms.best),
        copies: *copies,
        explain: explain(index, &terms, scored),
    });
    Found { hits: hits.collect(), total: ranked.len() }
}

fn everything(index: &Index, catalog: &Catalog, query: &Query<'_>) -> Found {
    let entries = catalog.entries().iter().enumerate().take(index.documents.len());
    let admitted: Vec<usize> = entries
        .filter(|(position, entry)| query.filter.admits(*position, entry))
        .map(|(position, _)| position)
        .collect();
    let page = admitted.iter().skip(query.offset).take(query.limit);
    let hits = page.map(|&entry| Hit { entry, score: 0.0, confidence: 0.0, copies: 0, explain: Default::default() });
    Found { hits: hits.collect(), total: admitted.len() }
}

fn terms(index: &Index, text: &str) -> Terms {
    let all = words::split(text);
    let mut wanted: Vec<&String> = all.iter().filter(|word| !STOP_WORDS.contains(&word.as_str())).collect();
    if wanted.is_empty() {
        wanted = all.iter().collect();
    }
    let mut weights: HashMap<u32, f32> = HashMap::new();
    let mut best = 0.0;
    let stemmer = stemmer();
    wanted.dedup();
    for word in wanted.into_iter().take(MOST_WORDS) {
        let found = lookup(index, word, &stemmer.stem(word));
        best += found.iter().map(|term| term.weight * rarity(index, term.number)).sum::<f32>() * (SATURATION + 1.0);
        if found.is_empty() {
            best += rarity_of(0, index.documents.len()) * (SATURATION + 1.0);
        }
        // A word said twice is not meant twice.
        found.iter().for_each(|term| {
            let weight = weights.entry(term.number).or_default();
            *weight = weight.max(term.weight);
        });
    }
    let mut terms: Vec<Term> = weights.into_iter().map(|(number, weight)| Term { number, weight }).collect();
    terms.sort_by_key(|term| term.number);
    let corrected: Vec<String> = all.iter().take(MOST_WORDS).map(|word| corrected_stem(index, word)).collect();
    Terms { terms, best, letters: Hash::of(&all, ""), stems: Hash::of(&corrected, " ") }
}

/// The terms a word stands for: itself and its stem, or the nearest term where neither is known.
fn lookup(index: &Index, word: &str, stem: &str) -> Vec<Term> {
    let surface = index.vocabulary.number(word);
    let root = index.vocabulary.number(stem).filter(|_| stem != word);
    match (surface, root) {
        (Some(number), None) => vec![Term { number, weight: 1.0 }],
        (None, Some(number)) => vec![Term { number, weight: 1.0 - SURFACE }],
        (Some(surface), Some(root)) => {
            vec![Term { number: surface, weight: SURFACE }, Term { number: root, weight: 1.0 - SURFACE }]
        }
        (None, None) => nearest(index, word).map(|number| Term { number, weight: MISSPELT }).into_iter().collect(),
    }
}

fn nearest(index: &Index, word: &str) -> Option<u32> {
    index.vocabulary.nearest(word, |number| index.frequency(number))
}

fn corrected_stem(index: &Index, word: &str) -> String {
    let stemmer = stemmer();
    let stem = stemmer.stem(word);
    let known = index.vocabulary.number(word).or_else(|| index.vocabulary.number(&stem));
    match known.is_none().then(|| nearest(index, word)).flatten() {
        Some(number) => stemmer.stem(index.vocabulary.term(number)).into_owned(),
        None => stem.into_owned(),
    }
}

/// Everything that matches and is admitted, best first; equals by id.
fn rank(index: &Index, catalog: &Catalog, query: &Query<'_>, terms: &Terms) -> Vec<Scored> {
    let mut scores = vec![0f32; index.documents.len()];
    for term in &terms.terms {
        add_scores(index, *term, &mut scores);
    }
    let matching = scores.into_iter().enumerate().take(catalog.len()).filter(|(_, score)| *score > 0.0);
    let mut ranked: Vec<Scored> = matching
        .filter(|(entry, _)| query.filter.admits(*entry, catalog.entry(*entry)))
        .map(|(entry, score)| {
            let named = index.documents[entry].names.named_by(terms.letters, terms.stems);
            Scored { entry, score, named }
        })
        .collect();
    ranked.sort_by(|a, b| b.named.cmp(&a.named).then(b.score.total_cmp(&a.score)).then(a.entry.cmp(&b.entry)));
    ranked
}

/// Adds to every entry that has the term what it earns there.
fn add_scores(index: &Index, term: Term, scores: &mut [f32]) {
    let weight = term.weight * rarity(index, term.number);
    let mut postings = index.postings(term.number).peekable();
    while let Some(first) = postings.next() {
        let mut amount = amount(index, first);
        while let Some(next) = postings.next_if(|next| next.entry == first.entry) {
            amount += self::amount(index, next);
        }
        scores[first.entry] += weight * saturated(amount);
    }
}

/// What one entry earns with a term.
pub(crate) fn score_of(index: &Index, term: Term, entry: usize) -> f32 {
    let amount: f32 = index.postings_in(term.number, entry).map(|posting| amount(index, posting)).sum();
    term.weight * rarity(index, term.number) * saturated(amount)
}

fn saturated(amount: f32) -> f32 {
    amount * (SATURATION + 1.0) / (amount + SATURATION)
}

/// How much of the term is in this field of this entry, length and weight of the field considered.
fn amount(index: &Index, posting: Posting) -> f32 {
    let field = posting.field;
    let length = f32::from(index.documents[posting.entry].lengths[field]) / index.mean[field];
    WEIGHTS[field] * f32::from(posting.count) / (1.0 - LENGTH[field] + LENGTH[field] * length)
}

fn rarity(index: &Index, term: u32) -> f32 {
    let mut entries = 0;
    let mut last = usize::MAX;
    for posting in index.postings(term) {
        entries += usize::from(posting.entry != last);
        last = posting.entry;
    }
    rarity_of(entries, index.documents.len())
}

fn rarity_of(having: usize, all: usize) -> f32 {
    (1.0 + (all as f32 - having as f32 + 0.5) / (having as f32 + 0.5)).ln()
}

/// The share of the best possible score, bent so that a good answer to a short phrase comes out near 0.8; a name is sure.
fn confidence(scored: &Scored, best: f32) -> f32 {
    let share = (scored.score / best.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
    let bent = 1.0 - (1.0 - share) * (1.0 - share);
    match scored.named {
        Named::Exactly => 0.97 + 0.03 * bent,
        Named::Nearly => 0.9 + 0.07 * bent,
        Named::No => 0.9 * bent,
    }
}
