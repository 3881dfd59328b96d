//! How well search finds what is meant, measured: sets of tools and queries in, figures out.
//!
//! A set is two files of JSON lines. Tools: `id`, `server`, `name`, `description`, `input_schema` and `title` (both
//! optional). Queries: `id`, `query`, `relevant` (the ids of the right tools; none where nothing fits). What a reader
//! would get wrong: a tool that was folded into a near-copy counts as not found, because whoever asked did not see it.

mod answers;
mod metrics;
mod reliability;
mod replay;
mod set;

pub use answers::{Answers, told};
pub use metrics::{Figures, Metrics};
pub use reliability::{Bin, Reliability};
pub use replay::{Replayed, replay};
pub use set::{BadSet, EvalQuery, EvalSet, QueryLine, ToolLine};

use std::time::Instant;

use toolfold_index::{Index, Query, Ranker};

/// Ranks are looked at this deep.
const DEPTH: usize = 10;

/// What the queries of a set showed.
#[derive(Debug, Clone)]
pub struct Evaluation {
    pub figures: Figures,
    pub calibration: Vec<Bin>,
    /// The questions whose answer does not begin with a right tool.
    pub failures: Vec<Failure>,
}

/// A question that was not answered as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// Its position in the set.
    pub query: usize,
    /// Where a right tool stands, from 1; `None`: not among the first ten.
    pub rank: Option<usize>,
    /// The position in the catalog of what was first instead.
    pub first: Option<usize>,
}

/// Asks every query of a set; `each` hears how many are done.
pub fn evaluate(set: &EvalSet, index: &Index, ranker: Ranker, mut each: impl FnMut(usize)) -> Evaluation {
    let mut metrics = Metrics::default();
    let mut reliability = Reliability::default();
    let mut failures = Vec::new();
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
            let rank = ranks.iter().position(|found| query.relevant.contains(found)).map(|place| place + 1);
            if rank != Some(1) {
                failures.push(Failure { query: done, rank, first: ranks.first().copied() });
            }
            metrics.add(&ranks, &query.relevant, took);
        }
        if let Some(first) = first {
            reliability.add(first.confidence, query.relevant.contains(&first.entry));
        }
        each(done + 1);
    }
    let answers = (ranker == Ranker::Fused).then(|| Answers::of(set, index));
    Evaluation { figures: metrics.finish(answers), calibration: reliability.finish(), failures }
}
