//! What it costs to write down what happens: off, on and strict, one call after the other and thirty-two at once.

use std::time::Duration;

use anyhow::Result;

use super::client::{Era, Line, time_each};
use super::process::Served;
use super::report::Report;
use super::throughput::{middle, rate, through};
use super::{Programs, catalog, median};

const MODES: [&str; 3] = ["off", "on", "strict"];
const ROUNDS: usize = 12;
const EACH: usize = 300;
const AT_ONCE: usize = 32;
/// `on` may add so much to a call, in a hundred; `strict` must leave so much of what is done without.
const MOST_ADDED: f64 = 5.0;
const LEAST_LEFT: f64 = 60.0;

pub(crate) fn measure(programs: &Programs, report: &mut Report) -> Result<()> {
    let list = programs.folder.join("audited.jsonl");
    catalog::write(&list, &[catalog::echo()])?;
    let server = Served::start(programs.thin(&["http", &list.display().to_string()]))?;
    let mut running = Vec::new();
    for mode in MODES {
        let config = format!("[audit]\nmode = \"{mode}\"\n[servers.thin]\nurl = \"http://{}/0\"\n", server.address);
        let name = format!("audit-{mode}");
        let toolfold = Served::start(programs.toolfold(&name, &config, &["serve", "--listen", "127.0.0.1:0"])?)?;
        toolfold.knows(1)?;
        running.push(toolfold);
    }
    let mut lines: Vec<(Line, Vec<u8>)> =
        running.iter().map(|toolfold| through(&toolfold.address, Era::Stateless)).collect::<Result<_>>()?;
    let mut times: [Vec<Duration>; 3] = Default::default();
    let mut rates: [Vec<f64>; 3] = Default::default();
    for round in 0..=ROUNDS {
        for ((line, prepared), times) in lines.iter_mut().zip(&mut times) {
            let taken = time_each(line, prepared, EACH)?;
            // The first round warms everything up.
            if round > 0 {
                times.extend(taken);
            }
        }
    }
    for _ in 0..3 {
        for (toolfold, rates) in running.iter().zip(&mut rates) {
            rates.push(rate(AT_ONCE, || through(&toolfold.address, Era::Stateless))?);
        }
    }
    let times = times.map(|mut times| median(&mut times));
    let rates = rates.map(middle);
    println!("\nThe audit");
    for ((mode, time), rate) in MODES.iter().zip(times).zip(rates) {
        println!("  {mode:<7} {:>8.1} µs a call {rate:>10.0} calls a second by {AT_ONCE}", time.as_secs_f64() * 1e6);
    }
    let added = 100.0 * (times[1].as_secs_f64() / times[0].as_secs_f64() - 1.0);
    report.goal(&format!("on adds {added:.1} % to a call, at most {MOST_ADDED:.0} %"), added <= MOST_ADDED);
    let left = 100.0 * rates[2] / rates[0];
    report
        .goal(&format!("strict leaves {left:.0} % of the throughput, at least {LEAST_LEFT:.0} %"), left >= LEAST_LEFT);
    Ok(())
}
