//! Our own document, put to Schemathesis: it makes requests out of it, and holds the answers against it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::PYPI;
use super::served::{Served, free_port};
use crate::shell;

/// For each operation and phase.
const EXAMPLES: &str = "100";
/// Where a refusal is an answer: arguments of a call have to fit the schema of the tool that is called, which no document of ours can
/// have, and a cursor has to be one that was given out.
const TOLD: &str = r#"
[[operations]]
include-name = ["POST /v1/call_tool", "POST /v1/list", "POST /v1/search_tool_by_category"]
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", 400, 401, 403, 404, 409, 413, 429, "5xx"]
"#;

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
    let told = folder.join("schemathesis.toml");
    fs::write(&told, TOLD)?;
    let told = told.display().to_string();
    let arguments = [
        "--config-file",
        &told,
        "run",
        &address,
        "--max-examples",
        EXAMPLES,
        "--generation-database",
        "none",
        "--no-color",
    ];
    shell::run(venv.join("bin/st"), &arguments, folder)
}
