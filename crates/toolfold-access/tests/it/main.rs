//! Rules against a reference that is slow and obvious, and the meaning of each part of one; and tokens of any kind.

#![allow(clippy::unwrap_used, reason = "a test that panics has said what it had to say")]

mod anything;
mod meaning;
mod reference;
