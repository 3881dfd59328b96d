//! Documents in, tools and requests out.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report; the lint's own exception stops at helpers")]

mod answers;
mod anything;
mod commands;
mod hostile;
mod kit;
mod traps;
mod written;
