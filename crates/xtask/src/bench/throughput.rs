//! Many clients at once: calls a second through Toolfold, as a part of what the thin server does alone.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::client::{Conversation, Door, Era, Line, call, straight};
use super::process::Served;
use super::report::Report;
use super::{Programs, catalog};

const CLIENTS: [usize; 4] = [1, 8, 32, 128];
const ROUNDS: usize = 3;
const WARM: Duration = Duration::from_millis(200);
const FOR: Duration = Duration::from_millis(800);
/// Of what the server does without Toolfold, in a hundred.
const GOAL: f64 = 40.0;

pub(crate) fn measure(programs: &Programs, report: &mut Report) -> Result<()> {
    let list = programs.folder.join("one.jsonl");
    catalog::write(&list, &[catalog::echo()])?;
    let server = Served::start(programs.thin(&["http", &list.display().to_string()]))?;
    let config = format!("[servers.thin]\nurl = \"http://{}/0\"\n", server.address);
    let toolfold = Served::start(programs.toolfold("many", &config, &["serve", "--listen", "127.0.0.1:0"])?)?;
    toolfold.knows(1)?;
    println!("\nCalls a second over HTTP, through call_tool");
    println!("  {:>7} {:>10} {:>18} {:>18}", "clients", "straight", "session", "stateless");
    for clients in CLIENTS {
        let mut rates = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            rates[0].push(rate(clients, || direct(&server.address))?);
            rates[1].push(rate(clients, || through(&toolfold.address, Era::Session))?);
            rates[2].push(rate(clients, || through(&toolfold.address, Era::Stateless))?);
        }
        let [straight, session, stateless] = rates.map(middle);
        let (part, other) = (100.0 * session / straight, 100.0 * stateless / straight);
        println!("  {clients:>7} {straight:>10.0} {session:>10.0} {part:>5.0} % {stateless:>10.0} {other:>5.0} %");
        for (era, part) in [("session", part), ("stateless", other)] {
            report.goal(
                &format!("{clients} clients, {era}: {part:.0} % of straight, at least {GOAL:.0} %"),
                part >= GOAL,
            );
        }
    }
    Ok(())
}

fn direct(address: &str) -> Result<(Line, Vec<u8>)> {
    let line = Line::open(address, "/0")?;
    let prepared = line.prepare(&straight(), "echo", Era::Session);
    Ok((line, prepared))
}

pub(super) fn through(address: &str, era: Era) -> Result<(Line, Vec<u8>)> {
    let line = match era {
        Era::Session => Line::greeted(address, "/mcp")?,
        Era::Stateless => Line::open(address, "/mcp")?,
    };
    let (message, name) = call(Door::CallTool, era);
    let prepared = line.prepare(&message, name, era);
    Ok((line, prepared))
}

/// Exchanges a second that so many clients have together.
pub(super) fn rate(clients: usize, open: impl Fn() -> Result<(Line, Vec<u8>)>) -> Result<f64> {
    let lines = (0..clients).map(|_| open()).collect::<Result<Vec<_>>>()?;
    let (done, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let one = |(mut line, prepared): (Line, Vec<u8>)| -> Result<()> {
        while !stop.load(Ordering::Relaxed) {
            line.exchange(&prepared)?;
            done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = lines.into_iter().map(|line| scope.spawn(|| one(line))).collect();
        std::thread::sleep(WARM);
        let (before, begun) = (done.load(Ordering::Relaxed), Instant::now());
        std::thread::sleep(FOR);
        let (after, took) = (done.load(Ordering::Relaxed), begun.elapsed());
        stop.store(true, Ordering::Relaxed);
        for thread in threads {
            match thread.join() {
                Ok(outcome) => outcome?,
                Err(_) => bail!("a client panicked"),
            }
        }
        Ok((after - before) as f64 / took.as_secs_f64())
    })
}

pub(super) fn middle(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}
