//! What a whole answer of `find_tools` costs beside ranking alone, on one core: `cargo run --release -p toolfold-bench
//! --bin answers`. The first round is not counted: lines are made once and then kept.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use toolfold_bench::{catalog, grown, read_queries, read_tools};
use toolfold_core::Surface;
use toolfold_disclosure::{View, answer, route};
use toolfold_index::{Index, Placement, Query};
use toolfold_wire::{Raw, raw};

const SIZES: [usize; 2] = [300, 3000];
const ROUNDS: usize = 7;

#[expect(clippy::print_stdout, reason = "it is for reading")]
fn main() -> std::io::Result<()> {
    let eval = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../eval");
    let (mut tools, mut queries) = (Vec::new(), Vec::new());
    for set in ["toolbox", "project"] {
        tools.extend(read_tools(&eval.join(set).join("tools.jsonl"))?);
        queries.extend(read_queries(&eval.join(set).join("queries.jsonl"))?);
    }
    queries.truncate(200);
    let asked: Vec<Raw> = queries.iter().map(|query| raw(&json!({"query": query}))).collect();
    for size in SIZES {
        let catalog = catalog(&grown(&tools, size));
        let index = Index::build(&catalog);
        let catalog = Placement::default().update(&[], &catalog, &index).apply(catalog);
        let view = View::new(&catalog, &index, 700);
        let whole = best(asked.len(), |number| {
            let action = route(Surface::Compact, &view, "find_tools", Some(&asked[number]));
            answer(Surface::Compact, &view, &action).map_or(0, |result| result.get().len())
        });
        let ranked = best(queries.len(), |number| {
            view.search(Query { text: &queries[number], limit: 10, ..Query::default() }).hits.len()
        });
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        println!("{size} tools: {:.0} µs an answer, {:.0} µs of it ranking", micros(whole), micros(ranked));
    }
    Ok(())
}

/// The mean time of one, in the best of several rounds.
fn best(count: usize, mut one: impl FnMut(usize) -> usize) -> Duration {
    let mut round = || {
        let start = Instant::now();
        let done: usize = (0..count).map(&mut one).sum();
        assert!(done > 0, "something is answered");
        start.elapsed() / count as u32
    };
    round();
    (0..ROUNDS).map(|_| round()).min().unwrap_or_default()
}
