//! Ranked entries, one line each; and what to say when there are none.

use toolfold_catalog::{Node, SERVERS};
use toolfold_core::{Code, Next, Refusal, ServerName};
use toolfold_index::{FLOOR, Filter, Found, Hit, Query};
use toolfold_wire::Raw;

use super::alike::{self, Line};
use super::browse::{empty, with_note};
use super::budget::{Item, cost, fit};
use super::{enough, more, reader};
use crate::cursor::Cursor;
use crate::level::Level;
use crate::surface::{Search, node, note, text_result};
use crate::view::View;

/// Below this the best hit is a guess, and said to be one. Low on purpose: "no close match" above the right tool costs a
/// second search, a doubtful hit without a warning only a look.
const DOUBTFUL: f32 = 0.15;
/// Below this hardly anything here can be meant at all, however far the best hit is ahead of the others; unless it is as sure as that.
const UNLIKE: f32 = 0.13;
const SURE: f32 = 0.8;
pub const DOUBT: &str = "No close match. The nearest:";
const NODES_NAMED: usize = 12;
const NODES_HINTED: usize = 3;
/// Words of a phrase; more are a sentence.
const FEW_WORDS: usize = 2;
/// Small words of languages that are not written otherwise than English.
const FOREIGN: [&str; 24] = [
    "der", "die", "das", "den", "dem", "ein", "eine", "einen", "und", "le", "les", "un", "une", "du", "des", "el",
    "los", "una", "il", "di", "het", "een", "um", "uma",
];
/// Hits that are looked at where as many are shown as it takes.
const LOOKED_AT: usize = 30;

/// An answer to a search, and which entries it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    pub text: String,
    /// Their positions, in the order of the lines.
    pub entries: Vec<usize>,
}

pub(crate) fn search(view: &View<'_>, search: &Search) -> Result<Raw, Refusal> {
    answered(view, search).map(|answered| text_result(&answered.text))
}

/// What whoever searches gets to read.
pub fn answered(view: &View<'_>, search: &Search) -> Result<Answered, Refusal> {
    let node = node(view, &search.path)?;
    let within = (!node.path.is_empty()).then_some(node.entries.as_slice());
    let found = find(view, search, within, false);
    let reader = reader::line(view, search);
    if let (Some(reader), 0) = (&reader, found.total) {
        return Ok(Answered { text: reader.clone(), entries: Vec::new() });
    }
    if found.total == 0 {
        return nothing(view, search, node).map(|text| Answered { text, entries: Vec::new() });
    }
    if found.hits.is_empty() {
        let message = "There is nothing behind this cursor any more: what is served has changed. Ask again without it.";
        return Err(Refusal::new(Code::InvalidCursor, message).next(Next::Search { query: search.query.clone() }));
    }
    Ok(page(view, search, &found, reader))
}

/// The hits that [`answered`] has lines of, before any budget, for people, whose lines are written otherwise.
#[derive(Debug)]
pub struct ShownHits {
    /// With why each was found, and the remark in which other servers the same is.
    pub hits: Vec<(Hit, String)>,
    /// The best is a guess.
    pub doubtful: bool,
    pub total: usize,
}

/// What whoever searches is shown.
pub fn shown(view: &View<'_>, search: &Search) -> Result<ShownHits, Refusal> {
    let node = node(view, &search.path)?;
    let within = (!node.path.is_empty()).then_some(node.entries.as_slice());
    let found = find(view, search, within, true);
    let (lines, wanted) = lines(view, search, &found);
    let hit = |line: &Line| found.hits.iter().find(|hit| hit.entry == line.entry).cloned();
    let hits = lines[..wanted].iter().filter_map(|line| Some((hit(line)?, line.also_in(view))));
    let doubtful = !found.hits.is_empty() && is_doubtful(&found);
    Ok(ShownHits { hits: hits.collect(), doubtful, total: found.total })
}

fn find(view: &View<'_>, search: &Search, within: Option<&[usize]>, explain: bool) -> Found {
    let filter = Filter { within, kind: search.kind, ..Filter::default() };
    let Search { query, limit, offset, .. } = search;
    let query = Query { text: query, filter, limit: *limit, offset: *offset, explain, ..Query::default() };
    if search.as_needed {
        // What is no answer by itself may be one beside others: how many are shown decides.
        let found = view.rank(Query { limit: LOOKED_AT, ..query.clone() });
        return if is_something(view, search, &query, &found) { found } else { nothing_of(found) };
    }
    let found = view.search(query.clone());
    if found.total > 0 || within.is_none() {
        return found;
    }
    // Who says where gets what is there.
    let best = view.rank(Query { limit: 1, offset: 0, ..query.clone() });
    if is_something(view, search, &query, &best) { view.rank(query) } else { found }
}

fn nothing_of(found: Found) -> Found {
    Found { hits: Vec::new(), total: 0, answers: 0, ..found }
}

/// Whether the best could be meant. Below the floor a few words that it has none of fit nothing; a sentence may be about it after all.
fn is_something(view: &View<'_>, search: &Search, query: &Query<'_>, found: &Found) -> bool {
    let best = found.hits.first().map_or(0.0, |best| best.confidence);
    let sentence = search.query.split_whitespace().nth(FEW_WORDS).is_some();
    best >= FLOOR || (best >= enough::NOTHING && (sentence || shares_a_word(view, query)))
}

fn shares_a_word(view: &View<'_>, query: &Query<'_>) -> bool {
    let best = view.rank(Query { limit: 1, offset: 0, explain: true, ..query.clone() });
    best.hits.first().is_some_and(|best| !best.explain.terms.is_empty())
}

fn page(view: &View<'_>, search: &Search, found: &Found, reader: Option<String>) -> Answered {
    let doubtful = is_doubtful(found);
    let told = doubtful && search.offset == 0;
    let (lines, wanted) = lines(view, search, found);
    let items: Vec<Item<'_>> = (0..wanted).map(|place| item(view, search, &lines, place, doubtful)).collect();
    let rest = |shown: usize| cursor(search, found, &lines, shown);
    let note = note(view).filter(|_| search.offset == 0);
    // Room for a cursor is kept whether or not one is needed. Counting its tokens takes long, and nobody needs to know where there is
    // room for a token a byte.
    let first_rest = rest(1);
    let kept = |cost: fn(&str) -> usize| {
        first_rest.as_deref().map_or(0, |line| cost(line) + 2)
            + if told { cost(DOUBT) } else { 0 }
            + note.as_deref().map_or(0, cost)
            + reader.as_deref().map_or(0, cost)
    };
    let (all, most): (usize, usize) = (items.iter().map(Item::most).sum(), kept(|line| line.len() + 1));
    let reserved = if all + most <= view.budget() { most } else { kept(cost) };
    let mut text: Vec<String> = reader.into_iter().collect();
    text.extend(told.then(|| DOUBT.to_owned()));
    let shown = fit(&items, view.budget().saturating_sub(reserved));
    let entries = lines[..shown.len()].iter().flat_map(Line::entries).collect();
    let rest = rest(shown.len());
    text.extend(shown);
    text.extend(rest);
    text.extend(note);
    Answered { text: text.join("\n"), entries }
}

/// The hits as lines, and how many of them are worth reading.
fn lines(view: &View<'_>, search: &Search, found: &Found) -> (Vec<Line>, usize) {
    if search.as_needed {
        let lines = alike::joined(view, &found.hits[..enough::imaginable(&found.hits)]);
        let wanted = enough::shown(&lines, is_unlike(found));
        return (lines, wanted);
    }
    let lines = alike::apart(&found.hits);
    let wanted = lines.len();
    (lines, wanted)
}

/// Whether the best is a guess.
pub fn is_doubtful(found: &Found) -> bool {
    let best = found.hits.first().map_or(0.0, |best| best.confidence);
    best < DOUBTFUL || is_unlike(found)
}

/// Whether nothing here is about what is asked for.
fn is_unlike(found: &Found) -> bool {
    let best = found.hits.first().map_or(0.0, |best| best.confidence);
    found.fits < UNLIKE && best < SURE
}

fn item<'a>(view: &View<'a>, search: &Search, lines: &[Line], place: usize, doubtful: bool) -> Item<'a> {
    let line = &lines[place];
    let detail = if search.as_needed { enough::detail(lines, place, doubtful) } else { search.detail };
    let copies = if line.copies > 0 { format!(" (+{} like it)", line.copies) } else { String::new() };
    // A bare name needs no remark: it is there to be recognised.
    let suffix = if detail > Level::Name { copies + &line.also_in(view) } else { String::new() };
    Item::entry(view.entry(line.entry), detail, suffix)
}

/// The line behind which the rest is: nothing where no rest is worth reading.
fn cursor(search: &Search, found: &Found, lines: &[Line], shown: usize) -> Option<String> {
    let (offset, left) = if search.as_needed {
        rest(search, found, lines, shown)
    } else {
        let offset = search.offset + shown;
        (offset, found.total.saturating_sub(offset))
    };
    let Search { query, path, kind, detail, limit, .. } = search.clone();
    (left > 0).then(|| more(&Cursor { query, path, kind, detail, limit, offset, tags: Vec::new() }.encode(), left))
}

/// Where the page behind these lines begins, and how many hits follow from there. It counts answers alone, as every further page does;
/// in a node, where even the best is none, whatever is there.
fn rest(search: &Search, found: &Found, lines: &[Line], shown: usize) -> (usize, usize) {
    let (named_place, any_answer) = (!search.path.is_empty(), found.answers > 0);
    let unshown = lines.iter().skip(shown).map(|line| line.place).min();
    // Elsewhere what could hardly be meant is not offered.
    let first = unshown.or_else(|| named_place.then(|| enough::imaginable(&found.hits)));
    let Some(first) = first.filter(|_| !enough::is_clear(lines) && (any_answer || named_place)) else { return (0, 0) };
    if any_answer {
        let offset = found.hits.iter().take(first).filter(|hit| hit.is_answer).count();
        (offset, found.answers.saturating_sub(offset))
    } else {
        (first, found.total.saturating_sub(first))
    }
}

/// Nothing matched: where something would, or what there is at all.
fn nothing(view: &View<'_>, search: &Search, node: &Node) -> Result<String, Refusal> {
    if !node.path.is_empty() {
        return Err(not_in_node(view, search, node));
    }
    if view.is_empty() {
        return Ok(empty(view));
    }
    let query =
        Query { text: &search.query, filter: Filter { kind: search.kind, ..Filter::default() }, ..Query::default() };
    if is_foreign(&search.query) && !shares_a_word(view, &query) {
        return Ok(with_note(view, format!("No tool here fits {:?}: ask in English.", search.query)));
    }
    let nearest = nearest_nodes(view, search);
    let names: Vec<&str> = view.servers().map(ServerName::as_str).take(NODES_NAMED + 1).collect();
    let more = if names.len() > NODES_NAMED { ", …" } else { "" };
    let names = names[..names.len().min(NODES_NAMED)].join(", ");
    let nodes = if nearest.is_empty() { String::new() } else { format!(" Nearest nodes: {}.", nearest.join(", ")) };
    let text = format!(
        "No tool here fits {:?}.{nodes} Try other words for service and action, or browse with path. Servers: {names}{more}",
        search.query
    );
    Ok(with_note(view, text))
}

/// Whether a request is in another language than English, as far as its letters and its smallest words say.
fn is_foreign(query: &str) -> bool {
    let small = |word: &str| FOREIGN.contains(&word.to_lowercase().as_str());
    query.chars().any(|c| c.is_alphabetic() && !c.is_ascii()) || query.split_whitespace().any(small)
}

/// Where the best of what is no answer is at home.
fn nearest_nodes(view: &View<'_>, search: &Search) -> Vec<String> {
    let query = Query { text: &search.query, limit: NODES_NAMED, ..Query::default() };
    let hits = view.rank(query).hits;
    let mut nodes: Vec<String> = Vec::new();
    for path in hits.iter().filter_map(|hit| view.home(hit.entry)).map(|home| home.join("/")) {
        if !nodes.contains(&path) && nodes.len() < NODES_HINTED {
            nodes.push(path);
        }
    }
    nodes
}

/// Why there is nothing, and where there would be.
pub(crate) fn not_in_node(view: &View<'_>, search: &Search, node: &Node) -> Refusal {
    let elsewhere = find(view, &Search { limit: 20, offset: 0, as_needed: false, ..search.clone() }, None, false);
    let mut hints: Vec<String> = Vec::new();
    for hit in &elsewhere.hits {
        let server = [SERVERS, view.entry(hit.entry).server().as_str()].join("/");
        for path in view.home(hit.entry).map(|home| home.join("/")).into_iter().chain([server]) {
            if !hints.contains(&path) && hints.len() < NODES_HINTED {
                hints.push(path);
            }
        }
    }
    let place = if node.path.is_empty() { "the catalog".to_owned() } else { node.path.join("/") };
    let message = if hints.is_empty() {
        format!("Nothing in {place} matches {:?}, nor anything elsewhere. Try other words.", search.query)
    } else {
        format!("Nothing in {place} matches {:?}. The nodes in the hints have matches.", search.query)
    };
    let next = if hints.is_empty() {
        Next::Browse { path: node.path.clone() }
    } else {
        Next::Search { query: search.query.clone() }
    };
    Refusal::new(Code::NoMatchInCategory, message).hints(hints).next(next)
}
