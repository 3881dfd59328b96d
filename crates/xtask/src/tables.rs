//! What tools cost in tokens: the tables that a test of `toolfold-disclosure` makes and checks, for reading. They are
//! counted there and not here, because a chore may not know the crates.

use anyhow::Result;

use crate::shell;
use crate::workspace::Workspace;

/// Tests that print tables, in the order to read them.
const TABLES: [&str; 2] = ["tables::", "real::what_each_level_costs"];

pub fn run(workspace: &Workspace) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let test = ["test", "--quiet", "--package", "toolfold-disclosure", "--test", "it", "--"];
    for table in TABLES {
        let arguments = [&test[..], &["--nocapture", "--test-threads=1", table]].concat();
        let said = shell::output(&cargo, &arguments, &workspace.root)?;
        // What the harness says of itself is not what a person asked for.
        let harness = |line: &str| line.starts_with("running ") || line.starts_with("test result");
        said.lines().filter(|line| !harness(line)).for_each(|line| println!("{}", line.trim_start_matches('.')));
    }
    Ok(())
}
