//! How well search finds what is meant, measured: sets of tools and queries in, figures out.
//!
//! A set is two files of JSON lines. Tools: `id`, `server`, `name`, `description`, `input_schema` and `title` (both
//! optional). Queries: `id`, `query`, `relevant` (the ids of the right tools; none where nothing fits). What a reader
//! would get wrong: a tool that was folded into a near-copy counts as not found, because whoever asked did not see it.

mod metrics;
mod reliability;
mod set;

pub use metrics::{Figures, Metrics};
pub use reliability::{Bin, Reliability};
pub use set::{BadSet, EvalSet, ToolLine};

use std::time::Instant;

use toolfold_core::Surface;
use toolfold_disclosure::View;
use toolfold_disclosure::{Action, answer, route, tokens};
use toolfold_index::{Index, Query, Ranker};
use toolfold_wire::raw;

/// Ranks are looked at this deep.
const DEPTH: usize = 10;
/// Tokens of an answer when nothing else is said.
const BUDGET: usize = 700;
/// Answers are counted for this many queries, spread over the set: counting costs more than searching.
const COUNTED: usize = 200;

/// What the queries of a set showed.
#[derive(Debug, Clone)]
pub struct Evaluation {
    pub figures: Figures,
    pub calibration: Vec<Bin>,
}

/// Asks every query of a set; `each` hears how many are done.
pub fn evaluate(set: &EvalSet, index: &Index, ranker: Ranker, mut each: impl FnMut(usize)) -> Evaluation {
    let mut metrics = Metrics::default();
    let mut reliability = Reliability::default();
    for (done, query) in set.queries.iter().enumerate() {
        let ask = Query { text: &query.text, limit: DEPTH, ranker, ..Query::default() };
        let begun = Instant::now();
        let found = index.search(&set.catalog, &ask);
        let took = begun.elapsed();
        let first = found.hits.first();
        if query.relevant.is_empty() {
            metrics.add_unanswerable(first.map_or(0.0, |hit| hit.confidence), took);
        } else {
            let ranks: Vec<usize> = found.hits.iter().map(|hit| hit.entry).collect();
            metrics.add(&ranks, &query.relevant, took);
        }
        if let Some(first) = first {
            reliability.add(first.confidence, query.relevant.contains(&first.entry));
        }
        each(done + 1);
    }
    let answer_tokens = (ranker == Ranker::Fused).then(|| answer_tokens(set, index));
    Evaluation { figures: metrics.finish(answer_tokens), calibration: reliability.finish() }
}

/// The mean cost of the answer that a model would have got.
fn answer_tokens(set: &EvalSet, index: &Index) -> f64 {
    let view = View::new(&set.catalog, index, BUDGET);
    let step = set.queries.len().div_ceil(COUNTED).max(1);
    let (mut total, mut answers) = (0, 0usize);
    for query in set.queries.iter().step_by(step) {
        let arguments = raw(&serde_json::json!({"query": query.text}));
        let action = route(Surface::Compact, &view, "find_tools", Some(&arguments));
        if let (Action::Search(..), Ok(result)) = (&action, answer(Surface::Compact, &view, &action)) {
            let result: serde_json::Value = serde_json::from_str(result.get()).unwrap_or_default();
            total += tokens::count(result["content"][0]["text"].as_str().unwrap_or_default());
            answers += 1;
        }
    }
    total as f64 / answers.max(1) as f64
}
