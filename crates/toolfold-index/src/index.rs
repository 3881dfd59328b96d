//! The index itself: a vocabulary, postings in flat arrays, and a few numbers per entry. Built aside and never changed;
//! an update copies what is known of unchanged entries and analyses the others.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};
use toolfold_catalog::Catalog;
use toolfold_core::{Entry, words};

use crate::analyse::{self, Field};
use crate::fold::{Likeness, LikenessBuilder};
use crate::names::{Hash, NameHashes};
use crate::query::{Found, Query};
use crate::score;
use crate::vocabulary::Vocabulary;

pub(crate) const FIELDS: usize = Field::ALL.len();
const FIELD_BITS: u32 = 3;
const MOST_COUNTED: u16 = u16::MAX >> FIELD_BITS;

#[derive(Debug)]
pub struct Index {
    pub(crate) vocabulary: Vocabulary,
    /// Where each term's postings end.
    ends: Vec<u32>,
    /// The postings of all terms: entries ascending within a term, fields ascending within an entry.
    entries: Vec<u32>,
    counts: Vec<u16>,
    pub(crate) documents: Vec<Document>,
    /// Mean number of words in each field.
    pub(crate) mean: [f32; FIELDS],
}

/// What is kept of an entry beside its postings.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// Everything that was analysed, as a hash: the same key has the same postings.
    key: u64,
    pub(crate) lengths: [u16; FIELDS],
    pub(crate) names: NameHashes,
    pub(crate) likeness: Likeness,
}

/// One term in one field of one entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posting {
    pub(crate) entry: usize,
    pub(crate) field: usize,
    pub(crate) count: u16,
}

impl Index {
    pub fn build(catalog: &Catalog) -> Index {
        Builder::new(None).finish(catalog)
    }

    /// The index of a newer catalog. Entries that this one knows are not analysed again.
    pub fn update(&self, catalog: &Catalog) -> Index {
        Builder::new(Some(self)).finish(catalog)
    }

    pub fn search(&self, catalog: &Catalog, query: &Query<'_>) -> Found {
        score::search(self, catalog, query)
    }

    /// Bytes on the heap, for those who measure.
    pub fn bytes(&self) -> usize {
        self.vocabulary.bytes()
            + 4 * (self.ends.capacity() + self.entries.capacity())
            + 2 * self.counts.capacity()
            + size_of::<Document>() * self.documents.capacity()
    }

    pub(crate) fn postings(&self, term: u32) -> impl Iterator<Item = Posting> {
        self.range(term).map(|i| self.posting(i))
    }

    /// The postings of a term in one entry.
    pub(crate) fn postings_in(&self, term: u32, entry: usize) -> impl Iterator<Item = Posting> {
        let range = self.range(term);
        let start = range.start + self.entries[range.clone()].partition_point(|other| (*other as usize) < entry);
        (start..range.end).map(|i| self.posting(i)).take_while(move |posting| posting.entry == entry)
    }

    fn posting(&self, i: usize) -> Posting {
        Posting {
            entry: self.entries[i] as usize,
            field: usize::from(field_of(self.counts[i])),
            count: self.counts[i] >> FIELD_BITS,
        }
    }

    /// Postings of a term: more than its entries where it stands in several fields.
    pub(crate) fn frequency(&self, term: u32) -> usize {
        self.range(term).len()
    }

    fn range(&self, term: u32) -> std::ops::Range<usize> {
        let term = term as usize;
        let start = if term == 0 { 0 } else { self.ends[term - 1] as usize };
        start..self.ends[term] as usize
    }
}

pub(crate) fn stemmer() -> Stemmer {
    Stemmer::create(Algorithm::English)
}

/// Collects postings under provisional term numbers; `finish` sorts terms and postings into their places.
struct Builder<'a> {
    known: Option<&'a Index>,
    /// Positions in the known index, by key.
    by_key: HashMap<u64, usize>,
    terms: HashMap<String, u32>,
    /// Each provisional term's stem, where it has been asked for.
    stems: Vec<Option<u32>>,
    postings: Vec<(u32, u32, u16)>,
    documents: Vec<Document>,
    stemmer: Stemmer,
}

impl<'a> Builder<'a> {
    fn new(known: Option<&'a Index>) -> Self {
        let by_key = known
            .map(|index| {
                index.documents.iter().enumerate().map(|(position, document)| (document.key, position)).collect()
            })
            .unwrap_or_default();
        Builder {
            known,
            by_key,
            terms: HashMap::new(),
            stems: Vec::new(),
            postings: Vec::new(),
            documents: Vec::new(),
            stemmer: stemmer(),
        }
    }

    fn finish(mut self, catalog: &Catalog) -> Index {
        let mut moved = vec![None; self.known.map_or(0, |index| index.documents.len())];
        for (position, entry) in catalog.entries().iter().enumerate() {
            let title = analyse::server_title(catalog, entry);
            let key = key(entry, title);
            match (self.known, self.by_key.get(&key)) {
                (Some(index), Some(&old)) if moved[old].is_none() => {
                    moved[old] = Some(position as u32);
                    self.documents.push(index.documents[old].clone());
                }
                _ => self.analyse(position as u32, entry, title, key),
            }
        }
        self.copy_known(&moved);
        self.place()
    }

    fn analyse(&mut self, position: u32, entry: &Entry, title: Option<&str>, key: u64) {
        // Term and field, once for each time it is said.
        let mut said: Vec<(u32, usize)> = Vec::new();
        let mut lengths = [0u16; FIELDS];
        let mut likeness = LikenessBuilder::new();
        analyse::words_of(entry, title, &mut |field, word| {
            likeness.add(field, word);
            let field = field as usize;
            lengths[field] = lengths[field].saturating_add(1);
            let surface = self.number(word);
            let stem = self.stem_number(surface, word);
            said.push((surface, field));
            if stem != surface {
                said.push((stem, field));
            }
        });
        said.sort_unstable();
        let counted = said.chunk_by(|a, b| a == b);
        self.postings.extend(counted.map(|same| (same[0].0, position, packed(same[0].1, same.len()))));
        let names = NameHashes::new(&words::split(entry.server().as_str()), &words::split(entry.name()), |word| {
            self.stem(word)
        });
        self.documents.push(Document { key, lengths, names, likeness: likeness.finish() });
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

    fn copy_known(&mut self, moved: &[Option<u32>]) {
        let Some(index) = self.known else { return };
        for term in 0..index.vocabulary.len() as u32 {
            let mut number = None;
            for i in index.range(term) {
                let Some(position) = moved[index.entries[i] as usize] else { continue };
                let number = *number.get_or_insert_with(|| self.number(index.vocabulary.term(term)));
                self.postings.push((number, position, index.counts[i]));
            }
        }
    }

    /// Sorts terms by text and postings by term, entry and field.
    fn place(self) -> Index {
        let mut sorted: Vec<(&String, u32)> = self.terms.iter().map(|(term, number)| (term, *number)).collect();
        sorted.sort_unstable();
        let mut number = vec![0; sorted.len()];
        for (place, (_, provisional)) in sorted.iter().enumerate() {
            number[*provisional as usize] = place as u32;
        }
        let (ends, postings) = placed(&self.postings, &number);
        Index {
            vocabulary: Vocabulary::new(sorted.iter().map(|(term, _)| term.as_str())),
            ends,
            entries: postings.iter().map(|(entry, _)| *entry).collect(),
            counts: postings.iter().map(|(_, count)| *count).collect(),
            mean: mean(&self.documents),
            documents: self.documents,
        }
    }
}

/// Postings by term, entry and field, and where each term's end. Entries are analysed in their order, so counting does
/// most of the sorting; only what was copied from an older index may be out of order.
fn placed(postings: &[(u32, u32, u16)], number: &[u32]) -> (Vec<u32>, Vec<(u32, u16)>) {
    let mut ends = vec![0u32; number.len()];
    postings.iter().for_each(|(term, _, _)| ends[number[*term as usize] as usize] += 1);
    let mut start = 0;
    for end in &mut ends {
        (*end, start) = (start, start + *end);
    }
    let mut sorted = vec![(0, 0); postings.len()];
    for (term, entry, count) in postings {
        let place = &mut ends[number[*term as usize] as usize];
        sorted[*place as usize] = (*entry, *count);
        *place += 1;
    }
    let mut start = 0;
    for end in &ends {
        let term = &mut sorted[start..*end as usize];
        let key = |(entry, count): &(u32, u16)| (*entry, field_of(*count));
        if !term.is_sorted_by_key(key) {
            term.sort_unstable_by_key(key);
        }
        start = *end as usize;
    }
    (ends, sorted)
}

fn packed(field: usize, count: usize) -> u16 {
    (count.min(MOST_COUNTED as usize) as u16) << FIELD_BITS | field as u16
}

fn field_of(count: u16) -> u16 {
    count & ((1 << FIELD_BITS) - 1)
}

fn key(entry: &Entry, server_title: Option<&str>) -> u64 {
    let fingerprint = entry.fingerprint.to_string();
    let title = entry.title.as_deref().unwrap_or_default();
    Hash::of([entry.server().as_str(), entry.name(), &fingerprint, title, server_title.unwrap_or_default()], "\0")
}

fn mean(documents: &[Document]) -> [f32; FIELDS] {
    let mut sums = [0f32; FIELDS];
    for document in documents {
        sums.iter_mut().zip(document.lengths).for_each(|(sum, length)| *sum += f32::from(length));
    }
    sums.map(|sum| (sum / documents.len().max(1) as f32).max(1.0))
}
