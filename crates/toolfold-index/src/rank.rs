//! From a query to ranked entries: few candidates out of all, both sides scored and mixed, the best compared closely,
//! and names before everything else. `docs/search.md` says what each step gives.
//!
//! Why two sides: words find what is called by its name and nothing else; vectors find what is meant, and blur names,
//! numbers and negations. They fail on different queries, so the mix is better than either.
//!
//! Why each side is divided by its best before they are mixed, instead of adding ranks: a rank forgets how far ahead the
//! first is, and that is what confidence is made of. It also makes scores of one query comparable with nothing else,
//! which is why a [`Hit`] has a confidence beside its score.
//!
//! Why meaning has most of the say although words rank almost as well alone: a request is seldom in the words of a tool.
//! The share was found on public sets by measuring, like all the numbers below, and is flat around its best.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use toolfold_catalog::Catalog;

use crate::ask::{Asked, Clause, LIST, Meaning};
use crate::candidates::{self, Sums};
use crate::close;
use crate::compound::joined;
use crate::confidence::{FLOOR, confidences, fits};
use crate::explain::explain;
use crate::fold::fold;
use crate::index::Index;
use crate::language::in_english;
use crate::learned::Lift;
use crate::names::Named;
use crate::query::{Explain, Found, Hit, Query, Ranker};

/// The share of meaning in the mix; words have the rest, however many entries there are.
const MEANING: f32 = 0.75;
/// The same where an encoder is asked, and the encoder's share in the meaning.
const PRECISE_MEANING: f32 = 0.8;
const ENCODER: f32 = 0.6;
/// The share of the best part in a request for several things.
const PART: f32 = 0.2;
/// The same in what may be a list of many things; and where it is one, of which no entry is about the whole.
const PART_OF_STORY: f32 = 0.5;
const PART_OF_LIST: f32 = 0.95;
/// The share of parts that are requests of their own from which on it begins to be a list, and how much more makes it one.
const SOME_ALONE: f32 = 0.6;
const MORE_ALONE: f32 = 0.3;
/// How many of the best are looked at for what they do, before the very best are compared further.
const WEIGHED: usize = 60;
/// An entry that shares no word with a query is an answer only if it means something like it.
const ALIKE: f32 = 0.05;
/// The same for an encoder, against the most alike.
const PRECISELY_ALIKE: f32 = 0.5;
/// Beside a good answer, what shares no word and is less likely than this is noise.
const POSSIBLE: f32 = 0.04;
/// The share of words that count as unknown in what was not asked in English.
const TRANSLATED: f32 = 0.4;
/// Nobody pages further than this.
const DEEPEST: usize = 200;

/// One candidate and everything that was found out about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scored {
    pub(crate) entry: usize,
    pub(crate) named: Named,
    /// The sum of what its words earn.
    pub(crate) lexical: f32,
    /// The cosine with the query.
    pub(crate) semantic: f32,
    /// How much more alike the encoder finds it than entries usually are, against the most alike.
    pub(crate) precise: Option<f32>,
    /// How near the query's pieces come to its own, if it was compared.
    pub(crate) near: Option<f32>,
    /// The same by the encoder's pieces.
    pub(crate) precisely_near: Option<f32>,
    /// The score of words, meaning and parts alone.
    pub(crate) mixed: f32,
    /// The part of the request that it fits best.
    pub(crate) part: Option<usize>,
    /// How far it does something else than is wanted.
    pub(crate) disagreement: f32,
    /// What it gains by having been chosen before.
    pub(crate) learned: Option<Lift>,
    pub(crate) score: f32,
}

pub(crate) fn search(index: &Index, catalog: &Catalog, query: &Query<'_>) -> Found {
    let knows = |word: &str| index.base.vocabulary.number(word).is_some();
    let written = joined(query.text, knows);
    let text = in_english(&written, knows);
    let Some(mut asked) = Asked::new(index, &text) else {
        return everything(index, catalog, query);
    };
    if let Cow::Owned(_) = &text {
        asked.unknown = asked.unknown.max(TRANSLATED);
    }
    let query = &Query { text: &text, ..query.clone() };
    let ranked = fold(index, catalog, rank(index, catalog, query, &asked));
    let confidences = confidences(&asked, &ranked);
    let fits = fits(index, &asked, ranked.first().map(|(best, _)| best));
    let mut answers: Vec<(&(Scored, usize), f32)> = ranked.iter().zip(confidences).collect();
    let some = answers.first().is_some_and(|(_, confidence)| *confidence >= FLOOR);
    let is_answer = |scored: &Scored, confidence: f32| some && (scored.lexical > 0.0 || confidence >= POSSIBLE);
    if query.answers_only {
        answers.retain(|((scored, _), confidence)| is_answer(scored, *confidence));
    }
    let by_themselves = answers.iter().filter(|((scored, _), confidence)| is_answer(scored, *confidence)).count();
    let page = answers.iter().skip(query.offset).take(query.limit);
    let hits = page.map(|((scored, copies), confidence)| Hit {
        entry: scored.entry,
        score: scored.score,
        confidence: *confidence,
        copies: *copies,
        is_answer: is_answer(scored, *confidence),
        explain: if query.explain { explain(index, &asked, scored) } else { Explain::default() },
    });
    Found { hits: hits.collect(), total: answers.len(), answers: by_themselves, fits }
}

fn everything(index: &Index, catalog: &Catalog, query: &Query<'_>) -> Found {
    let entries = catalog.entries().iter().enumerate().take(index.len());
    let admitted: Vec<usize> = entries
        .filter(|(position, entry)| query.filter.admits(*position, entry))
        .map(|(position, _)| position)
        .collect();
    let page = admitted.iter().skip(query.offset).take(query.limit);
    let hit =
        |&entry| Hit { entry, score: 0.0, confidence: 0.0, copies: 0, is_answer: true, explain: Default::default() };
    Found { hits: page.map(hit).collect(), total: admitted.len(), answers: admitted.len(), fits: 1.0 }
}

/// Everything that is an answer and admitted, best first; equals by id.
fn rank(index: &Index, catalog: &Catalog, query: &Query<'_>, asked: &Asked) -> Vec<Scored> {
    let sums = Sums::of(index, asked);
    let named = index.base.names.named_by(asked.letters, asked.stems);
    let lifts = query.learned.map(|learned| learned.lifts(index, catalog, query.text)).unwrap_or_default();
    let besides = named.iter().map(|(entry, _)| *entry).chain(lifts.keys().copied());
    let candidates = candidates::select(index, catalog, query, asked, &sums, besides);
    let mut ranked = score(index, asked, &sums, &candidates, query.ranker);
    for scored in &mut ranked {
        let name = named.binary_search_by_key(&scored.entry, |(entry, _)| *entry);
        scored.named = name.map_or(Named::No, |place| named[place].1);
    }
    ranked.retain(|scored| match query.ranker {
        Ranker::Lexical => scored.lexical > 0.0,
        _ => is_answer(scored) || lifts.contains_key(&scored.entry),
    });
    if query.ranker == Ranker::Fused {
        bring_forward(&mut ranked, WEIGHED);
        weigh_deeds(index, asked, &mut ranked);
        bring_forward(&mut ranked, close::compared(asked));
        close::compare(index, asked, &mut ranked);
        lift(index, asked, &mut ranked, &lifts);
    }
    bring_forward(&mut ranked, DEEPEST);
    ranked.truncate(DEEPEST);
    ranked.sort_unstable_by(order);
    ranked
}

fn is_answer(scored: &Scored) -> bool {
    let alike = scored.semantic >= ALIKE || scored.precise.is_some_and(|precise| precise >= PRECISELY_ALIKE);
    scored.lexical > 0.0 || alike || scored.named != Named::No
}

/// Names before all else, then scores; equals by id, so that the same query has the same answer.
fn order(a: &Scored, b: &Scored) -> Ordering {
    b.named.cmp(&a.named).then(b.score.total_cmp(&a.score)).then(a.entry.cmp(&b.entry))
}

/// Puts the best before all others, in no order: most are never shown, and need none.
fn bring_forward(ranked: &mut [Scored], count: usize) {
    if count < ranked.len() {
        ranked.select_nth_unstable_by(count, order);
    }
}

fn score(index: &Index, asked: &Asked, sums: &Sums, candidates: &[u32], ranker: Ranker) -> Vec<Scored> {
    let lexical = pick(&sums.whole, candidates);
    let semantic = index.base.vectors.likeness(&asked.meaning.fast, candidates);
    let precise = precise(asked, &asked.meaning, candidates);
    let mut scores = match ranker {
        Ranker::Lexical => lexical.clone(),
        Ranker::Semantic => semantic.clone(),
        Ranker::Fused => mixed(&lexical, &semantic, precise.as_deref()),
    };
    let parts = if ranker == Ranker::Fused { parts(index, asked, sums, candidates) } else { Vec::new() };
    let share = share_of_parts(&parts, greatest(&semantic));
    let mut fits = vec![None; candidates.len()];
    for (place, score) in scores.iter_mut().enumerate() {
        let best = parts.iter().map(|part| part.scores[place]).enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((part, value)) = best {
            *score = (1.0 - share) * *score + share * value;
            fits[place] = Some(part);
        }
    }
    let scored = |place: usize| Scored {
        entry: candidates[place] as usize,
        named: Named::No,
        lexical: lexical[place],
        semantic: semantic[place],
        precise: precise.as_ref().map(|precise| precise[place]),
        near: None,
        precisely_near: None,
        mixed: scores[place],
        part: fits[place],
        disagreement: 0.0,
        learned: None,
        score: scores[place],
    };
    (0..candidates.len()).map(scored).collect()
}

fn pick(sums: &[f32], candidates: &[u32]) -> Vec<f32> {
    candidates.iter().map(|entry| sums[*entry as usize]).collect()
}

fn precise(asked: &Asked, meaning: &Meaning, candidates: &[u32]) -> Option<Vec<f32>> {
    let likeness = asked.precise.as_ref()?.likeness(meaning.precise.as_ref()?, candidates);
    let most = greatest(&likeness);
    Some(likeness.into_iter().map(|likeness| likeness / most).collect())
}

/// All sides, each against the best there is.
fn mixed(lexical: &[f32], semantic: &[f32], precise: Option<&[f32]>) -> Vec<f32> {
    let (words, meaning) = (greatest(lexical), greatest(semantic));
    let share = if precise.is_some() { PRECISE_MEANING } else { MEANING };
    let mix = |place: usize| {
        let fast = semantic[place] / meaning;
        let both = precise.map_or(fast, |precise| (1.0 - ENCODER) * fast + ENCODER * precise[place]);
        (1.0 - share) * lexical[place] / words + share * both
    };
    (0..lexical.len()).map(mix).collect()
}

pub(crate) fn greatest(values: &[f32]) -> f32 {
    values.iter().fold(f32::MIN_POSITIVE, |most, value| most.max(*value))
}

/// One part of the request, compared with the candidates.
struct Compared {
    /// Mixed, as of a whole request.
    scores: Vec<f32>,
    /// How alike the most alike is.
    closest: f32,
}

/// How much the parts count. Where there are many, a list is told from a story by what each of them finds: what is a request
/// of its own comes closer to some entry than all of them together do, what only adds to the story does not.
fn share_of_parts(parts: &[Compared], closest: f32) -> f32 {
    if parts.len() < LIST {
        return PART;
    }
    let alone = parts.iter().filter(|part| part.closest > closest).count() as f32 / parts.len() as f32;
    let list = ((alone - SOME_ALONE) / MORE_ALONE).clamp(0.0, 1.0);
    PART_OF_STORY + list * (PART_OF_LIST - PART_OF_STORY)
}

fn parts(index: &Index, asked: &Asked, sums: &Sums, candidates: &[u32]) -> Vec<Compared> {
    let part = |(clause, sums): (&Clause, &Vec<f32>)| {
        let semantic = index.base.vectors.likeness(&clause.meaning.fast, candidates);
        let scores = mixed(&pick(sums, candidates), &semantic, precise(asked, &clause.meaning, candidates).as_deref());
        Compared { scores, closest: greatest(&semantic) }
    };
    asked.clauses.iter().zip(&sums.clauses).map(part).collect()
}

/// Adds what the deeds of the best are worth in the light of the one that is wanted. The others stay behind them.
fn weigh_deeds(index: &Index, asked: &Asked, ranked: &mut [Scored]) {
    let count = ranked.len().min(WEIGHED);
    let (best, rest) = ranked.split_at_mut(count);
    for scored in best.iter_mut() {
        let (worth, disagreement) = asked.wanted.judge(&index.base.documents[scored.entry].done);
        scored.score += worth;
        scored.disagreement = disagreement;
    }
    stay_behind(best, rest);
}

/// Adds what was learned. What does something else than is wanted gains nothing, however often it was called; unless that was
/// after the same words, and nothing grave is done: then its deed is not held against it either.
fn lift(index: &Index, asked: &Asked, ranked: &mut [Scored], lifts: &BTreeMap<usize, Lift>) {
    if lifts.is_empty() {
        return;
    }
    for scored in ranked {
        let Some(lift) = lifts.get(&scored.entry) else { continue };
        let done = &index.base.documents[scored.entry].done;
        let (worth, disagreement) = asked.wanted.judge(done);
        let meant = lift.same && !asked.wanted.is_grave(done);
        // Only the best were weighed.
        if meant && scored.disagreement > 0.0 {
            scored.score -= worth.min(0.0);
            scored.disagreement = 0.0;
        }
        let score = if meant { lift.score } else { lift.score * (1.0 - disagreement.clamp(0.0, 1.0)) };
        scored.score += score;
        scored.learned = Some(Lift { score, ..*lift });
    }
}

/// No score of the rest is above the least of the best.
pub(crate) fn stay_behind(best: &[Scored], rest: &mut [Scored]) {
    let least = best.iter().map(|scored| scored.score).fold(f32::MAX, f32::min);
    rest.iter_mut().for_each(|scored| scored.score = scored.score.min(least));
}
