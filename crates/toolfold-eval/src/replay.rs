//! What learning from use gives, and whether it does harm: requests of a set are asked by people who call what they were
//! shown, some of them the wrong thing, and then asked again.
//!
//! What a reader would get wrong: half of the requests are learned from, the other half never. Those show what is learned
//! for requests that nobody made before, and what is spoiled for them.

use std::collections::BTreeMap;

use toolfold_core::Surface;
use toolfold_disclosure::{Action, View, answered, route};
use toolfold_index::{Habit, Index, Learned, Mark, Occasion, Query};
use toolfold_wire::raw;

use crate::set::{EvalQuery, EvalSet};
use crate::{DEPTH, Figures, Metrics};

const BUDGET: usize = 700;
/// Conversations in which each request is made, by two people in turns.
const SESSIONS: u32 = 4;

/// Figures before anything was learned and afterwards.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// Of the requests that were made.
    pub again: (Figures, Figures),
    /// Of the others.
    pub others: (Figures, Figures),
    /// How many requests have a tool that was lifted for them.
    pub lifted: usize,
}

/// Replays every second request of a set. `wrong` is the share of choices that are: any of the other tools shown.
pub fn replay(set: &EvalSet, index: &Index, wrong: f64) -> Replayed {
    let asked = |keep: usize| {
        let answerable = set.queries.iter().filter(|query| !query.relevant.is_empty());
        answerable.enumerate().filter(move |(place, _)| place % 2 == keep).map(|(_, query)| query)
    };
    let learned = Learned::new(habits(set, index, asked(0), wrong));
    let measured =
        |keep: usize| (figures(set, index, asked(keep), None), figures(set, index, asked(keep), Some(&learned)));
    let is_lifted = |query: &&EvalQuery| {
        let ask = Query { text: &query.text, limit: DEPTH, learned: Some(&learned), explain: true, ..Query::default() };
        index.search(&set.catalog, &ask).hits.iter().any(|hit| hit.explain.learned.is_some())
    };
    Replayed { again: measured(0), others: measured(1), lifted: asked(0).chain(asked(1)).filter(is_lifted).count() }
}

fn habits<'a>(set: &EvalSet, index: &Index, asked: impl Iterator<Item = &'a EvalQuery>, wrong: f64) -> Vec<Habit> {
    let view = View::new(&set.catalog, index, BUDGET);
    let mut habits: BTreeMap<(Vec<Mark>, usize), Vec<Occasion>> = BTreeMap::new();
    let mut chance = Chance(7);
    for (number, query) in (0u32..).zip(asked) {
        let (shown, marks) = (shown(&view, query), Mark::all(index, &query.text));
        for session in 0..SESSIONS {
            if let Some(tool) = choice(&shown, query, chance.next() < wrong, &mut chance) {
                let occasion = Occasion { who: session % 2, when: number * SESSIONS + session };
                habits.entry((marks.clone(), tool)).or_default().push(occasion);
            }
        }
    }
    let habit = |((marks, tool), occasions): ((Vec<Mark>, usize), Vec<Occasion>)| Habit {
        tool: set.catalog.entry(tool).id.clone(),
        marks,
        times: occasions.len() as u32,
        occasions,
    };
    habits.into_iter().map(habit).collect()
}

/// What an answer of `find_tools` names.
fn shown(view: &View<'_>, query: &EvalQuery) -> Vec<usize> {
    let arguments = raw(&serde_json::json!({"query": query.text}));
    match route(Surface::Compact, view, "find_tools", Some(&arguments)) {
        Action::Search(search, _) => answered(view, &search).map(|answer| answer.entries).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// What somebody calls who was shown this: a right tool, if there is one, or by mistake another.
fn choice(shown: &[usize], query: &EvalQuery, mistaken: bool, chance: &mut Chance) -> Option<usize> {
    let is_right = |entry: &&usize| query.relevant.contains(entry);
    if !mistaken {
        return shown.iter().find(is_right).copied();
    }
    let others: Vec<usize> = shown.iter().filter(|entry| !is_right(entry)).copied().collect();
    others.get((chance.next() * others.len() as f64) as usize).copied()
}

fn figures<'a>(
    set: &EvalSet,
    index: &Index,
    asked: impl Iterator<Item = &'a EvalQuery>,
    learned: Option<&Learned>,
) -> Figures {
    let mut metrics = Metrics::default();
    for query in asked {
        let found = index.search(&set.catalog, &Query { text: &query.text, limit: DEPTH, learned, ..Query::default() });
        let ranks: Vec<usize> = found.hits.iter().map(|hit| hit.entry).collect();
        metrics.add(&ranks, &query.relevant, std::time::Duration::ZERO);
    }
    metrics.finish(None)
}

/// Numbers between 0 and 1 that look like chance and are the same in every run (splitmix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as f64 / u64::MAX as f64
    }
}
