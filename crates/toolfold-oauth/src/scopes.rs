//! Sets of scopes, in the order in which they were first asked for.

use std::collections::HashSet;

/// More than anybody means: they have a place in an address.
const MOST: usize = 1_000;

/// Both, each once; of very many the first.
pub fn union(one: &[String], other: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    one.iter().chain(other).filter(|scope| seen.insert(scope.as_str())).take(MOST).cloned().collect()
}

pub(crate) fn split(text: &str) -> Vec<String> {
    union(&[], &text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
}
