//! Archives and checksums, with nothing of the machine in them.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;

use super::Release;
use crate::shell;

pub(super) fn sha256(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

pub(super) fn sum(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    Ok(sha256(&bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// As `sha256sum` writes it and reads it.
pub(super) fn sum_line(path: &Path) -> Result<String> {
    Ok(format!("{}  {}\n", sum(path)?, name(path)))
}

pub(super) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A `.tar.gz` of one folder, which is in it under its own name.
pub(super) fn tar_gz(release: &Release, folder: &Path, to: &Path) -> Result<PathBuf> {
    let parent = folder.parent().context("a folder has a parent")?;
    let tar = to.with_extension("tar-unpacked");
    let (archive, inside) = (tar.display().to_string(), name(folder));
    let time = format!("--mtime=@{}", release.epoch);
    let anonymous = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu", time.as_str()];
    let arguments = [&anonymous[..], &["-cf", archive.as_str(), inside.as_str()]].concat();
    shell::run("tar", &arguments, parent)?;
    gzip(&tar, to, 6)?;
    fs::remove_file(&tar)?;
    Ok(to.to_owned())
}

/// Without the name and the time that gzip would keep. `effort` is 1 to 9.
pub(super) fn gzip(from: &Path, to: &Path, effort: u8) -> Result<()> {
    let (input, output) = (fs::File::open(from)?, fs::File::create(to)?);
    let status = Command::new("gzip")
        .arg(format!("-n{effort}"))
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(output))
        .status()?;
    ensure!(status.success(), "gzip failed: {status}");
    Ok(())
}

/// What goes into a zip: name, content, and whether it can be run.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) content: Vec<u8>,
    pub(super) runs: bool,
}

impl Member {
    pub(super) fn text(name: impl Into<String>, content: impl Into<String>) -> Member {
        Member { name: name.into(), content: content.into().into_bytes(), runs: false }
    }

    pub(super) fn program(name: impl Into<String>, content: Vec<u8>) -> Member {
        Member { name: name.into(), content, runs: true }
    }
}

/// A zip in this order. Its times are the earliest that a zip can have: there are no time zones in one.
pub(super) fn zipped(members: &[Member], to: &Path) -> Result<PathBuf> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for member in members {
        let mode = if member.runs { 0o755 } else { 0o644 };
        let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default()).unix_permissions(mode);
        archive.start_file(&member.name, options.compression_method(zip::CompressionMethod::Deflated))?;
        archive.write_all(&member.content)?;
    }
    fs::write(to, archive.finish()?.into_inner())?;
    Ok(to.to_owned())
}

/// Writes a file, and the folders above it.
pub(super) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    fs::create_dir_all(path.parent().context("a file has a folder")?)?;
    fs::write(path, content).with_context(|| path.display().to_string())
}

/// Copies a file with its permissions, and makes the folders above it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to.parent().context("a file has a folder")?)?;
    fs::copy(from, to).with_context(|| from.display().to_string())?;
    Ok(())
}
