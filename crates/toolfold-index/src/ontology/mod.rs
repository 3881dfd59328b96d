//! Capabilities: a tree that every catalog has, and to which of its nodes each entry belongs, by meaning and by words.
//! The tree itself is `data/ontology.toml`; a configuration may add to it. What belongs where was learned from tools that
//! were placed by hand (`trained.rs`).
//!
//! What a reader would get wrong: an entry's place depends on its own server's list and on nothing else in the catalog.
//! That is what lets a change of one server leave all others where they are, and makes the result the same as if
//! everything had been placed anew.

mod company;
mod described;
mod likely;
mod meaning;
mod placement;
mod shelves;
mod study;
mod trained;
mod traits;
mod words;

use std::sync::{Arc, OnceLock};

use toolfold_core::NodeRule;

use described::Described;
use meaning::Meanings;
use words::NodeWords;

pub use placement::Placement;
pub use study::study;

/// Where an entry is that fits nowhere.
pub const OTHER: &str = "Other";

/// All nodes that entries may be in, ready to be compared with entries.
#[derive(Debug)]
pub(crate) struct Ontology {
    /// What it was made with.
    rules: Vec<NodeRule>,
    nodes: Vec<Described>,
    meanings: Meanings,
    words: NodeWords,
    /// Where each node is that was learned, by its number there. None where a rule says anew what belongs to it.
    trained: Vec<Option<usize>>,
    /// The nodes that rules describe: nothing was learned about them.
    untrained: Vec<usize>,
}

impl Ontology {
    /// The built-in tree with these rules applied to it.
    fn of(rules: &[NodeRule]) -> Arc<Ontology> {
        static BUILT_IN: OnceLock<Arc<Ontology>> = OnceLock::new();
        if rules.is_empty() {
            return BUILT_IN.get_or_init(|| Arc::new(Ontology::new(&[]))).clone();
        }
        Arc::new(Ontology::new(rules))
    }

    fn new(rules: &[NodeRule]) -> Ontology {
        let nodes = described::tree(rules);
        let (meanings, words) = (Meanings::of(&nodes), NodeWords::of(&nodes));
        let place = |path: &[String]| nodes.iter().position(|node| !node.rewritten && node.path == path);
        let trained: Vec<Option<usize>> = trained::trained().nodes.iter().map(|known| place(&known.path)).collect();
        let described = meanings.candidates().map(|(node, _)| node);
        let untrained = described.filter(|node| !trained.contains(&Some(*node))).collect();
        Ontology { rules: rules.to_vec(), nodes, meanings, words, trained, untrained }
    }
}
