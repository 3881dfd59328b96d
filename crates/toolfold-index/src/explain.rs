//! Why a hit is where it is, worked out again for the few hits that are shown rather than kept for all that matched.

use crate::analyse::Field;
use crate::ask::Asked;
use crate::confidence::least_near;
use crate::index::Index;
use crate::names::Named;
use crate::query::{Explain, TermMatch};
use crate::rank::Scored;

pub(crate) fn explain(index: &Index, asked: &Asked, scored: &Scored) -> Explain {
    let mut terms: Vec<TermMatch> = asked
        .terms
        .iter()
        .filter_map(|term| {
            let (weight, fields) = index.base.posting_in(term.number, scored.entry)?;
            let fields = Field::ALL.into_iter().filter(|field| fields >> *field as usize & 1 == 1).collect();
            let term_text = index.base.vocabulary.term(term.number).to_owned();
            Some(TermMatch { term: term_text, fields, score: term.weight * weight })
        })
        .collect();
    terms.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.term.cmp(&b.term)));
    let done = &index.base.documents[scored.entry].done;
    Explain {
        named: scored.named != Named::No,
        terms,
        lexical: scored.lexical / asked.best.max(f32::MIN_POSITIVE),
        semantic: scored.semantic,
        precise: scored.precise,
        near: scored.near,
        precisely_near: scored.precisely_near,
        mixed: scored.mixed,
        deed: asked.wanted.judge(done).0,
        deeds: asked.wanted.features(done).to_vec(),
        least_near: least_near(index, asked, scored),
        part: scored.part.map(|part| asked.clauses[part].text.clone()),
        learned: scored.learned,
        preferred_to: None,
    }
}
