//! Nodes for a query: by their own words, and by the entries in them that answer it. The second is what finds a node
//! whose name says something else than the asker did.
//!
//! What a reader would get wrong: words are not worth the same everywhere. What a node is called counts more than what it is said to
//! be about, or everything that has files would come before the node of that name.

use std::cmp::{Ordering, Reverse};

use toolfold_catalog::{Node, SERVERS};
use toolfold_core::{Kind, words};
use toolfold_index::{Filter, Query};

use crate::view::View;

/// Hits that have a say.
const VOTERS: usize = 30;
/// How sure it is of a node that is called what was asked for, and of one that is but for endings.
const CALLED: f32 = 0.98;
const NEARLY_CALLED: f32 = 0.95;
/// What each word that was asked for counts, by where a node has it: in a name of its own, in one above it, among its tags, in what
/// is said of it.
const OWN: f32 = 0.9;
const ABOVE: f32 = 0.8;
const TAG: f32 = 0.75;
const SAID: f32 = 0.7;
/// What a node loses that holds much else beside the hits.
const DILUTED: f32 = 0.3;
const LEAST: f32 = 0.05;
/// What is left where a node is what was asked for: others that have half of the words are only filling.
const BESIDE: f32 = 0.6;
/// Nodes that are suggested, and how much of what was asked for one must have.
const SUGGESTED: usize = 3;
const SUGGESTIBLE: f32 = 0.4;
/// Words that are looked for.
const MOST_WORDS: usize = 32;
/// Words that say nothing of a node.
const SMALL: [&str; 6] = ["and", "for", "from", "the", "to", "with"];
/// What words of one family end with.
const ENDINGS: [&str; 17] =
    ["", "s", "e", "es", "ed", "er", "ers", "or", "ors", "ing", "ings", "ion", "ions", "ment", "y", "ies", "ied"];

/// The nodes below one, best first, with a confidence in 0..1.
pub(crate) fn rank<'a>(view: &View<'a>, query: &str, below: &'a Node) -> Vec<(f32, &'a Node)> {
    let filter = Filter { within: Some(&below.entries), kind: Some(Kind::Tool), ..Filter::default() };
    let found = view.search(Query { text: query, filter, limit: VOTERS, offset: 0, ..Query::default() });
    let hits: Vec<(usize, f32)> = found.hits.iter().map(|hit| (hit.entry, hit.confidence)).collect();
    let asked = Asked::new(query);
    let mut ranked: Vec<(f32, &Node)> = candidates(view, below)
        .map(|node| (asked.of(node).max(by_hits(&hits, node)), node))
        .filter(|(confidence, _)| *confidence >= LEAST)
        .collect();
    ranked.sort_by(best_first);
    if ranked.first().is_some_and(|(best, _)| *best >= OWN) {
        ranked.retain(|(confidence, _)| *confidence >= BESIDE);
    }
    ranked
}

/// The nodes that have the words of what is no node's path, the best first: of those below the one that the path leads to, where
/// some have; and only servers where one was asked for.
pub(crate) fn like<'a>(view: &View<'a>, asked: &[String]) -> Vec<&'a Node> {
    let led = (0..asked.len()).rev().find_map(|depth| Some((depth, view.node(&asked[..depth]).ok()?)));
    let (depth, start) = led.unwrap_or((0, view.root()));
    let wanted = Asked::new(&asked[depth..].join(" "));
    let mut best = wanted.best(candidates(view, start));
    if best.is_empty() && !is_heading(start) {
        best = wanted.best(candidates(view, view.root()));
    }
    best
}

fn candidates<'a>(view: &View<'a>, below: &'a Node) -> impl Iterator<Item = &'a Node> {
    view.walk(below).into_iter().skip(1).filter(|node| !is_heading(node))
}

/// Of equals a capability comes before a server, and what is said more exactly before what it belongs to.
fn best_first(a: &(f32, &Node), b: &(f32, &Node)) -> Ordering {
    let exact = |node: &Node| (is_server(node), Reverse(node.path.len()));
    b.0.total_cmp(&a.0).then_with(|| exact(a.1).cmp(&exact(b.1))).then_with(|| a.1.path.cmp(&b.1.path))
}

fn is_server(node: &Node) -> bool {
    node.path.first().is_some_and(|root| root == SERVERS)
}

/// `Servers` itself holds everything, and so says nothing.
fn is_heading(node: &Node) -> bool {
    node.path.len() == 1 && is_server(node)
}

/// What is asked for: all of its words, and those that say something.
struct Asked {
    all: Vec<String>,
    telling: Vec<String>,
}

impl Asked {
    fn new(query: &str) -> Asked {
        let all = plain_words(query);
        let tells = |word: &&String| word.chars().count() > 2 && !SMALL.contains(&word.as_str());
        Asked { telling: all.iter().filter(tells).take(MOST_WORDS).cloned().collect(), all }
    }

    /// How sure it is of a node by the node's own words.
    fn of(&self, node: &Node) -> f32 {
        if self.is_name_of(node, |asked, own| asked == own) {
            return CALLED;
        }
        if self.is_name_of(node, alike) {
            return NEARLY_CALLED;
        }
        let words = Words::of(node);
        self.telling.iter().map(|word| words.worth(word)).sum::<f32>() / self.telling.len().max(1) as f32
    }

    /// Whether a name of the node, or its path, is all that is asked for.
    fn is_name_of(&self, node: &Node, same: impl Fn(&str, &str) -> bool) -> bool {
        let path = node.path.join(" ");
        let mut names = node.path.last().into_iter().chain(&node.aliases).chain([&path]).map(|name| plain_words(name));
        let is = |name: Vec<String>| {
            name.len() == self.all.len() && name.iter().zip(&self.all).all(|(own, asked)| same(asked, own))
        };
        !self.all.is_empty() && names.any(is)
    }

    /// The few that have most of it.
    fn best<'a>(&self, nodes: impl Iterator<Item = &'a Node>) -> Vec<&'a Node> {
        let mut ranked: Vec<(f32, &Node)> =
            nodes.map(|node| (self.of(node), node)).filter(|(worth, _)| *worth >= SUGGESTIBLE).collect();
        ranked.sort_by(best_first);
        ranked.into_iter().take(SUGGESTED).map(|(_, node)| node).collect()
    }
}

/// The words of a node, by where they stand.
struct Words([(f32, Vec<String>); 4]);

impl Words {
    fn of(node: &Node) -> Words {
        let words = |texts: &mut dyn Iterator<Item = &String>| texts.flat_map(|text| plain_words(text)).collect();
        let own = words(&mut node.path.last().into_iter().chain(&node.aliases));
        // That a server is one says nothing of it.
        let above = if is_server(node) { Vec::new() } else { words(&mut node.path.iter().rev().skip(1)) };
        let said = words(&mut [&node.summary].into_iter());
        Words([(OWN, own), (ABOVE, above), (TAG, words(&mut node.tags.iter())), (SAID, said)])
    }

    fn worth(&self, asked: &str) -> f32 {
        let has = |words: &[String]| words.iter().any(|own| alike(asked, own));
        self.0.iter().find(|(_, words)| has(words)).map_or(0.0, |(worth, _)| *worth)
    }
}

/// Capitals inside a word of ours say nothing: `APIs` is one word.
fn plain_words(text: &str) -> Vec<String> {
    words::split(&text.to_lowercase())
}

/// `log` and `logs`, `upload` and `uploading`, `invoicing` and `invoices`: one is the other with an ending, or both are the same five
/// letters and more with an ending each.
fn alike(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let same = a.char_indices().zip(b.chars()).take_while(|((_, a), b)| a == b).map(|((at, a), _)| at + a.len_utf8());
    let stem = same.last().unwrap_or(0);
    let ends = |word: &str| ENDINGS.contains(&&word[stem..]);
    a == b || goes_on(short, long) || (stem > 4 && ends(a) && ends(b))
}

/// Whether the long word is the short one and an ending: `plan`, `plans` and `planning`, but not `file` and `filesystem`.
fn goes_on(short: &str, long: &str) -> bool {
    let Some(rest) = long.strip_prefix(short) else { return false };
    let doubled = short.chars().next_back().and_then(|last| rest.strip_prefix(last));
    rest == "s"
        || (short.chars().count() > 3 && [Some(rest), doubled].iter().flatten().any(|rest| ENDINGS.contains(rest)))
}

/// The best hit in the node, less where the node is full of other things.
fn by_hits(hits: &[(usize, f32)], node: &Node) -> f32 {
    let inside: Vec<f32> =
        hits.iter().filter(|(entry, _)| node.holds(*entry)).map(|(_, confidence)| *confidence).collect();
    let best = inside.iter().copied().fold(0.0, f32::max);
    let density = inside.len() as f32 / node.entries.len().max(1) as f32;
    best * (1.0 - DILUTED * (1.0 - density))
}

#[cfg(test)]
mod tests {
    use toolfold_catalog::Node;

    use super::{alike, best_first};

    #[test]
    fn of_equals_a_capability_comes_before_a_server_and_the_deeper_one_first() {
        let node =
            |path: &[&str]| Node { path: path.iter().map(|name| (*name).to_owned()).collect(), ..Node::default() };
        let nodes =
            [node(&["Servers", "calendars"]), node(&["Office"]), node(&["Office", "Calendar"]), node(&["Data"])];
        let mut ranked: Vec<(f32, &Node)> = nodes.iter().map(|node| (0.9, node)).collect();
        ranked.push((0.95, &nodes[0]));
        ranked.sort_by(best_first);
        let paths: Vec<String> = ranked.iter().map(|(_, node)| node.path.join("/")).collect();
        assert_eq!(paths, ["Servers/calendars", "Office/Calendar", "Data", "Office", "Servers/calendars"]);
    }

    #[test]
    fn words_of_one_family_are_alike_and_words_that_begin_alike_are_not() {
        for (one, other) in [
            ("invoicing", "invoices"),
            ("logs", "log"),
            ("uploading", "upload"),
            ("users", "user"),
            ("shop", "shopping"),
            ("repository", "repositories"),
            ("translate", "translator"),
        ] {
            assert!(alike(one, other) && alike(other, one), "{one} {other}");
        }
        for (one, other) in [
            ("interest", "interview"),
            ("life", "line"),
            ("conversion", "conversation"),
            ("file", "filesystem"),
            ("data", "database"),
            ("port", "portal"),
            ("set", "settings"),
        ] {
            assert!(!alike(one, other), "{one} {other}");
        }
    }
}
