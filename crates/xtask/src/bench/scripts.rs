//! Scripts: how many run in a second, and what the worst of them do to everybody else. The attacks are those that a test
//! holds against the process; here they come through the front door, while somebody else makes ordinary calls.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::client::{Conversation, Era, Line, request};
use super::process::Served;
use super::report::Report;
use super::throughput::through;
use super::{Programs, catalog};

const SCRIPTS: usize = 1_000;
/// As many as one principal may run at once of the ten below.
const CLIENTS: usize = 8;
const HOSTILE: usize = 4;
/// What scripts may compute and take here, so that those which use it up do so soon.
const CPU: Duration = Duration::from_millis(500);
const TIME: Duration = Duration::from_secs(10);
/// What a script may go on for beyond its limits.
const BEYOND: Duration = Duration::from_secs(1);
const FAN_OUT: &str = "const all = await Promise.all([1, 2, 3, 4, 5].map((n) => tools.thin.echo({text: 'word ' + n}))); return all.length";

pub(crate) fn measure(programs: &Programs, report: &mut Report) -> Result<()> {
    let list = programs.folder.join("script.jsonl");
    catalog::write(&list, &[catalog::echo()])?;
    let server = Served::start(programs.thin(&["http", &list.display().to_string()]))?;
    let config = format!(
        "[code]\nat_once = 10\nallow = [\"thin.echo\"]\ncpu = \"{}ms\"\ntime = \"{}s\"\n\n[servers.thin]\nurl = \"http://{}/0\"\n",
        CPU.as_millis(),
        TIME.as_secs(),
        server.address
    );
    let toolfold = Served::start(programs.toolfold("scripts", &config, &["serve", "--listen", "127.0.0.1:0"])?)?;
    toolfold.knows(1)?;
    many(&toolfold)?;
    hostile(programs, &toolfold, report)
}

fn many(toolfold: &Served) -> Result<()> {
    let before = toolfold.process.resident()?;
    let (next, begun) = (AtomicUsize::new(0), Instant::now());
    let mut times = at_once(CLIENTS, || {
        let (mut line, mut times) = (Line::greeted(&toolfold.address, "/mcp/code")?, Vec::new());
        while next.fetch_add(1, Ordering::Relaxed) < SCRIPTS {
            let (answer, took) = run(&mut line, FAN_OUT)?;
            if answer["result"]["content"][0]["text"] != "5" {
                bail!("not the answer: {answer}");
            }
            times.push(took);
        }
        Ok(times)
    })?;
    let took = begun.elapsed();
    times.sort_unstable();
    println!("\n{SCRIPTS} scripts, 5 calls at once each, {CLIENTS} clients");
    println!(
        "  {:.1} s, {:.0} scripts and {:.0} calls a second",
        took.as_secs_f64(),
        SCRIPTS as f64 / took.as_secs_f64(),
        5.0 * SCRIPTS as f64 / took.as_secs_f64()
    );
    println!("  a script: {} at p50, {} at p99", shown(part(&times, 50)), shown(part(&times, 99)));
    println!("  memory of Toolfold: {before:.0} MB before, {:.0} MB after", toolfold.process.resident()?);
    Ok(())
}

fn hostile(programs: &Programs, toolfold: &Served, report: &mut Report) -> Result<()> {
    let text = std::fs::read_to_string(programs.root.join("crates/toolfold-script/attacks.js"))?;
    let attacks: Vec<(&str, &str)> = text.split("//# ").skip(1).filter_map(|part| part.split_once('\n')).collect();
    println!(
        "\n{} hostile scripts, each with {} ms to compute and {} s in all",
        attacks.len(),
        CPU.as_millis(),
        TIME.as_secs()
    );
    println!("  one after the other:");
    // With a core of its own a script that computes has used up what it may when so much time is over; those that wait for nothing are
    // stopped as such. Those that search wait for Toolfold, and meanwhile their clock stands still.
    let (search, compute): (Vec<_>, Vec<_>) = attacks.iter().copied().partition(|(_, code)| code.contains("find("));
    let alone = all(toolfold, &compute, 1)?;
    report.goal(
        &format!("alone the longest hostile script took {}, at most {}", shown(alone), shown(CPU + BEYOND)),
        alone <= CPU + BEYOND,
    );
    let searching = all(toolfold, &search, 1)?;
    report.goal(
        &format!("alone the longest that searches took {}, at most {}", shown(searching), shown(TIME + BEYOND)),
        searching <= TIME + BEYOND,
    );
    let calm = ordinary(toolfold, Duration::from_secs(5), &AtomicBool::new(false))?;
    let over = AtomicBool::new(false);
    println!("  {HOSTILE} at once:");
    let (worst, meanwhile) = std::thread::scope(|scope| {
        let watched = scope.spawn(|| ordinary(toolfold, Duration::from_secs(3_600), &over));
        let worst = all(toolfold, &attacks, HOSTILE);
        over.store(true, Ordering::Relaxed);
        let meanwhile = watched.join().map_err(|_| anyhow::anyhow!("the watching client panicked"))??;
        Ok::<_, anyhow::Error>((worst?, meanwhile))
    })?;
    let (calm99, hostile99) = (part(&calm, 99), part(&meanwhile, 99));
    println!(
        "  somebody else's calls: p50 {} and p99 {} without, p50 {} and p99 {} with them",
        shown(part(&calm, 50)),
        shown(calm99),
        shown(part(&meanwhile, 50)),
        shown(hostile99)
    );
    report.goal(
        &format!("the longest hostile script took {}, at most {}", shown(worst), shown(TIME + BEYOND)),
        worst <= TIME + BEYOND,
    );
    let factor = hostile99.as_secs_f64() / calm99.as_secs_f64().max(1e-9);
    report.goal(&format!("p99 of other calls meanwhile: × {factor:.1}, at most × 2"), factor <= 2.0);
    Ok(())
}

/// Runs all of them, so many at once, and prints those that took longest; how long the longest did.
fn all(toolfold: &Served, attacks: &[(&str, &str)], threads: usize) -> Result<Duration> {
    let next = AtomicUsize::new(0);
    let mut runs = at_once(threads, || {
        let (mut line, mut runs) = (Line::greeted(&toolfold.address, "/mcp/code")?, Vec::new());
        loop {
            let Some((head, code)) = attacks.get(next.fetch_add(1, Ordering::Relaxed)) else { return Ok(runs) };
            let (answer, took) = run(&mut line, code)?;
            runs.push((took, *head, end_of(&answer)));
        }
    })?;
    runs.sort_by_key(|(took, ..)| std::cmp::Reverse(*took));
    for (took, head, end) in runs.iter().take(5) {
        println!("  {:>7}  {head}: {end}", shown(*took));
    }
    Ok(runs.first().map(|(took, ..)| *took).unwrap_or_default())
}

/// Ordinary calls, one after the other, until told or for so long; what each took.
fn ordinary(toolfold: &Served, longest: Duration, over: &AtomicBool) -> Result<Vec<Duration>> {
    let (mut line, prepared) = through(&toolfold.address, Era::Session)?;
    let (begun, mut times) = (Instant::now(), Vec::new());
    while !over.load(Ordering::Relaxed) && begun.elapsed() < longest {
        let one = Instant::now();
        line.exchange(&prepared)?;
        times.push(one.elapsed());
        // A client that thinks: two cores that are busy with nothing but measuring measure themselves.
        std::thread::sleep(Duration::from_millis(2));
    }
    times.sort_unstable();
    Ok(times)
}

fn run(line: &mut Line, code: &str) -> Result<(Value, Duration)> {
    let message = request("tools/call", json!({"name": "run_code", "arguments": {"code": code}}), Era::Session);
    let prepared = line.prepare(&message, "run_code", Era::Session);
    let begun = Instant::now();
    let answer = line.exchange(&prepared)?;
    let took = begun.elapsed();
    Ok((body(answer), took))
}

/// The answer, also where it comes as an event of a stream; null where it is in too many pieces to be read here.
fn body(bytes: &[u8]) -> Value {
    if let Ok(answer) = serde_json::from_slice(bytes) {
        return answer;
    }
    let text = String::from_utf8_lossy(bytes);
    let data = text.lines().filter_map(|line| line.strip_prefix("data:")).find(|data| data.contains("\"id\""));
    data.and_then(|data| serde_json::from_str(data.trim()).ok()).unwrap_or_default()
}

fn end_of(answer: &Value) -> String {
    let error = &answer["result"]["structuredContent"]["error"];
    let said = error["message"].as_str().map_or_else(
        || "answered".to_owned(),
        |message| format!("{}: {message}", error["code"].as_str().unwrap_or_default()),
    );
    said.chars().take(90).collect()
}

/// The same on several threads, and what all of them have.
fn at_once<T: Send>(threads: usize, work: impl Fn() -> Result<Vec<T>> + Sync) -> Result<Vec<T>> {
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(&work)).collect();
        let mut all = Vec::new();
        for thread in started {
            match thread.join() {
                Ok(done) => all.extend(done?),
                Err(_) => bail!("a client panicked"),
            }
        }
        Ok(all)
    })
}

fn part(sorted: &[Duration], percent: usize) -> Duration {
    sorted.get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

fn shown(time: Duration) -> String {
    if time < Duration::from_millis(100) {
        format!("{:.1} ms", time.as_secs_f64() * 1e3)
    } else {
        format!("{:.2} s", time.as_secs_f64())
    }
}
