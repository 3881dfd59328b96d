//! The `.deb`, by Debian's own tool.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::staging::Staged;
use super::{DESCRIPTION, Release, files};
use crate::shell;

pub(super) fn make(release: &Release, staged: &Staged) -> Result<PathBuf> {
    let root = release.work.join("debian");
    let (from, to) = (format!("{}/.", staged.root.display()), root.display().to_string());
    fs::create_dir_all(&root)?;
    shell::run("cp", &["-a", &from, &to], &release.work)?;
    let size = shell::output("du", &["--apparent-size", "-sk", &to], &release.work)?;
    let size = size.split_whitespace().next().unwrap_or("0").to_owned();
    let about = [("SIZE", size.as_str()), ("LINES", &lines(DESCRIPTION))];
    files::write(&root.join("DEBIAN/control"), release.filled("control", &about)?)?;
    let package = release.out.join(format!("toolfold_{}_amd64.deb", release.version));
    let mut command = Command::new("dpkg-deb");
    // One thread: how many there are would be seen in the bytes.
    command.args(["--root-owner-group", "-Zxz", "-z1", "--threads-max=1", "--build"]).arg(&root).arg(&package);
    command.env("SOURCE_DATE_EPOCH", &release.epoch).stdout(std::process::Stdio::null());
    shell::run_command(&mut command)?;
    Ok(package)
}

/// As a control file has it: short lines, each after a space.
fn lines(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < 76 => *line += &format!(" {word}"),
            _ => lines.push(format!(" {word}")),
        }
    }
    lines.join("\n")
}
