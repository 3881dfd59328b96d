//! One entry: is it served, accepted, or held?

use std::fmt;

use toolfold_core::{Fingerprint, Trust};

use crate::offer::{Offer, What};
use crate::pin::{MOST_PINS, Record};

/// What becomes of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// It is what was accepted, or needs no acceptance.
    Serve,
    /// It is new and accepted as it is. To be written down before anybody sees it.
    Accept,
    /// It is not what was accepted, or declares less risk than it has since: `was` serves in its place, with that risk.
    Changed { was: Fingerprint },
    /// It is not served at all.
    Hold(Why),
}

/// Why something is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// It differs from what was accepted.
    Changed,
    /// It is what was accepted, and has declared more risk in between.
    LessRisk,
    /// Nobody has approved it yet.
    New,
    /// It is new, and this was found in it.
    Found(String),
    /// Nobody knows any more what was accepted.
    Lost(String),
    /// The source has had so many entries that no more are accepted by themselves.
    TooMany,
    /// Somebody has refused it as it is now.
    Denied,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Changed => f.write_str("it is not what was accepted"),
            Why::LessRisk => f.write_str("it declares less risk than it has before"),
            Why::New => f.write_str("it is new and has to be approved"),
            Why::Found(reason) => write!(f, "it is new and {reason}"),
            Why::Lost(reason) => write!(f, "nobody knows any more what was accepted: {reason}"),
            Why::TooMany => write!(f, "its server has had more than {MOST_PINS} entries"),
            Why::Denied => f.write_str("it has been refused as it is"),
        }
    }
}

/// Judges one entry by what is known of it. `look` is asked only about what would be accepted as new, and tells what is
/// wrong with it; `accepted` is how many entries have been accepted in the same breath.
pub fn judge(
    trust: Trust,
    record: &Record,
    offer: &Offer,
    accepted: usize,
    look: impl FnOnce() -> Option<String>,
) -> Ruling {
    if trust == Trust::Always {
        return Ruling::Serve;
    }
    if let Some(reason) = &record.lost {
        return Ruling::Hold(Why::Lost(reason.clone()));
    }
    let pins = &record.pins;
    let pin = pins.get(offer.what, &offer.name);
    let denied = pin.and_then(|pin| pin.denied);
    match pin.and_then(|pin| pin.accepted) {
        Some(was) if was == offer.fingerprint && pin.is_none_or(|pin| pin.raised.is_nothing()) => return Ruling::Serve,
        _ if denied == Some(offer.fingerprint) => return Ruling::Hold(Why::Denied),
        Some(was) if was == offer.fingerprint => return Ruling::Changed { was },
        // Somebody has refused what became of it: nothing serves before the server takes that back, however it changes.
        Some(_) if denied.is_some() => return Ruling::Hold(Why::Changed),
        Some(was) => return Ruling::Changed { was },
        None => {}
    }
    if pins.strict {
        return Ruling::Hold(Why::Lost("the record was lost before".to_owned()));
    }
    // Whatever else was said of a server of this name, this was refused of it.
    let former = record.former.get(&(offer.what, offer.name.clone()));
    if pin.is_none() && former.is_some_and(|former| former.denied.contains(&offer.fingerprint)) {
        return Ruling::Hold(Why::Denied);
    }
    // An entry that was refused once is not new when it comes back otherwise.
    if trust == Trust::Review || pin.is_some() || former.is_some_and(|former| !former.denied.is_empty()) {
        return Ruling::Hold(Why::New);
    }
    // Another version, or another address, is no first use of what was accepted of this name.
    let accepted_before = former.map(|former| former.accepted.as_slice()).unwrap_or_default();
    let is_known = accepted_before.contains(&offer.fingerprint);
    if let Some(was) = accepted_before.last().filter(|_| !is_known) {
        return Ruling::Changed { was: *was };
    }
    // A server that had nothing to say for itself was accepted as that. What it says now is a change.
    if offer.what == What::Server && record.seen {
        return Ruling::Hold(Why::New);
    }
    if pins.len() + accepted >= MOST_PINS {
        return Ruling::Hold(Why::TooMany);
    }
    look().filter(|_| !is_known).map_or(Ruling::Accept, |reason| Ruling::Hold(Why::Found(reason)))
}
