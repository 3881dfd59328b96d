//! What the tasks do, as a library, so that the tests can ask the same questions.

pub mod bench;
pub mod peers;
mod shell;
pub mod suite;
pub mod tidy;
mod workspace;

pub use workspace::{Dependency, Package, Workspace};
