//! What a search and a description cost, as a client asks for them: time on a core for the whole request, the making of the answer
//! included, and that no era pays more for it than the other.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::client::{Conversation, Era, Line, request};
use super::process::Served;
use super::report::Report;
use super::{Programs, catalog};

/// Tools, and what a search among them may cost, where that is said.
const SIZES: [(usize, Option<Duration>); 3] =
    [(300, Some(Duration::from_micros(200))), (3_000, Some(Duration::from_micros(400))), (20_000, None)];
const LEAST: usize = 2_000;
/// Stateless requests of one kind, in turn with those of a session.
const DESCRIBED: usize = 1_000;
/// What an era may cost of the other.
const LIMIT: f64 = 1.3;
/// Entries that one server may list.
const PER_SERVER: usize = 10_000;

pub(crate) fn measure(programs: &Programs, report: &mut Report) -> Result<()> {
    println!("\nSearches over HTTP, the queries of eval/");
    println!("  {:>7} {:>14} {:>22} {:>12}", "tools", "CPU a search", "searches a second, core", "p50");
    let queries = catalog::queries(&programs.root)?;
    for (size, goal) in SIZES {
        let tools = catalog::tools(&programs.root, size)?;
        let mut lists = Vec::new();
        for (number, tools) in tools.chunks(PER_SERVER).enumerate() {
            let list = programs.folder.join(format!("search{size}-{number}.jsonl"));
            catalog::write(&list, tools)?;
            lists.push(list.display().to_string());
        }
        let arguments: Vec<&str> = std::iter::once("http").chain(lists.iter().map(String::as_str)).collect();
        let server = Served::start(programs.thin(&arguments))?;
        let mut config = "[search]\nprecise = \"off\"\n".to_owned();
        for number in 0..lists.len() {
            config.push_str(&format!("[servers.thin{number}]\nurl = \"http://{}/{number}\"\n", server.address));
        }
        let name = format!("search-{size}");
        let toolfold = Served::start(programs.toolfold(&name, &config, &["serve", "--listen", "127.0.0.1:0"])?)?;
        toolfold.knows(size)?;
        let mut line = Line::greeted(&toolfold.address, "/mcp")?;
        let prepared: Vec<Vec<u8>> =
            queries.iter().map(|query| prepare(&line, &json!({"query": query}), Era::Session)).collect();
        for query in &prepared {
            let answer = line.exchange(query)?;
            ensure!(!answer.windows(7).any(|part| part == b"\"error\""), "{}", String::from_utf8_lossy(answer));
        }
        let before = toolfold.process.cpu()?;
        let mut times = Vec::new();
        for query in prepared.iter().cycle().take(LEAST.max(prepared.len())) {
            let begun = Instant::now();
            line.exchange(query)?;
            times.push(begun.elapsed());
        }
        let each = (toolfold.process.cpu()? - before) / times.len() as u32;
        let (rate, middle) = (1.0 / each.as_secs_f64(), super::median(&mut times));
        println!("  {size:>7} {each:>14.0?} {rate:>22.0} {middle:>12.0?}");
        if let Some(goal) = goal {
            let what = format!("a search in {size} tools takes {each:.0?} of a core, at most {goal:.0?}");
            report.goal(&what, each <= goal);
        }
        let described = tools.first().and_then(|tool| tool["name"].as_str()).unwrap_or_default();
        let asked = queries.first().map(String::as_str).unwrap_or_default();
        for (what, arguments) in
            [("search", json!({"query": asked})), ("describe", json!({"tool": format!("thin0.{described}")}))]
        {
            let ratio = between_eras(&toolfold.address, &arguments)?;
            let said = format!("{what}, {size} tools: stateless / session ×{ratio:.2}, at most ×{LIMIT}");
            report.limit(&said, ratio <= LIMIT);
        }
    }
    Ok(())
}

/// What a stateless request costs of the same in a session, at p50; both take turns.
fn between_eras(address: &str, arguments: &Value) -> Result<f64> {
    let mut lines = Vec::new();
    for era in [Era::Session, Era::Stateless] {
        let line = if era == Era::Session { Line::greeted(address, "/mcp")? } else { Line::open(address, "/mcp")? };
        let prepared = prepare(&line, arguments, era);
        lines.push((line, prepared, Vec::new()));
    }
    for _ in 0..DESCRIBED {
        for (line, prepared, times) in &mut lines {
            let begun = Instant::now();
            let answer = line.exchange(prepared)?;
            times.push(begun.elapsed());
            ensure!(!answer.windows(7).any(|part| part == b"\"error\""), "{}", String::from_utf8_lossy(answer));
        }
    }
    let middles: Vec<f64> = lines.iter_mut().map(|(.., times)| super::median(times).as_secs_f64()).collect();
    Ok(middles[1] / middles[0])
}

fn prepare(line: &Line, arguments: &Value, era: Era) -> Vec<u8> {
    let params = json!({"name": "find_tools", "arguments": arguments});
    line.prepare(&request("tools/call", params, era), "find_tools", era)
}
