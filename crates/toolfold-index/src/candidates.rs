//! Which entries are worth a closer look. In a small catalog all are; in a large one those with the best words and those
//! whose vectors point the same way, found by comparing signs alone. Measured: nothing is lost by it.

use toolfold_catalog::Catalog;

use crate::ask::Asked;
use crate::index::Index;
use crate::names::Named;
use crate::query::{Filter, Query};
use crate::semantic::Vector;

/// A catalog up to this size is compared as a whole.
const SMALL: usize = 1024;
/// The best by words, and the nearest by signs.
const EACH: usize = 400;
const BINS: usize = 256;

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
            index.each_posting(term.number, |entry, weight| whole[entry] += term.weight * weight);
            for (place, sums) in clauses.iter_mut().enumerate() {
                if term.clauses >> place & 1 == 1 {
                    index.each_posting(term.number, |entry, weight| sums[entry] += term.weight * weight);
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
    named: &[(usize, Named)],
) -> Vec<u32> {
    let admitted = admitted(&query.filter, index, catalog);
    let admits = |entry: u32| admitted.as_ref().is_none_or(|admitted| admitted[entry as usize]);
    let everything = (0..index.len() as u32).filter(|entry| admits(*entry));
    if index.len() <= SMALL {
        return everything.collect();
    }
    let meanings = std::iter::once(&asked.meaning).chain(asked.clauses.iter().map(|clause| &clause.meaning));
    let mut candidates = best_by_words(&sums.whole, &admits);
    meanings.for_each(|meaning| candidates.extend(nearest_by_signs(index, meaning, &admits)));
    candidates.extend(named.iter().map(|(entry, _)| *entry as u32).filter(|entry| admits(*entry)));
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
    let bin = |sum: f32| (sum / most * (BINS - 1) as f32) as usize;
    let mut counts = [0usize; BINS];
    let matching = || (0u32..).zip(sums).filter(|(entry, sum)| **sum > 0.0 && admits(*entry));
    matching().for_each(|(_, sum)| counts[bin(*sum)] += 1);
    let mut enough = 0;
    let lowest = (0..BINS).rev().find(|bin| {
        enough += counts[*bin];
        enough >= EACH
    });
    let mut best: Vec<u32> =
        matching().filter(|(_, sum)| bin(**sum) >= lowest.unwrap_or(0)).map(|(entry, _)| entry).collect();
    if best.len() > EACH {
        let order = |a: &u32, b: &u32| sums[*b as usize].total_cmp(&sums[*a as usize]).then(a.cmp(b));
        best.select_nth_unstable_by(EACH, order);
        best.truncate(EACH);
    }
    best
}

fn nearest_by_signs(index: &Index, meaning: &Vector, admits: &impl Fn(u32) -> bool) -> Vec<u32> {
    if meaning.is_zero() {
        return Vec::new();
    }
    let distances = index.vectors.distances(meaning);
    let mut counts = vec![0usize; usize::from(u16::MAX >> 4)];
    let entries = || (0u32..).zip(&distances).filter(|(entry, _)| admits(*entry));
    entries().for_each(|(_, distance)| counts[usize::from(*distance)] += 1);
    let mut enough = 0;
    let limit = counts.iter().position(|count| {
        enough += count;
        enough >= EACH
    });
    let near = |(_, distance): &(u32, &u16)| limit.is_none_or(|limit| usize::from(**distance) < limit);
    let mut nearest: Vec<u32> = entries().filter(near).map(|(entry, _)| entry).collect();
    let left = EACH.saturating_sub(nearest.len());
    let at_limit = entries().filter(|(_, distance)| limit == Some(usize::from(**distance)));
    nearest.extend(at_limit.take(left).map(|(entry, _)| entry));
    nearest
}
