//! What a search costs, as a client asks for it: time on a core for the whole request, the making of the answer
//! included.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use super::client::{Conversation, Era, Line, request};
use super::process::Served;
use super::report::Report;
use super::{Programs, catalog};

/// Tools, and what a search among them may cost.
const SIZES: [(usize, Duration); 2] = [(300, Duration::from_micros(200)), (3_000, Duration::from_micros(400))];
const LEAST: usize = 2_000;

pub(crate) fn measure(programs: &Programs, report: &mut Report) -> Result<()> {
    println!("\nSearches over HTTP, the queries of eval/");
    println!("  {:>7} {:>14} {:>22} {:>12}", "tools", "CPU a search", "searches a second, core", "p50");
    let queries = catalog::queries(&programs.root)?;
    for (size, goal) in SIZES {
        let list = programs.folder.join(format!("search{size}.jsonl"));
        catalog::write(&list, &catalog::tools(&programs.root, size)?)?;
        let server = Served::start(programs.thin(&["http", &list.display().to_string()]))?;
        let config = format!("[servers.thin]\nurl = \"http://{}/0\"\n[search]\nprecise = \"off\"\n", server.address);
        let name = format!("search-{size}");
        let toolfold = Served::start(programs.toolfold(&name, &config, &["serve", "--listen", "127.0.0.1:0"])?)?;
        toolfold.knows(size)?;
        let mut line = Line::greeted(&toolfold.address, "/mcp")?;
        let prepared: Vec<Vec<u8>> = queries.iter().map(|query| prepare(&line, query)).collect();
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
        report.goal(&format!("a search in {size} tools takes {each:.0?} of a core, at most {goal:.0?}"), each <= goal);
    }
    Ok(())
}

fn prepare(line: &Line, query: &str) -> Vec<u8> {
    let params = json!({"name": "find_tools", "arguments": {"query": query}});
    line.prepare(&request("tools/call", params, Era::Session), "find_tools", Era::Session)
}
