//! The latest searches of everybody, until a call tells what they were for.
//!
//! What a reader would get wrong: what an answer showed is asked of the answer itself. Each surface writes its own, and
//! whatever its shape, a tool whose name a client has read is in it.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use toolfold_core::{Entry, ToolId};
use toolfold_wire::Raw;

use crate::request::{Client, ClientKind};

/// Searches that are kept of everybody, and of one client.
const MOST: usize = 512;
const MOST_OF_ONE: usize = 8;
/// A call so long after a search has other reasons.
const LATE: Duration = Duration::from_secs(15 * 60);
/// Longer texts are no requests, and longer answers no lists.
const LONGEST_QUERY: usize = 2_000;
const LONGEST_ANSWER: usize = 64 * 1024;

#[derive(Default)]
pub(super) struct Recent(VecDeque<Searched>);

pub(super) struct Searched {
    asker: u64,
    query: String,
    answer: Raw,
    at: Instant,
    chosen: Vec<ToolId>,
}

impl Searched {
    pub(super) fn new(client: &Client, query: &str, answer: &Raw) -> Searched {
        Searched {
            asker: asker(client),
            query: query.to_owned(),
            answer: answer.clone(),
            at: Instant::now(),
            chosen: Vec::new(),
        }
    }
}

impl Recent {
    pub(super) fn add(&mut self, searched: Searched) {
        if searched.query.len() > LONGEST_QUERY || searched.answer.get().len() > LONGEST_ANSWER {
            return;
        }
        let of_one = |known: &&Searched| known.asker == searched.asker;
        if self.0.iter().filter(of_one).count() >= MOST_OF_ONE
            && let Some(oldest) = self.0.iter().position(|known| known.asker == searched.asker)
        {
            self.0.remove(oldest);
        }
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back(searched);
    }

    /// The request that this call answers, if a search showed the tool and it was not called after it yet.
    pub(super) fn chosen(&mut self, client: &Client, entry: &Entry, exposed: Option<&str>) -> Option<String> {
        let asker = asker(client);
        let id = entry.id.to_string();
        let shows = |answer: &str| names(answer, &id) || exposed.is_some_and(|exposed| names(answer, exposed));
        let latest = self.0.iter_mut().rev().filter(|known| known.asker == asker && known.at.elapsed() < LATE);
        let searched = latest.filter(|known| shows(known.answer.get())).take(1).next()?;
        if searched.chosen.contains(&entry.id) {
            return None;
        }
        searched.chosen.push(entry.id.clone());
        Some(searched.query.clone())
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Whether a name is in a text, and not as a part of a longer one.
fn names(text: &str, name: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || ['_', '-', '.', '/'].contains(&c);
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + name.len()..].chars().next());
        // A sentence may end with a name, and an escaped line begin with one.
        let escaped = text[..at].ends_with("\\n");
        (escaped || !before.is_some_and(continues)) && !after.is_some_and(continues)
    })
}

/// Who goes on with what it searched for: a session; and of clients that are gone with each request, whoever they are for.
fn asker(client: &Client) -> u64 {
    let session = (client.kind == ClientKind::Session).then_some(client.id);
    numbered(&(client.principal().key(), session))
}

/// Whose call it is, and in which conversation: a session is one on each day, and so is an hour of requests without one.
pub(super) fn occasion(client: &Client) -> [u8; 8] {
    let hours = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 3600);
    let when = match client.kind {
        ClientKind::Session => numbered(&("session", client.id, hours / 24)),
        ClientKind::Request | ClientKind::Inside => fixed(&format!("{} {hours}", client.principal().key())),
    };
    let who = fixed(&client.principal().key());
    let [half_of_who, half_of_when] = [who, when].map(|hash| ((hash ^ (hash >> 32)) as u32).to_le_bytes());
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&half_of_who);
    bytes[4..].copy_from_slice(&half_of_when);
    bytes
}

/// A number that no other process gives to the same thing.
fn numbered(thing: &impl std::hash::Hash) -> u64 {
    static STATE: OnceLock<RandomState> = OnceLock::new();
    STATE.get_or_init(RandomState::new).hash_one(thing)
}

/// One that every process does.
fn fixed(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use toolfold_core::{Principal, ServerName, Surface};
    use toolfold_wire::raw;

    use super::*;

    fn session() -> Client {
        Client::session(Principal::local(), Surface::Compact, None, crate::Advertised::ALL)
    }

    fn tool(name: &str) -> Entry {
        let definition = raw(&serde_json::json!({"name": name, "inputSchema": {}}));
        Entry::tool(&ServerName::new("git").unwrap(), &definition).unwrap()
    }

    #[test]
    fn a_name_is_found_whole() {
        assert!(names("git.log(path) — Show", "git.log"));
        assert!(names("\"a\\ngit.log(path)\"", "git.log"));
        assert!(!names("git.log_all(path)", "git.log"));
        assert!(!names("my-git.log(path)", "git.log"));
    }

    #[test]
    fn a_call_counts_for_the_search_that_showed_it_once() {
        let (me, other) = (session(), session());
        let mut recent = Recent::default();
        recent.add(Searched::new(&me, "history", &raw("git.log() — Show history")));
        recent.add(Searched::new(&me, "differences", &raw("git.diff() — Show changes")));
        assert_eq!(recent.chosen(&other, &tool("log"), None), None);
        assert_eq!(recent.chosen(&me, &tool("push"), None), None);
        assert_eq!(recent.chosen(&me, &tool("log"), None).as_deref(), Some("history"));
        assert_eq!(recent.chosen(&me, &tool("log"), None), None);
    }

    #[test]
    fn one_client_takes_the_place_of_no_other() {
        let (me, flood) = (session(), session());
        let mut recent = Recent::default();
        recent.add(Searched::new(&me, "history", &raw("git.log")));
        for _ in 0..10 * MOST {
            recent.add(Searched::new(&flood, "anything", &raw("git.log")));
        }
        assert_eq!(recent.0.len(), 1 + MOST_OF_ONE);
        assert_eq!(recent.chosen(&me, &tool("log"), None).as_deref(), Some("history"));
    }

    #[test]
    fn occasions_are_sessions() {
        let (one, other) = (session(), session());
        assert_eq!(occasion(&one), occasion(&one));
        assert_ne!(occasion(&one), occasion(&other));
        // The same person, all the same.
        assert_eq!(occasion(&one)[..4], occasion(&other)[..4]);
    }
}
