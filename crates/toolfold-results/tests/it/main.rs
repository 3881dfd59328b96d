//! Queries against the language's own tests, and readings as somebody asks for them.

#![allow(clippy::unwrap_used, reason = "a test that panics has said what it had to say")]

mod anything;
mod compliance;
mod long;
mod reading;
