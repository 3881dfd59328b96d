//! Patterns. They are written in the dialect of JavaScript and run by an engine whose time is linear in the text; what
//! that engine cannot do (look around, back-references) is not checked.

use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};
use toolfold_core::{Fuel, Spent};

use crate::MOST_PATTERNS;

/// The sizes that a compiled pattern may have, and what a byte of text then costs: the engine's worst case is a look at
/// every state for every byte.
const CLASSES: [(usize, u64); 3] = [(8 << 10, 4), (32 << 10, 16), (128 << 10, 64)];
/// What compiling costs, beside the pattern's length.
const COMPILING: u64 = 4_000;
const LONGEST: usize = 4 << 10;
const DFA: usize = 128 << 10;

#[derive(Debug)]
pub(crate) struct Expression {
    pub(crate) text: String,
    usable: bool,
    compiled: OnceLock<Option<(Regex, u64)>>,
}

impl Expression {
    /// Compiled when it is first needed.
    pub(crate) fn new(text: &str, place: usize) -> Expression {
        let usable = place < MOST_PATTERNS && text.len() <= LONGEST;
        Expression { text: text.to_owned(), usable, compiled: OnceLock::new() }
    }

    pub(crate) fn is_pattern(text: &str) -> bool {
        text.len() > LONGEST || jsonschema_regex::is_valid_ecma_regex(text)
    }

    pub(crate) fn weight(&self) -> usize {
        self.text.len() + if self.usable { 2 * DFA } else { 0 }
    }

    /// Whether it is found in a text; `None` where that cannot be told.
    pub(crate) fn finds(&self, text: &str, fuel: &Fuel) -> Result<Option<bool>, Spent> {
        if !self.usable {
            return Ok(None);
        }
        if self.compiled.get().is_none() {
            fuel.burn(COMPILING + 40 * self.text.len() as u64)?;
        }
        let Some((regex, cost)) = self.compiled.get_or_init(|| compile(&self.text)) else { return Ok(None) };
        fuel.burn(4 + cost * text.len() as u64 / 4)?;
        Ok(Some(regex.is_match(text)))
    }
}

fn compile(pattern: &str) -> Option<(Regex, u64)> {
    let pattern = jsonschema_regex::to_rust_regex(pattern).ok()?;
    CLASSES.iter().find_map(|(size, cost)| {
        let regex = RegexBuilder::new(&pattern).size_limit(*size).dfa_size_limit(DFA).nest_limit(50).build().ok()?;
        Some((regex, *cost))
    })
}
