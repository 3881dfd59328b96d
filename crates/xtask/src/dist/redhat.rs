//! The `.rpm`, by `rpmbuild`. Where that is not there, there is no `.rpm`, and that is said.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;

use super::staging::Staged;
use super::{Release, files};
use crate::shell;

pub(super) fn make(release: &Release, staged: &Staged) -> Result<Option<PathBuf>> {
    if shell::find("rpmbuild").is_none() {
        println!("no .rpm: rpmbuild is not here (Debian calls it rpm)");
        return Ok(None);
    }
    let top = release.work.join("rpm");
    let spec = top.join("toolfold.spec");
    let listed = listed(&staged.root)?.join("\n").replace("zsh/vendor-completions", "zsh/site-functions");
    files::write(&spec, release.filled("toolfold.spec", &[("FILES", &listed)])?)?;
    let define = |name: &str, value: &str| ["--define".to_owned(), format!("{name} {value}")];
    let mut command = Command::new("rpmbuild");
    command.args(["-bb", "--quiet", "--target", &format!("{}-linux", std::env::consts::ARCH)]);
    command
        .args(define("_topdir", &top.display().to_string()))
        .args(define("staged", &staged.root.display().to_string()));
    // Whose machine it was and when is nobody's business.
    command.args(define("_buildhost", "localhost")).args(define("_binary_payload", "w6.gzdio"));
    command
        .args(define("use_source_date_epoch_as_buildtime", "1"))
        .args(define("clamp_mtime_to_source_date_epoch", "1"));
    command.arg(&spec).env("SOURCE_DATE_EPOCH", &release.epoch).stdout(Stdio::null());
    shell::run_command(&mut command)?;
    let name = format!("toolfold-{}-1.{}.rpm", release.version, std::env::consts::ARCH);
    let package = release.out.join(&name);
    files::copy(&top.join("RPMS").join(std::env::consts::ARCH).join(&name), &package)?;
    Ok(Some(package))
}

/// Every file, as the spec names them.
fn listed(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(format!("/{}", path.strip_prefix(root)?.display())),
            }
        }
    }
    found.sort();
    Ok(found)
}
