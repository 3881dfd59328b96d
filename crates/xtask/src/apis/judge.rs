//! Our own document, put to Schemathesis: it makes requests out of it, and holds the answers against it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::PYPI;
use super::served::{Served, free_port};
use crate::shell;

pub(super) fn judge(folder: &Path, toolfold: &Path) -> Result<()> {
    let venv = folder.join("venv");
    if !venv.join("bin/st").exists() {
        shell::run("python3", &["-m", "venv", "--clear", "venv"], folder)?;
        shell::run(venv.join("bin/pip"), &["install", "-q", "--disable-pip-version-check", PYPI], folder)?;
    }
    let port = free_port()?;
    let config = folder.join("judge.toml");
    fs::write(&config, "store = \"memory\"\ntoolbox = true\n[audit]\nmode = \"off\"\n")?;
    let mut command = Command::new(toolfold);
    command.args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--config"]).arg(&config);
    let served = Served::start(command, port, &folder.join("judged.log"))?;
    let address = format!("http://127.0.0.1:{}/openapi.json", served.port);
    let arguments = ["run", &address, "--max-examples", "30", "--generation-database", "none", "--no-color"];
    shell::run(venv.join("bin/st"), &arguments, folder)
}
