//! Other programs' configuration files.
mod edit;
mod format;
pub use edit::*;
pub use format::*;
