//! The chores of this repository, as `cargo xtask <task>`.
#![allow(clippy::print_stdout, reason = "a task's findings are its output")]

use std::process::ExitCode;

use anyhow::{Result, bail};
use xtask::{
    Workspace, apis, attack, bench, clients, dist, documents, eval, fuzz, page, peers, suite, tables, tidy, versions,
};

const HELP: &str = "\
Tasks of this repository.

Usage: cargo xtask <TASK>

Tasks:
  test [FILTER]…  Run every test: installs the peers, builds, runs the suite and the doc tests
  peers           Install the MCP servers and clients that the tests talk to, into target/peers
  tidy            Check the rules that the compiler does not know
  eval [DIR]      Measure search on the sets in eval/ and compare with what is recorded, or on those in DIR;
                  --record keeps the figures
  attack [WORD]…  Try to break what is promised, as a client, a server or a bad day could
  fuzz [SECONDS]  Feed what a stranger's bytes reach first with new ones, for so long (300)
  clients [NAME]… Try real clients with a fake model: from their own file to Toolfold and back (2 GB of them, from npm)
  page [FOLDER]   Try the page in a browser, with a hostile catalog behind it; pictures go into the folder
  apis [PART]…    Read the OpenAPI documents of some npm packages, call five through Toolfold as Prism plays them, and put
                  our own to Schemathesis: documents, mock, judge
  soak            Do so for twenty minutes with 200 clients (--minutes, --clients), against a quiet run
  cluster [ROUNDS] Kill, freeze and cut off replicas behind a balancer, so many times (200): nothing acknowledged may be
                  missing and nothing be made twice; --balancer nginx, haproxy or caddy, --seed N, --seconds N
  cluster PART    judges: the conformance suite and SDK clients through nginx, HAProxy and Caddy count what they count with
                  one Toolfold; load: what replicas ask of their database at rest; bench: what several cost
  bench [PART]…   Measure what Toolfold costs, against the thinnest server there can be:
                  calls, throughput, audit, search, start, scripts, results
  bench tables    Count what tools cost in tokens, beside the figures of the design documents
  audit-kills [N] Kill N processes (1000) while they write the audit: nothing acknowledged may be missing
  versions [WORD]… Update real servers from one published version to the next: how much of them is held (from npm)
  docs            Write what the program says into docs/ and README: made pages, console blocks, the picture;
                  --check fails where they differ
  dist            Make everything that people install, into target/dist; --binary PATH packs that one instead of a static
                  one built here, --try installs and runs it, --url BASE is where it will lie
  help            Print this";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next().unwrap_or_else(|| "help".to_owned());
    match run(&task, &arguments.collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: &str, arguments: &[String]) -> Result<()> {
    match task {
        "test" => suite::run(&Workspace::find()?, arguments),
        "peers" => peers::install(&Workspace::find()?),
        "eval" => eval::run(&Workspace::find()?, arguments),
        "bench" if arguments == ["tables"] => tables::run(&Workspace::find()?),
        "bench" => bench::run(&Workspace::find()?, arguments),
        "apis" => apis::run(&Workspace::find()?, arguments),
        "attack" => attack::run(&Workspace::find()?, arguments),
        "fuzz" => fuzz::run(&Workspace::find()?, arguments),
        "page" => page::run(&Workspace::find()?, arguments),
        "clients" => clients::run(&Workspace::find()?, arguments),
        "docs" => documents::run(&Workspace::find()?, arguments),
        "dist" => dist::run(&Workspace::find()?, arguments),
        "soak" => attack::soak(&Workspace::find()?, arguments),
        "cluster" => attack::cluster(&Workspace::find()?, arguments),
        "audit-kills" => suite::audit_kills(&Workspace::find()?, arguments),
        "versions" => versions::run(&Workspace::find()?, arguments),
        // What the benchmark starts, not a person.
        "thin-server" => bench::thin_server(arguments),
        "tidy" => report(&tidy::check(&Workspace::find()?)?),
        "help" | "--help" | "-h" => {
            println!("{HELP}");
            Ok(())
        }
        _ => bail!("there is no task {task:?}\n\nhint: `cargo xtask help` lists them"),
    }
}

fn report(findings: &[String]) -> Result<()> {
    for finding in findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        1 => bail!("one thing is not tidy"),
        count => bail!("{count} things are not tidy"),
    }
}
