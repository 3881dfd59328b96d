//! What of a server's words is served, and what is held until somebody has looked at it. Decisions alone: no IO, no clock.
//!
//! Everything a model can read of an entry has a fingerprint, and the one it was accepted with is its *pin*. Whatever is the
//! same serves. Whatever differs is *held*, and the one that was accepted goes on serving, as long as the server still
//! has an entry of that name and can understand what the accepted one asks for.
//!
//! What a reader would get wrong: the scanner approves nothing here. Its hard findings are a reason to hold what would have
//! been accepted as new; its silence is no reason for anything.

mod judge;
mod offer;
mod pin;
mod risk;
mod understood;

pub use judge::{Ruling, Why, judge};
pub use offer::{Offer, What};
pub use pin::{Former, MOST_PINS, Pin, Pins, Record};
pub use risk::{Raised, Succession, succeed};
pub use understood::understands;
