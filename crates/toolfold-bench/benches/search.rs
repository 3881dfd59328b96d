//! Search against a plain BM25 query of tantivy on the same catalog, round by round, on one thread.
//!
//!     cargo bench -p toolfold-bench                                # the repository's own tools, mixed to 20,000 and to 1,000,000
//!     cargo bench -p toolfold-bench -- TOOLS.jsonl [COUNT …]       # from these tools, at these sizes

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints and may fail")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{IndexReader, ReloadPolicy, doc};
use toolfold_bench::{Tool, catalog, grown, read_queries, read_tools};
use toolfold_catalog::Catalog;
use toolfold_index::{Index, Query, Ranker};

const ROUNDS: usize = 5;

/// A way to search: its name, and from a query to the number of hits.
type Named<'a> = (&'a str, &'a dyn Fn(&str) -> usize);

fn main() {
    let mut sources = Vec::new();
    let mut counts = Vec::new();
    for argument in std::env::args().skip(1).filter(|argument| !argument.starts_with("--")) {
        match argument.parse() {
            Ok(count) => counts.push(count),
            Err(_) => sources.push(PathBuf::from(argument)),
        }
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../eval");
    let sets = ["toolbox", "project"].map(|set| own.join(set));
    if sources.is_empty() {
        sources.extend(sets.iter().map(|set| set.join("tools.jsonl")));
    }
    if counts.is_empty() {
        counts = vec![20_000, 1_000_000];
    }
    let tools: Vec<Tool> = sources.iter().flat_map(|file| read_tools(file).unwrap()).collect();
    let queries: Vec<String> = sets.iter().flat_map(|set| read_queries(&set.join("queries.jsonl")).unwrap()).collect();
    println!("{} tools to begin with, {} queries, {ROUNDS} rounds", tools.len(), queries.len());
    counts.into_iter().for_each(|count| measure(&grown(&tools, count), &queries));
}

fn measure(tools: &[Tool], queries: &[String]) {
    let catalog = catalog(tools);
    let start = Instant::now();
    let index = Index::build(&catalog);
    let built = start.elapsed();
    println!(
        "\n{} tools: indexed in {:.2} s, {} bytes a tool",
        catalog.len(),
        built.as_secs_f64(),
        index.bytes() / catalog.len()
    );
    // What exists for somebody whose rules hide one server in ten: a catalog and an index of their own.
    let (share, part, took) = shared(&catalog, &index);
    println!(
        "{} of them for somebody with rules: built in {:.2} s, {} bytes a tool besides",
        share.len(),
        took.as_secs_f64(),
        part.bytes() / share.len()
    );
    let (reader, parser) = tantivy(tools);
    let with = |ranker| {
        let (index, catalog) = (&index, &catalog);
        move |text: &str| index.search(catalog, &Query { text, limit: 10, ranker, ..Query::default() }).hits.len()
    };
    let (fused, lexical) = (with(Ranker::Fused), with(Ranker::Lexical));
    let plain = |text: &str| {
        let query = parser.parse_query_lenient(text).0;
        reader.searcher().search(&query, &TopDocs::with_limit(10).order_by_score()).unwrap().len()
    };
    let ruled = |text: &str| part.search(&share, &Query { text, limit: 10, ..Query::default() }).hits.len();
    let searches: [Named<'_>; 4] = [
        ("tantivy, BM25", &plain),
        ("toolfold, words only", &lexical),
        ("toolfold", &fused),
        ("toolfold, with rules", &ruled),
    ];
    let mut times: [Vec<Duration>; 4] = Default::default();
    // All queries of one way before those of the next, as it is where only that way is used. Query by query the second search of
    // one index would find in the processor's cache what the first has read, and the search of another index would not.
    for _ in 0..ROUNDS {
        for ((_, search), times) in searches.iter().zip(&mut times) {
            for text in queries {
                let start = Instant::now();
                std::hint::black_box(search(text));
                times.push(start.elapsed());
            }
        }
    }
    let [floor, _, open, ruled] = times.clone().map(Quantiles::of);
    for ((name, _), times) in searches.iter().zip(times) {
        let Quantiles { p50, p99, mean } = Quantiles::of(times);
        println!(
            "{name:22} p50 {:9.1} µs  p99 {:9.1} µs  mean {:9.1} µs  (×{:.2}, ×{:.2}, ×{:.2})",
            p50,
            p99,
            mean,
            p50 / floor.p50,
            p99 / floor.p99,
            mean / floor.mean
        );
    }
    println!(
        "with rules against without: ×{:.2} p50, ×{:.2} mean (at most ×1.10)",
        ruled.p50 / open.p50,
        ruled.mean / open.mean
    );
}

/// Nine servers of ten, as a share of a snapshot has them; and how long that took.
fn shared(catalog: &Catalog, index: &Index) -> (Catalog, Index, Duration) {
    let start = Instant::now();
    let servers =
        catalog.servers().iter().enumerate().filter(|(number, _)| number % 10 != 3).map(|(_, server)| server.clone());
    let share = Catalog::merge(catalog.number(), servers);
    let positions: Vec<usize> = share.entries().iter().filter_map(|entry| catalog.position(&entry.id)).collect();
    let part = index.part(&share, &positions);
    (share, part, start.elapsed())
}

/// In microseconds.
struct Quantiles {
    p50: f64,
    p99: f64,
    mean: f64,
}

impl Quantiles {
    fn of(mut times: Vec<Duration>) -> Quantiles {
        times.sort();
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let at = |share: usize| micros(times[(times.len() * share / 100).min(times.len() - 1)]);
        let mean = times.iter().copied().map(micros).sum::<f64>() / times.len() as f64;
        Quantiles { p50: at(50), p99: at(99), mean }
    }
}

/// One field with all the words, stemmed: the least that a search library can be asked to do.
fn tantivy(tools: &[Tool]) -> (IndexReader, QueryParser) {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default().set_tokenizer("en_stem").set_index_option(IndexRecordOption::WithFreqs);
    let field = schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
    let index = tantivy::Index::create_in_ram(schema.build());
    let mut writer = index.writer_with_num_threads(1, 256 << 20).unwrap();
    for tool in tools {
        writer.add_document(doc!(field => tool.text())).unwrap();
    }
    writer.commit().unwrap();
    writer.wait_merging_threads().unwrap();
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().unwrap();
    (reader, QueryParser::for_index(&index, vec![field]))
}
