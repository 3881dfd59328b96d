//! Search, measured: the sets in `eval/` against what was recorded for them, or any folder of sets.
//!
//! What a reader would get wrong: a better figure is no failure, but it is not kept either until somebody records it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value, json};

use crate::shell;
use crate::workspace::Workspace;

/// What is printed and recorded: the name in the answer of `toolfold eval --json`, the heading, and whether less is
/// better. How long a search takes is printed too, and never recorded: it is the machine's figure.
const FIGURES: [(&str, &str, bool); 10] = [
    ("hit_1", "Hit@1", false),
    ("hit_5", "Hit@5", false),
    ("recall_5", "R@5", false),
    ("recall_10", "R@10", false),
    ("ndcg_5", "NDCG@5", false),
    ("ndcg_10", "NDCG@10", false),
    ("mrr_10", "MRR@10", false),
    ("mistaken", "mistaken", true),
    ("answer_tokens", "tokens", true),
    ("answer_recall", "answered", false),
];
const TIMES: [(&str, &str); 2] = [("p50_microseconds", "p50 µs"), ("p99_microseconds", "p99 µs")];

/// Figures are recorded to one decimal: half of that, and a hair for the arithmetic, is no change.
const ROUNDING: f64 = 0.0501;

/// The figures of one set, by their names.
#[derive(Debug, Clone)]
pub struct Set {
    pub name: String,
    pub tools: usize,
    pub figures: Map<String, Value>,
}

pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    match arguments {
        [] => check(workspace, &build(workspace, "debug")?),
        [flag] if flag == "--record" => record(workspace, &build(workspace, "debug")?),
        // Sets of others are large, and how fast search is on them is of interest.
        [folder] if !folder.starts_with('-') => {
            println!("{}", table(&measure(&build(workspace, "release")?, Path::new(folder))?));
            Ok(())
        }
        _ => bail!("eval takes --record, a folder of sets, or nothing\n\nhint: `cargo xtask help` lists the tasks"),
    }
}

/// Measures the repository's own sets with this binary; fails where search does worse on them than it did.
pub fn check(workspace: &Workspace, toolfold: &Path) -> Result<()> {
    let sets = measure(toolfold, &folder(workspace))?;
    println!("{}", table(&sets));
    let text = fs::read_to_string(recorded(workspace)).context("eval/recorded.json")?;
    let worse = worse(&sets, &serde_json::from_str(&text).context("eval/recorded.json")?);
    worse.iter().for_each(|finding| println!("{finding}"));
    ensure!(
        worse.is_empty(),
        "search does worse than recorded\n\nhint: where that is meant, `cargo xtask eval --record`"
    );
    Ok(())
}

fn record(workspace: &Workspace, toolfold: &Path) -> Result<()> {
    let toolbox = folder(workspace).join("toolbox");
    fs::write(toolbox.join("tools.jsonl"), shell::output(toolfold, &["eval", "--export"], &toolbox)?)?;
    let sets = measure(toolfold, &folder(workspace))?;
    println!("{}", table(&sets));
    let rounded = |set: &Set| -> Map<String, Value> {
        let figures = FIGURES.iter().filter_map(|(key, ..)| Some((*key, set.figures.get(*key)?.as_f64()?)));
        figures.map(|(key, value)| (key.to_owned(), json!((value * 10.0).round() / 10.0))).collect()
    };
    let all: Map<String, Value> = sets.iter().map(|set| (set.name.clone(), rounded(set).into())).collect();
    Ok(fs::write(recorded(workspace), format!("{:#}\n", Value::from(all)))?)
}

/// Every figure that is worse than the recorded one, and every set that has none.
pub fn worse(sets: &[Set], recorded: &Value) -> Vec<String> {
    let mut findings = Vec::new();
    for set in sets {
        let Some(before) = recorded.get(&set.name) else {
            findings.push(format!("eval/{}: nothing is recorded for it", set.name));
            continue;
        };
        for (key, label, less_is_better) in FIGURES {
            let figure = |of: Option<&Value>| of.and_then(Value::as_f64);
            let (Some(was), Some(is)) = (figure(before.get(key)), figure(set.figures.get(key))) else { continue };
            let loss = if less_is_better { is - was } else { was - is };
            if loss > ROUNDING {
                findings.push(format!("eval/{}: {label} is {is:.1}, recorded is {was:.1}", set.name));
            }
        }
    }
    findings
}

/// Every set in a folder, by name.
fn measure(toolfold: &Path, folder: &Path) -> Result<Vec<Set>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut places: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    places.retain(|place| place.join("queries.jsonl").is_file());
    places.sort();
    ensure!(
        !places.is_empty(),
        "{}: no set is here\n\nhint: a set is a folder with tools.jsonl and queries.jsonl",
        folder.display()
    );
    places.iter().map(|place| measure_one(toolfold, place)).collect()
}

fn measure_one(toolfold: &Path, place: &Path) -> Result<Set> {
    let arguments = ["eval", "--tools", "tools.jsonl", "--queries", "queries.jsonl", "--json"];
    let answer: Value = serde_json::from_str(&shell::output(toolfold, &arguments, place)?)?;
    Ok(Set {
        name: place.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        tools: answer["tools"].as_u64().unwrap_or_default() as usize,
        figures: answer["figures"].as_object().context("an answer without figures")?.clone(),
    })
}

/// A row a set and, where there are several, their mean.
pub fn table(sets: &[Set]) -> String {
    let columns: Vec<(&str, &str)> = FIGURES.iter().map(|(key, label, _)| (*key, *label)).chain(TIMES).collect();
    let figure = |set: &Set, key: &str| set.figures.get(key).and_then(Value::as_f64);
    let count = |set: &Set, key: &str| set.figures.get(key).and_then(Value::as_u64).unwrap_or_default();
    let line = |name: &str, tools: &str, queries: &str, cells: &[Option<f64>]| {
        let cells = cells.iter().map(|cell| cell.map_or_else(|| "–".to_owned(), |value| format!("{value:.1}")));
        let cells: String = cells.map(|cell| format!(" {cell:>8}")).collect();
        format!("{name:<16} {tools:>6} {queries:>8}{cells}\n")
    };
    let headings: String = columns.iter().map(|(_, label)| format!(" {label:>8}")).collect();
    let mut text = format!("{:<16} {:>6} {:>8}{headings}\n", "set", "tools", "queries");
    for set in sets {
        let cells: Vec<Option<f64>> = columns.iter().map(|(key, _)| figure(set, key)).collect();
        let queries = count(set, "queries") + count(set, "unanswerable");
        text.push_str(&line(&set.name, &set.tools.to_string(), &queries.to_string(), &cells));
    }
    if sets.len() > 1 {
        let mean = |key: &str| {
            let values: Vec<f64> = sets.iter().filter_map(|set| figure(set, key)).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let cells: Vec<Option<f64>> = columns.iter().map(|(key, _)| mean(key)).collect();
        text.push_str(&line("mean", "", "", &cells));
    }
    text
}

fn build(workspace: &Workspace, profile: &str) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut arguments = vec!["build", "--quiet", "--package", "toolfold"];
    if profile == "release" {
        arguments.push("--release");
    }
    shell::run(cargo, &arguments, &workspace.root)?;
    Ok(workspace.target.join(profile).join("toolfold"))
}

fn folder(workspace: &Workspace) -> PathBuf {
    workspace.root.join("eval")
}

fn recorded(workspace: &Workspace) -> PathBuf {
    folder(workspace).join("recorded.json")
}
