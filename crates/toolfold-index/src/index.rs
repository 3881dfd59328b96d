//! The index itself: a vocabulary, postings in flat arrays, a vector and a few numbers per entry. Built aside and never
//! changed: an update is another index, which copies what is known of unchanged entries and analyses the others, and so
//! is one that has an encoder's vectors besides, which shares all the rest.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use rust_stemmers::{Algorithm, Stemmer};
use toolfold_catalog::Catalog;
use toolfold_core::{Entry, words};

use crate::analyse::{self, FIELDS, Field, Texts};
use crate::deed::{Deeds, Done};
use crate::fold::{Likeness, LikenessBuilder};
use crate::names::{Hash, NameHashes, Names};
use crate::precise::Precise;
use crate::query::{Found, Query};
use crate::rank;
use crate::semantic::{Vectors, model};
use crate::vocabulary::Vocabulary;
use crate::weight;

const LONGEST_WORD: usize = 40;

#[derive(Debug)]
pub struct Index {
    pub(crate) base: Arc<Base>,
    precise: Option<Arc<Precise>>,
}

/// Everything but the encoder's side.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) vocabulary: Vocabulary,
    /// Where each term's postings end.
    ends: Vec<u32>,
    /// The postings of all terms, entries ascending within a term.
    entries: Vec<u32>,
    weights: Vec<u16>,
    fields: Vec<FieldSet>,
    pub(crate) documents: Vec<Document>,
    pub(crate) names: Names,
    pub(crate) vectors: Vectors,
    /// The pieces of each entry that are compared one by one, and where each entry's end.
    pieces: Vec<u16>,
    piece_ends: Vec<u32>,
}

/// What is kept of an entry beside its postings and vector.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// Everything that was analysed, as a hash: the same key has the same postings.
    key: u64,
    pub(crate) names: NameHashes,
    pub(crate) likeness: Likeness,
    pub(crate) done: Done,
}

/// The fields of one entry that have a term, a bit each.
pub(crate) type FieldSet = u8;

/// One term in one entry.
#[derive(Debug, Clone, Copy)]
struct Posting {
    term: u32,
    entry: u32,
    weight: u16,
    fields: FieldSet,
}

impl Index {
    pub fn build(catalog: &Catalog) -> Index {
        Builder::new(None).finish(catalog)
    }

    /// The index of a newer catalog. Entries that this one knows are not analysed again.
    pub fn update(&self, catalog: &Catalog) -> Index {
        Builder::new(Some(&self.base)).finish(catalog)
    }

    /// The index of a part of its catalog, whose entries were at these positions of the whole one. Nothing in it is of the
    /// rest: how rare a word is, what a misspelt one means and what is usual are found out anew.
    pub fn part(&self, catalog: &Catalog, positions: &[usize]) -> Index {
        let part = self.update(catalog);
        let precise = self.precise.as_ref().map(|precise| Arc::new(precise.part(positions)));
        part.with_vectors(precise).unwrap_or(part)
    }

    pub fn search(&self, catalog: &Catalog, query: &Query<'_>) -> Found {
        rank::search(self, catalog, query)
    }

    /// The same index with an encoder's vectors, or without; all else is shared. `None` where there is not one vector for
    /// each entry. An update of the index starts without.
    pub fn with_vectors(&self, precise: Option<Arc<Precise>>) -> Option<Index> {
        let fits = precise.as_ref().is_none_or(|precise| precise.len() == self.len());
        fits.then(|| Index { base: self.base.clone(), precise })
    }

    /// Whether a search asks the encoder, which takes milliseconds instead of microseconds.
    pub fn is_precise(&self) -> bool {
        self.precise.is_some()
    }

    /// How what two entries do goes together, by their positions.
    pub fn deeds(&self, one: usize, other: usize) -> Deeds {
        let documents = &self.base.documents;
        documents[one].done.beside(&documents[other].done)
    }

    pub(crate) fn precise(&self) -> Option<&Arc<Precise>> {
        self.precise.as_ref()
    }

    pub fn len(&self) -> usize {
        self.base.documents.len()
    }

    pub fn is_empty(&self) -> bool {
        self.base.documents.is_empty()
    }

    /// Bytes on the heap, for those who measure.
    pub fn bytes(&self) -> usize {
        self.base.bytes()
    }
}

impl Base {
    fn bytes(&self) -> usize {
        let postings =
            4 * (self.ends.capacity() + self.entries.capacity()) + 2 * self.weights.capacity() + self.fields.capacity();
        let pieces = 2 * self.pieces.capacity() + 4 * self.piece_ends.capacity();
        let documents = size_of::<Document>() * self.documents.capacity();
        self.vocabulary.bytes() + postings + pieces + documents + self.names.bytes() + self.vectors.bytes()
    }

    /// Calls `each` with every entry that has the term and what the term weighs there.
    pub(crate) fn each_posting(&self, term: u32, mut each: impl FnMut(usize, f32)) {
        let range = self.range(term);
        for (entry, weight) in self.entries[range.clone()].iter().zip(&self.weights[range]) {
            each(*entry as usize, weight::unpacked(*weight));
        }
    }

    /// A term's weight and fields in one entry.
    pub(crate) fn posting_in(&self, term: u32, entry: usize) -> Option<(f32, FieldSet)> {
        let range = self.range(term);
        let place = range.start + self.entries[range].binary_search(&(entry as u32)).ok()?;
        Some((weight::unpacked(self.weights[place]), self.fields[place]))
    }

    /// How many entries have a term.
    pub(crate) fn frequency(&self, term: u32) -> usize {
        self.range(term).len()
    }

    pub(crate) fn pieces(&self, entry: usize) -> &[u16] {
        &self.pieces[before(&self.piece_ends, entry)]
    }

    fn range(&self, term: u32) -> Range<usize> {
        before(&self.ends, term as usize)
    }
}

/// The range that ends at `ends[place]` and begins where the one before it ends.
fn before(ends: &[u32], place: usize) -> Range<usize> {
    let start = place.checked_sub(1).map_or(0, |last| ends[last] as usize);
    start..ends[place] as usize
}

pub(crate) fn stemmer() -> Stemmer {
    Stemmer::create(Algorithm::English)
}

/// Collects postings under provisional term numbers; `place` sorts terms and postings into their places.
struct Builder<'a> {
    known: Option<&'a Base>,
    /// Positions in the known index, by key.
    by_key: HashMap<u64, usize>,
    terms: HashMap<String, u32>,
    /// Each provisional term's stem, where it has been asked for.
    stems: Vec<Option<u32>>,
    postings: Vec<Posting>,
    documents: Vec<Document>,
    vectors: Vectors,
    pieces: Vec<u16>,
    piece_ends: Vec<u32>,
    stemmer: Stemmer,
}

impl<'a> Builder<'a> {
    fn new(known: Option<&'a Base>) -> Self {
        let keys = known.iter().flat_map(|index| index.documents.iter().enumerate());
        Builder {
            known,
            by_key: keys.map(|(position, document)| (document.key, position)).collect(),
            terms: HashMap::new(),
            stems: Vec::new(),
            postings: Vec::new(),
            documents: Vec::new(),
            vectors: Vectors::default(),
            pieces: Vec::new(),
            piece_ends: Vec::new(),
            stemmer: stemmer(),
        }
    }

    fn finish(mut self, catalog: &Catalog) -> Index {
        let mut moved = vec![None; self.known.map_or(0, |known| known.documents.len())];
        for (position, entry) in (0..).zip(catalog.entries()) {
            let title = analyse::server_title(catalog, entry);
            let key = key(entry, title);
            match (self.known, self.by_key.get(&key)) {
                (Some(index), Some(&old)) if moved[old].is_none() => {
                    moved[old] = Some(position);
                    self.copy(index, old);
                }
                _ => self.analyse(position, entry, title, key),
            }
        }
        self.copy_postings(&moved);
        self.place()
    }

    fn copy(&mut self, index: &Base, old: usize) {
        self.documents.push(index.documents[old].clone());
        self.vectors.push(index.vectors.row(old));
        self.push_pieces(index.pieces(old));
    }

    fn analyse(&mut self, position: u32, entry: &Entry, server_title: Option<&str>, key: u64) {
        let schema = analyse::schema(entry);
        let texts = Texts::of(entry, server_title, &schema);
        let likeness = self.add_words(position, &texts);
        let (vector, pieces) = model().entry(&texts);
        self.vectors.push(vector.row());
        self.push_pieces(&pieces);
        let names = NameHashes::new(entry, |word| self.stem(word));
        let done = Done::read(entry, entry.own_description(), &schema);
        self.documents.push(Document { key, names, likeness, done });
    }

    fn add_words(&mut self, position: u32, texts: &Texts) -> Likeness {
        // Term and field, once for each time it is said.
        let mut said: Vec<(u32, usize)> = Vec::new();
        let mut lengths = [0usize; FIELDS];
        let mut likeness = LikenessBuilder::new();
        for field in Field::ALL {
            words::each(texts.get(field), |word| {
                if word.len() > LONGEST_WORD {
                    return;
                }
                likeness.add(field, word);
                lengths[field as usize] += 1;
                let surface = self.number(word);
                let stem = self.stem_number(surface, word);
                said.push((surface, field as usize));
                if stem != surface {
                    said.push((stem, field as usize));
                }
            });
        }
        said.sort_unstable();
        for same_term in said.chunk_by(|a, b| a.0 == b.0) {
            let counts = same_term.chunk_by(|a, b| a == b).map(|same| (same[0].1, same.len()));
            let weight = weight::packed(counts.clone(), &lengths);
            let fields = counts.fold(0, |set, (field, _)| set | 1 << field);
            self.postings.push(Posting { term: same_term[0].0, entry: position, weight, fields });
        }
        likeness.finish()
    }

    fn push_pieces(&mut self, pieces: &[u16]) {
        self.pieces.extend_from_slice(pieces);
        self.piece_ends.push(self.pieces.len() as u32);
    }

    fn number(&mut self, word: &str) -> u32 {
        if let Some(number) = self.terms.get(word) {
            return *number;
        }
        let number = self.terms.len() as u32;
        self.terms.insert(word.to_owned(), number);
        self.stems.push(None);
        number
    }

    /// Each word is stemmed once, when it is first met.
    fn stem_number(&mut self, surface: u32, word: &str) -> u32 {
        if let Some(stem) = self.stems[surface as usize] {
            return stem;
        }
        let stem = self.number(&self.stem(word));
        self.stems[surface as usize] = Some(stem);
        stem
    }

    fn stem(&self, word: &str) -> String {
        self.stemmer.stem(word).into_owned()
    }

    fn copy_postings(&mut self, moved: &[Option<u32>]) {
        let Some(index) = self.known else { return };
        for term in 0..index.vocabulary.len() as u32 {
            let mut number = None;
            for i in index.range(term) {
                let Some(entry) = moved[index.entries[i] as usize] else { continue };
                let term = *number.get_or_insert_with(|| self.number(index.vocabulary.term(term)));
                self.postings.push(Posting { term, entry, weight: index.weights[i], fields: index.fields[i] });
            }
        }
    }

    /// Sorts terms by text and postings by term and entry.
    fn place(self) -> Index {
        let mut sorted: Vec<(&String, u32)> = self.terms.iter().map(|(term, number)| (term, *number)).collect();
        sorted.sort_unstable();
        let mut number = vec![0; sorted.len()];
        for (place, (_, provisional)) in sorted.iter().enumerate() {
            number[*provisional as usize] = place as u32;
        }
        let vocabulary = Vocabulary::new(sorted.iter().map(|(term, _)| term.as_str()));
        let (ends, postings) = placed(&self.postings, &number);
        drop(self.postings);
        let base = Base {
            vocabulary,
            ends,
            entries: postings.iter().map(|posting| posting.0).collect(),
            weights: postings.iter().map(|posting| posting.1).collect(),
            fields: postings.iter().map(|posting| posting.2).collect(),
            names: Names::new(self.documents.iter().map(|document| &document.names)),
            documents: self.documents,
            vectors: self.vectors,
            pieces: self.pieces,
            piece_ends: self.piece_ends,
        };
        Index { base: Arc::new(base), precise: None }
    }
}

/// Postings by term and entry, and where each term's end. Entries are analysed in their order, so counting does most
/// of the sorting; only what was copied from an older index may be out of order.
fn placed(postings: &[Posting], number: &[u32]) -> (Vec<u32>, Vec<(u32, u16, FieldSet)>) {
    let mut ends = vec![0u32; number.len()];
    postings.iter().for_each(|posting| ends[number[posting.term as usize] as usize] += 1);
    let mut start = 0;
    for end in &mut ends {
        (*end, start) = (start, start + *end);
    }
    let mut sorted = vec![(0, 0, 0); postings.len()];
    for posting in postings {
        let place = &mut ends[number[posting.term as usize] as usize];
        sorted[*place as usize] = (posting.entry, posting.weight, posting.fields);
        *place += 1;
    }
    for term in 0..ends.len() {
        let term = &mut sorted[before(&ends, term)];
        if !term.is_sorted_by_key(|posting| posting.0) {
            term.sort_unstable_by_key(|posting| posting.0);
        }
    }
    (ends, sorted)
}

/// An entry of the same server, name, own description and definition is the same to analyse.
fn key(entry: &Entry, server_title: Option<&str>) -> u64 {
    let (server, title) = (entry.server().as_str(), server_title.unwrap_or_default());
    let texts = [server, title, entry.name(), entry.own_description(), entry.definition.get()];
    Hash::of(texts.into_iter().chain(entry.aliases.iter().map(String::as_str)), "\0")
}
