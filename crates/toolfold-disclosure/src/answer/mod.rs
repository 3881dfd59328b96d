//! Answers in plain lines, within a budget of tokens. Lines rather than JSON: a model reads them as well, and they cost
//! half.

mod browse;
mod budget;
mod describe;
mod nodes;
mod search;

pub(crate) use browse::{browse, roots, unknown_path};
pub(crate) use describe::describe;
pub(crate) use nodes::rank;
pub(crate) use search::{not_in_node, search};

use toolfold_core::Entry;

use crate::level::{Level, signature, summary};

/// An entry in one line, once for each level up to the given one, most detail first.
fn lines(entry: &Entry, most: Level, suffix: &str) -> Vec<String> {
    let id = &entry.id;
    let mut lines = Vec::new();
    if most >= Level::Signature && entry.is_tool() {
        lines.push(format!("{id}({}) — {}{suffix}", signature(entry).text, summary(entry)));
    }
    if most >= Level::Summary {
        lines.push(format!("{id} — {}{suffix}", summary(entry)));
    }
    lines.push(format!("{id}{suffix}"));
    lines
}

/// The line behind which the rest is.
fn more(cursor: &str, left: usize) -> String {
    format!("next cursor: {cursor} ({left} more)")
}
