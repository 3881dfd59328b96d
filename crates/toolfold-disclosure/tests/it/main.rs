//! What the crate shows from outside, on a small catalog and, where they are at hand, on real ones.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test shows what it measured, and says when it is skipped"
)]

mod alike;
mod answers;
mod arguments;
mod catalogs;
mod code;
mod compact;
mod cost;
mod doors;
mod fixture;
mod gateway;
mod hostile;
mod hybrid;
mod joined;
mod levels;
mod lifecycle;
mod missing;
mod one_path;
mod ontology;
mod parts;
mod properties;
mod purpose;
mod reader;
mod real;
mod shown;
mod surfaces;
mod tables;
mod three_levels;
mod tokens;
