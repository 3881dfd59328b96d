//! Whether a query is an entry's name. Names are compared as hashes: of the letters alone (`createIssue` and
//! `create issue` are one), and of the stems in order (`list issues` names `list_issue`).

/// 64-bit FNV-1a: the same on every machine and in every run.
#[derive(Clone, Copy)]
pub(crate) struct Hash(pub(crate) u64);

impl Hash {
    pub(crate) fn new() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn add(mut self, text: &str) -> Self {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self
    }

    pub(crate) fn of(parts: impl IntoIterator<Item = impl AsRef<str>>, between: &str) -> u64 {
        parts.into_iter().fold(Hash::new(), |hash, part| hash.add(part.as_ref()).add(between)).0
    }
}

/// The hashes of one entry's name, alone and after its server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameHashes {
    pub(crate) letters: u64,
    pub(crate) whole_letters: u64,
    pub(crate) stems: u64,
    pub(crate) whole_stems: u64,
}

/// How well a query names an entry. Later is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Named {
    No,
    /// The same words, give or take an ending or a slip.
    Nearly,
    Exactly,
}

impl NameHashes {
    pub(crate) fn new(server: &[String], name: &[String], stem: impl Fn(&str) -> String) -> Self {
        let stems = |words: &[String]| words.iter().map(|word| stem(word)).collect::<Vec<_>>();
        let whole = [server, name].concat();
        NameHashes {
            letters: Hash::of(name, ""),
            whole_letters: Hash::of(&whole, ""),
            stems: Hash::of(stems(name), " "),
            whole_stems: Hash::of(stems(&whole), " "),
        }
    }

    pub(crate) fn named_by(&self, letters: u64, stems: u64) -> Named {
        if self.letters == letters || self.whole_letters == letters {
            Named::Exactly
        } else if self.stems == stems || self.whole_stems == stems {
            Named::Nearly
        } else {
            Named::No
        }
    }
}
