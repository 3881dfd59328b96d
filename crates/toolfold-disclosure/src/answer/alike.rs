//! Tools of several servers that do the same stand in one line: whoever asks wants it done, and seldom cares by whom.
//!
//! What a reader would get wrong: the same name is not enough. Two servers both create issues, one of GitHub and one of
//! GitLab; a sentence that names its own service keeps them apart. Nor is the same word always the same thing: a branch of a
//! database and one of a repository are at home in different nodes, and then nearly every word has to be the same.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use toolfold_core::{Entry, words};
use toolfold_index::Hit;

use crate::level::lines;
use crate::view::View;

/// The share of the words of two summaries that both must have; and where one of the names has a word in front that the
/// other has not, which may be a service's, or where they are at home in different nodes.
const SAME_WORDS: f32 = 0.5;
const NEARLY_ALL_WORDS: f32 = 0.8;
/// A server that is preferred comes first among those that do the same, unless the request is so much more about another.
const NEARLY_AS_GOOD: f32 = 0.2;
const MOST_NAMED: usize = 3;
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

/// Hits that do the same in one line, where the best of them stood.
pub(super) fn joined(view: &View<'_>, hits: &[Hit]) -> Vec<Line> {
    let mut lines: Vec<(Line, Deed<'_>)> = Vec::with_capacity(hits.len());
    for (place, hit) in hits.iter().enumerate() {
        let deed = Deed::of(view.entry(hit.entry));
        let home = |line: &Line| view.home(line.entry) == view.home(hit.entry);
        let is_same = |line: &Line, other: &Deed<'_>| {
            let least = if home(line) { SAME_WORDS } else { NEARLY_ALL_WORDS };
            is_elsewhere(view, line, hit.entry) && deed.is(other, least)
        };
        let same = lines.iter_mut().find(|(line, other)| is_same(line, other));
        match same {
            Some((line, _)) => join(view, line, hit),
            None => lines.push((Line::new(place, hit), deed)),
        }
    }
    lines.into_iter().map(|(line, _)| line).collect()
}

/// Near-copies by one server are the index's to fold.
fn is_elsewhere(view: &View<'_>, line: &Line, entry: usize) -> bool {
    let server = |position: usize| view.entry(position).server();
    std::iter::once(line.entry).chain(line.also.iter().copied()).all(|other| server(other) != server(entry))
}

fn join(view: &View<'_>, line: &mut Line, hit: &Hit) {
    let takes_something = |position: usize| lines(view.entry(position)).signature.as_deref() != Some("");
    let rank = |position: usize| view.preference(view.entry(position).server());
    let close = hit.confidence >= NEARLY_AS_GOOD * line.confidence;
    // A tool that takes nothing, where the same one elsewhere takes something, comes of a broken list.
    let broken = !takes_something(line.entry) && takes_something(hit.entry);
    let preferred = rank(hit.entry) < rank(line.entry) && takes_something(hit.entry) >= takes_something(line.entry);
    if broken || (preferred && close) {
        line.also.insert(0, std::mem::replace(&mut line.entry, hit.entry));
        line.copies = hit.copies;
    } else {
        line.also.push(hit.entry);
    }
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
        Deed { entry, name, sorted, server, summary: OnceCell::new() }
    }

    fn summary(&self) -> &BTreeSet<String> {
        let long = |word: &String| word.chars().count() > 2;
        self.summary.get_or_init(|| plain(whole_words(&lines(self.entry).summary)).filter(long).collect())
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
