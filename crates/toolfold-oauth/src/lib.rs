//! OAuth, from the side of a client: what to ask whom, in what order, and what to believe of the answers.
//!
//! What a reader would get wrong: nothing here talks to anybody. A [`Flow`] is told what was answered and what time it is,
//! and says what to ask next; whoever holds it does the asking. So every turn that a provider can take, a hostile one
//! included, is a test of values.

mod challenge;
mod client;
mod documents;
mod flow;
mod key;
mod login;
mod place;
mod problem;
mod proof;
mod scopes;
mod seal;
mod text;
mod wire;

pub use challenge::Demand;
pub use client::{Client, Given, Used, Way, client_document};
pub use flow::{Enterprise, Flow, LoginKind, Plan, Step};
pub use key::Key;
pub use login::{Login, Refreshed, Tokens};
pub use place::{Reached, is_local, reached};
pub use problem::Problem;
pub use proof::Proofs;
pub use scopes::union;
pub use seal::{BadSeal, Seal};
pub use wire::{Answer, Ask, Body};
