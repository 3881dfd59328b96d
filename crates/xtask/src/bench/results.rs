//! Long results: what a hundred megabytes of them take in memory, as many small ones and as one large one: at most at any
//! moment, and afterwards.

use anyhow::{Result, ensure};
use serde_json::json;

use super::client::{Conversation, Era, Line, request};
use super::process::Served;
use super::report::Report;
use super::{Programs, catalog};

/// Of all results together.
const BYTES: usize = 100 << 20;
/// What may be in memory of them.
const MEGABYTES: f64 = 25.0;

pub(crate) fn measure(programs: &Programs, report: &mut Report) -> Result<()> {
    println!("\n100 MB of results that are kept");
    for (count, what) in [(100, "100 results of 1 MB"), (1, "one result of 100 MB")] {
        let list = programs.folder.join(format!("results{count}.jsonl"));
        catalog::write(&list, &[catalog::echo()])?;
        let server =
            Served::start(programs.thin(&["large", &(BYTES / count).to_string(), &list.display().to_string()]))?;
        let config = format!(
            "[limits]\nmemory = \"1GiB\"\n\n[servers.thin]\nurl = \"http://{}/0\"\nmax_message = \"128MiB\"\n",
            server.address
        );
        let name = format!("results{count}");
        let toolfold = Served::start(programs.toolfold(&name, &config, &["serve", "--listen", "127.0.0.1:0"])?)?;
        toolfold.knows(1)?;
        let mut line = Line::greeted(&toolfold.address, "/mcp")?;
        let arguments = json!({"tool": "thin.echo", "arguments": {"text": "x"}});
        let message = request("tools/call", json!({"name": "call_tool", "arguments": arguments}), Era::Session);
        let prepared = line.prepare(&message, "call_tool", Era::Session);
        toolfold.process.forget_most()?;
        let before = toolfold.process.resident()?;
        for _ in 0..count {
            let answer = line.exchange(&prepared)?;
            let said = String::from_utf8_lossy(&answer[..answer.len().min(1_000)]);
            ensure!(said.contains("It is kept whole"), "it was not kept: {said}");
        }
        let (after, most) = (toolfold.process.resident()?, toolfold.process.most_resident()?);
        println!("  {what}: {before:.0} MB before, {after:.0} MB after, {most:.0} MB at most on the way");
        report.goal(
            &format!("{what} leave {:.0} MB more in memory, at most {MEGABYTES:.0}", after - before),
            after - before <= MEGABYTES,
        );
        report.goal(
            &format!("{what} take {:.0} MB more at any moment, at most {MEGABYTES:.0}", most - before),
            most - before <= MEGABYTES,
        );
    }
    Ok(())
}
