//! Every spelling of every entry, hashed once when a catalog is made: finding the entry of a name costs the same for one
//! tool and for fifty thousand, and the same where there is none.
//!
//! What a reader would get wrong: a hash only says where to look. What is found there is compared with what was asked
//! for, so that no server can be called by having a name whose hash is another one's.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::sync::Arc;

use toolfold_core::Entry;

/// Which way of naming an entry a text is. The same text may be several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    Id,
    Exposed,
    /// The tool's own name, letter by letter.
    Bare,
    /// The tool's own name, alone or after its server's, whatever its case and punctuation.
    Folded,
    /// Another name it answers to, after its server's.
    Alias,
    /// Another name it answers to, alone.
    AliasAlone,
}

#[derive(Debug)]
pub(crate) struct Spellings {
    /// Servers choose the names: the hash is one they cannot foresee.
    state: RandomState,
    heads: HashMap<u64, u32, BuildHasherDefault<Hashed>>,
    /// Who has a spelling, tools before all others and then by position.
    links: Vec<Link>,
}

#[derive(Debug, Clone, Copy)]
struct Link {
    position: u32,
    /// The number of the next one, counted from one; 0 at the end.
    next: u32,
}

impl Spellings {
    pub(crate) fn of(entries: &[Arc<Entry>], exposed: &[Box<str>]) -> Spellings {
        let mut spellings = Spellings {
            state: RandomState::new(),
            heads: HashMap::with_capacity_and_hasher(5 * entries.len(), BuildHasherDefault::default()),
            links: Vec::with_capacity(5 * entries.len()),
        };
        // What comes last stands first.
        for tools in [false, true] {
            let these = entries.iter().enumerate().rev().filter(|(_, entry)| entry.is_tool() == tools);
            these.for_each(|(position, entry)| spellings.add(position as u32, entry, &exposed[position]));
        }
        spellings
    }

    fn add(&mut self, position: u32, entry: &Entry, exposed: &str) {
        let (server, name) = (folded(entry.server().as_str()), folded(entry.name()));
        self.push(self.id_hash(entry.server().as_str(), entry.name()), position);
        self.push(self.hash(Form::Exposed, exposed), position);
        self.push(self.hash(Form::Bare, entry.name()), position);
        self.push(self.hash(Form::Folded, &name), position);
        if !server.is_empty() {
            self.push(self.hash(Form::Folded, &(server.clone() + &name)), position);
        }
        for alias in &entry.aliases {
            let alias = folded(alias);
            self.push(self.hash(Form::AliasAlone, &alias), position);
            self.push(self.hash(Form::Alias, &(server.clone() + &alias)), position);
        }
    }

    fn push(&mut self, hash: u64, position: u32) {
        let link = self.links.len() as u32 + 1;
        let before = self.heads.insert(hash, link);
        self.links.push(Link { position, next: before.unwrap_or(0) });
    }

    /// Where those may be that have this spelling, each perhaps more than once.
    pub(crate) fn candidates(&self, form: Form, text: &str) -> impl Iterator<Item = usize> {
        self.at(self.hash(form, text))
    }

    pub(crate) fn candidates_by_id(&self, server: &str, tool: &str) -> impl Iterator<Item = usize> {
        self.at(self.id_hash(server, tool))
    }

    fn at(&self, hash: u64) -> impl Iterator<Item = usize> {
        let link = |place: u32| self.links.get((place as usize).checked_sub(1)?);
        let first = self.heads.get(&hash).and_then(|head| link(*head));
        std::iter::successors(first, move |before| link(before.next)).map(|link| link.position as usize)
    }

    fn hash(&self, form: Form, text: &str) -> u64 {
        self.state.hash_one((form, text))
    }

    fn id_hash(&self, server: &str, tool: &str) -> u64 {
        self.state.hash_one((Form::Id, server, tool))
    }
}

/// Letters and digits alone, in lower case: `createIssue`, `create-issue` and `create_issue` are one.
pub(crate) fn folded(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Keys that are hashes already.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
