//! Which nodes each entry is in. One server is placed at a time, and kept as long as its list is the same one.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use toolfold_catalog::{Catalog, ServerTools};
use toolfold_core::NodeRule;

use super::Ontology;
use super::words::Reader;
use crate::deed::{filed_under, product};
use crate::index::Index;
use crate::semantic::{Vector, model};

/// How much an entry is taken for one of its server's: what says little about itself is read in the light of the rest.
const OF_SERVER: f32 = 0.4;
/// What words count beside meaning, each up to about one.
const WORDS: f32 = 0.3;
/// Nodes whose phrases are looked at one by one.
const SHORTLIST: usize = 12;
/// Below this an entry fits nowhere. Tools about something that no node is about come up to 0.4; nineteen of twenty real
/// ones are above it.
const FLOOR: f32 = 0.34;
/// A second and third node must fit nearly as well as the first, and well.
const NEARLY: f32 = 0.97;
const ALSO: f32 = 0.5;
const MOST_NODES: usize = 2;
/// How much an entry is taken for one of those of its server that are about the same thing, from how many on.
const OF_SIBLINGS: f32 = 0.5;
const FEWEST_SIBLINGS: usize = 2;
/// How many entries a product has at least.
const FEWEST_OF_PRODUCT: usize = 4;
/// How many of a server's entries must agree, beside being half of them, before one that fits nowhere joins them.
const FEWEST_AGREEING: usize = 3;

/// A node that an entry is in, by its number in the ontology, and how well it fits there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choice {
    pub(super) node: usize,
    pub(super) fit: f32,
}

/// The best first; none for what fits nowhere.
pub(super) type Choices = Vec<Choice>;

/// Where all entries of a catalog are. Without a catalog, nowhere.
#[derive(Debug, Default)]
pub struct Placement {
    pub(super) ontology: Option<Arc<Ontology>>,
    servers: Vec<(Arc<ServerTools>, Arc<[Choices]>)>,
}

impl Placement {
    /// The placement of a newer catalog, in the built-in tree as the rules change it. Servers that this one knows are
    /// not placed again, unless the rules are others.
    pub fn update(&self, rules: &[NodeRule], catalog: &Catalog, index: &Index) -> Placement {
        let same = self.ontology.as_ref().filter(|ontology| ontology.rules == rules);
        let known = if same.is_some() { self.servers.as_slice() } else { &[] };
        let ontology = same.cloned().unwrap_or_else(|| Ontology::of(rules));
        let mut reader = ontology.words.reader();
        let mut start = 0;
        let place = |server: &Arc<ServerTools>| {
            let range = start..start + server.entries.len();
            start = range.end;
            let known = known.iter().find(|(known, _)| Arc::ptr_eq(known, server));
            let choices = known.map(|(_, choices)| choices.clone());
            (server.clone(), choices.unwrap_or_else(|| ontology.place(catalog, index, range, &mut reader).into()))
        };
        let servers = catalog.servers().iter().map(place).collect();
        Placement { ontology: Some(ontology), servers }
    }

    /// The choices of every entry, by position.
    pub(super) fn choices(&self) -> impl Iterator<Item = &Choices> {
        self.servers.iter().flat_map(|(_, choices)| choices.iter())
    }
}

impl Ontology {
    /// The choices of one server's entries, which are neighbours in a catalog.
    fn place(&self, catalog: &Catalog, index: &Index, range: Range<usize>, reader: &mut Reader) -> Vec<Choices> {
        let mut fits = self.fits(catalog, index, range.clone(), reader);
        ask_siblings(catalog, index, range.clone(), &mut fits);
        let mut choices: Vec<Choices> = fits.into_iter().map(chosen).collect();
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
    fn named(&self, id: &str) -> Choices {
        let names = |node: usize| self.nodes[node].patterns.iter().any(|pattern| pattern.matches(id));
        (0..self.nodes.len()).filter(|node| names(*node)).map(|node| Choice { node, fit: 1.0 }).collect()
    }

    /// For each entry the nodes on its shortlist, and how well it fits each.
    fn fits(&self, catalog: &Catalog, index: &Index, range: Range<usize>, reader: &mut Reader) -> Vec<Choices> {
        let server = Server::of(catalog, index, range.clone());
        // Meaning counts half here: the other half is that of the best phrase, which only the shortlist has.
        let wholes: Vec<(usize, Vec<f32>)> = self
            .meanings
            .candidates()
            .map(|(node, meaning)| (node, server.likeness(index, &meaning.whole, &server.positions)))
            .collect();
        let mut words = vec![0.0; self.nodes.len()];
        let shortlist = |(place, position): (usize, usize)| {
            words.fill(0.0);
            self.words.likeness(reader, catalog.entry(position), |node, share| words[node] += WORDS * share);
            let fit = |(node, likeness): &(usize, Vec<f32>)| likeness[place] / 2.0 + words[*node];
            shortlist(wholes.iter().map(|whole| Choice { node: whole.0, fit: fit(whole) }))
        };
        let mut fits: Vec<Choices> = range.enumerate().map(shortlist).collect();
        self.add_phrases(index, &server, &mut fits);
        fits
    }

    /// Adds what the best phrase of each node says about the entries that have the node on their shortlist.
    fn add_phrases(&self, index: &Index, server: &Server, fits: &mut [Choices]) {
        for (node, meaning) in self.meanings.candidates() {
            let listed: Vec<(usize, usize)> = fits
                .iter()
                .enumerate()
                .filter_map(|(entry, fits)| Some((entry, fits.iter().position(|choice| choice.node == node)?)))
                .collect();
            let positions: Vec<u32> = listed.iter().map(|(entry, _)| server.positions[*entry]).collect();
            let mut best = vec![f32::MIN; listed.len()];
            for phrase in &meaning.phrases {
                let likeness = server.likeness(index, phrase, &positions);
                best.iter_mut().zip(likeness).for_each(|(best, one)| *best = best.max(one));
            }
            listed.iter().zip(best).for_each(|((entry, place), best)| fits[*entry][*place].fit += best / 2.0);
        }
    }
}

/// What is needed to read a server's entries in the light of those around them.
struct Server {
    start: usize,
    positions: Vec<u32>,
    companies: Vec<Company>,
    /// The company of each entry, and the length of its vector together with its share of the company's mean.
    kept_by: Vec<usize>,
    lengths: Vec<f32>,
}

/// Entries that are one product: all of a server, or those whose names say that they are filed under the same.
struct Company {
    /// The direction of all its entries together, and how far they agree: 1 where all say the same.
    mean: Vector,
    agreement: f32,
}

impl Server {
    fn of(catalog: &Catalog, index: &Index, range: Range<usize>) -> Server {
        let positions: Vec<u32> = range.clone().map(|position| position as u32).collect();
        let (members, kept_by) = companies(catalog, range.clone());
        let companies: Vec<Company> = members.iter().map(|members| Company::of(index, members)).collect();
        let length = |position: usize| {
            let company = &companies[kept_by[position - range.start]];
            let share = OF_SERVER * company.agreement;
            let near = index.base.vectors.row(position).likeness(company.mean.row());
            (1.0 + 2.0 * share * near + share * share).sqrt()
        };
        let lengths = range.clone().map(length).collect();
        Server { start: range.start, positions, companies, kept_by, lengths }
    }

    /// The cosines of some of its entries, each with its share of the mean, with a direction.
    fn likeness(&self, index: &Index, direction: &Vector, positions: &[u32]) -> Vec<f32> {
        let of_mean = |company: &Company| OF_SERVER * company.agreement * company.mean.row().likeness(direction.row());
        let of_means: Vec<f32> = self.companies.iter().map(of_mean).collect();
        let own = index.base.vectors.likeness(direction, positions);
        let together = |(position, own): (&u32, f32)| {
            let place = *position as usize - self.start;
            (own + of_means[self.kept_by[place]]) / self.lengths[place]
        };
        positions.iter().zip(own).map(together).collect()
    }
}

impl Company {
    fn of(index: &Index, members: &[usize]) -> Company {
        let mut sum = vec![0.0; model().dimensions];
        members.iter().for_each(|position| index.base.vectors.row(*position).add_to(1.0, &mut sum));
        let agreement = sum.iter().map(|x| x * x).sum::<f32>().sqrt() / members.len().max(1) as f32;
        Company { mean: Vector::new(&sum), agreement }
    }
}

/// The positions of each company, and of which company each entry is. What is filed under nothing, or nearly alone there,
/// is of the first: the server's own.
fn companies(catalog: &Catalog, range: Range<usize>) -> (Vec<Vec<usize>>, Vec<usize>) {
    let mut filed: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for position in range.clone() {
        if let Some(product) = product(catalog.entry(position).name()) {
            filed.entry(product).or_default().push(position);
        }
    }
    let mut kept_by = vec![0; range.len()];
    let mut members = vec![range.clone().collect::<Vec<usize>>()];
    for products in filed.into_values().filter(|positions| positions.len() >= FEWEST_OF_PRODUCT) {
        products.iter().for_each(|position| kept_by[position - range.start] = members.len());
        members.push(products);
    }
    (members, kept_by)
}

/// What siblings have in common: the thing they are about, the word that their names begin with, and their product.
type Family<'a> = (u32, Option<String>, Option<&'a str>);

/// Entries of one server that are about the same thing, and are filed under the same, belong together: each fits a
/// node half as well as it does by itself and half as well as all of them do.
fn ask_siblings(catalog: &Catalog, index: &Index, range: Range<usize>, fits: &mut [Choices]) {
    let mut groups: BTreeMap<Family<'_>, Vec<usize>> = BTreeMap::new();
    for (place, position) in range.enumerate() {
        let entry = catalog.entry(position);
        if let Some(head) = index.base.documents[position].done.head {
            groups.entry((head, filed_under(entry), product(entry.name()))).or_default().push(place);
        }
    }
    for group in groups.into_values().filter(|group| group.len() >= FEWEST_SIBLINGS) {
        let mut means: BTreeMap<usize, f32> = BTreeMap::new();
        for choice in group.iter().flat_map(|place| &fits[*place]) {
            *means.entry(choice.node).or_default() += choice.fit / group.len() as f32;
        }
        for place in group {
            let own = std::mem::take(&mut fits[place]);
            let fit = |node: usize| own.iter().find(|choice| choice.node == node).map_or(0.0, |choice| choice.fit);
            let mixed = means
                .iter()
                .map(|(node, mean)| Choice { node: *node, fit: (1.0 - OF_SIBLINGS) * fit(*node) + OF_SIBLINGS * mean });
            fits[place] = mixed.collect();
        }
    }
}

fn shortlist(fits: impl Iterator<Item = Choice>) -> Choices {
    let mut fits: Choices = fits.collect();
    if fits.len() > SHORTLIST {
        fits.select_nth_unstable_by(SHORTLIST, best_first);
        fits.truncate(SHORTLIST);
    }
    fits.shrink_to_fit();
    fits
}

fn best_first(a: &Choice, b: &Choice) -> Ordering {
    b.fit.total_cmp(&a.fit).then(a.node.cmp(&b.node))
}

/// The nodes of an entry, of those on its shortlist.
fn chosen(mut fits: Choices) -> Choices {
    fits.sort_by(best_first);
    let best = fits.first().map_or(0.0, |best| best.fit);
    let least = |place: usize| if place == 0 { FLOOR } else { ALSO.max(NEARLY * best) };
    let mut place = 0..;
    fits.retain(|choice| place.next().is_some_and(|place| place < MOST_NODES && choice.fit >= least(place)));
    fits
}

/// What fits nowhere joins the others of its server where most of these are in one node.
fn join_the_rest(choices: &mut [Choices]) {
    let firsts: Vec<usize> = choices.iter().filter_map(|choices| Some(choices.first()?.node)).collect();
    let count = |node: usize| firsts.iter().filter(|first| **first == node).count();
    let Some(most) = firsts.iter().copied().max_by_key(|node| (count(*node), std::cmp::Reverse(*node))) else { return };
    if count(most) >= FEWEST_AGREEING && 2 * count(most) >= choices.len() {
        let lost = choices.iter_mut().filter(|choices| choices.is_empty());
        lost.for_each(|choices| choices.push(Choice { node: most, fit: 0.0 }));
    }
}
