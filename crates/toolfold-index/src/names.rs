//! Whether a query is an entry's name. Names are compared as hashes: of the letters alone (`createIssue` and
//! `create issue` are one), and of the stems in order (`list issues` names `list_issue`).

use toolfold_core::{Entry, words};

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

/// The hashes of one entry's names, each alone and after its server's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameHashes {
    letters: [u64; 2],
    stems: [u64; 2],
    /// Stems of other names it answers to. They never name it exactly: that is for whose name it is.
    aliases: Box<[u64]>,
}

/// How well a query names an entry. Later is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Named {
    No,
    /// The same words, give or take an ending or a slip.
    Nearly,
    Exactly,
}

/// All entries by the hashes of their names.
#[derive(Debug, Default)]
pub(crate) struct Names {
    letters: Vec<(u64, u32)>,
    stems: Vec<(u64, u32)>,
}

impl Names {
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a NameHashes>) -> Self {
        let (mut letters, mut stems) = (Vec::new(), Vec::new());
        for (entry, names) in (0u32..).zip(names) {
            letters.extend(names.letters.map(|hash| (hash, entry)));
            stems.extend(names.stems.iter().chain(&names.aliases).map(|hash| (*hash, entry)));
        }
        letters.sort_unstable();
        stems.sort_unstable();
        Names { letters, stems }
    }

    /// The entries that a query names, and how well.
    pub(crate) fn named_by(&self, letters: u64, stems: u64) -> Vec<(usize, Named)> {
        let exactly = with(&self.letters, letters).map(|entry| (entry, Named::Exactly));
        let nearly = with(&self.stems, stems).map(|entry| (entry, Named::Nearly));
        let mut named: Vec<(usize, Named)> = exactly.chain(nearly).collect();
        named.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        named.dedup_by_key(|(entry, _)| *entry);
        named
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of::<(u64, u32)>() * (self.letters.capacity() + self.stems.capacity())
    }
}

fn with(table: &[(u64, u32)], hash: u64) -> impl Iterator<Item = usize> {
    let start = table.partition_point(|(other, _)| *other < hash);
    table[start..].iter().take_while(move |(other, _)| *other == hash).map(|(_, entry)| *entry as usize)
}

impl NameHashes {
    pub(crate) fn new(entry: &Entry, stem: impl Fn(&str) -> String) -> Self {
        let server = words::split(entry.server().as_str());
        let both = |name: &str| {
            let name = words::split(name);
            [name.clone(), [&server[..], &name].concat()]
        };
        let stems = |words: Vec<String>| Hash::of(words.iter().map(|word| stem(word)), " ");
        NameHashes {
            letters: both(entry.name()).map(|words| Hash::of(words, "")),
            stems: both(entry.name()).map(stems),
            aliases: entry.aliases.iter().flat_map(|alias| both(alias)).map(stems).collect(),
        }
    }
}
