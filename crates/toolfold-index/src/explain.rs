//! Why a hit is where it is, worked out again for the few hits that are shown rather than kept for all that matched.

use crate::analyse::Field;
use crate::index::Index;
use crate::names::Named;
use crate::query::{Explain, TermMatch};
use crate::score::{Scored, Terms, each_score};

pub(crate) fn explain(index: &Index, terms: &Terms, scored: &Scored) -> Explain {
    let mut matches = Vec::new();
    for term in &terms.terms {
        each_score(index, *term, |entry, score, fields| {
            if entry == scored.entry {
                let fields = Field::ALL.into_iter().filter(|field| fields >> *field as usize & 1 == 1).collect();
                matches.push(TermMatch { term: index.vocabulary.term(term.number).to_owned(), fields, score });
            }
        });
    }
    matches.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.term.cmp(&b.term)));
    Explain { named: scored.named != Named::No, terms: matches }
}
