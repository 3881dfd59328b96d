//! Rows that vouch for each other: a source is kept with a digest over all its pins, and what does not fit its digest is not
//! believed. A file that is whole as a database can have lost a pin or a bit of one, and that must not look like a first use.

use std::fmt::Write;

use toolfold_core::Fingerprint;

use crate::pins::{Pinned, StoredPin, StoredPins};

/// A source as it was read.
pub(crate) struct Read {
    pub(crate) number: i64,
    pub(crate) key: Vec<u8>,
    pub(crate) strict: bool,
    /// `None` where they are not what was written.
    pub(crate) pins: Option<Vec<StoredPin>>,
}

impl Read {
    /// `seal` is what was kept with it; without one nothing of it is believed.
    pub(crate) fn new(number: i64, key: Vec<u8>, strict: bool, seal: Option<&[u8]>, pins: Vec<StoredPin>) -> Read {
        let fits = seal == Some(digest(strict, &pins).as_bytes().as_slice());
        Read { number, key, strict, pins: fits.then_some(pins) }
    }
}

impl Pinned {
    /// What is known of the source of this key, out of all that have its name. Whether it was ever seen where it is not among
    /// them, is not asked here.
    pub(crate) fn among(sources: Vec<Read>, key: &Fingerprint) -> Pinned {
        let (own, mut others): (Vec<Read>, Vec<Read>) =
            sources.into_iter().partition(|source| source.key == key.as_bytes().as_slice());
        // What was decided of the others cannot be told where one of them is damaged.
        let whole = others.iter().all(|other| other.pins.is_some());
        others.sort_by_key(|other| other.number);
        let former = others.into_iter().filter_map(|other| other.pins).flatten().collect();
        match own.into_iter().next() {
            Some(Read { number, strict, pins: Some(pins), .. }) => {
                Pinned::Known(StoredPins { number, strict, pins, former })
            }
            None if whole => Pinned::Never { former },
            _ => Pinned::Damaged,
        }
    }
}

/// Over everything that a decision hangs on, in an order of its own. Lengths stand before texts, so that no two lists of pins
/// are written the same.
pub(crate) fn digest(strict: bool, pins: &[StoredPin]) -> Fingerprint {
    let mut sorted: Vec<&StoredPin> = pins.iter().collect();
    sorted.sort_by(|a, b| (&a.kind, &a.name).cmp(&(&b.kind, &b.name)));
    let mut out = format!("{strict} {}\n", pins.len());
    let print = |print: &Option<Fingerprint>| print.map_or_else(|| "-".to_owned(), |print| print.to_string());
    for StoredPin { kind, name, accepted, denied, by, findings, raised } in sorted {
        let by = by.as_ref().map_or_else(|| "-".to_owned(), |by| format!("{}:{by}", by.len()));
        // Writing to a text cannot fail.
        let _ = writeln!(
            out,
            "{}:{kind} {}:{name} {} {} {by} {findings} {raised}",
            kind.len(),
            name.len(),
            print(accepted),
            print(denied)
        );
    }
    Fingerprint::of_text(&out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_decision_hangs_on_is_under_the_seal_and_the_order_is_not() {
        let print = |text: &str| Some(Fingerprint::of_text(text));
        let (kind, name) = ("tool".to_owned(), "read".to_owned());
        let pin = StoredPin {
            kind,
            name,
            accepted: print("a"),
            denied: None,
            by: Some("ada".to_owned()),
            findings: 1,
            raised: 0,
        };
        let other = StoredPin { name: "write".to_owned(), ..pin.clone() };
        let whole = digest(false, &[pin.clone(), other.clone()]);
        assert_eq!(whole, digest(false, &[other.clone(), pin.clone()]));
        let changed = [
            StoredPin { name: "reae".to_owned(), ..pin.clone() },
            StoredPin { kind: "prompt".to_owned(), ..pin.clone() },
            StoredPin { accepted: None, denied: print("a"), ..pin.clone() },
            StoredPin { denied: print("b"), ..pin.clone() },
            StoredPin { by: None, ..pin.clone() },
            StoredPin { findings: 0, ..pin.clone() },
            StoredPin { raised: 1, ..pin.clone() },
        ];
        for one in changed {
            assert_ne!(whole, digest(false, &[one.clone(), other.clone()]), "{one:?}");
        }
        assert_ne!(whole, digest(true, &[pin.clone(), other.clone()]));
        assert_ne!(whole, digest(false, &[pin]));
    }
}
