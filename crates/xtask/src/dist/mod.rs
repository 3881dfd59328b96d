//! `cargo xtask dist`: from one binary to everything that people install, in `target/dist`. Two runs of the same commit give the
//! same bytes: times come from the commit, orders from names, and no builder's name gets in.
//!
//! What a reader would get wrong: with `--binary` nothing is built. What is packed is the binary as it is given, stripped, and
//! whether it is static is looked up in it and not hoped for.

mod bill;
mod build;
mod bundle;
mod debian;
mod files;
mod node;
mod redhat;
mod staging;
mod tarball;
mod templates;
mod trial;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::shell;
use crate::workspace::Workspace;

pub(crate) const DESCRIPTION: &str = "An agent connects to Toolfold instead of to twenty MCP servers, and sees two small tools \
instead of a thousand definitions: it finds a tool, reads as much about it as it needs, and calls it.";
pub(crate) const SUMMARY: &str = "One MCP server in front of all the others";

/// What everything is made of.
pub(crate) struct Release {
    pub(crate) root: PathBuf,
    /// Where packages are put.
    pub(crate) out: PathBuf,
    /// Where they are put together.
    pub(crate) work: PathBuf,
    pub(crate) binary: PathBuf,
    pub(crate) is_static: bool,
    pub(crate) version: String,
    /// The time of the commit: every file's time.
    pub(crate) epoch: String,
    /// Where the packages will lie for others.
    pub(crate) url: String,
}

struct Wishes {
    binary: Option<PathBuf>,
    url: Option<String>,
    trial: bool,
}

pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let wishes = wishes(arguments)?;
    let binary = match &wishes.binary {
        Some(binary) => fs::canonicalize(binary).with_context(|| binary.display().to_string())?,
        None => build::static_binary(workspace)?,
    };
    let folder = workspace.target.join("dist");
    let _ = fs::remove_dir_all(&folder);
    let release = Release::prepare(workspace, &binary, &folder, wishes.url.as_deref())?;
    release.make()?;
    if wishes.trial {
        // A second time, elsewhere: whatever differs is something that should not be in there.
        let again = Release::prepare(workspace, &binary, &folder.join("again"), wishes.url.as_deref())?;
        again.make()?;
        trial::run(&release, &again)?;
    }
    Ok(())
}

fn wishes(arguments: &[String]) -> Result<Wishes> {
    let mut wishes = Wishes { binary: None, url: None, trial: false };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--binary" => wishes.binary = Some(PathBuf::from(words.next().context("--binary needs a path")?)),
            "--url" => wishes.url = Some(words.next().context("--url needs an address")?.clone()),
            "--try" => wishes.trial = true,
            _ => bail!("dist knows no {word:?}\n\nhint: it takes --binary PATH, --url BASE and --try"),
        }
    }
    Ok(wishes)
}

impl Release {
    fn prepare(workspace: &Workspace, binary: &Path, out: &Path, url: Option<&str>) -> Result<Release> {
        let work = out.join("work");
        fs::create_dir_all(&work)?;
        let packed = work.join("toolfold");
        let (from, to) = (binary.display().to_string(), packed.display().to_string());
        shell::run("strip", &["-o", &to, &from], &work)?;
        let version = build::version(workspace)?;
        let url = url
            .map_or_else(|| format!("https://github.com/OWNER/toolfold/releases/download/v{version}"), str::to_owned);
        Ok(Release {
            root: workspace.root.clone(),
            out: out.to_owned(),
            is_static: build::is_static(&packed)?,
            binary: packed,
            epoch: epoch(&workspace.root)?,
            work,
            version,
            url,
        })
    }

    fn make(&self) -> Result<()> {
        let staged = staging::stage(self)?;
        let mut made = vec![tarball::make(self, &staged)?, bill::make(self)?];
        made.extend([wheel::make(self)?, bundle::make(self)?, debian::make(self, &staged)?]);
        made.extend(redhat::make(self, &staged)?);
        made.extend(node::make(self)?);
        made.extend(templates::make(self, &made[0])?);
        made.sort();
        let sums = made.iter().map(|path| files::sum_line(path)).collect::<Result<String>>()?;
        fs::write(self.out.join("SHA256SUMS"), sums)?;
        let kind = if self.is_static { "a static binary" } else { "a binary that needs the libraries of this machine" };
        println!("{} packages of {kind} in {}", made.len(), self.out.display());
        Ok(())
    }

    /// A template beside `packaging/`, with what is known filled in.
    pub(crate) fn filled(&self, template: &str, more: &[(&str, &str)]) -> Result<String> {
        let path = self.packaging(template);
        let mut text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let known = [("VERSION", self.version.as_str()), ("DESCRIPTION", DESCRIPTION), ("URL", self.url.as_str())];
        for (name, value) in known.iter().chain(more) {
            text = text.replace(&format!("@{name}@"), value);
        }
        Ok(text)
    }

    pub(crate) fn packaging(&self, name: &str) -> PathBuf {
        self.root.join("crates/xtask/packaging").join(name)
    }
}

/// `SOURCE_DATE_EPOCH`, as everybody calls it, or the time of the commit.
fn epoch(root: &Path) -> Result<String> {
    if let Ok(given) = std::env::var("SOURCE_DATE_EPOCH") {
        return Ok(given);
    }
    let trust = ["-c", "safe.directory=*"];
    let told = shell::output("git", &[&trust[..], &["log", "-1", "--format=%ct"]].concat(), root)?;
    Ok(told.trim().to_owned())
}
