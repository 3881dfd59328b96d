//! Rules against a reference that is slow and obvious, and the meaning of each part of one.

#![allow(clippy::unwrap_used, reason = "a test that panics has said what it had to say")]

mod meaning;
mod reference;
