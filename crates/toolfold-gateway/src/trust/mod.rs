//! Pins at work: what servers say is held against what was accepted of them, before a snapshot is built of it.
//!
//! The decision itself is `toolfold-trust`'s and pure. Here is what it is made of (lists become offers), what comes of it
//! (lists without what is held, and with what was accepted in place of what changed), and what a person sees of it.

mod approvals;
mod docket;
mod held;
mod offers;
mod quarantine;
mod served;

pub use approvals::Approvals;
pub(crate) use docket::{Case, Docket, Heard, Other};
pub(crate) use held::Held;
pub use held::{Decided, Decision, HeldEntry, HeldList, Undecided};
pub(crate) use offers::{offers_of, program_of};
pub(crate) use quarantine::Quarantine;
pub(crate) use served::{Judged, Raise, serve};
