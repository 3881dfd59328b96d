//! What `fields` saves: real results in `eval/fields/`, called whole and cut. The table in docs/guides/large-results.md is what
//! this counts, what is gained and what is not.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use toolfold::{Gateway, LocalServer, LocalTool, Options, Output};
use toolfold_config::Config;
use toolfold_core::{Principal, ServerName, Surface};
use toolfold_disclosure::tokens::count;
use toolfold_gateway::{Client, Request};
use toolfold_wire::{Object, Silent, raw};

#[tokio::test(flavor = "multi_thread")]
async fn what_fields_save_is_what_the_page_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("eval/fields/results.json")).unwrap();
    let results: Vec<Value> = serde_json::from_str(&text).unwrap();
    // One may be asked for twice.
    let whole = |at: usize| {
        results[at]["same"].as_u64().map_or(&results[at], |other| &results[other as usize])["result"].clone()
    };
    let tools = (0..results.len()).map(|at| {
        let (definition, said) = (
            json!({"name": format!("get_{at}"), "description": "Get it.", "inputSchema": {"type": "object"}}),
            whole(at).to_string(),
        );
        LocalTool::blocking(definition, move |_| Output::Text(said.clone()))
    });
    let local = LocalServer { name: ServerName::new("data").unwrap(), title: None, tools: tools.collect() };
    let gateway =
        Gateway::start(Options { config: Config { toolbox: false, ..Config::default() }, local: vec![local] });
    let page = std::fs::read_to_string(root.join("docs/guides/large-results.md")).unwrap();
    let mut table = String::from("| result | tokens | `fields` | tokens | |\n|---|---|---|---|---|\n");
    for (at, one) in results.iter().enumerate() {
        let fields: Vec<&str> = one["fields"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let (all, some) = (cost(&gateway, at, &[]).await, cost(&gateway, at, &fields).await);
        let change = 100.0 * (some as f64 - all as f64) / all as f64;
        let named = fields.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ");
        writeln!(table, "| {} | {all} | {named} | {some} | {change:+.1} % |", one["name"].as_str().unwrap()).unwrap();
    }
    gateway.stop().await;
    assert!(page.contains(&table), "docs/guides/large-results.md has another table than this:\n{table}");
}

/// Tokens of the request and of what it is answered with.
async fn cost(gateway: &Gateway, at: usize, fields: &[&str]) -> usize {
    let mut arguments = json!({"tool": format!("data.get_{at}"), "arguments": {}});
    if !fields.is_empty() {
        arguments["fields"] = json!(fields);
    }
    let client = Arc::new(Client::inside(Principal::local(), Surface::Compact));
    let params = Object::parse(&raw(&json!({"name": "call_tool", "arguments": arguments}))).unwrap();
    let answer = gateway.handle(Request::new(client, Arc::new(Silent), "tools/call", params)).await.unwrap();
    let answer: Value = serde_json::from_str(answer.get()).unwrap();
    assert_eq!(answer["isError"], Value::Null, "{answer}");
    count(&arguments.to_string()) + count(answer["content"][0]["text"].as_str().unwrap())
}
