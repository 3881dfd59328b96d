//! What the crate shows from outside, on a small catalog and, where they are at hand, on real ones.

mod tokens;
