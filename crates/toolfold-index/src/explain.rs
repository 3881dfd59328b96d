//! Why a hit is where it is, worked out again for the few hits that are shown rather than kept for all that matched.

use crate::analyse::Field;
use crate::index::Index;
use crate::names::Named;
use crate::query::{Explain, TermMatch};
use crate::score::{Scored, Terms, score_of};

pub(crate) fn explain(index: &Index, terms: &Terms, scored: &Scored) -> Explain {
    let mut matches = Vec::new();
    for term in &terms.terms {
        let fields: Vec<Field> =
            index.postings_in(term.number, scored.entry).map(|posting| Field::ALL[posting.field]).collect();
        if !fields.is_empty() {
            let score = score_of(index, *term, scored.entry);
            matches.push(TermMatch { term: index.vocabulary.term(term.number).to_owned(), fields, score });
        }
    }
    matches.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.term.cmp(&b.term)));
    Explain { named: scored.named != Named::No, terms: matches }
}
