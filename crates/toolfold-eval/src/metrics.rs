//! The usual figures of retrieval, as percentages.

use std::time::Duration;

use serde::Serialize;

use crate::answers::Answers;

/// From here on a hit says of itself that it is more likely right than wrong.
const SURE: f32 = 0.5;

#[derive(Default)]
pub struct Metrics {
    sums: [f64; 7],
    queries: usize,
    unanswerable: usize,
    mistaken: usize,
    times: Vec<Duration>,
}

/// Means over all queries of a set that have an answer.
#[derive(Debug, Clone, Serialize)]
pub struct Figures {
    pub queries: usize,
    /// Queries that no tool of the set fits. They count in no mean but the last one.
    pub unanswerable: usize,
    pub hit_1: f64,
    pub hit_5: f64,
    pub recall_5: f64,
    pub recall_10: f64,
    pub ndcg_5: f64,
    pub ndcg_10: f64,
    pub mrr_10: f64,
    /// How many of the queries that nothing fits got a hit that is sure of itself. None where there are no such queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mistaken: Option<f64>,
    /// What a model reads; nothing for a ranking that nobody is answered with.
    #[serde(flatten)]
    pub answers: Option<Answers>,
    pub p50_microseconds: f64,
    pub p99_microseconds: f64,
}

impl Metrics {
    /// One query that nothing fits, and how sure of itself the best hit is.
    pub fn add_unanswerable(&mut self, confidence: f32, took: Duration) {
        self.unanswerable += 1;
        self.mistaken += usize::from(confidence >= SURE);
        self.times.push(took);
    }

    /// One query: what was found, best first, and what should have been.
    pub fn add(&mut self, found: &[usize], relevant: &[usize], took: Duration) {
        let right = |entry: &usize| relevant.contains(entry);
        let hits = |depth: usize| found.iter().take(depth).filter(|entry| right(entry)).count() as f64;
        let first = found.iter().take(10).position(right);
        let wanted = relevant.len().max(1) as f64;
        let values = [
            hits(1).min(1.0),
            hits(5).min(1.0),
            hits(5) / wanted,
            hits(10) / wanted,
            gain(found, relevant, 5),
            gain(found, relevant, 10),
            first.map_or(0.0, |place| 1.0 / (place + 1) as f64),
        ];
        self.sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        self.queries += 1;
        self.times.push(took);
    }

    pub fn finish(mut self, answers: Option<Answers>) -> Figures {
        let mean = |place: usize| 100.0 * self.sums[place] / self.queries.max(1) as f64;
        let [hit_1, hit_5, recall_5, recall_10, ndcg_5, ndcg_10, mrr_10] = std::array::from_fn(mean);
        self.times.sort_unstable();
        let at = |share: f64| {
            let place = (self.times.len() as f64 * share) as usize;
            self.times.get(place.min(self.times.len().saturating_sub(1))).map_or(0.0, |time| time.as_secs_f64() * 1e6)
        };
        Figures {
            queries: self.queries,
            unanswerable: self.unanswerable,
            hit_1,
            hit_5,
            recall_5,
            recall_10,
            ndcg_5,
            ndcg_10,
            mrr_10,
            mistaken: (self.unanswerable > 0).then(|| 100.0 * self.mistaken as f64 / self.unanswerable as f64),
            answers,
            p50_microseconds: at(0.5),
            p99_microseconds: at(0.99),
        }
    }
}

/// Normalised discounted cumulative gain: right tools count less the further down they stand.
fn gain(found: &[usize], relevant: &[usize], depth: usize) -> f64 {
    let discount = |place: usize| 1.0 / ((place + 2) as f64).log2();
    let got: f64 = found
        .iter()
        .take(depth)
        .enumerate()
        .filter(|(_, entry)| relevant.contains(entry))
        .map(|(place, _)| discount(place))
        .sum();
    let best: f64 = (0..relevant.len().min(depth)).map(discount).sum();
    if best > 0.0 { got / best } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(found: &[usize], relevant: &[usize]) -> Figures {
        let mut metrics = Metrics::default();
        metrics.add(found, relevant, Duration::ZERO);
        metrics.finish(None)
    }

    #[test]
    fn the_right_tool_first_is_perfect() {
        let figures = figures(&[7, 1, 2], &[7]);
        assert_eq!((figures.hit_1, figures.recall_5, figures.ndcg_10, figures.mrr_10), (100.0, 100.0, 100.0, 100.0));
    }

    #[test]
    fn the_second_of_two_is_half_found() {
        let figures = figures(&[1, 7, 2], &[7, 9]);
        assert_eq!((figures.hit_1, figures.hit_5, figures.recall_5, figures.mrr_10), (0.0, 100.0, 50.0, 50.0));
        // 1/log2(3) over 1 + 1/log2(3).
        assert!((figures.ndcg_10 - 38.685).abs() < 0.01);
    }

    #[test]
    fn what_has_no_answer_counts_apart() {
        let mut metrics = Metrics::default();
        metrics.add(&[7], &[7], Duration::ZERO);
        metrics.add_unanswerable(0.9, Duration::ZERO);
        metrics.add_unanswerable(0.1, Duration::ZERO);
        let figures = metrics.finish(None);
        assert_eq!((figures.queries, figures.unanswerable), (1, 2));
        assert_eq!((figures.hit_1, figures.mistaken), (100.0, Some(50.0)));
    }

    #[test]
    fn nothing_found_is_nothing() {
        let figures = figures(&[], &[7]);
        assert_eq!((figures.hit_5, figures.ndcg_10, figures.mrr_10), (0.0, 0.0, 0.0));
    }
}
