//! Tools of several servers that do the same stand in one line: whoever asks wants it done, and seldom cares by whom.
//!
//! What a reader would get wrong: the same name is not enough. Two servers both create issues, one of GitHub and one of
//! GitLab; a sentence that names its own service keeps them apart. Nor is the same word always the same thing: a branch of a
//! database and one of a repository are at home in different nodes, and then nearly every word has to be the same. And what one of them
//! must be told the other must be able to take: logs of a pod in some cluster are not logs of a pod in this one.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use toolfold_core::{Entry, words};
use toolfold_index::Hit;

use crate::level::lines;
use crate::schema::{Parameter, parameters};
use crate::view::View;

/// The share of the words of two summaries that both must have; and where one of the names has a word in front that the
/// other has not, which may be a service's, or where they are at home in different nodes.
const SAME_WORDS: f32 = 0.5;
const NEARLY_ALL_WORDS: f32 = 0.8;
const MOST_NAMED: usize = 3;
/// Bytes of a definition whose parameters are compared, and parameters.
const LARGEST_COMPARED: usize = 256 * 1024;
const MOST_COMPARED: usize = 100;
/// Words of servers' names that name no service, and words that say nothing about what is done.
const SAID_OF_ANY: [&str; 14] =
    ["mcp", "server", "api", "tool", "the", "and", "for", "from", "with", "given", "new", "specific", "single", "all"];

/// A hit as it is shown, with those that do the same.
pub(super) struct Line {
    pub(super) entry: usize,
    pub(super) confidence: f32,
    pub(super) copies: usize,
    /// Among the hits.
    pub(super) place: usize,
    also: Vec<usize>,
}

impl Line {
    fn new(place: usize, hit: &Hit) -> Line {
        Line { entry: hit.entry, confidence: hit.confidence, copies: hit.copies, place, also: Vec::new() }
    }

    /// Everything that the line names.
    pub(super) fn entries(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.entry).chain(self.also.iter().copied().take(MOST_NAMED))
    }

    /// ` (also in gitlab-2)`; an id where the tool is called otherwise there.
    pub(super) fn also_in(&self, view: &View<'_>) -> String {
        if self.also.is_empty() {
            return String::new();
        }
        let own = view.entry(self.entry);
        let named = self.also.iter().take(MOST_NAMED).map(|&other| {
            let other = view.entry(other);
            if other.name() == own.name() { other.server().to_string() } else { other.id.to_string() }
        });
        let more = if self.also.len() > MOST_NAMED { ", …" } else { "" };
        format!(" (also in {}{more})", named.collect::<Vec<_>>().join(", "))
    }
}

/// Each hit in a line of its own.
pub(super) fn apart(hits: &[Hit]) -> Vec<Line> {
    hits.iter().enumerate().map(|(place, hit)| Line::new(place, hit)).collect()
}

/// Hits that do the same in one line, where the best of them stood. One of a preferred server comes before what is like it, unless the
/// request names the other's.
pub(super) fn joined(view: &View<'_>, request: &str, hits: &[Hit]) -> Vec<Line> {
    let asked: BTreeSet<String> = plain(whole_words(request)).collect();
    let mut lines: Vec<(Line, Deed<'_>)> = Vec::with_capacity(hits.len());
    for (place, hit) in hits.iter().enumerate() {
        let deed = Deed::of(view.entry(hit.entry));
        let home = |line: &Line| view.home(line.entry) == view.home(hit.entry);
        let is_same = |line: &Line, other: &Deed<'_>| {
            let least = if home(line) { SAME_WORDS } else { NEARLY_ALL_WORDS };
            is_elsewhere(view, line, hit.entry) && deed.is(other, least)
        };
        let leads = |line: &Line, other: &Deed<'_>| {
            let rank = |position: usize| view.preference(view.entry(position).server());
            let named = other.server.iter().any(|word| asked.contains(word) && !deed.server.contains(word));
            rank(hit.entry) < rank(line.entry) && !named
        };
        let like = lines.iter().position(|(line, other)| is_same(line, other));
        let same = lines.iter().position(|(line, other)| is_same(line, other) && deed.takes_what(other));
        match (same, like) {
            (Some(same), _) => {
                let (line, other) = &lines[same];
                let leads = leads(line, other);
                if join(view, &mut lines[same].0, hit, leads) {
                    lines[same].1 = deed;
                }
            }
            (None, Some(like)) if leads(&lines[like].0, &lines[like].1) => {
                let confidence = lines[like].0.confidence.max(hit.confidence);
                lines.insert(like, (Line { confidence, ..Line::new(place, hit) }, deed));
            }
            _ => lines.push((Line::new(place, hit), deed)),
        }
    }
    lines.into_iter().map(|(line, _)| line).collect()
}

/// Near-copies by one server are the index's to fold.
fn is_elsewhere(view: &View<'_>, line: &Line, entry: usize) -> bool {
    let server = |position: usize| view.entry(position).server();
    std::iter::once(line.entry).chain(line.also.iter().copied()).all(|other| server(other) != server(entry))
}

/// Whether the hit is now what the line shows. `leads`: whether it is preferred.
fn join(view: &View<'_>, line: &mut Line, hit: &Hit, leads: bool) -> bool {
    let takes_something = |position: usize| lines(view.entry(position)).signature.as_deref() != Some("");
    // A tool that takes nothing, where the same one elsewhere takes something, comes of a broken list.
    let broken = !takes_something(line.entry) && takes_something(hit.entry);
    let preferred = leads && takes_something(hit.entry) >= takes_something(line.entry);
    if broken || preferred {
        line.also.insert(0, std::mem::replace(&mut line.entry, hit.entry));
        line.copies = hit.copies;
    } else {
        line.also.push(hit.entry);
    }
    broken || preferred
}

/// What a tool does, as far as its name and its summary say. The summary is read where the names are alike, which is
/// seldom: every hit of a search is compared with every other.
struct Deed<'a> {
    entry: &'a Entry,
    /// The words of the name without those of the server's, in their order.
    name: Vec<String>,
    /// The same, each once and in order.
    sorted: Vec<String>,
    server: BTreeSet<String>,
    summary: OnceCell<BTreeSet<String>>,
    /// The words of each parameter's name, and whether it is required.
    parameters: OnceCell<Vec<(Vec<String>, bool)>>,
}

impl<'a> Deed<'a> {
    fn of(entry: &'a Entry) -> Self {
        let server: BTreeSet<String> = plain(whole_words(entry.server().as_str())).collect();
        let mut name: Vec<String> =
            plain(words::split(entry.name()).into_iter()).filter(|word| !server.contains(word)).collect();
        if !entry.is_tool() {
            name.clear();
        }
        let mut sorted = name.clone();
        sorted.sort_unstable();
        sorted.dedup();
        Deed { entry, name, sorted, server, summary: OnceCell::new(), parameters: OnceCell::new() }
    }

    fn summary(&self) -> &BTreeSet<String> {
        let long = |word: &String| word.chars().count() > 2;
        self.summary.get_or_init(|| plain(whole_words(&lines(self.entry).summary)).filter(long).collect())
    }

    fn parameters(&self) -> &[(Vec<String>, bool)] {
        self.parameters.get_or_init(|| {
            if self.entry.definition.get().len() > LARGEST_COMPARED {
                return Vec::new();
            }
            let schema = self.entry.input_schema();
            let all = parameters(&schema, &schema);
            let named = |parameter: &Parameter<'_>| (plain_name(parameter.name), parameter.required);
            all.list.iter().take(MOST_COMPARED).map(named).collect()
        })
    }

    /// Whether each takes what the other cannot do without. Of one that takes nothing at all nobody knows.
    fn takes_what(&self, other: &Deed<'_>) -> bool {
        let (own, others) = (self.parameters(), other.parameters());
        own.is_empty() || others.is_empty() || (met(own, others) && met(others, own))
    }

    /// `least` is how much alike the summaries have to be, whatever the names are.
    fn is(&self, other: &Deed<'_>, least: f32) -> bool {
        let Some(least) = self.likeness_of_names(other).map(|names| names.max(least)) else { return false };
        let shared = self.summary().intersection(other.summary()).count() as f32;
        let all = self.summary().union(other.summary()).count().max(1) as f32;
        shared >= least * all && !self.is_of_another(other) && !other.is_of_another(self)
    }

    /// How much alike the summaries have to be, where the names are: the same words in whatever order, or but for one in
    /// front, `browser_navigate` and `navigate`.
    fn likeness_of_names(&self, other: &Deed<'_>) -> Option<f32> {
        let (short, long) = if self.name.len() < other.name.len() { (self, other) } else { (other, self) };
        if short.name.is_empty() {
            return None;
        }
        if short.sorted == long.sorted {
            return Some(SAME_WORDS);
        }
        let behind = long.name.len() == short.name.len() + 1 && long.name.ends_with(&short.name);
        behind.then_some(NEARLY_ALL_WORDS)
    }

    /// Whether the summary names a service that the other one is not of.
    fn is_of_another(&self, other: &Deed<'_>) -> bool {
        let mut own = self.server.intersection(self.summary());
        own.any(|word| !other.server.contains(word) && !other.summary().contains(word))
    }
}

/// Whether everything that is required here is a parameter there, by the same name or by one with a word more.
fn met(required: &[(Vec<String>, bool)], there: &[(Vec<String>, bool)]) -> bool {
    let mut left: Vec<&Vec<String>> = there.iter().map(|(name, _)| name).collect();
    let mut loose: Vec<&Vec<String>> = Vec::new();
    for (name, _) in required.iter().filter(|(_, required)| *required) {
        match left.iter().position(|other| *other == name) {
            Some(place) => drop(left.swap_remove(place)),
            None => loose.push(name),
        }
    }
    let within = |a: &Vec<String>, b: &Vec<String>| a.iter().all(|word| b.contains(word));
    loose.into_iter().all(|name| {
        let place = left.iter().position(|other| within(name, other) || within(other, name));
        place.map(|place| left.swap_remove(place)).is_some()
    })
}

fn plain_name(name: &str) -> Vec<String> {
    plain(words::split(name).into_iter()).collect()
}

/// As they are written: a service's name is one word, however many capitals it has.
fn whole_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Words in one form each, as far as an `s` at the end makes another.
fn plain(words: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    let singular = |word: String| match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem.to_owned(),
        _ => word,
    };
    words.filter(|word| !SAID_OF_ANY.contains(&word.as_str())).map(singular)
}
