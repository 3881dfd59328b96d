//! Attacks on a running Toolfold: the scripts in `attacks/`, which need nothing but Python 3.
//!
//! What a reader would get wrong: `attack` uses the binary of the tests and tells what stands still from what goes on,
//! within five minutes; how fast and for how long is for `bench` and `soak`, with a release build.

use std::process::Command;

use anyhow::Result;

use crate::peers;
use crate::shell;
use crate::workspace::Workspace;

const BINS: [&str; 3] = ["build", "--workspace", "--bins"];
const RELEASE: [&str; 6] = ["build", "--release", "--package", "toolfold", "--bin", "toolfold"];

pub fn run(workspace: &Workspace, words: &[String]) -> Result<()> {
    // The same build as the tests', so that after them there is nothing to build.
    python(workspace, &BINS, "debug", "attacks/attack.py", words)
}

/// Three replicas on a database of their own, behind a balancer: on bad days, before those who judge protocols, and measured.
pub fn cluster(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    peers::programs(workspace)?;
    match arguments.split_first() {
        Some((part, rest)) if part == "judges" => {
            peers::install(workspace)?;
            python(workspace, &BINS, "debug", "cluster/judges.py", rest)
        }
        Some((part, rest)) if part == "load" => python(workspace, &BINS, "debug", "cluster/load.py", rest),
        Some((part, rest)) if part == "bench" => python(workspace, &RELEASE, "release", "cluster/bench.py", rest),
        _ => python(workspace, &BINS, "debug", "cluster/campaign.py", arguments),
    }
}

pub fn soak(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    python(workspace, &RELEASE, "release", "attacks/soak.py", arguments)
}

fn python(workspace: &Workspace, build: &[&str], profile: &str, script: &str, arguments: &[String]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    shell::run(cargo, build, &workspace.root)?;
    let folder = workspace.target.join("attack");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    let mut command = Command::new("python3");
    // Bytecode beside the sources would be files that git sees.
    command.arg("-B").arg(workspace.root.join("crates/xtask").join(script)).args(arguments);
    command.env("TOOLFOLD_ATTACK_BINARY", workspace.target.join(profile).join("toolfold"));
    shell::run_command(command.env("TOOLFOLD_ATTACK_FOLDER", folder).current_dir(&workspace.root))
}
