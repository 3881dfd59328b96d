//! The likeliest nodes of each entry: what was learned, the phrases of the nodes that come into question, and the company
//! that an entry is in. Everything here is about one server, so nobody's tools move those of another.

use toolfold_catalog::Catalog;

use super::Ontology;
use super::company::{Server, families};
use super::placement::{Candidates, Choice, best_first};
use super::trained::{Weighed, trained};
use super::traits::TraitReader;
use crate::index::Index;

/// Nodes whose phrases are looked at one by one.
const SHORTLIST: usize = 12;
/// How much an entry is taken for one of its company, and the chance of whatever no other of the company is.
const OF_COMPANY: f32 = 0.5;
const DOUBT: f32 = 0.02;
/// What speaks for a node that is out of the question.
const NEVER: f32 = -1.0e6;

impl Ontology {
    /// The two likeliest nodes of each entry, of those that were learned, with their chances.
    pub(super) fn likely(
        &self,
        catalog: &Catalog,
        index: &Index,
        server: &Server,
        reader: &mut TraitReader,
    ) -> Vec<Candidates> {
        let Some(first) = server.positions.first().map(|first| *first as usize) else { return Vec::new() };
        let families = families(catalog, index, first..first + server.positions.len());
        let mut weighed = trained().weigh(catalog, index, server, &families, reader);
        for place in 0..server.positions.len() {
            let row = weighed.of_mut(place).iter_mut().zip(&self.trained);
            row.filter(|(_, node)| node.is_none()).for_each(|(weight, _)| *weight = NEVER);
        }
        self.add_phrases(index, server, &mut weighed);
        keep_company(server, &mut weighed);
        (0..server.positions.len()).map(|place| self.likeliest(&weighed.chances(place))).collect()
    }

    /// Adds by how much the best phrase of a node is nearer than all of them together, where that may matter.
    fn add_phrases(&self, index: &Index, server: &Server, weighed: &mut Weighed) {
        let mut listed: Vec<Vec<usize>> = vec![Vec::new(); self.trained.len()];
        for place in 0..server.positions.len() {
            shortlist(weighed.of(place)).into_iter().for_each(|known| listed[known].push(place));
        }
        for (known, places) in listed.into_iter().enumerate() {
            let Some(meaning) = self.trained[known].and_then(|node| self.meanings.of_node(node)) else { continue };
            let positions: Vec<u32> = places.iter().map(|place| server.positions[*place]).collect();
            let mut best = vec![f32::MIN; places.len()];
            for phrase in &meaning.phrases {
                let likeness = server.likeness(index, phrase, &positions);
                best.iter_mut().zip(likeness).for_each(|(best, one)| *best = best.max(one));
            }
            let wholes = server.likeness(index, &meaning.whole, &positions);
            for ((place, best), whole) in places.into_iter().zip(best).zip(wholes) {
                weighed.of_mut(place)[known] += trained().of_phrases * server.lengths[place] * (best - whole);
            }
        }
    }

    fn likeliest(&self, chances: &[f32]) -> Candidates {
        let mut best: [Option<Choice>; 2] = [None; 2];
        for (node, fit) in self.trained.iter().zip(chances).filter_map(|(node, chance)| Some(((*node)?, *chance))) {
            let choice = Choice { node, fit };
            if best[0].is_none_or(|first| best_first(&choice, &first).is_lt()) {
                best = [Some(choice), best[0]];
            } else if best[1].is_none_or(|second| best_first(&choice, &second).is_lt()) {
                best[1] = Some(choice);
            }
        }
        best.into_iter().flatten().collect()
    }
}

/// The nodes that most speaks for.
fn shortlist(weights: &[f32]) -> Vec<usize> {
    let mut nodes: Vec<usize> = (0..weights.len()).collect();
    if nodes.len() > SHORTLIST {
        nodes.select_nth_unstable_by(SHORTLIST, |a, b| weights[*b].total_cmp(&weights[*a]).then(a.cmp(b)));
        nodes.truncate(SHORTLIST);
    }
    nodes
}

/// Where the others of a company are speaks for each of them.
fn keep_company(server: &Server, weighed: &mut Weighed) {
    let mut sums: Vec<Vec<f32>> = vec![Vec::new(); server.companies.len()];
    let mut counts = vec![0.0f32; server.companies.len()];
    for (place, company) in server.kept_by.iter().enumerate() {
        let chances = weighed.chances(place);
        counts[*company] += 1.0;
        let sum = &mut sums[*company];
        sum.resize(chances.len(), 0.0);
        sum.iter_mut().zip(chances).for_each(|(sum, chance)| *sum += chance);
    }
    let speaks = |(sum, count): (&Vec<f32>, &f32)| -> Vec<f32> {
        sum.iter().map(|sum| OF_COMPANY * (sum / count + DOUBT).ln()).collect()
    };
    let speaks: Vec<Vec<f32>> = sums.iter().zip(&counts).map(speaks).collect();
    for (place, company) in server.kept_by.iter().enumerate() {
        weighed.of_mut(place).iter_mut().zip(&speaks[*company]).for_each(|(weight, speaks)| *weight += speaks);
    }
}
