//! Answers in plain lines, within a budget of tokens. Lines rather than JSON: a model reads them as well, and they cost
//! half.

mod alike;
mod browse;
mod budget;
mod describe;
mod enough;
mod nodes;
pub(crate) mod reader;
mod search;

pub use search::{Answered, DOUBT, ShownHits, answered, is_doubtful, shown};

pub(crate) use browse::{browse, roots, unknown_path};
pub(crate) use describe::{LEFT_OUT, describe, no_parameter, several};
pub(crate) use nodes::rank;
pub(crate) use search::{not_in_node, search};

/// The line behind which the rest is.
fn more(cursor: &str, left: usize) -> String {
    format!("next cursor: {cursor} ({left} more)")
}
