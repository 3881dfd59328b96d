//! What is known of one source: a server's name together with the program or address behind it.

use std::collections::HashMap;

use toolfold_core::Fingerprint;

use crate::offer::{Offer, What};
use crate::risk::Raised;

/// Entries of one source that are remembered, those it no longer has included: a tool that goes away and comes back
/// otherwise is a changed one. Twice what one list may have.
pub const MOST_PINS: usize = 50_000;

/// What is known of one entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pin {
    /// How it looked when it was accepted, if it ever was.
    pub accepted: Option<Fingerprint>,
    /// How it looked when it was refused.
    pub denied: Option<Fingerprint>,
    /// Things worth a look in it that nobody has looked at.
    pub findings: u32,
    /// The risk it has declared since it was accepted, beyond what it declared then.
    pub raised: Raised,
}

/// What is known of one entry of servers that had the same name before: all the ways it looked, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Former {
    pub accepted: Vec<Fingerprint>,
    pub denied: Vec<Fingerprint>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pins {
    known: HashMap<What, HashMap<String, Pin>>,
    count: usize,
    /// What is new must be approved, however far the server is trusted: the record of it was lost once.
    pub strict: bool,
}

impl Pins {
    pub fn get(&self, what: What, name: &str) -> Option<&Pin> {
        self.known.get(&what)?.get(name)
    }

    pub fn set(&mut self, what: What, name: impl Into<String>, pin: Pin) {
        let before = self.known.entry(what).or_default().insert(name.into(), pin);
        self.count += usize::from(before.is_none());
    }

    pub fn remove(&mut self, what: What, name: &str) {
        let gone = self.known.get_mut(&what).and_then(|known| known.remove(name));
        self.count -= usize::from(gone.is_some());
    }

    pub fn iter(&self) -> impl Iterator<Item = (What, &str, &Pin)> {
        self.known.iter().flat_map(|(what, pins)| pins.iter().map(|(name, pin)| (*what, name.as_str(), pin)))
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// What there is to go by. Of a source that was never seen there are no pins.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    pub pins: Pins,
    /// The source has been listed before, whether or not it had anything to be pinned.
    pub seen: bool,
    /// What was decided of servers that had this name before, with other programs or at other addresses.
    pub former: HashMap<(What, String), Former>,
    /// There was a record, and it is gone or cannot be read: why, for people.
    pub lost: Option<String>,
}

impl Record {
    pub fn lost(why: impl Into<String>) -> Record {
        Record { lost: Some(why.into()), ..Record::default() }
    }

    /// Takes in an entry that was accepted because it was new; its pin.
    pub fn accept(&mut self, offer: &Offer, findings: u32) -> Pin {
        let pin = Pin { accepted: Some(offer.fingerprint), findings, ..Pin::default() };
        self.begun().set(offer.what, &offer.name, pin.clone());
        pin
    }

    /// Takes in that somebody has approved an entry as it is now; its pin.
    pub fn approve(&mut self, offer: &Offer) -> Pin {
        self.accept(offer, 0)
    }

    /// Takes in that somebody has refused an entry as it is now; its pin.
    pub fn deny(&mut self, offer: &Offer) -> Pin {
        let before = self.pins.get(offer.what, &offer.name).cloned().unwrap_or_default();
        let pin = Pin { denied: Some(offer.fingerprint), ..before };
        self.begun().set(offer.what, &offer.name, pin.clone());
        pin
    }

    /// Takes in that an accepted entry has declared more risk since: that holds until somebody approves it again.
    pub fn raise(&mut self, what: What, name: &str, raised: Raised) {
        if let Some(pin) = self.pins.get(what, name).cloned() {
            self.pins.set(what, name, Pin { raised, ..pin });
        }
    }

    /// Everything the source has now was decided on: what it has later is new, as it is with any other.
    pub fn settle(&mut self) {
        self.pins.strict = false;
    }

    /// The pins, to be changed. After a loss they begin empty, and what else the source has must be approved as well.
    fn begun(&mut self) -> &mut Pins {
        self.seen = true;
        if self.lost.take().is_some() {
            self.pins = Pins { strict: true, ..Pins::default() };
        }
        &mut self.pins
    }
}
