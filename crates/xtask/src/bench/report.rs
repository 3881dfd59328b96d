//! What was promised and what was measured. A ratio that shows a cost which grows with the catalog or the era fails the
//! run; the other goals depend on the machine and are said.

use anyhow::{Result, ensure};

#[derive(Default)]
pub(crate) struct Report {
    goals: Vec<String>,
    failed: usize,
}

impl Report {
    /// A goal that depends on the machine.
    pub(crate) fn goal(&mut self, what: &str, is_met: bool) {
        self.goals.push(format!("  {:<8} {what}", if is_met { "met" } else { "not met" }));
    }

    /// A limit that fails the run past it.
    pub(crate) fn limit(&mut self, what: &str, holds: bool) {
        self.failed += usize::from(!holds);
        self.goals.push(format!("  {:<8} {what}", if holds { "holds" } else { "FAILED" }));
    }

    pub(crate) fn finish(self) -> Result<()> {
        println!("\nGoals");
        self.goals.iter().for_each(|line| println!("{line}"));
        ensure!(self.failed == 0, "{} limits do not hold", self.failed);
        Ok(())
    }
}
