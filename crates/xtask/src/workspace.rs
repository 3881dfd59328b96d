//! The workspace as cargo sees it. Only packages of this repository: what they depend on is named, not opened.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::shell;

#[derive(Debug)]
pub struct Workspace {
    pub root: PathBuf,
    pub target: PathBuf,
    pub packages: Vec<Package>,
}

#[derive(Debug)]
pub struct Package {
    pub name: String,
    pub dependencies: Vec<Dependency>,
}

#[derive(Debug)]
pub struct Dependency {
    pub name: String,
    /// Needed by tests and benchmarks alone.
    pub dev: bool,
}

impl Workspace {
    pub fn find() -> Result<Workspace> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let arguments = ["metadata", "--format-version", "1", "--no-deps"];
        // Where this package lies, not where it was called from: a task may be run from any folder.
        let output = shell::output(&cargo, &arguments, Path::new(env!("CARGO_MANIFEST_DIR")))?;
        let metadata: Value = serde_json::from_str(&output).context("cargo metadata answered with something else")?;
        Workspace::read(&metadata).context("cargo metadata lacks a member")
    }

    /// Every tracked or new file that git does not ignore, relative to the root.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        // In a container the clone may belong to another user than ours; reading a list of names harms nobody.
        let trust = ["-c", "safe.directory=*"];
        let arguments = [&trust[..], &["ls-files", "--cached", "--others", "--exclude-standard"]].concat();
        let listed = shell::output("git", &arguments, &self.root)?;
        let files = listed.lines().map(PathBuf::from);
        Ok(files.filter(|file| self.root.join(file).is_file()).collect())
    }

    fn read(metadata: &Value) -> Option<Workspace> {
        let path = |key: &str| metadata.get(key)?.as_str().map(PathBuf::from);
        let packages = metadata.get("packages")?.as_array()?;
        Some(Workspace {
            root: path("workspace_root")?,
            target: path("target_directory")?,
            packages: packages.iter().map(read_package).collect::<Option<_>>()?,
        })
    }
}

fn read_package(package: &Value) -> Option<Package> {
    let dependencies = package.get("dependencies")?.as_array()?;
    let read = |dependency: &Value| {
        let name = dependency.get("name")?.as_str()?.to_owned();
        Some(Dependency { name, dev: dependency.get("kind")?.as_str() == Some("dev") })
    };
    Some(Package {
        name: package.get("name")?.as_str()?.to_owned(),
        dependencies: dependencies.iter().map(read).collect::<Option<_>>()?,
    })
}
