//! Every turn that a login can take, with providers that are values: what the official suite tries with servers, and what
//! only somebody hostile would.

#![allow(clippy::unwrap_used, reason = "a test that panics has said what it had to say")]

mod anything;
mod grants;
mod hostile;
mod people;
mod strangers;
mod world;
