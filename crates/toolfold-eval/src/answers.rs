//! What a model gets to read: the answers of `find_tools` to the queries of a set, as they are given, measured.
//!
//! What a reader would get wrong: the share of right tools in an answer is to be compared with Recall@10. An answer is
//! shorter than ten hits on purpose, and this is what that costs.

use serde::Serialize;
use serde_json::json;
use toolfold_core::Surface;
use toolfold_disclosure::{Action, Answered, DOUBT, View, answered, route, tokens};
use toolfold_index::Index;
use toolfold_wire::raw;

use crate::set::{EvalQuery, EvalSet};

/// Tokens that an answer may cost when nothing else is said.
const BUDGET: usize = 700;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Answers {
    /// The mean cost of an answer.
    pub answer_tokens: f64,
    /// How many tools it names, on average.
    pub answer_tools: f64,
    /// The share of the right tools that it names, in percent.
    pub answer_recall: f64,
    /// How many answers say that there is no close match and name a right tool all the same, in percent.
    pub answer_doubted: f64,
}

impl Answers {
    /// The answers to all queries of a set.
    pub fn of(set: &EvalSet, index: &Index) -> Answers {
        let view = View::new(&set.catalog, index, BUDGET);
        let mut sums = Sums::default();
        for query in &set.queries {
            if let Some(answer) = found(&view, &query.text) {
                sums.add(query, &answer);
            }
        }
        sums.finish()
    }
}

/// What `find_tools` answers to a request; nothing where it refuses.
pub fn told(set: &EvalSet, index: &Index, request: &str) -> String {
    found(&View::new(&set.catalog, index, BUDGET), request).map(|answer| answer.text).unwrap_or_default()
}

fn found(view: &View<'_>, request: &str) -> Option<Answered> {
    let action = route(Surface::Compact, view, "find_tools", Some(&raw(&json!({"query": request}))));
    let Action::Search(search, _) = action else { return None };
    answered(view, &search).ok()
}

#[derive(Default)]
struct Sums {
    answers: usize,
    tokens: usize,
    tools: usize,
    answerable: usize,
    found: f64,
    doubted: usize,
}

impl Sums {
    fn add(&mut self, query: &EvalQuery, answer: &Answered) {
        self.answers += 1;
        self.tokens += tokens::count(&answer.text);
        self.tools += answer.entries.len();
        if query.relevant.is_empty() {
            return;
        }
        let found = query.relevant.iter().filter(|right| answer.entries.contains(right)).count();
        self.answerable += 1;
        self.found += found as f64 / query.relevant.len() as f64;
        self.doubted += usize::from(found > 0 && answer.text.starts_with(DOUBT));
    }

    fn finish(self) -> Answers {
        let mean = |sum: f64, of: usize| sum / of.max(1) as f64;
        Answers {
            answer_tokens: mean(self.tokens as f64, self.answers),
            answer_tools: mean(self.tools as f64, self.answers),
            answer_recall: 100.0 * mean(self.found, self.answerable),
            answer_doubted: 100.0 * mean(self.doubted as f64, self.answerable),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str, entries: &[usize]) -> Answered {
        Answered { text: text.to_owned(), entries: entries.to_vec() }
    }

    fn query(relevant: &[usize]) -> EvalQuery {
        EvalQuery { text: String::new(), relevant: relevant.to_vec() }
    }

    #[test]
    fn only_what_an_answer_names_is_found() {
        let mut sums = Sums::default();
        sums.add(&query(&[1, 2]), &answer("a", &[2, 7]));
        sums.add(&query(&[3]), &answer("b", &[]));
        sums.add(&query(&[]), &answer("c", &[9]));
        let answers = sums.finish();
        assert_eq!((answers.answer_recall, answers.answer_tools, answers.answer_tokens), (25.0, 1.0, 1.0));
    }

    #[test]
    fn doubt_above_the_right_tool_is_counted() {
        let mut sums = Sums::default();
        sums.add(&query(&[1]), &answer(DOUBT, &[1]));
        sums.add(&query(&[1]), &answer(DOUBT, &[2]));
        assert_eq!(sums.finish().answer_doubted, 50.0);
    }
}
