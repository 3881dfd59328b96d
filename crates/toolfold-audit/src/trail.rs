//! From a call back to the answer that showed its tool.
//!
//! What a reader would get wrong: in the era without sessions nothing ties two requests together but who sent them. A trace
//! does where there is one, but a client may begin a new one with every request, so whoever is not found by the trace is
//! looked for by session or by name.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use toolfold_core::Principal;

use crate::event::EventKind;
use crate::note::{Shown, Who};

/// Whose last answers are remembered, how many of each, and how many tools of one.
const MOST_KEYS: usize = 4096;
const MOST_STEPS: usize = 16;
pub(crate) const MOST_SHOWN: usize = 64;
/// Bytes of names of tools, which are as long as their servers like.
const MOST_BYTES: usize = 8 * 1024 * 1024;

#[derive(Default)]
pub(crate) struct Trail {
    seen: HashMap<Key, Steps>,
    clock: u64,
    bytes: usize,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Trace(Arc<str>),
    Session(u64),
    Principal(Principal, Option<Arc<str>>),
}

#[derive(Default)]
struct Steps {
    used: u64,
    last: VecDeque<Arc<Step>>,
}

struct Step {
    number: u64,
    kind: EventKind,
    shown: Vec<Shown>,
}

impl Step {
    fn size(&self) -> usize {
        self.shown.iter().map(|shown| size_of::<Shown>() + shown.tool.len()).sum::<usize>() + size_of::<Step>()
    }
}

/// How somebody came to know a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub(crate) via: EventKind,
    pub(crate) rank: usize,
    pub(crate) confidence: Option<f32>,
    pub(crate) follows: u64,
}

impl Trail {
    pub(crate) fn disclosed(&mut self, who: &Who, number: u64, kind: EventKind, mut shown: Vec<Shown>) {
        shown.truncate(MOST_SHOWN);
        let step = Arc::new(Step { number, kind, shown });
        for key in keys(who) {
            self.clock += 1;
            let steps = self.seen.entry(key).or_default();
            steps.used = self.clock;
            if steps.last.len() == MOST_STEPS {
                self.bytes -= steps.last.pop_front().map_or(0, |oldest| oldest.size());
            }
            steps.last.push_back(step.clone());
            self.bytes += step.size();
        }
        if self.seen.len() > MOST_KEYS || self.bytes > MOST_BYTES {
            self.forget_half();
        }
    }

    /// The last answer that showed this tool to whoever asks.
    pub(crate) fn before(&mut self, who: &Who, tool: &str) -> Option<Found> {
        keys(who).find_map(|key| {
            let steps = self.seen.get_mut(&key)?;
            self.clock += 1;
            steps.used = self.clock;
            steps.last.iter().rev().find_map(|step| {
                let place = step.shown.iter().position(|shown| shown.tool == tool)?;
                let confidence = step.shown[place].confidence;
                Some(Found { via: step.kind, rank: place + 1, confidence, follows: step.number })
            })
        })
    }

    fn forget_half(&mut self) {
        let mut used: Vec<u64> = self.seen.values().map(|steps| steps.used).collect();
        used.sort_unstable();
        let middle = used[used.len() / 2];
        self.seen.retain(|_, steps| steps.used > middle);
        self.bytes = self.seen.values().flat_map(|steps| &steps.last).map(|step| step.size()).sum();
    }
}

/// The nearest first.
fn keys(who: &Who) -> impl Iterator<Item = Key> {
    let trace = who.trace.as_deref().and_then(trace_id).map(|id| Key::Trace(id.into()));
    let lasting = match who.session {
        Some(session) => Key::Session(session),
        None => Key::Principal(who.principal.clone(), who.client.clone()),
    };
    trace.into_iter().chain([lasting])
}

/// The second part of a `traceparent`.
fn trace_id(traceparent: &str) -> Option<&str> {
    traceparent.split('-').nth(1).filter(|id| id.len() == 32)
}

#[cfg(test)]
mod tests {
    use toolfold_core::Surface;

    use super::*;

    fn who(trace: Option<&str>, session: Option<u64>) -> Who {
        Who {
            principal: Principal::local(),
            client: None,
            session,
            trace: trace.map(Into::into),
            request: None,
            surface: Surface::Compact,
            catalog: 1,
            door: None,
        }
    }

    fn shown(names: &[&str]) -> Vec<Shown> {
        names.iter().map(|name| Shown { tool: (*name).to_owned(), confidence: Some(0.5) }).collect()
    }

    #[test]
    fn the_newest_answer_counts_and_a_new_trace_does_not_hide_it() {
        let mut trail = Trail::default();
        let first = format!("00-{}-b7ad6b7169203331-01", "a".repeat(32));
        let second = format!("00-{}-b7ad6b7169203331-01", "b".repeat(32));
        trail.disclosed(&who(Some(&first), None), 1, EventKind::Search, shown(&["a.x", "a.y"]));
        trail.disclosed(&who(Some(&first), None), 2, EventKind::Describe, shown(&["a.y"]));
        let found = trail.before(&who(Some(&second), None), "a.y").unwrap();
        assert_eq!((found.via, found.rank, found.follows), (EventKind::Describe, 1, 2));
        let found = trail.before(&who(Some(&first), None), "a.x").unwrap();
        assert_eq!((found.via, found.rank, found.follows), (EventKind::Search, 1, 1));
        assert_eq!(trail.before(&who(None, Some(7)), "a.x"), None, "another session");
        assert_eq!(trail.before(&who(None, None), "a.z"), None);
    }

    #[test]
    fn it_does_not_grow_for_ever() {
        let mut trail = Trail::default();
        for session in 0..3 * MOST_KEYS as u64 {
            trail.disclosed(&who(None, Some(session)), session, EventKind::Search, shown(&["a.x"]));
        }
        assert!(trail.seen.len() <= MOST_KEYS);
        assert!(trail.before(&who(None, Some(3 * MOST_KEYS as u64 - 1)), "a.x").is_some());
        for number in 0..100 {
            trail.disclosed(&who(None, Some(1)), number, EventKind::Search, shown(&["a.x"]));
        }
        assert_eq!(trail.seen[&Key::Session(1)].last.len(), MOST_STEPS);
    }

    #[test]
    fn long_names_are_forgotten_sooner() {
        let (mut trail, long) = (Trail::default(), "x".repeat(500));
        for session in 0..2_000 {
            trail.disclosed(&who(None, Some(session)), session, EventKind::Search, shown(&[long.as_str(); 50]));
            assert!(trail.bytes <= MOST_BYTES);
        }
        assert!(trail.before(&who(None, Some(1_999)), &long).is_some());
    }
}
