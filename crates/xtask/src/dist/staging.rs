//! The files of an installation below a root of their own, as packages of a distribution have them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{Release, files};
use crate::shell;

/// What was put together.
pub(crate) struct Staged {
    /// `usr/bin/…` and so on.
    pub(crate) root: PathBuf,
    pub(crate) man: Vec<PathBuf>,
    /// bash, zsh, fish.
    pub(crate) completions: [PathBuf; 3],
}

const SHELLS: [(&str, &str, &str); 3] = [
    ("bash", "toolfold.bash", "usr/share/bash-completion/completions/toolfold"),
    ("zsh", "_toolfold", "usr/share/zsh/vendor-completions/_toolfold"),
    ("fish", "toolfold.fish", "usr/share/fish/vendor_completions.d/toolfold.fish"),
];

pub(crate) fn stage(release: &Release) -> Result<Staged> {
    let (work, root) = (&release.work, release.work.join("root"));
    files::copy(&release.binary, &root.join("usr/bin/toolfold"))?;
    let mut completions = Vec::new();
    for (shell, name, place) in SHELLS {
        let file = work.join("completions").join(name);
        files::write(&file, told(release, &["completions", shell])?)?;
        files::copy(&file, &root.join(place))?;
        completions.push(file);
    }
    let man = man(release, &root)?;
    files::copy(&release.packaging("toolfold.service"), &root.join("usr/lib/systemd/user/toolfold.service"))?;
    let documents = root.join("usr/share/doc/toolfold");
    files::copy(&release.packaging("copyright"), &documents.join("copyright"))?;
    for (from, to) in
        [("NOTICE", "NOTICE"), ("README.md", "README.md"), ("examples/toolfold.toml", "examples/toolfold.toml")]
    {
        files::copy(&release.root.join(from), &documents.join(to))?;
    }
    let [bash, zsh, fish] = completions.try_into().map_err(|_| anyhow::anyhow!("three shells"))?;
    Ok(Staged { root, man, completions: [bash, zsh, fish] })
}

fn man(release: &Release, root: &Path) -> Result<Vec<PathBuf>> {
    let folder = release.work.join("man");
    told(release, &["reference", "--man", &folder.display().to_string()])?;
    let mut pages: Vec<PathBuf> = fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    pages.sort();
    let packed = root.join("usr/share/man/man1");
    fs::create_dir_all(&packed)?;
    for page in &pages {
        files::gzip(page, &packed.join(format!("{}.gz", files::name(page))), 9)?;
    }
    Ok(pages)
}

/// The binary says it itself: completions and man pages are those of what is packed.
fn told(release: &Release, arguments: &[&str]) -> Result<String> {
    shell::output(&release.binary, arguments, &release.work)
}
