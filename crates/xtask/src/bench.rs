//! What Toolfold costs, measured against the same work without it in the same run.

use anyhow::{Result, bail};

use crate::workspace::Workspace;

pub fn run(_workspace: &Workspace) -> Result<()> {
    bail!("nothing is measured yet")
}
