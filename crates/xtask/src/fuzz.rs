//! Everything that a stranger's bytes reach first, tried with new bytes for a given time: frames, event streams, headers,
//! schemas, configurations, cursors, front matter, clients' files, tokens, logins, descriptions of APIs, cards of agents, what is
//! pasted and unpacked, definitions, results.
//!
//! What a reader would get wrong: these are the property tests of the suite, and no others. There they try the same few
//! cases each time; here many more, new ones in every round. What fails prints its seed, and shrinks to what to look at.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::shell;
use crate::workspace::Workspace;

const USUAL: Duration = Duration::from_secs(300);
/// Cases of one property in one round.
const CASES: &str = "2000";

/// Property tests by what they are fed, as filters of test names. One that finds nothing fails, as it would hold for ever.
const PARTS: [(&str, &str); 15] = [
    ("frames", "package(toolfold-wire) & test(/frames::(any_|no_bytes|a_broken)/)"),
    ("events", "package(toolfold-wire) & test(/events::(what_is|no_bytes)/)"),
    ("headers", "package(toolfold-wire) & test(/headers::/)"),
    ("transports", "package(toolfold-serve) & test(/properties::/)"),
    ("schemas", "package(toolfold-schema) & test(/agreement::/)"),
    (
        "configurations",
        "package(toolfold-config) & test(/anything::/) + package(toolfold-clients) & test(/edit_anything::/)",
    ),
    ("cursors and arguments", "package(toolfold-disclosure) & test(/properties::/)"),
    ("front matter", "package(toolfold-gateway) & test(/any_file_is_a_definition/)"),
    ("tokens", "package(toolfold-access) & test(/anything::/)"),
    ("logins", "package(toolfold-oauth) & test(/(anything|strangers)::/)"),
    ("descriptions of APIs", "package(toolfold-openapi) & test(/anything::/)"),
    ("agents", "package(toolfold-upstream) & test(/made::(card|turn)::tests::any_/)"),
    ("what is added", "package(toolfold-clients) & test(/add_anything::|variables::|hidden::/)"),
    (
        "definitions",
        "package(toolfold-scan) & test(/bounds::(any_|what_has)|fold::|blob::|whatever_is_marked/) \
         + package(toolfold-core) & test(/written::|a_member_more|foreign::/)",
    ),
    (
        "results",
        "package(toolfold-results) & test(/anything::|whatever_is_asked|it_agrees_with|lines_are_those|ends_are_whole|what_is_left/)",
    ),
];

/// `arguments`: for how many seconds.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let limit = match arguments {
        [] => USUAL,
        [seconds] => Duration::from_secs(seconds.parse().context("the argument is a number of seconds")?),
        _ => bail!("one argument: for how many seconds"),
    };
    let begun = Instant::now();
    let mut rounds = 0;
    while rounds == 0 || begun.elapsed() < limit {
        for (part, filter) in PARTS {
            if rounds > 0 && begun.elapsed() >= limit {
                break;
            }
            // Every round is a new run of processes, and every process has a new seed.
            round(workspace, filter).with_context(|| format!("{part} did not hold"))?;
        }
        rounds += 1;
    }
    println!("{rounds} rounds in {:.0?}: everything held", begun.elapsed());
    Ok(())
}

fn round(workspace: &Workspace, filter: &str) -> Result<()> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(["nextest", "run", "--workspace", "--no-tests", "fail", "--filterset", filter]);
    command.current_dir(&workspace.root).env("PROPTEST_CASES", CASES).env_remove("PROPTEST_RNG_SEED");
    ensure!(
        shell::output("cargo-nextest", &["nextest", "--version"], &workspace.root).is_ok(),
        "cargo-nextest is needed"
    );
    shell::run_command(&mut command)
}
