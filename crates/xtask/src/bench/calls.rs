//! One call after the other: straight to the thin server, and through Toolfold to the same server, in both eras, by both
//! doors, with one tool behind it, three thousand and twenty thousand.

use std::time::Duration;

use anyhow::Result;

use super::client::{Conversation, Door, Era, Line, Pipe, call, straight, time_each};
use super::process::Served;
use super::report::Report;
use super::{Programs, catalog, median};

const SIZES: [usize; 3] = [1, 3_000, 20_000];
/// How many tools a server of the catalog has.
const PER_SERVER: usize = 1_000;
const ROUNDS: usize = 12;
const EACH: usize = 150;
/// Eras and sizes may differ by this factor, at p50.
const LIMIT: f64 = 1.3;
/// A call through `call_tool` may cost a tenth more than one by the tool's own name.
const DOORS: f64 = 1.1;
const ADDED: Duration = Duration::from_micros(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Http,
    Stdio,
}

/// One row of the table.
struct Case {
    size: usize,
    era: Era,
    door: Door,
    prepared: Vec<u8>,
    to: Box<dyn Conversation>,
    times: Vec<Duration>,
}

pub(crate) fn measure(programs: &Programs, way: Way, report: &mut Report) -> Result<()> {
    let lists = lists(programs)?;
    let server =
        Served::start(programs.thin(&[&["http"], &lists.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat()))?;
    let mut floor = floor(programs, way, &server, &lists)?;
    let mut running = Vec::new();
    let mut cases = Vec::new();
    let mut started = Vec::new();
    for size in SIZES {
        let config = config(programs, way, &server.address, &lists, size);
        let served = start(programs, way, size, &config)?;
        started.push((size, config, served));
    }
    // Only now: a connection on which nothing is asked for long is closed.
    for (size, config, served) in started {
        add_cases(programs, way, size, &config, served, &mut running, &mut cases)?;
    }
    let mut direct = Vec::new();
    for round in 0..=ROUNDS {
        let mut turn = vec![(&mut floor.0, floor.1.as_slice(), &mut direct)];
        turn.extend(cases.iter_mut().map(|case| (&mut case.to, case.prepared.as_slice(), &mut case.times)));
        for (to, prepared, times) in turn {
            let taken = time_each(to.as_mut(), prepared, EACH)?;
            // The first round warms everything up.
            if round > 0 {
                times.extend(taken);
            }
        }
    }
    show(way, median(&mut direct), &mut cases, report);
    Ok(())
}

/// The lists of the thin server: first the tool that is called, then the catalog in parts.
fn lists(programs: &Programs) -> Result<Vec<String>> {
    let tools = catalog::tools(&programs.root, SIZES[2])?;
    let parts = std::iter::once(vec![catalog::echo()]).chain(tools.chunks(PER_SERVER).map(<[_]>::to_vec));
    let write = |(number, part): (usize, Vec<_>)| {
        let file = programs.folder.join(format!("list{number}.jsonl"));
        catalog::write(&file, &part)?;
        Ok(file.display().to_string())
    };
    parts.enumerate().map(write).collect()
}

fn floor(programs: &Programs, way: Way, server: &Served, lists: &[String]) -> Result<(Box<dyn Conversation>, Vec<u8>)> {
    let to: Box<dyn Conversation> = match way {
        Way::Http => Box::new(Line::open(&server.address, "/0")?),
        Way::Stdio => Box::new(Pipe::start(programs.thin(&["stdio", &lists[0]]))?),
    };
    let prepared = to.prepare(&straight(), "echo", Era::Session);
    Ok((to, prepared))
}

fn config(programs: &Programs, way: Way, address: &str, lists: &[String], size: usize) -> String {
    let mut config = match way {
        Way::Http => format!("[servers.thin]\nurl = \"http://{address}/0\"\n"),
        Way::Stdio => {
            let (thin, list) = (&programs.thin, &lists[0]);
            format!("[servers.thin]\ncommand = {thin:?}\nargs = [\"thin-server\", \"stdio\", {list:?}]\n")
        }
    };
    for number in 1..=size / PER_SERVER {
        config.push_str(&format!("[servers.part{number}]\nurl = \"http://{address}/{number}\"\n"));
    }
    config
}

fn name(way: Way, size: usize) -> String {
    format!("{way:?}-{size}").to_lowercase()
}

/// Starts Toolfold with so many tools.
fn start(programs: &Programs, way: Way, size: usize, config: &str) -> Result<Served> {
    let arguments = ["serve", "--listen", "127.0.0.1:0"];
    let served = Served::start(programs.toolfold(&name(way, size), config, &arguments)?)?;
    served.knows(size.max(1))?;
    Ok(served)
}

/// Adds a case for each era and door.
fn add_cases(
    programs: &Programs,
    way: Way,
    size: usize,
    config: &str,
    served: Served,
    running: &mut Vec<Served>,
    cases: &mut Vec<Case>,
) -> Result<()> {
    if way == Way::Stdio {
        // What it has learned is remembered: the ones on pipes begin with all of it.
        served.process.end()?;
        for (era, door) in pairs() {
            let mut pipe = Pipe::start(programs.toolfold(&name(way, size), config, &["serve", "--stdio"])?)?;
            if era == Era::Session {
                pipe.greet()?;
            }
            cases.push(case(size, era, door, Box::new(pipe)));
        }
        return Ok(());
    }
    for (era, door) in pairs() {
        let line = match era {
            Era::Session => Line::greeted(&served.address, "/mcp")?,
            Era::Stateless => Line::open(&served.address, "/mcp")?,
        };
        cases.push(case(size, era, door, Box::new(line)));
    }
    running.push(served);
    Ok(())
}

fn pairs() -> [(Era, Door); 4] {
    [
        (Era::Session, Door::CallTool),
        (Era::Session, Door::DirectName),
        (Era::Stateless, Door::CallTool),
        (Era::Stateless, Door::DirectName),
    ]
}

fn case(size: usize, era: Era, door: Door, to: Box<dyn Conversation>) -> Case {
    let (message, name) = call(door, era);
    let prepared = to.prepare(&message, name, era);
    Case { size, era, door, prepared, to, times: Vec::new() }
}

fn show(way: Way, direct: Duration, cases: &mut [Case], report: &mut Report) {
    println!("\nOne call over {way:?}, p50; straight to the server {direct:.1?}");
    println!("  {:>7}  {:<10} {:<12} {:>10} {:>10}", "tools", "era", "by", "p50", "added");
    let mut middles = Vec::new();
    for case in cases {
        let middle = median(&mut case.times);
        let (size, era, door) = (case.size, case.era, case.door);
        let added = middle.saturating_sub(direct);
        let (era_name, door_name) = (format!("{era:?}"), format!("{door:?}"));
        println!("  {size:>7}  {era_name:<10} {door_name:<12} {middle:>10.1?} {added:>10.1?}");
        middles.push((size, era, door, middle));
    }
    let of = |size: usize, era: Era, door: Door| {
        let found = middles.iter().find(|(s, e, d, _)| (*s, *e, *d) == (size, era, door));
        found.map_or(f64::NAN, |(.., middle)| middle.as_secs_f64())
    };
    for size in SIZES {
        for door in [Door::CallTool, Door::DirectName] {
            let ratio = of(size, Era::Stateless, door) / of(size, Era::Session, door);
            report.limit(
                &format!("{way:?}, {size} tools, {door:?}: stateless / session ×{ratio:.2}, at most ×{LIMIT}"),
                ratio <= LIMIT,
            );
        }
    }
    for (era, door) in pairs() {
        let ratio = of(SIZES[2], era, door) / of(SIZES[0], era, door);
        report.limit(
            &format!("{way:?}, {era:?}, {door:?}: 20,000 tools / 1 ×{ratio:.2}, at most ×{LIMIT}"),
            ratio <= LIMIT,
        );
    }
    for era in [Era::Session, Era::Stateless] {
        let ratio = of(SIZES[1], era, Door::CallTool) / of(SIZES[1], era, Door::DirectName);
        report
            .goal(&format!("{way:?}, {era:?}: call_tool / direct name ×{ratio:.2}, at most ×{DOORS}"), ratio <= DOORS);
        let added = (of(SIZES[1], era, Door::CallTool) - direct.as_secs_f64()).max(0.0);
        let shown = Duration::from_secs_f64(added);
        report.goal(&format!("{way:?}, {era:?}: a call adds {shown:.0?}, at most {ADDED:.0?}"), shown <= ADDED);
    }
}
