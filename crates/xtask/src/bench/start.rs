//! From process start to `tools/list`, and how much memory that takes.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::client::{INITIALIZE, Pipe, time_each};
use super::{Programs, median, show};

const SERVERS: usize = 50;
const TOOLS: usize = 60;
const TIMES: usize = 25;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

pub(crate) fn measure(programs: &Programs) -> Result<()> {
    let config = config(programs)?;
    learn(programs, &config)?;
    let journal = programs.folder.join("journal");
    let starts = count_lines(&journal);

    let version = median(time_each(TIMES, || {
        let status = Command::new(&programs.toolfold).arg("--version").stdout(Stdio::null()).status()?;
        ensure!(status.success(), "--version failed");
        Ok(())
    })?);
    let store = programs.folder.join("store.db");
    let read = median(time_each(TIMES, || std::fs::read(&store).map(drop).context("the store cannot be read"))?);
    let list = median(time_lists(programs, &config, "compact", TIMES)?);
    show("tools/list (compact) against 3 × --version + reading the store", 3 * version + read, list, "at most ×1");
    println!("    --version {version:.1?}, reading the store {read:.1?}");
    let direct = median(time_lists(programs, &config, "direct", 5)?);
    println!("    tools/list (direct, all 3,000 definitions): {direct:.1?}");

    let mut pipe = listed(programs, &config, "compact")?;
    let find = json!({"name": "find_tools", "arguments": {"query": "archive the invoice of a customer"}});
    let find = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": find}).to_string();
    let found = pipe.exchange(&find)?;
    ensure!(found.contains("server"), "nothing was found: {found}");
    println!("  resident memory after a search: {:.1} MB (goal: under 60)", resident(pipe.id())?);
    ensure!(count_lines(&journal) == starts, "a server was started");
    println!("  server processes started for all of this: 0");
    Ok(())
}

/// How long it takes from the start to the list; how long the end takes is another matter.
fn time_lists(programs: &Programs, config: &str, surface: &str, times: usize) -> Result<Vec<Duration>> {
    let once = |_| {
        let begun = Instant::now();
        let pipe = listed(programs, config, surface)?;
        let took = begun.elapsed();
        drop(pipe);
        Ok(took)
    };
    (0..times).map(once).collect()
}

/// Starts Toolfold and waits for its tools.
fn listed(programs: &Programs, config: &str, surface: &str) -> Result<Pipe> {
    let mut pipe = Pipe::start(programs.toolfold(config, &["serve", "--stdio", "--surface", surface])?)?;
    pipe.exchange(INITIALIZE)?;
    let answer = pipe.exchange(LIST)?;
    ensure!(answer.contains("\"tools\""), "no list: {answer}");
    Ok(pipe)
}

/// The first run: every server is asked once and remembered.
fn learn(programs: &Programs, config: &str) -> Result<()> {
    let output = programs.toolfold(config, &["status", "--json"])?.output()?;
    let status: Vec<Value> = serde_json::from_slice(&output.stdout).context("status is JSON")?;
    let tools: u64 = status.iter().filter_map(|server| server["tools"].as_u64()).sum();
    ensure!(tools == (SERVERS * TOOLS) as u64, "{tools} tools: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

fn config(programs: &Programs) -> Result<String> {
    let mut config = String::new();
    for server in 0..SERVERS {
        let script = programs.folder.join(format!("server{server}.json"));
        let tools: Vec<Value> = (0..TOOLS).map(|tool| definition(server, tool)).collect();
        std::fs::write(&script, json!({"eras": ["legacy"], "tools": tools}).to_string())?;
        let journal = programs.folder.join("journal");
        config.push_str(&format!(
            "[servers.server{server}]\ncommand = {:?}\nargs = [\"--script\", {script:?}, \"--journal\", {journal:?}]\n\n",
            programs.fake
        ));
    }
    Ok(config)
}

/// A tool of the size that real ones have: about two kilobytes.
fn definition(server: usize, tool: usize) -> Value {
    const VERBS: [&str; 8] = ["create", "list", "update", "delete", "archive", "export", "share", "approve"];
    const THINGS: [&str; 9] =
        ["invoice", "customer", "ticket", "document", "branch", "deployment", "message", "report", "contact"];
    let (verb, thing) = (VERBS[tool % VERBS.len()], THINGS[(tool / VERBS.len() + server) % THINGS.len()]);
    let about = format!("The {thing} to {verb}, by its identifier as the service shows it in the address of its page.");
    let property = |number: usize| (format!("{thing}_field_{number}"), json!({"type": "string", "description": about}));
    let properties: serde_json::Map<String, Value> = (0..12).map(property).collect();
    json!({
        "name": format!("{verb}_{thing}_{tool}"),
        "description": format!("{verb} a {thing} in the account of service {server}. Use it when the user asks to {verb} one; it needs the identifier that the list tool gives, and answers with the {thing} as it is afterwards."),
        "inputSchema": {"type": "object", "properties": properties, "required": [format!("{thing}_field_0")]},
        "annotations": {"readOnlyHint": verb == "list"},
    })
}

fn resident(process: u32) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes / 1024.0)
}

fn count_lines(file: &std::path::Path) -> usize {
    std::fs::read_to_string(file).map_or(0, |text| text.lines().filter(|line| line.contains("\"start\"")).count())
}
