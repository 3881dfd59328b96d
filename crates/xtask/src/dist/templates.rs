//! What others build with: a formula for Homebrew and a file for a container image, filled in.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{Release, files};

pub(super) fn make(release: &Release, tarball: &Path) -> Result<[PathBuf; 2]> {
    let (name, sum) = (files::name(tarball), files::sum(tarball)?);
    let fill = |template: &str| -> Result<PathBuf> {
        let path = release.out.join(template);
        files::write(&path, release.filled(template, &[("TARBALL", &name), ("SHA256", &sum)])?)?;
        Ok(path)
    };
    Ok([fill("toolfold.rb")?, fill("Containerfile")?])
}
