//! Capabilities: a tree that every catalog has, and to which of its nodes each entry belongs, by meaning and by words.
//! The tree itself is `data/ontology.toml`; a configuration may add to it.
//!
//! What a reader would get wrong: an entry's place depends on its own server's list and on nothing else in the catalog.
//! That is what lets a change of one server leave all others where they are, and makes the result the same as if
//! everything had been placed anew.

mod described;
mod meaning;
mod placement;
mod shelves;
mod words;

use std::sync::{Arc, OnceLock};

use toolfold_core::NodeRule;

use described::Described;
use meaning::Meanings;
use words::NodeWords;

pub use placement::Placement;

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
        Ontology { rules: rules.to_vec(), nodes, meanings, words }
    }
}
