//! Many servers' tool lists become one immutable, numbered catalog: names a model sees, spellings understood, nodes to
//! browse, and what changed since the last one.
//!
//! What a reader would get wrong: a position (`usize`) means something in one catalog only. Whoever keeps a position
//! keeps the catalog it came from.

mod catalog;
mod common;
mod exposed;
mod nearest;
mod node;
mod offer;
mod old_names;
mod resolve;
mod server;
mod spelling;
mod tree;

pub use catalog::{Catalog, Diff};
pub use node::{Node, SERVERS};
pub use offer::Extras;
pub use old_names::follow;
pub use resolve::{LONGEST_SPELLING, Unresolved};
pub use server::{ServerSource, ServerTools, SetAside};
pub use tree::Shelf;
