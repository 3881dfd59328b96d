//! From choices to nodes worth browsing: without empty ones, and without those that one doubtful entry would have for
//! itself.

use toolfold_catalog::{Catalog, Shelf};

use super::OTHER;
use super::described::Described;
use super::placement::{Choice, Placement};

/// An entry that fits this well may have a node for itself.
const SURE: f32 = 0.5;

impl Placement {
    /// The catalog this was made for, with its capabilities.
    #[must_use]
    pub fn apply(&self, catalog: Catalog) -> Catalog {
        let shelves = self.shelves();
        catalog.with_shelves(shelves)
    }

    fn shelves(&self) -> Vec<Shelf> {
        let nodes = self.ontology.as_ref().map_or(&[][..], |ontology| &ontology.nodes);
        let mut holding = Holding::new(nodes, self.choices().map(Vec::as_slice));
        // From the deepest up, so that what a child gives up can make a parent worth having.
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by_key(|node| std::cmp::Reverse(nodes[*node].path.len()));
        order.into_iter().for_each(|node| holding.give_up(node));
        let other = std::mem::take(&mut holding.other);
        let own_below = |path: &[String]| nodes.iter().any(|node| node.own && node.path.starts_with(path));
        let is_kept = |node: usize| own_below(&nodes[node].path) || !holding.all(node).is_empty();
        let kept = |(node, _): &(usize, &Described)| is_kept(*node);
        let shelf = |(node, described): (usize, &Described)| Shelf {
            path: described.path.clone(),
            summary: described.summary.clone(),
            tags: described.tags.clone(),
            aliases: described.other_names().cloned().chain(stands_for(nodes, node, &is_kept)).collect(),
            entries: holding.own[node].iter().map(|(entry, _)| *entry).collect(),
            homes: holding.own[node]
                .iter()
                .map(|(entry, _)| *entry)
                .filter(|&entry| holding.home(entry) == Some(node))
                .collect(),
        };
        let mut shelves: Vec<Shelf> = nodes.iter().enumerate().filter(kept).map(shelf).collect();
        if !other.is_empty() {
            let summary = "what fits nowhere else".to_owned();
            let (path, homes) = (vec![OTHER.to_owned()], other.clone());
            shelves.push(Shelf { path, summary, entries: other, homes, ..Shelf::default() });
        }
        shelves
    }
}

/// What a node answers to for those below it that nothing is in: whoever asks for one of these gets the nearest that has
/// something.
fn stands_for(nodes: &[Described], node: usize, is_kept: &impl Fn(usize) -> bool) -> Vec<String> {
    let path = &nodes[node].path;
    let below = |(other, described): &(usize, &Described)| {
        described.path.len() == path.len() + 1 && described.path.starts_with(path) && !is_kept(*other)
    };
    let is_name = |tag: &&String| {
        let called = |node: &Described, name: &str| node.name().eq_ignore_ascii_case(name);
        nodes.iter().any(|node| called(node, tag) || node.other_names().any(|alias| alias.eq_ignore_ascii_case(tag)))
    };
    let words = |(_, described): (usize, &Described)| -> Vec<String> {
        let tags = described.tags.iter().filter(|tag| !is_name(tag));
        std::iter::once(described.name())
            .map(str::to_owned)
            .chain(described.other_names().cloned())
            .chain(tags.cloned())
            .collect()
    };
    nodes.iter().enumerate().filter(below).flat_map(words).collect()
}

/// What is in which node, while it is being tidied.
struct Holding<'a> {
    nodes: &'a [Described],
    /// By node: entries that are in it and in none below it, and how well they fit.
    own: Vec<Vec<(usize, f32)>>,
    /// By entry: the nodes it is in, the best first.
    places: Vec<Vec<usize>>,
    other: Vec<usize>,
}

impl<'a> Holding<'a> {
    fn new(nodes: &'a [Described], choices: impl Iterator<Item = &'a [Choice]>) -> Self {
        let mut holding = Holding { nodes, own: vec![Vec::new(); nodes.len()], places: Vec::new(), other: Vec::new() };
        for (entry, choices) in choices.enumerate() {
            holding.places.push(choices.iter().map(|choice| choice.node).collect());
            choices.iter().for_each(|choice| holding.own[choice.node].push((entry, choice.fit)));
            if choices.is_empty() {
                holding.other.push(entry);
            }
        }
        holding
    }

    /// The node an entry fits best, of those it is left in.
    fn home(&self, entry: usize) -> Option<usize> {
        self.places[entry].first().copied()
    }

    /// Everything in a node and below it.
    fn all(&self, node: usize) -> Vec<(usize, f32)> {
        let path = &self.nodes[node].path;
        let below = |other: &usize| self.nodes[*other].path.starts_with(path);
        let mut all: Vec<(usize, f32)> =
            (0..self.nodes.len()).filter(below).flat_map(|other| self.own[other].iter().copied()).collect();
        all.sort_by_key(|(entry, _)| *entry);
        all.dedup_by_key(|(entry, _)| *entry);
        all
    }

    /// Takes a lonely entry out of a node, where it is doubtful or better off elsewhere: to the node above, or to none
    /// where it is elsewhere anyway.
    fn give_up(&mut self, node: usize) {
        let [(entry, fit)] = self.all(node)[..] else { return };
        let belongs = fit >= SURE && self.home(entry) == Some(node);
        if self.nodes[node].own || belongs || self.own[node].is_empty() {
            return;
        }
        self.own[node].clear();
        self.places[entry].retain(|place| *place != node);
        if !self.places[entry].is_empty() {
            return;
        }
        let above = self.nodes[node].path.split_last().map(|(_, above)| above);
        match above.and_then(|above| self.nodes.iter().position(|other| other.path == above)) {
            Some(above) => {
                self.own[above].push((entry, fit));
                self.places[entry].push(above);
            }
            None => {
                let place = self.other.partition_point(|other| *other < entry);
                self.other.insert(place, entry);
            }
        }
    }
}
