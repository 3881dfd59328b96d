//! Which entries are worth a closer look. In a small catalog all are; in a large one those with the best words and those
//! whose vectors point the same way, found by comparing signs alone. Measured: nothing is lost by it.

use toolfold_catalog::Catalog;

use crate::ask::Asked;
use crate::index::Index;
use crate::query::{Filter, Query};
use crate::semantic::{Vector, Vectors};

/// A catalog up to this size is compared as a whole.
const SMALL: usize = 1024;
/// How many of the best by words, and of the nearest by signs.
const BY_WORDS: usize = 150;
const BY_SIGNS: usize = 400;
/// How finely scores are told apart when the best are picked; distances are whole numbers up to that of the signs.
const BINS: usize = 256;
const MOST_BINS: usize = 1024;
/// Entries by which the limit of the best is found.
const SAMPLE: usize = 4096;

/// What every entry earns with its words: for the whole query, and for each part of it.
pub(crate) struct Sums {
    pub(crate) whole: Vec<f32>,
    pub(crate) clauses: Vec<Vec<f32>>,
}

impl Sums {
    pub(crate) fn of(index: &Index, asked: &Asked) -> Sums {
        let mut whole = vec![0.0; index.len()];
        let mut clauses = vec![vec![0.0; index.len()]; asked.clauses.len()];
        for term in &asked.terms {
            index.base.each_posting(term.number, |entry, weight| whole[entry] += term.weight * weight);
            for (place, sums) in clauses.iter_mut().enumerate() {
                if term.clauses >> place & 1 == 1 {
                    index.base.each_posting(term.number, |entry, weight| sums[entry] += term.weight * weight);
                }
            }
        }
        Sums { whole, clauses }
    }
}

/// Positions, ascending.
pub(crate) fn select(
    index: &Index,
    catalog: &Catalog,
    query: &Query<'_>,
    asked: &Asked,
    sums: &Sums,
    besides: impl Iterator<Item = usize>,
) -> Vec<u32> {
    let admitted = admitted(&query.filter, index, catalog);
    let admits = |entry: u32| admitted.as_ref().is_none_or(|admitted| admitted[entry as usize]);
    let everything = (0..index.len() as u32).filter(|entry| admits(*entry));
    if index.len() <= SMALL {
        return everything.collect();
    }
    let meanings = std::iter::once(&asked.meaning).chain(asked.clauses.iter().map(|clause| &clause.meaning));
    let mut candidates = best_by_words(&sums.whole, &admits);
    for meaning in meanings {
        candidates.extend(nearest_by_signs(&index.base.vectors, &meaning.fast, &admits));
        if let (Some(precise), Some(meaning)) = (&asked.precise, &meaning.precise) {
            candidates.extend(nearest_by_signs(&precise.vectors, &meaning.whole, &admits));
        }
    }
    candidates.extend(besides.map(|entry| entry as u32).filter(|entry| admits(*entry)));
    candidates.sort_unstable();
    candidates.dedup();
    candidates
}

/// `None` where the filter lets everything through.
fn admitted(filter: &Filter<'_>, index: &Index, catalog: &Catalog) -> Option<Vec<bool>> {
    let entries = catalog.entries().iter().enumerate().take(index.len());
    (!filter.is_open()).then(|| entries.map(|(position, entry)| filter.admits(position, entry)).collect())
}

fn best_by_words(sums: &[f32], admits: &impl Fn(u32) -> bool) -> Vec<u32> {
    let most = sums.iter().fold(0f32, |most, sum| most.max(*sum));
    if most <= 0.0 {
        return Vec::new();
    }
    let bin = |entry: u32| BINS - 1 - (sums[entry as usize] / most * (BINS - 1) as f32) as usize;
    let matches = |entry: u32| sums[entry as usize] > 0.0 && admits(entry);
    let lowest = most * (BINS - 1 - limit(BY_WORDS, sums.len(), bin, matches).min(BINS - 1)) as f32 / (BINS - 1) as f32;
    let mut best: Vec<u32> = (0u32..).zip(sums).filter(|(_, sum)| **sum >= lowest).map(|(entry, _)| entry).collect();
    best.retain(|entry| matches(*entry));
    if best.len() > 2 * BY_WORDS {
        let order = |a: &u32, b: &u32| sums[*b as usize].total_cmp(&sums[*a as usize]).then(a.cmp(b));
        best.select_nth_unstable_by(BY_WORDS, order);
        best.truncate(BY_WORDS);
    }
    best
}

fn nearest_by_signs(vectors: &Vectors, meaning: &Vector, admits: &impl Fn(u32) -> bool) -> Vec<u32> {
    if meaning.is_zero() {
        return Vec::new();
    }
    let distances = vectors.distances(meaning);
    let limit = limit(BY_SIGNS, distances.len(), |entry| usize::from(distances[entry as usize]), admits);
    let near = |(_, distance): &(u32, &u16)| usize::from(**distance) <= limit;
    let mut nearest: Vec<u32> = (0u32..).zip(&distances).filter(near).map(|(entry, _)| entry).collect();
    nearest.retain(|entry| admits(*entry));
    if nearest.len() > 2 * BY_SIGNS {
        let order = |a: &u32, b: &u32| distances[*a as usize].cmp(&distances[*b as usize]).then(a.cmp(b));
        nearest.select_nth_unstable_by(BY_SIGNS, order);
        nearest.truncate(BY_SIGNS);
    }
    nearest
}

/// Up to which bin about `wanted` entries lie, the first bin being the best. Of a large catalog a part is looked at.
fn limit(wanted: usize, entries: usize, bin: impl Fn(u32) -> usize, counts: impl Fn(u32) -> bool) -> usize {
    let step = entries.div_ceil(SAMPLE).max(1);
    let mut bins = [0usize; MOST_BINS];
    let sample = (0..entries as u32).step_by(step).filter(|entry| counts(*entry));
    sample.for_each(|entry| bins[bin(entry).min(MOST_BINS - 1)] += step);
    let mut enough = 0;
    let reached = bins.iter().position(|count| {
        enough += count;
        enough >= wanted
    });
    reached.unwrap_or(MOST_BINS)
}
