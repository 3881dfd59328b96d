//! The tarball: the binary and what goes with it, to be unpacked anywhere.

use std::path::PathBuf;

use anyhow::Result;

use super::staging::Staged;
use super::{Release, files};

pub(super) fn make(release: &Release, staged: &Staged) -> Result<PathBuf> {
    let name = format!("toolfold-{}-{}-linux", release.version, std::env::consts::ARCH);
    let folder = release.work.join(&name);
    files::copy(&release.binary, &folder.join("toolfold"))?;
    for document in ["LICENSE", "NOTICE", "README.md", "CHANGELOG.md", "examples/toolfold.toml"] {
        files::copy(&release.root.join(document), &folder.join(document))?;
    }
    for page in &staged.man {
        files::copy(page, &folder.join("man").join(files::name(page)))?;
    }
    for script in &staged.completions {
        files::copy(script, &folder.join("completions").join(files::name(script)))?;
    }
    files::copy(&release.packaging("toolfold.service"), &folder.join("systemd/toolfold.service"))?;
    files::tar_gz(release, &folder, &release.out.join(format!("{name}.tar.gz")))
}
