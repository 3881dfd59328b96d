//! `toolfold eval`: how well search does on a set of tools and queries.
//!
//! Without `--tools` the set is what is configured: whoever has servers needs no more than a file of queries.

use std::io::{IsTerminal, stderr};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};
use toolfold::eval::{BadSet, Bin, EvalSet, Failure, Figures, QueryLine, ToolLine, evaluate};
use toolfold_core::{ToolId, shown_json, shown_line};
use toolfold_gateway::{UsedRequest, encode_all};
use toolfold_index::{Index, Ranker};

use super::open::{asker, with_gateway};
use super::output::{print, print_json, progress, table};
use super::{Common, Fail};

#[derive(Args)]
pub(crate) struct Eval {
    /// Tools, a JSON object a line: id, server, name, description, input_schema [default: the tools of your servers]
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Queries, a JSON object a line: id, query, relevant (ids of the right tools; none where nothing fits)
    #[arg(long, value_name = "FILE", required_unless_present_any = ["export", "from_use"])]
    queries: Option<PathBuf>,
    /// Queries that were asked of your servers and the tools that were called then; with --export they are printed in the
    /// form that --queries reads. Needs learn = "queries" in the configuration
    #[arg(long, conflicts_with_all = ["tools", "queries"])]
    from_use: bool,
    /// Tell also how each side of the ranking does alone: words (lexical) and meaning (semantic)
    #[arg(long)]
    compare: bool,
    /// Tell also whether confidence means what it says: of the first hits, how many are right
    #[arg(long)]
    calibration: bool,
    /// How many queries to list that were answered wrongly, those first that were not answered at all
    #[arg(long, value_name = "N", default_value_t = 10)]
    failures: usize,
    /// Search precisely, with the encoder in this file; every tool is encoded first, some 20 in a second
    #[arg(long, value_name = "FILE")]
    precise: Option<PathBuf>,
    /// Print the tools of your servers in the form that --tools reads, and stop
    #[arg(long, conflicts_with_all = ["tools", "queries", "compare", "calibration", "precise"])]
    export: bool,
}

impl Eval {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        if self.from_use {
            return self.of_use(common);
        }
        let tools = match &self.tools {
            Some(file) => ToolLine::read(file).map_err(unreadable)?,
            None => configured(common)?,
        };
        match &self.queries {
            Some(queries) => self.measure(&EvalSet::read(tools, queries).map_err(unreadable)?, common),
            None => print_lines(&tools),
        }
    }

    /// The set that use has made, printed or measured.
    fn of_use(&self, common: &Common) -> Result<(), Fail> {
        let (tools, asked) = used(common)?;
        if asked.is_empty() {
            return Err(Fail::nothing("No request is remembered with its text.").hint(
                "texts are kept from the moment that the configuration says learn = \"queries\", of requests that ended in a call",
            ));
        }
        if self.export {
            return print_lines(&asked);
        }
        self.measure(&EvalSet::of(tools, &asked), common)
    }

    fn measure(&self, set: &EvalSet, common: &Common) -> Result<(), Fail> {
        let mut index = Index::build(&set.catalog);
        if let Some(file) = &self.precise {
            let encoded =
                encode_all(file, &set.catalog, |done| show_progress("encoded", done, set.catalog.len(), "tools"));
            let encoded = encoded.map_err(|error| Fail::usage(error.to_string()).hint(error.hint()))?;
            index = index.with_vectors(Some(Arc::new(encoded))).unwrap_or(index);
        }
        let ask = |side: &str, ranker| {
            evaluate(set, &index, ranker, |done| show_progress(side, done, set.queries.len(), "queries"))
        };
        let fused = ask("fused", Ranker::Fused);
        let sides = [("lexical", Ranker::Lexical), ("semantic", Ranker::Semantic)];
        let sides = sides.into_iter().filter(|_| self.compare).map(|(side, ranker)| (side, ask(side, ranker).figures));
        let sides: Vec<(&str, Figures)> = sides.collect();
        progress("");
        let mut failures = fused.failures;
        failures.sort_by_key(|failure| std::cmp::Reverse(failure.rank.unwrap_or(usize::MAX)));
        let listed = &failures[..failures.len().min(self.failures)];
        if common.json {
            let mut answer = json!({"tools": set.catalog.len(), "figures": fused.figures});
            sides.iter().for_each(|(side, figures)| answer[side] = json!(figures));
            if self.calibration {
                answer["calibration"] = json!(fused.calibration);
            }
            answer["failed"] = json!(failures.len());
            answer["failures"] = listed.iter().map(|failure| failure_json(set, failure)).collect();
            return print_json(&answer);
        }
        let columns: Vec<_> = sides.into_iter().chain([("fused", fused.figures)]).collect();
        let mut text =
            format!("{} tools, {} queries\n{}", set.catalog.len(), set.queries.len(), table(&rows(&columns)));
        if self.calibration {
            text.push_str(&format!("\n{}", table(&bins(&fused.calibration))));
        }
        if !listed.is_empty() {
            text.push_str(&told_failures(set, listed, failures.len()));
        }
        print(&text)
    }
}

fn ids(set: &EvalSet, places: impl IntoIterator<Item = usize>) -> Vec<String> {
    places.into_iter().map(|place| set.catalog.entry(place).id.to_string()).collect()
}

fn failure_json(set: &EvalSet, failure: &Failure) -> Value {
    let query = &set.queries[failure.query];
    let relevant = ids(set, query.relevant.iter().copied());
    let first = ids(set, failure.first).pop();
    json!({"query": query.text, "relevant": relevant, "rank": failure.rank, "first": first})
}

fn told_failures(set: &EvalSet, failures: &[Failure], all: usize) -> String {
    let mut text = format!("\nnot first: {all} of {} queries", set.queries.len());
    if all > failures.len() {
        text.push_str(&format!(", the worst {} of them (--failures {all} lists all)", failures.len()));
    }
    text.push('\n');
    for failure in failures {
        let query = &set.queries[failure.query];
        let place = failure.rank.map_or_else(|| "not found".to_owned(), |rank| format!("at {rank}"));
        let wanted = ids(set, query.relevant.iter().copied()).join(" or ");
        let first = ids(set, failure.first).pop().unwrap_or_else(|| "nothing".to_owned());
        let line = |text: &str| shown_line(text).into_owned();
        text.push_str(&format!(
            "  {place:<9}  {}\n             wanted {}, got {}\n",
            line(&query.text),
            line(&wanted),
            line(&first)
        ));
    }
    text
}

fn show_progress(what: &str, done: usize, all: usize, of: &str) {
    if stderr().is_terminal() && (done.is_multiple_of(50) || done == all) {
        progress(&format!("{what}: {done} of {all} {of}"));
    }
}

/// The tools of the servers that are configured, or of the toolbox.
fn configured(common: &Common) -> Result<Vec<ToolLine>, Fail> {
    with_gateway(common, async |gateway| {
        let scope = gateway.latest(&asker());
        let view = scope.view();
        Ok(view.tools().map(|position| ToolLine::of(view.entry(position))).collect())
    })
}

/// The same tools, and what was asked of them.
fn used(common: &Common) -> Result<(Vec<ToolLine>, Vec<QueryLine>), Fail> {
    with_gateway(common, async |gateway| {
        let requests = gateway.used_requests().await.map_err(|error| Fail::machine(error.to_string()))?;
        let scope = gateway.latest(&asker());
        let view = scope.view();
        let is_there = |id: &str| ToolId::parse(id).is_some_and(|id| view.position(&id).is_some());
        let asked = requests.into_iter().filter_map(|request| query_line(request, is_there)).zip(1..);
        let asked = asked.map(|(line, number)| QueryLine { id: format!("use-{number}"), ..line }).collect();
        Ok((view.tools().map(|position| ToolLine::of(view.entry(position))).collect(), asked))
    })
}

/// What was called in a good part of cases is what was meant; the rest are slips.
fn query_line(request: UsedRequest, is_there: impl Fn(&str) -> bool) -> Option<QueryLine> {
    let most = request.tools.iter().map(|(_, times)| *times).max()?;
    let meant = request.tools.into_iter().filter(|(id, times)| times * 2 >= most && is_there(id));
    let relevant: Vec<String> = meant.map(|(id, _)| id).collect();
    (!relevant.is_empty()).then(|| QueryLine { id: String::new(), query: request.text, relevant })
}

fn print_lines(lines: &[impl Serialize]) -> Result<(), Fail> {
    let lines = lines.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
    print(&shown_json(&lines.map_err(|error| Fail::machine(error.to_string()))?.join("\n")))
}

fn unreadable(error: BadSet) -> Fail {
    Fail::usage(shown_line(&error.to_string()))
        .hint("each line is a JSON object; `toolfold eval --help` names its members")
}

/// A row a figure, a column a ranking. A single column needs no heading.
fn rows(columns: &[(&str, Figures)]) -> Vec<Vec<String>> {
    type Figure = (&'static str, fn(&Figures) -> Option<f64>);
    let figures: [Figure; 14] = [
        ("Hit@1", |figures| Some(figures.hit_1)),
        ("Hit@5", |figures| Some(figures.hit_5)),
        ("Recall@5", |figures| Some(figures.recall_5)),
        ("Recall@10", |figures| Some(figures.recall_10)),
        ("NDCG@5", |figures| Some(figures.ndcg_5)),
        ("NDCG@10", |figures| Some(figures.ndcg_10)),
        ("MRR@10", |figures| Some(figures.mrr_10)),
        ("sure where nothing fits", |figures| figures.mistaken),
        ("tokens of an answer", |figures| figures.answers.as_ref().map(|answers| answers.answer_tokens)),
        ("tools in an answer", |figures| figures.answers.as_ref().map(|answers| answers.answer_tools)),
        ("right tools in it", |figures| figures.answers.as_ref().map(|answers| answers.answer_recall)),
        ("right, and called no match", |figures| figures.answers.as_ref().map(|answers| answers.answer_doubted)),
        ("search, median, µs", |figures| Some(figures.p50_microseconds)),
        ("search, 99 in 100, µs", |figures| Some(figures.p99_microseconds)),
    ];
    let labelled = |label: &str, cells: Vec<String>| [vec![label.to_owned()], cells].concat();
    let mut rows = Vec::new();
    if columns.len() > 1 {
        rows.push(labelled("", columns.iter().map(|(side, _)| (*side).to_owned()).collect()));
    }
    for (label, figure) in figures {
        let values: Vec<Option<f64>> = columns.iter().map(|(_, figures)| figure(figures)).collect();
        if values.iter().any(Option::is_some) {
            let shown = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.1}"));
            rows.push(labelled(label, values.into_iter().map(shown).collect()));
        }
    }
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
