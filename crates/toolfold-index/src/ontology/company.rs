//! Those around an entry: its company, which is the product or the server that it is one of, and its family, the
//! entries of the same server that are about the same thing.

use std::collections::BTreeMap;
use std::ops::Range;

use toolfold_catalog::Catalog;

use crate::deed::{filed_under, product};
use crate::index::Index;
use crate::semantic::{Vector, model};

/// How much an entry is taken for one of its company: what says little about itself is read in the light of the rest.
const OF_COMPANY: f32 = 0.4;
/// How many entries a product has at least.
const FEWEST_OF_PRODUCT: usize = 4;
/// From how many on siblings are asked.
const FEWEST_SIBLINGS: usize = 2;

/// What is needed to read a server's entries in the light of those around them.
pub(super) struct Server {
    start: usize,
    pub(super) positions: Vec<u32>,
    pub(super) companies: Vec<Company>,
    /// The company of each entry, and the length of its vector together with its share of the company's mean.
    pub(super) kept_by: Vec<usize>,
    pub(super) lengths: Vec<f32>,
}

/// Entries that are one product: all of a server, or those whose names say that they are filed under the same.
pub(super) struct Company {
    /// The direction of all its entries together, and how far they agree: 1 where all say the same.
    pub(super) mean: Vector,
    pub(super) agreement: f32,
}

impl Server {
    pub(super) fn of(catalog: &Catalog, index: &Index, range: Range<usize>) -> Server {
        let positions: Vec<u32> = range.clone().map(|position| position as u32).collect();
        let (members, kept_by) = companies(catalog, range.clone());
        let companies: Vec<Company> = members.iter().map(|members| Company::of(index, members)).collect();
        let length = |position: usize| {
            let company = &companies[kept_by[position - range.start]];
            let share = OF_COMPANY * company.agreement;
            let near = index.base.vectors.row(position).likeness(company.mean.row());
            (1.0 + 2.0 * share * near + share * share).sqrt()
        };
        let lengths = range.clone().map(length).collect();
        Server { start: range.start, positions, companies, kept_by, lengths }
    }

    /// The cosines of some of its entries, each with its share of the mean, with a direction.
    pub(super) fn likeness(&self, index: &Index, direction: &Vector, positions: &[u32]) -> Vec<f32> {
        let of_mean = |company: &Company| OF_COMPANY * company.agreement * company.mean.row().likeness(direction.row());
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
type Common<'a> = (u32, Option<String>, Option<&'a str>);

/// The families of a server, by places in it: each with two members or more.
pub(super) fn families(catalog: &Catalog, index: &Index, range: Range<usize>) -> Vec<Vec<usize>> {
    let mut families: BTreeMap<Common<'_>, Vec<usize>> = BTreeMap::new();
    for (place, position) in range.enumerate() {
        let entry = catalog.entry(position);
        if let Some(head) = index.base.documents[position].done.head {
            families.entry((head, filed_under(entry), product(entry.name()))).or_default().push(place);
        }
    }
    families.into_values().filter(|family| family.len() >= FEWEST_SIBLINGS).collect()
}
