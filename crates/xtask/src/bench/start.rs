//! From process start to `tools/list`, and how much memory that takes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::client::{Conversation, Era, Pipe, request};
use super::process::Served;
use super::report::Report;
use super::{Programs, catalog, median};

const SERVERS: usize = 50;
const TOOLS: usize = 60;
const TIMES: usize = 25;
const MEMORY: f64 = 60.0;

pub(crate) fn measure(programs: &Programs, report: &mut Report) -> Result<()> {
    let journal = programs.folder.join("journal");
    let config = config(programs, &journal)?;
    let learning = Served::start(programs.toolfold("start", &config, &["serve", "--listen", "127.0.0.1:0"])?)?;
    learning.knows(SERVERS * TOOLS)?;
    learning.process.end()?;
    let starts = count_lines(&journal);
    println!("\nA start with {SERVERS} remembered servers and {} tools", SERVERS * TOOLS);

    let version = time(TIMES, || {
        let status = Command::new(&programs.toolfold).arg("--version").stdout(Stdio::null()).status()?;
        ensure!(status.success(), "--version failed");
        Ok(())
    })?;
    let store = programs.store("start");
    let read = time(TIMES, || std::fs::read(&store).map(drop).context("the store cannot be read"))?;
    let list = time(TIMES, || listed(programs, &config, "compact").map(drop))?;
    let direct = time(5, || listed(programs, &config, "direct").map(drop))?;
    println!("  --version {version:.1?}, reading the store {read:.1?}");
    println!("  tools/list {list:.1?}, with all definitions {direct:.1?}");
    let floor = 3 * version + read;
    report
        .goal(&format!("tools/list after {list:.1?}, at most 3 × --version and the store: {floor:.1?}"), list <= floor);

    let mut pipe = listed(programs, &config, "compact")?;
    let params = json!({"name": "find_tools", "arguments": {"query": "archive the invoice of a customer"}});
    let find = pipe.prepare(&request("tools/call", params, Era::Session), "find_tools", Era::Session);
    let found = String::from_utf8_lossy(pipe.exchange(&find)?).into_owned();
    ensure!(found.contains("result"), "nothing was found: {found}");
    let resident = pipe.process.resident()?;
    report.goal(&format!("{resident:.1} MB after a search, under {MEMORY:.0} MB"), resident < MEMORY);
    report.limit("no server is started for a list or a search", count_lines(&journal) == starts);
    Ok(())
}

/// The middle of so many repetitions.
fn time(times: usize, mut work: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut taken = Vec::new();
    for _ in 0..times {
        let begun = Instant::now();
        work()?;
        taken.push(begun.elapsed());
    }
    Ok(median(&mut taken))
}

/// Starts Toolfold and waits for its tools.
fn listed(programs: &Programs, config: &str, surface: &str) -> Result<Pipe> {
    let mut pipe = Pipe::start(programs.toolfold("start", config, &["serve", "--stdio", "--surface", surface])?)?;
    pipe.greet()?;
    let list = pipe.prepare(&request("tools/list", json!({}), Era::Session), "", Era::Session);
    let answer = String::from_utf8_lossy(pipe.exchange(&list)?).into_owned();
    ensure!(answer.contains("\"tools\""), "no list: {answer}");
    Ok(pipe)
}

fn config(programs: &Programs, journal: &Path) -> Result<String> {
    let tools = catalog::tools(&programs.root, SERVERS * TOOLS)?;
    let mut config = String::new();
    for (number, tools) in tools.chunks(TOOLS).enumerate() {
        let list = programs.folder.join(format!("start{number}.jsonl"));
        catalog::write(&list, tools)?;
        let thin = &programs.thin;
        config.push_str(&format!(
            "[servers.server{number}]\ncommand = {thin:?}\nargs = [\"thin-server\", \"stdio\", {list:?}, {journal:?}]\n"
        ));
    }
    Ok(config)
}

fn count_lines(file: &Path) -> usize {
    std::fs::read_to_string(file).map_or(0, |text| text.lines().count())
}
