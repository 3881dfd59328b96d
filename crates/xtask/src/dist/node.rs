//! Two packages for npm: the command, and the binary for this platform, which the first one names as optional. What is
//! installed in the end is the binary itself (`packaging/place.js`); the launcher is for where that could not be done.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Value, json};

use super::{Release, SUMMARY, files};

/// As Node calls it.
const PLATFORM: &str = "linux-x64";

pub(super) fn make(release: &Release) -> Result<[PathBuf; 2]> {
    Ok([command(release)?, platform(release)?])
}

fn command(release: &Release) -> Result<PathBuf> {
    let version = &release.version;
    let folder = release.work.join("npm/command/package");
    let manifest = json!({
        "name": "toolfold",
        "version": version,
        "description": SUMMARY,
        "license": "Apache-2.0",
        "keywords": ["mcp", "tools", "agents", "gateway"],
        "bin": {"toolfold": "bin/toolfold"},
        "scripts": {"postinstall": "node place.js"},
        "engines": {"node": ">=18"},
        "optionalDependencies": {format!("@toolfold/{PLATFORM}"): version},
    });
    files::write(&folder.join("package.json"), pretty(&manifest)?)?;
    files::copy(&release.packaging("launcher.js"), &folder.join("bin/toolfold"))?;
    fs::set_permissions(folder.join("bin/toolfold"), fs::Permissions::from_mode(0o755))?;
    for script in ["binary.js", "place.js"] {
        files::copy(&release.packaging(script), &folder.join(script))?;
    }
    for document in ["LICENSE", "NOTICE", "README.md"] {
        files::copy(&release.root.join(document), &folder.join(document))?;
    }
    files::tar_gz(release, &folder, &release.out.join(format!("toolfold-{version}.npm.tgz")))
}

fn platform(release: &Release) -> Result<PathBuf> {
    let version = &release.version;
    let folder = release.work.join("npm/platform/package");
    let mut manifest = json!({
        "name": format!("@toolfold/{PLATFORM}"),
        "version": version,
        "description": format!("Toolfold for {PLATFORM}"),
        "license": "Apache-2.0",
        "os": ["linux"],
        "cpu": ["x64"],
    });
    if !release.is_static {
        manifest["libc"] = json!(["glibc"]);
    }
    files::write(&folder.join("package.json"), pretty(&manifest)?)?;
    files::copy(&release.binary, &folder.join("bin/toolfold"))?;
    files::copy(&release.root.join("LICENSE"), &folder.join("LICENSE"))?;
    files::tar_gz(release, &folder, &release.out.join(format!("toolfold-{PLATFORM}-{version}.npm.tgz")))
}

fn pretty(value: &Value) -> Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(value)?))
}
