//! The nouns of Toolfold: names and ids, entries and their fingerprints, refusals, secrets. No IO, no clock, no
//! runtime; everything here can be built in a test with one line.

mod absent;
mod entry;
mod fingerprint;
mod foreign;
mod name;
mod node_rule;
mod pattern;
mod principal;
mod refusal;
mod secret;
mod surface;
pub mod words;

pub use absent::{Absence, Absent};
pub use entry::{Entry, Hints, Kind, Lines};
pub use fingerprint::Fingerprint;
pub use foreign::{LONGEST_LINE, shown, shown_json, shown_line};
pub use name::{BadName, ServerName, ToolId, exposed_name, slug};
pub use node_rule::NodeRule;
pub use pattern::Pattern;
pub use principal::Principal;
pub use refusal::{Blame, Code, Next, NextAction, Refusal};
pub use secret::Secret;
pub use surface::{Format, Groups, Surface, SurfaceSettings};
