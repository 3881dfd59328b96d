//! `toolfold eval`: how well search does on a set of tools and queries.

use std::io::{IsTerminal, stderr};
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use toolfold::eval::{EvalSet, Figures, evaluate};
use toolfold_index::Index;

use super::output::{print, print_json, progress, table};
use super::{Common, Fail};

#[derive(Args)]
pub(crate) struct Eval {
    /// Tools, a JSON object a line: id, server, name, description, input_schema
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
    /// Queries, a JSON object a line: id, query, relevant (ids of the right tools)
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
}

impl Eval {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let set = EvalSet::read(&self.tools, &self.queries).map_err(|error| {
            Fail::usage(format!(
                "error: {error}\n\nhint: each line is a JSON object; `toolfold eval --help` names its members"
            ))
        })?;
        let index = Index::build(&set.catalog);
        let all = set.queries.len();
        let figures = evaluate(&set, &index, |done| {
            if stderr().is_terminal() && (done % 50 == 0 || done == all) {
                progress(&format!("{done} of {all} queries"));
            }
        });
        progress("");
        if common.json {
            return print_json(&json!({"tools": set.catalog.len(), "figures": figures}));
        }
        print(&format!("{} tools, {} queries\n{}", set.catalog.len(), figures.queries, table(&rows(&figures))))
    }
}

fn rows(figures: &Figures) -> Vec<Vec<String>> {
    let row = |label: &str, value: f64, unit: &str| vec![label.to_owned(), format!("{value:.1}{unit}")];
    vec![
        row("Hit@1", figures.hit_1, ""),
        row("Hit@5", figures.hit_5, ""),
        row("Recall@5", figures.recall_5, ""),
        row("Recall@10", figures.recall_10, ""),
        row("NDCG@5", figures.ndcg_5, ""),
        row("NDCG@10", figures.ndcg_10, ""),
        row("MRR@10", figures.mrr_10, ""),
        row("tokens of an answer", figures.answer_tokens, ""),
        row("search, median", figures.p50_microseconds, " µs"),
        row("search, 99 in 100", figures.p99_microseconds, " µs"),
    ]
}
