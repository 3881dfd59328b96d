//! Nodes for a query: by their own words, and by the entries in them that answer it. The second is what finds a node
//! whose name says something else than the asker did.

use toolfold_catalog::{Node, SERVERS};
use toolfold_core::{Kind, words};
use toolfold_index::{Filter, Query};

use crate::view::View;

/// Hits that have a say.
const VOTERS: usize = 30;
/// A node all of whose words are asked for is nearly certain.
const BY_WORDS: f32 = 0.9;
/// What a node loses that holds much else beside the hits.
const DILUTED: f32 = 0.3;
const LEAST: f32 = 0.05;
/// What is left where a node is what was asked for: others that have half of the words are only filling.
const BESIDE: f32 = 0.6;
/// What words of one family end with.
const ENDINGS: [&str; 12] = ["", "s", "e", "es", "ed", "er", "ers", "ing", "ings", "ion", "ions", "ment"];

/// The nodes below one, best first, with a confidence in 0..1.
pub(crate) fn rank<'a>(view: &View<'a>, query: &str, below: &'a Node) -> Vec<(f32, &'a Node)> {
    let filter = Filter { within: Some(&below.entries), kind: Some(Kind::Tool), ..Filter::default() };
    let found = view.search(Query { text: query, filter, limit: VOTERS, offset: 0, ..Query::default() });
    let hits: Vec<(usize, f32)> = found.hits.iter().map(|hit| (hit.entry, hit.confidence)).collect();
    let asked: Vec<String> = words::split(query).into_iter().filter(|word| word.chars().count() > 2).collect();
    let candidates = view.walk(below).into_iter().skip(1).filter(|node| !is_heading(node));
    let mut ranked: Vec<(f32, &Node)> = candidates
        .map(|node| (by_words(&asked, node).max(by_hits(&hits, node)), node))
        .filter(|(confidence, _)| *confidence >= LEAST)
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    if ranked.first().is_some_and(|(best, _)| *best >= BY_WORDS) {
        ranked.retain(|(confidence, _)| *confidence >= BESIDE);
    }
    ranked
}

/// `Servers` itself holds everything, and so says nothing.
fn is_heading(node: &Node) -> bool {
    node.path.len() == 1 && node.path[0] == SERVERS
}

/// The share of what was asked that the node says of itself.
fn by_words(asked: &[String], node: &Node) -> f32 {
    let texts = node.path.iter().chain([&node.summary]).chain(&node.tags).chain(&node.aliases);
    let own: Vec<String> = texts.flat_map(|text| words::split(text)).collect();
    let said = |word: &&String| own.iter().any(|own| alike(word, own));
    BY_WORDS * asked.iter().filter(said).count() as f32 / asked.len().max(1) as f32
}

/// `log` and `logs`, `upload` and `uploading`, `invoicing` and `invoices`: the same beginning, at least four letters long, or five
/// where both go on.
fn alike(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let same = a.char_indices().zip(b.chars()).take_while(|((_, a), b)| a == b).map(|((at, a), _)| at + a.len_utf8());
    let stem = same.last().unwrap_or(0);
    let ends = |word: &str| ENDINGS.contains(&&word[stem..]);
    a == b
        || (short.chars().count() > 3 && long.starts_with(short))
        || long.strip_suffix('s') == Some(short)
        || (stem > 4 && ends(a) && ends(b))
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
    use super::alike;

    #[test]
    fn words_of_one_family_are_alike_and_words_that_begin_alike_are_not() {
        for (one, other) in [("invoicing", "invoices"), ("logs", "log"), ("uploading", "upload"), ("users", "user")] {
            assert!(alike(one, other) && alike(other, one), "{one} {other}");
        }
        for (one, other) in [("interest", "interview"), ("life", "line"), ("conversion", "conversation")] {
            assert!(!alike(one, other), "{one} {other}");
        }
    }
}
