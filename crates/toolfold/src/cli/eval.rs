//! `toolfold eval`: how well search does on a set of tools and queries.
//!
//! Without `--tools` the set is what is configured: whoever has servers needs no more than a file of queries.

use std::io::{IsTerminal, stderr};
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use toolfold::eval::{BadSet, Bin, EvalSet, Figures, ToolLine, evaluate};
use toolfold_index::Index;

use super::open::with_gateway;
use super::output::{print, print_json, progress, table};
use super::{Common, Fail};

#[derive(Args)]
pub(crate) struct Eval {
    /// Tools, a JSON object a line: id, server, name, description, input_schema [default: the tools of your servers]
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Queries, a JSON object a line: id, query, relevant (ids of the right tools; none where nothing fits)
    #[arg(long, value_name = "FILE", required_unless_present = "export")]
    queries: Option<PathBuf>,
    /// Tell also whether confidence means what it says: of the first hits, how many are right
    #[arg(long)]
    calibration: bool,
    /// Print the tools of your servers in the form that --tools reads, and stop
    #[arg(long, conflicts_with_all = ["tools", "queries", "calibration"])]
    export: bool,
}

impl Eval {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let tools = match &self.tools {
            Some(file) => ToolLine::read(file).map_err(unreadable)?,
            None => configured(common)?,
        };
        match &self.queries {
            Some(queries) => self.measure(&EvalSet::read(tools, queries).map_err(unreadable)?, common),
            None => export(&tools),
        }
    }

    fn measure(&self, set: &EvalSet, common: &Common) -> Result<(), Fail> {
        let index = Index::build(&set.catalog);
        let all = set.queries.len();
        let evaluation = evaluate(set, &index, |done| {
            if stderr().is_terminal() && (done % 50 == 0 || done == all) {
                progress(&format!("{done} of {all} queries"));
            }
        });
        progress("");
        let (figures, calibration) = (&evaluation.figures, &evaluation.calibration);
        if common.json {
            let mut answer = json!({"tools": set.catalog.len(), "figures": figures});
            if self.calibration {
                answer["calibration"] = json!(calibration);
            }
            return print_json(&answer);
        }
        let mut text = format!("{} tools, {} queries\n{}", set.catalog.len(), all, table(&rows(figures)));
        if self.calibration {
            text.push_str(&format!("\n{}", table(&bins(calibration))));
        }
        print(&text)
    }
}

/// The tools of the servers that are configured, or of the toolbox.
fn configured(common: &Common) -> Result<Vec<ToolLine>, Fail> {
    with_gateway(common, async |_, snapshot| {
        Ok(snapshot.catalog.entries().iter().filter(|entry| entry.is_tool()).map(|entry| ToolLine::of(entry)).collect())
    })
}

fn export(tools: &[ToolLine]) -> Result<(), Fail> {
    let lines = tools.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
    print(&lines.map_err(|error| Fail::server(format!("error: {error}")))?.join("\n"))
}

fn unreadable(error: BadSet) -> Fail {
    Fail::usage(format!("error: {error}\n\nhint: each line is a JSON object; `toolfold eval --help` names its members"))
}

fn rows(figures: &Figures) -> Vec<Vec<String>> {
    let row = |label: &str, value: f64, unit: &str| vec![label.to_owned(), format!("{value:.1}{unit}")];
    let mut rows = vec![
        row("Hit@1", figures.hit_1, ""),
        row("Hit@5", figures.hit_5, ""),
        row("Recall@5", figures.recall_5, ""),
        row("Recall@10", figures.recall_10, ""),
        row("NDCG@5", figures.ndcg_5, ""),
        row("NDCG@10", figures.ndcg_10, ""),
        row("MRR@10", figures.mrr_10, ""),
    ];
    rows.extend(figures.mistaken.map(|mistaken| row("sure where nothing fits", mistaken, "")));
    rows.extend([
        row("tokens of an answer", figures.answer_tokens, ""),
        row("search, median", figures.p50_microseconds, " µs"),
        row("search, 99 in 100", figures.p99_microseconds, " µs"),
    ]);
    rows
}

fn bins(calibration: &[Bin]) -> Vec<Vec<String>> {
    let heading = ["confidence", "first hits", "claimed", "right"].map(str::to_owned).to_vec();
    let row = |bin: &Bin| {
        let told = |share: f64| if bin.queries == 0 { "–".to_owned() } else { format!("{share:.1}") };
        let range = format!("{:.1} to {:.1}", bin.from, bin.to);
        vec![range, bin.queries.to_string(), told(bin.claimed), told(bin.right)]
    };
    std::iter::once(heading).chain(calibration.iter().map(row)).collect()
}
