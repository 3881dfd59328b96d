//! Which nodes each entry is in. One server is placed at a time, and kept as long as its list is the same one.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use toolfold_catalog::{Catalog, ServerTools};
use toolfold_core::NodeRule;

use super::Ontology;
use super::company::Server;
use super::traits::TraitReader;
use super::words::Reader;
use crate::index::Index;

/// What words count beside meaning, each up to about one.
const WORDS: f32 = 0.3;
/// Below this an entry does not fit a node by meaning and words.
const FLOOR: f32 = 0.34;
/// The chance from which on a node is believed although it does not seem to fit.
const BELIEVED: f32 = 0.5;
/// The chance from which on a second node is sure.
const ALSO: f32 = 0.3;
/// What chance and fit come to together where both nearly say so.
const NEARLY: f32 = 0.65;
/// How many of a server's entries must agree, beside being half of them, before one that fits nowhere joins them.
const FEWEST_AGREEING: usize = 3;

/// A node that an entry is in, by its number in the ontology, and how well it fits there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choice {
    pub(super) node: usize,
    pub(super) fit: f32,
}

/// The best first; none for what fits nowhere.
pub(super) type Candidates = Vec<Choice>;

/// Where all entries of a catalog are. Without a catalog, nowhere.
#[derive(Debug, Default)]
pub struct Placement {
    pub(super) ontology: Option<Arc<Ontology>>,
    servers: Vec<(Arc<ServerTools>, Arc<[Candidates]>)>,
}

/// What reads entries; it remembers the words it has met.
struct Readers {
    words: Reader,
    traits: TraitReader,
}

impl Placement {
    /// The placement of a newer catalog, in the built-in tree as the rules change it. Servers that this one knows are
    /// not placed again, unless the rules are others.
    pub fn update(&self, rules: &[NodeRule], catalog: &Catalog, index: &Index) -> Placement {
        let same = self.ontology.as_ref().filter(|ontology| ontology.rules == rules);
        let known = if same.is_some() { self.servers.as_slice() } else { &[] };
        let ontology = same.cloned().unwrap_or_else(|| Ontology::of(rules));
        let mut readers = Readers { words: ontology.words.reader(), traits: TraitReader::new() };
        let mut start = 0;
        let place = |server: &Arc<ServerTools>| {
            let range = start..start + server.entries.len();
            start = range.end;
            let known = known.iter().find(|(known, _)| Arc::ptr_eq(known, server));
            let choices = known.map(|(_, choices)| choices.clone());
            (server.clone(), choices.unwrap_or_else(|| ontology.place(catalog, index, range, &mut readers).into()))
        };
        let servers = catalog.servers().iter().map(place).collect();
        Placement { ontology: Some(ontology), servers }
    }

    /// The choices of every entry, by position.
    pub(super) fn choices(&self) -> impl Iterator<Item = &Candidates> {
        self.servers.iter().flat_map(|(_, choices)| choices.iter())
    }
}

impl Ontology {
    /// The choices of one server's entries, which are neighbours in a catalog.
    fn place(&self, catalog: &Catalog, index: &Index, range: Range<usize>, readers: &mut Readers) -> Vec<Candidates> {
        let server = Server::of(catalog, index, range.clone());
        let likely = self.likely(catalog, index, &server, &mut readers.traits);
        let fits = self.fits(catalog, index, &server, &likely, &mut readers.words);
        let mut choices: Vec<Candidates> =
            likely.into_iter().zip(fits).map(|(likely, fits)| self.settled(&likely, &fits)).collect();
        join_the_rest(&mut choices);
        for (position, choices) in range.zip(&mut choices) {
            let named = self.named(&catalog.entry(position).id.to_string());
            if !named.is_empty() {
                *choices = named;
            }
        }
        choices
    }

    /// The nodes that name the entry by a pattern. Then meaning is not asked.
    fn named(&self, id: &str) -> Candidates {
        let names = |node: usize| self.nodes[node].patterns.iter().any(|pattern| pattern.matches(id));
        (0..self.nodes.len()).filter(|node| names(*node)).map(|node| Choice { node, fit: 1.0 }).collect()
    }

    /// How well each entry fits its likeliest nodes, and those that nothing was learned about, by meaning and words.
    fn fits(
        &self,
        catalog: &Catalog,
        index: &Index,
        server: &Server,
        likely: &[Candidates],
        reader: &mut Reader,
    ) -> Vec<Candidates> {
        let mut words = vec![0.0; self.nodes.len()];
        let listed = |(place, likely): (usize, &Candidates)| {
            words.fill(0.0);
            let entry = catalog.entry(server.positions[place] as usize);
            self.words.likeness(reader, entry, |node, share| words[node] += WORDS * share);
            let nodes = likely.iter().map(|choice| choice.node).chain(self.untrained.iter().copied());
            nodes.map(|node| Choice { node, fit: words[node] }).collect()
        };
        let mut fits: Vec<Candidates> = likely.iter().enumerate().map(listed).collect();
        for (node, meaning) in self.meanings.candidates() {
            let listed: Vec<(usize, usize)> = fits
                .iter()
                .enumerate()
                .filter_map(|(entry, fits)| Some((entry, fits.iter().position(|choice| choice.node == node)?)))
                .collect();
            let positions: Vec<u32> = listed.iter().map(|(entry, _)| server.positions[*entry]).collect();
            let wholes = server.likeness(index, &meaning.whole, &positions);
            let mut best = vec![f32::MIN; listed.len()];
            for phrase in &meaning.phrases {
                let likeness = server.likeness(index, phrase, &positions);
                best.iter_mut().zip(likeness).for_each(|(best, one)| *best = best.max(one));
            }
            for (((entry, place), whole), best) in listed.iter().zip(wholes).zip(best) {
                fits[*entry][*place].fit += (whole + best) / 2.0;
            }
        }
        fits
    }

    /// The nodes of an entry. One that a configuration describes wins where it fits as well as what was learned.
    fn settled(&self, likely: &[Choice], fits: &[Choice]) -> Candidates {
        let fit = |node: usize| fits.iter().find(|choice| choice.node == node).map_or(0.0, |choice| choice.fit);
        let of_rules = self.untrained.iter().map(|node| Choice { node: *node, fit: fit(*node) });
        let of_rules = of_rules.filter(|choice| choice.fit >= FLOOR).min_by(best_first);
        let first = likely.first().copied();
        let known = first.map_or(0.0, |first| fit(first.node));
        if let Some(choice) = of_rules.filter(|choice| choice.fit >= known) {
            return vec![choice];
        }
        let Some(first) = first.filter(|first| first.fit >= BELIEVED || known >= FLOOR) else {
            return doubtful(likely, fit);
        };
        // As good as both say: what only one is sure of has no node for itself.
        let first = Choice { fit: first.fit.min(known), ..first };
        let also = likely.get(1).copied().filter(|second| second.fit >= ALSO);
        std::iter::once(first).chain(also).collect()
    }
}

/// Where an entry is whose likeliest node is neither believed nor fits: in the next one, if that may well be and fits, or else
/// where both are nearly so.
fn doubtful(likely: &[Choice], fit: impl Fn(usize) -> f32) -> Candidates {
    let next = likely.get(1).filter(|next| next.fit >= ALSO && fit(next.node) >= FLOOR);
    let nearly = || likely.first().filter(|first| first.fit + fit(first.node) >= NEARLY);
    let found = next.or_else(nearly).map(|choice| Choice { fit: choice.fit.min(fit(choice.node)), ..*choice });
    found.into_iter().collect()
}

pub(super) fn best_first(a: &Choice, b: &Choice) -> Ordering {
    b.fit.total_cmp(&a.fit).then(a.node.cmp(&b.node))
}

/// What fits nowhere joins the others of its server where most of these are in one node.
fn join_the_rest(choices: &mut [Candidates]) {
    let firsts: Vec<usize> = choices.iter().filter_map(|choices| Some(choices.first()?.node)).collect();
    let count = |node: usize| firsts.iter().filter(|first| **first == node).count();
    let Some(most) = firsts.iter().copied().max_by_key(|node| (count(*node), std::cmp::Reverse(*node))) else { return };
    if count(most) >= FEWEST_AGREEING && 2 * count(most) >= choices.len() {
        let lost = choices.iter_mut().filter(|choices| choices.is_empty());
        lost.for_each(|choices| choices.push(Choice { node: most, fit: 0.0 }));
    }
}
