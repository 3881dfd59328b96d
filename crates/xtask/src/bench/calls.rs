//! One call after the other, and many at once: straight to a server, and through Toolfold to the same server.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::client::{Connection, INITIALIZE, Pipe, Served, call, time_each};
use super::{Programs, median, show};

const WARM: usize = 200;
const COUNT: usize = 3_000;
const AT_ONCE: usize = 32;
const EACH: usize = 200;
const ROUNDS: usize = 7;
const SCRIPT: &str = r#"{"eras":["legacy"],"tools":["echo"]}"#;

pub(crate) fn stdio(programs: &Programs) -> Result<()> {
    let mut straight = Command::new(&programs.fake);
    straight.args(["--script-json", SCRIPT]);
    let config = format!("[servers.fake]\ncommand = {:?}\nargs = [\"--script-json\", {SCRIPT:?}]\n", programs.fake);
    let floor = piped(straight, &call("echo"))?;
    let ours = piped(programs.toolfold(&config, &["serve", "--stdio"])?, &call("fake.echo"))?;
    show("stdio, one call, median", floor, ours, "at most ×2");
    Ok(())
}

fn piped(command: Command, message: &str) -> Result<Duration> {
    let mut pipe = Pipe::start(command)?;
    pipe.exchange(INITIALIZE)?;
    for _ in 0..WARM {
        let answer = pipe.exchange(message)?;
        ensure!(answer.contains("some words"), "not an echo: {answer}");
    }
    Ok(median(time_each(COUNT, || pipe.exchange(message).map(drop))?))
}

pub(crate) fn http(programs: &Programs) -> Result<()> {
    let mut straight = Command::new(&programs.fake);
    straight.args(["--script-json", SCRIPT, "--http", "0"]);
    let server = Served::start(straight)?;
    let config = format!("[servers.fake]\nurl = \"http://{}/mcp\"\n", server.address);
    let toolfold = Served::start(programs.toolfold(&config, &["serve", "--listen", "127.0.0.1:0"])?)?;
    let floor = posted(&server.address, &call("echo"))?;
    let ours = posted(&toolfold.address, &call("fake.echo"))?;
    show("HTTP, one call, median", floor, ours, "at most ×2");
    // In turns: whatever else the machine does meanwhile slows both.
    let (mut floor, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        floor.push(at_once(&server.address, &call("echo"))?);
        ours.push(at_once(&toolfold.address, &call("fake.echo"))?);
    }
    show("HTTP, 32 at once, time for each call", median(floor), median(ours), "at most ×2");
    Ok(())
}

fn posted(address: &str, message: &str) -> Result<Duration> {
    let mut connection = Connection::open(address)?;
    for _ in 0..WARM {
        let (_, body) = connection.post(message)?;
        ensure!(body.contains("some words"), "not an echo: {body}");
    }
    Ok(median(time_each(COUNT, || connection.post(message).map(drop))?))
}

/// Wall time of all calls over their number.
fn at_once(address: &str, message: &str) -> Result<Duration> {
    let mut connections = (0..AT_ONCE).map(|_| Connection::open(address)).collect::<Result<Vec<_>>>()?;
    let begun = Instant::now();
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let one = |connection: &mut Connection| (0..EACH).try_for_each(|_| connection.post(message).map(drop));
        let threads: Vec<_> = connections.iter_mut().map(|connection| scope.spawn(move || one(connection))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| anyhow::bail!("a client panicked"))).collect()
    });
    results.into_iter().collect::<Result<()>>()?;
    Ok(begun.elapsed() / (AT_ONCE * EACH) as u32)
}
