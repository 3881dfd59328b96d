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

/// All entries by the hashes of their names.
#[derive(Debug, Default)]
pub(crate) struct Names {
    letters: Vec<(u64, u32)>,
    stems: Vec<(u64, u32)>,
}

impl Names {
    pub(crate) fn new(names: impl Iterator<Item = NameHashes>) -> Self {
        let (mut letters, mut stems) = (Vec::new(), Vec::new());
        for (entry, names) in (0u32..).zip(names) {
            letters.extend([(names.letters, entry), (names.whole_letters, entry)]);
            stems.extend([(names.stems, entry), (names.whole_stems, entry)]);
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
}
