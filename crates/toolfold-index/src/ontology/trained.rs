//! What was learned from tools that people placed one by one (`training/tree.py`): how much an entry's vector, its
//! company's and its words speak for each node. The weights are `data/tree.bin`, whose format is told where it is made.
//!
//! What a reader would get wrong: a chance is one among the nodes of the tree. Something that belongs nowhere has a best
//! node too; whether that one fits at all is asked elsewhere.

use std::collections::HashMap;
use std::sync::OnceLock;

use toolfold_catalog::Catalog;

use super::company::{Company, Server};
use super::traits::{Trait, TraitReader};
use crate::index::Index;
use crate::semantic::Vector;

static BYTES: &[u8] = include_bytes!("../../data/tree.bin");

const MAGIC: &[u8] = b"TFTREE\0\0";
const VERSION: u32 = 1;

pub(super) struct Trained {
    pub(super) nodes: Vec<Known>,
    /// By the number of a trait: nodes that it speaks for or against, and how much.
    words: HashMap<u32, Vec<(u16, f32)>>,
    /// How much of an entry's weight is that of its family.
    of_family: f32,
    /// What the cosine with a node's best phrase counts, against that with all of them, which is in the vectors.
    pub(super) of_phrases: f32,
}

pub(super) struct Known {
    pub(super) path: Vec<String>,
    bias: f32,
    own: Vector,
    company: Vector,
}

/// The weights in this binary. A test reads them, so that no build with a broken file passes.
pub(super) fn trained() -> &'static Trained {
    static TRAINED: OnceLock<Trained> = OnceLock::new();
    TRAINED.get_or_init(|| Trained::read(BYTES).expect("the weights of the tree in this binary are whole"))
}

/// How much speaks for each node, for each entry of a server: as many numbers for each entry as there are nodes.
pub(super) struct Weighed {
    nodes: usize,
    weights: Vec<f32>,
}

impl Weighed {
    pub(super) fn of(&self, place: usize) -> &[f32] {
        &self.weights[place * self.nodes..][..self.nodes]
    }

    pub(super) fn of_mut(&mut self, place: usize) -> &mut [f32] {
        &mut self.weights[place * self.nodes..][..self.nodes]
    }

    /// The chance of each node for an entry: all together are one.
    pub(super) fn chances(&self, place: usize) -> Vec<f32> {
        let most = self.of(place).iter().copied().fold(f32::MIN, f32::max);
        let mut chances: Vec<f32> = self.of(place).iter().map(|weight| (weight - most).exp()).collect();
        let total: f32 = chances.iter().sum();
        chances.iter_mut().for_each(|chance| *chance /= total);
        chances
    }
}

impl Trained {
    fn read(bytes: &[u8]) -> Option<Trained> {
        let mut reader = Reader { rest: bytes.strip_prefix(MAGIC)? };
        let [version, dimensions, count] = [reader.u32()?, reader.u32()?, reader.u32()?];
        if version != VERSION || dimensions as usize != crate::semantic::model().dimensions {
            return None;
        }
        let [of_family, of_phrases, step] = [reader.f32()?, reader.f32()?, reader.f32()?];
        let length = reader.u32()? as usize;
        let names = std::str::from_utf8(reader.take(length)?).ok()?;
        let known = |name: &str| {
            let path = name.split('/').map(str::to_owned).collect();
            let bias = reader.f32()?;
            let mut vector = || Some(Vector::read(reader.f32()?, reader.take(dimensions as usize)?));
            Some(Known { path, bias, own: vector()?, company: vector()? })
        };
        let nodes: Vec<Known> = names.lines().map(known).collect::<Option<_>>()?;
        let mut words = HashMap::new();
        for _ in 0..reader.u32()? {
            let (number, speaks) = (reader.u32()?, reader.u8()?);
            let mut pair = || Some((u16::from(reader.u8()?), step * f32::from(reader.u8()? as i8)));
            words.insert(number, (0..speaks).map(|_| pair()).collect::<Option<Vec<_>>>()?);
        }
        let fits = words.values().flatten().all(|(node, _)| usize::from(*node) < nodes.len());
        let whole = reader.rest.is_empty() && nodes.len() == count as usize && fits;
        whole.then_some(Trained { nodes, words, of_family, of_phrases })
    }

    /// How much speaks for each node, with what the family of each entry says.
    pub(super) fn weigh(
        &self,
        catalog: &Catalog,
        index: &Index,
        server: &Server,
        families: &[Vec<usize>],
        reader: &mut TraitReader,
    ) -> Weighed {
        let nodes = self.nodes.len();
        let mut weights = vec![0.0; nodes * server.positions.len()];
        for (place, known) in self.nodes.iter().enumerate() {
            let of_company = |company: &Company| company.agreement * company.mean.row().likeness(known.company.row());
            let of_companies: Vec<f32> = server.companies.iter().map(of_company).collect();
            let own = index.base.vectors.likeness(&known.own, &server.positions);
            for (entry, own) in own.into_iter().enumerate() {
                weights[entry * nodes + place] = known.bias + own + of_companies[server.kept_by[entry]];
            }
        }
        for (entry, position) in server.positions.iter().enumerate() {
            let row = &mut weights[entry * nodes..][..nodes];
            self.add_words(&reader.read(catalog.entry(*position as usize)), row);
        }
        let mut weighed = Weighed { nodes, weights };
        families.iter().for_each(|family| self.join(family, &mut weighed));
        weighed
    }

    fn add_words(&self, traits: &[Trait], row: &mut [f32]) {
        for (number, counts) in traits {
            for (node, weight) in self.words.get(number).into_iter().flatten() {
                row[usize::from(*node)] += counts * weight;
            }
        }
    }

    /// Entries that are about the same thing belong together: each is taken for one of them as much as for itself.
    fn join(&self, family: &[usize], weighed: &mut Weighed) {
        let nodes = weighed.nodes;
        let mut mean = vec![0.0; nodes];
        for place in family {
            mean.iter_mut().zip(weighed.of(*place)).for_each(|(sum, one)| *sum += one / family.len() as f32);
        }
        for place in family {
            weighed.of_mut(*place).iter_mut().zip(&mean).for_each(|(one, mean)| *one += self.of_family * (mean - *one));
        }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn f32(&mut self) -> Option<f32> {
        self.u32().map(f32::from_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_are_whole_and_a_broken_file_is_not_read() {
        assert!(trained().nodes.len() > 100 && !trained().words.is_empty());
        assert!(Trained::read(&BYTES[..BYTES.len() - 1]).is_none());
        assert!(Trained::read(&BYTES[1..]).is_none());
        assert!(Trained::read(MAGIC).is_none());
        assert!(BYTES.len() <= 300 * 1024, "{} bytes", BYTES.len());
    }
}
