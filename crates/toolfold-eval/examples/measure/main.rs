//! Measures search on sets and on real lists of tools, quickly: the figures of ranking alone, and with `--failures` what
//! came first where something else was right.
//!
//! `measure [--failures] [--answers] [--precise=FILE] PLACE…`, where a place is a folder with `tools.jsonl` and `queries.jsonl`, a folder of such
//! folders, or `CATALOGS:QUERIES` (a folder of servers' lists as they answer `tools/list`, and a file of queries over them).
//! With `--told` it prints what `find_tools` answers to each query, with `--lines` the line of every tool, to be read.
//! With `--places` it prints where each tool is in the tree, with `--study` what the tree's weights are trained on.
//! With `--precise` the encoder in that file takes part; `--vectors=FILE` keeps what it made of each tool for the next time.
#![allow(clippy::print_stdout, reason = "a program for people")]

mod places;
mod precise;

use std::path::PathBuf;
use std::time::Instant;

use toolfold_catalog::{Node, SERVERS};
use toolfold_disclosure::{level, tokens};
use toolfold_eval::{Answers, BadSet, EvalSet, Metrics, told};
use toolfold_index::{Index, Placement, Query, study};

const DEPTH: usize = 10;
/// How many hits are written down with `--features`.
const WRITTEN: usize = 60;

fn main() -> Result<(), BadSet> {
    let (flags, places): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let has = |name: &str| flags.iter().any(|flag| flag == name);
    let file = |name: &str| flags.iter().find_map(|flag| flag.strip_prefix(name)).map(PathBuf::from);
    let (precise, vectors) = (file("--precise="), file("--vectors="));
    let failures = has("--failures");
    let mut gains = Vec::new();
    for place in places.iter().flat_map(|place| places::sets(place)) {
        let set = places::read(&place)?;
        let mut index = Index::build(&set.catalog);
        if let Some(weights) = &precise {
            index = precise::with_vectors(index, &set.catalog, weights, vectors.as_deref());
        }
        if has("--places") {
            write_places(set, &index);
            continue;
        }
        if has("--study") {
            study(&set.catalog, &index).iter().for_each(|line| println!("{line}"));
            continue;
        }
        if has("--lines") {
            write_lines(&set);
            continue;
        }
        if has("--told") {
            write_answers(&set, &index);
            continue;
        }
        if has("--features") {
            write_features(&place, &set, &index);
            continue;
        }
        gains.push(measure(&place, &set, &index, failures));
        if has("--answers") {
            let answers = Answers::of(&set, &index);
            println!(
                "  answers: {:.1} tokens, {:.2} tools, {:.2} of the right ones, {:.2} doubted",
                answers.answer_tokens, answers.answer_tools, answers.answer_recall, answers.answer_doubted
            );
        }
    }
    println!("mean NDCG@10 {:.2}", gains.iter().sum::<f64>() / gains.len().max(1) as f64);
    Ok(())
}

fn measure(place: &str, set: &EvalSet, index: &Index, failures: bool) -> f64 {
    let mut metrics = Metrics::default();
    for query in &set.queries {
        let begun = Instant::now();
        let found = index.search(&set.catalog, &Query { text: &query.text, limit: DEPTH, ..Query::default() });
        let took = begun.elapsed();
        let ranks: Vec<usize> = found.hits.iter().map(|hit| hit.entry).collect();
        let right = |entry: &usize| query.relevant.contains(entry);
        match query.relevant.is_empty() {
            true => metrics.add_unanswerable(found.hits.first().map_or(0.0, |hit| hit.confidence), took),
            false => metrics.add(&ranks, &query.relevant, took),
        }
        if failures && !ranks.first().is_some_and(right) {
            println!("{:?}: right is {:?}", query.text, ranks.iter().position(right).map(|place| place + 1));
            for hit in found.hits.iter().take(5) {
                let mark = if right(&hit.entry) { '+' } else { ' ' };
                println!("  {mark} {:.2} {:.2} {}", hit.confidence, hit.score, set.catalog.entry(hit.entry).id);
            }
        }
    }
    let figures = metrics.finish(None);
    println!(
        "{place}: {} queries, first {:.1}, first five {:.1}, R@10 {:.1}, NDCG@10 {:.2}, p50 {:.0} µs, p99 {:.0} µs",
        figures.queries,
        figures.hit_1,
        figures.hit_5,
        figures.recall_10,
        figures.ndcg_10,
        figures.p50_microseconds,
        figures.p99_microseconds
    );
    figures.ndcg_10
}

fn write_lines(set: &EvalSet) {
    for entry in set.catalog.entries() {
        let signature = level::signature(entry);
        println!("{}({}) — {}", entry.id, signature.text, level::summary(entry));
    }
}

/// Each query with the answer to it, as a model gets it.
fn write_answers(set: &EvalSet, index: &Index) {
    for query in &set.queries {
        let text = told(set, index, &query.text);
        println!("> {} ({} tokens)\n{text}\n", query.text, tokens::count(&text));
    }
}

/// A line for each tool: the nodes it is in, its home first.
fn write_places(set: EvalSet, index: &Index) {
    let catalog = Placement::default().update(&[], &set.catalog, index).apply(set.catalog);
    let nodes: Vec<_> =
        catalog.root().children.iter().filter(|root| root.name() != SERVERS).flat_map(Node::walk).collect();
    for (position, entry) in catalog.entries().iter().enumerate() {
        let own = nodes.iter().filter(|node| node.own_entries().contains(&position)).map(|node| node.path.join("/"));
        let mut places: Vec<String> = own.collect();
        let home = catalog.home(position).map(|path| path.join("/")).unwrap_or_default();
        places.sort_by_key(|place| *place != home);
        let summary: String = entry.description.chars().take(110).map(|c| if c == '\n' { ' ' } else { c }).collect();
        println!("{} | {} | {summary}", entry.id, places.join(" + "));
    }
}

/// A line for each query: what was compared of each of the best hits, for `training/deeds.py`.
fn write_features(place: &str, set: &EvalSet, index: &Index) {
    for query in &set.queries {
        let ask = Query { text: &query.text, limit: WRITTEN, explain: true, ..Query::default() };
        let hits: Vec<serde_json::Value> = index
            .search(&set.catalog, &ask)
            .hits
            .iter()
            .map(|hit| {
                let explain = &hit.explain;
                serde_json::json!({
                    "id": set.catalog.entry(hit.entry).id.to_string(), "right": query.relevant.contains(&hit.entry),
                    "named": explain.named, "confidence": hit.confidence, "score": hit.score, "lexical": explain.lexical,
                    "semantic": explain.semantic, "precise": explain.precise, "near": explain.near,
                    "precisely_near": explain.precisely_near, "mixed": explain.mixed, "deed": explain.deeds,
                    "least_near": explain.least_near,
                })
            })
            .collect();
        println!(
            "{}",
            serde_json::json!({"set": place, "entries": index.len(), "query": query.text, "relevant": query.relevant.len(), "hits": hits})
        );
    }
}
