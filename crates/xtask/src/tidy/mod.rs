//! The rules of this repository that no compiler checks. A rule is a function from the workspace to findings, each a
//! sentence that begins with the place.

mod dependencies;
mod documents;
mod errors;
mod limits;
mod links;
mod names;
mod promises;
mod purity;
mod sentences;
mod sources;
mod unused;

use anyhow::Result;

use crate::workspace::Workspace;

/// Everything that is not as it should be, sorted.
pub fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let files = workspace.files()?;
    let mut findings = dependencies::check(workspace)?;
    findings.extend(sources::check(workspace, &files)?);
    findings.extend(documents::check(workspace, &files)?);
    findings.extend(limits::check(workspace, &files)?);
    findings.extend(links::check(workspace, &files)?);
    findings.extend(unused::check(workspace, &files)?);
    findings.sort();
    Ok(findings)
}

pub use dependencies::{edges, reasons};
pub use documents::commands;
pub use errors::untyped;
pub use links::{astray, unlisted};
pub use names::shared_names;
pub use purity::{centre, gate, purity};
pub use sources::{opening, places, size, todos};
pub use unused::unused;
