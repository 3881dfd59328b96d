//! What others build with: a formula for Homebrew, filled in, and the file for a container image.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{Release, files};

pub(super) fn make(release: &Release, tarball: &Path) -> Result<[PathBuf; 2]> {
    let (name, sum) = (files::name(tarball), files::sum(tarball)?);
    let (formula, image) = (release.out.join("toolfold.rb"), release.out.join("Containerfile"));
    files::write(&formula, release.filled("toolfold.rb", &[("TARBALL", &name), ("SHA256", &sum)])?)?;
    files::copy(&release.root.join("deploy/Containerfile"), &image)?;
    Ok([formula, image])
}
