//! JSON Schema with a meter: a value is checked against a schema within an amount of work that is counted while it is
//! done. Drafts 4, 6, 7, 2019-09 and 2020-12.
//!
//! What a reader would get wrong: both sides are a stranger's. A few hundred bytes of schema can ask for more work than
//! there is time (references that double at every step), so nothing here walks, follows or compares without burning
//! [`Fuel`], recursion has an end, and nothing is ever fetched: a reference out of the document takes anything.

mod compile;
mod draft;
mod equal;
mod evaluate;
mod evaluated;
mod keyword;
mod number;
mod pattern;
mod read;
mod resources;
mod structure;
mod violation;
pub mod vocabulary;

use serde_json::Value;
use toolfold_core::{Fuel, Spent};

pub use resources::unescaped;
pub use violation::{Flaw, Violation};

/// Values inside one another, references followed: this bounds the stack.
pub const DEEPEST: usize = 300;
/// Patterns of one schema that are compiled; a value passes the others.
pub const MOST_PATTERNS: usize = 100;

/// A schema that is ready to be checked against. It can be shared between threads.
#[derive(Debug)]
pub struct Schema {
    root: Value,
    nodes: Vec<keyword::Node>,
    resources: Vec<resources::Resource>,
    patterns: Vec<pattern::Expression>,
    notes: Vec<String>,
}

/// Why a schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error("{0}")]
    Malformed(String),
    #[error(transparent)]
    Spent(#[from] Spent),
}

/// Why a check has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Undecided {
    #[error(transparent)]
    Spent(#[from] Spent),
    #[error("the schema refers to itself without end")]
    Endless,
    #[error("the schema or the value is nested too deeply")]
    TooDeep,
}

impl Schema {
    pub fn prepare(root: Value, fuel: &Fuel) -> Result<Schema, Unusable> {
        compile::compile(root, fuel)
    }

    /// The document this was prepared from.
    pub fn root(&self) -> &Value {
        &self.root
    }

    /// What of the schema is not checked: references out of the document, patterns that are none.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// About how many bytes it takes to keep this, beside the document itself.
    pub fn weight(&self) -> usize {
        self.nodes.len() * 200 + self.patterns.iter().map(pattern::Expression::weight).sum::<usize>()
    }

    pub fn is_valid(&self, value: &Value, fuel: &Fuel) -> Result<bool, Undecided> {
        evaluate::is_valid(self, value, fuel)
    }

    /// What is wrong with a value, at most so many things; nothing where it is valid.
    pub fn problems(&self, value: &Value, most: usize, fuel: &Fuel) -> Result<Vec<Violation<'_>>, Undecided> {
        evaluate::problems(self, value, most, fuel)
    }
}
