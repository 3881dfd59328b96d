//! What scripts cost and save: recorded solutions of the tasks in `eval/scripts/`, replayed on the surfaces `compact` and
//! `code`. The table in docs/scripts.md is what this counts, gains and losses alike.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use toolfold::{Gateway, Options};
use toolfold_config::Config;
use toolfold_core::{Principal, Surface};
use toolfold_disclosure::tokens::count;
use toolfold_gateway::{Client, Request};
use toolfold_wire::{Object, Silent};

use super::{office, program};

/// What a solution came to.
#[derive(Default, Clone, Copy)]
struct Cost {
    requests: usize,
    /// That enter the conversation: what the model wrote and what it was answered, each once, beside the list of tools.
    tokens: usize,
    /// That are read: the whole conversation again with every request.
    read: usize,
}

#[tokio::test(flavor = "multi_thread")]
async fn what_scripts_cost_and_save_is_what_the_page_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tasks: Value =
        serde_json::from_str(&std::fs::read_to_string(root.join("eval/scripts/tasks.json")).unwrap()).unwrap();
    let config = Config { toolbox: false, ..Config::default() };
    let gateway = Gateway::start(Options { config, local: office::servers() });
    gateway.run_scripts_in(program());
    let page = std::fs::read_to_string(root.join("docs/scripts.md")).unwrap();
    let mut table =
        String::from("| task | expected | requests | tokens | read | with a script |\n|---|---|---|---|---|---|\n");
    let mut wrong = Vec::new();
    for task in tasks["tasks"].as_array().unwrap() {
        let compact = replay(&gateway, Surface::Compact, task, "compact").await;
        let code = replay(&gateway, Surface::Code, task, "code").await;
        let change = 100.0 * (code.tokens as f64 - compact.tokens as f64) / compact.tokens as f64;
        let (name, gains) = (task["name"].as_str().unwrap(), task["kind"] == "wins");
        let expected = if gains { "gain" } else { "loss" };
        let counted = [compact.requests, code.requests, compact.tokens, code.tokens, compact.read, code.read];
        let [requests, with, tokens, fewer, read, less] = counted;
        writeln!(
            table,
            "| {name} | {expected} | {requests} → {with} | {tokens} → {fewer} | {read} → {less} | {change:+.0} % |"
        )
        .unwrap();
        let row = page.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap_or_default();
        if (change < 0.0) != gains || !is_about(row, &counted) {
            wrong.push(name);
        }
    }
    gateway.stop().await;
    println!("{table}");
    assert!(wrong.is_empty(), "docs/scripts.md has other figures for {wrong:?} than this:\n{table}");
}

/// Whether a row says this much, to within a tenth: what a search shows changes now and then, and with it what it costs.
fn is_about(row: &str, counted: &[usize]) -> bool {
    let cells: String = row.split('|').skip(3).take(3).collect::<Vec<_>>().join(" ");
    let said: Vec<usize> = cells.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    said.len() == counted.len()
        && said.iter().zip(counted).all(|(said, counted)| said.abs_diff(*counted) * 10 <= *counted)
}

async fn replay(gateway: &Gateway, surface: Surface, task: &Value, solution: &str) -> Cost {
    let client = Arc::new(Client::inside(Principal::local(), surface));
    let listed = count(gateway.tool_list(&client).await.get());
    let mut cost = Cost { tokens: listed, ..Cost::default() };
    let mut last = String::new();
    for step in task[solution].as_array().unwrap() {
        let (name, arguments) = step.as_object().unwrap().iter().find(|(key, _)| *key != "repeat").unwrap();
        for n in 0..step["repeat"].as_u64().unwrap_or(1) {
            let arguments = numbered(arguments, n);
            let params = Object::new().with("name", name).with("arguments", &arguments);
            let request = Request::new(client.clone(), Arc::new(Silent), "tools/call", params);
            let result: Value = serde_json::from_str(gateway.handle(request).await.unwrap().get()).unwrap();
            let said: Vec<&str> =
                result["content"].as_array().unwrap().iter().filter_map(|item| item["text"].as_str()).collect();
            last = said.join("\n");
            cost.requests += 1;
            cost.read += cost.tokens;
            cost.tokens += count(&arguments.to_string()) + count(name) + count(&last);
        }
    }
    // Where the model itself adds up, no single result holds the answer: what it would write then is `adds`.
    let expected = task["expect"].as_str().unwrap();
    let adds = task["adds"].as_str().filter(|_| solution == "compact").unwrap_or_default();
    assert!(last.contains(expected) || adds.contains(expected), "{} {solution}: {last}", task["name"]);
    cost.read += cost.tokens;
    cost
}

/// The arguments of one of several calls: `#` is its number.
fn numbered(arguments: &Value, n: u64) -> Value {
    match arguments {
        Value::String(text) if text == "#" => json!(n),
        Value::String(text) => json!(text.replace('#', &n.to_string())),
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), numbered(value, n))).collect(),
        other => other.clone(),
    }
}
