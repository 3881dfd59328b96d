//! What the tasks do, as a library, so that the tests can ask the same questions.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "whoever runs a task waits for it and reads what it says"
)]

pub mod apis;
pub mod attack;
pub mod bench;
pub mod clients;
pub mod dist;
pub mod documents;
pub mod eval;
pub mod fuzz;
pub mod page;
pub mod peers;
mod shell;
pub mod suite;
pub mod tables;
pub mod tidy;
pub mod versions;
mod workspace;

pub use workspace::{Dependency, Package, Workspace};
