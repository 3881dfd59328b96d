//! Clients of other people on every surface, from search to result: over HTTP on one Toolfold that serves all of them at
//! once, over stdio on one each.

use std::process::Command;

use serde_json::{Value, json};

use crate::clients::{python, text, typescript};
use crate::peers::lines;
use crate::world::World;

#[test]
fn python_legacy_over_http() {
    check_http(|| python("legacy"));
}

#[test]
fn python_legacy_over_stdio() {
    check_stdio(|| python("legacy"));
}

#[test]
fn python_modern_over_http() {
    check_http(|| python("auto"));
}

#[test]
fn python_modern_over_stdio() {
    check_stdio(|| python("auto"));
}

#[test]
fn typescript_1_over_http() {
    check_http(|| typescript("client-v1.mjs", &[]));
}

#[test]
fn typescript_1_over_stdio() {
    check_stdio(|| typescript("client-v1.mjs", &[]));
}

#[test]
fn typescript_2_modern_over_http() {
    check_http(|| typescript("client-v2.mjs", &["auto"]));
}

#[test]
fn typescript_2_modern_over_stdio() {
    check_stdio(|| typescript("client-v2.mjs", &["auto"]));
}

/// For each surface: steps that show something of the calculator, then one that calls it.
fn journeys() -> Vec<(&'static str, Vec<Value>)> {
    let step = |name: &str, arguments: Value| json!({"call": name, "arguments": arguments});
    let sum = json!({"expression": "6*7"});
    let tool = "toolbox__calculate";
    let search = json!({"query": "calculate an expression"});
    vec![
        (
            "hybrid",
            vec![step("search_tools", search.clone()), step("use_tool", json!({"name": tool, "arguments": sum}))],
        ),
        (
            "two-phase",
            vec![
                step("search_tools", search.clone()),
                step("get_tool_definition", json!({"name": tool})),
                step(tool, sum.clone()),
            ],
        ),
        (
            "single",
            vec![
                step("discover_and_use_tool", json!({"action": "search", "query": "calculate"})),
                step("discover_and_use_tool", json!({"action": "execute", "tool_name": tool, "tool_args": sum})),
            ],
        ),
        (
            "lifecycle",
            vec![
                step("tool_find", json!({"query": "calculate", "limit": 3})),
                step("tool_describe", json!({"name": tool})),
                step("tool_load", json!({"names": [tool]})),
                step(tool, sum.clone()),
            ],
        ),
        (
            "levels",
            vec![
                step("discover_tools", json!({"group": "toolbox"})),
                step("discover_tools", json!({"tool": tool})),
                step("discover_tools", json!({"tool": tool, "detail": "full"})),
                step("call_tool", json!({"tool": tool, "arguments": sum})),
            ],
        ),
        (
            "ontology",
            vec![
                step("search_tool_by_category", json!({"query": "calculate", "category_path": ["Servers", "toolbox"]})),
                step("expand_tool", json!({"tool_id": "toolbox.calculate"})),
                step("call_tool", json!({"tool_id": "toolbox.calculate", "arguments": sum})),
            ],
        ),
        (
            "gateway",
            vec![
                step("gateway_search_tools", search),
                step("gateway_get_tool_schema", json!({"toolName": tool, "mode": "micro"})),
                step("gateway_call_tool", json!({"toolName": tool, "arguments": sum})),
            ],
        ),
    ]
}

fn check_http(client: impl Fn() -> Command) {
    let world = World::without_config();
    let served = world.serve();
    for (surface, steps) in journeys() {
        let mut client = world.settle(client());
        client.args(["http", &format!("{}/{surface}", served.url)]);
        check(surface, client, &steps);
    }
}

fn check_stdio(client: impl Fn() -> Command) {
    let world = World::without_config();
    for (surface, steps) in journeys() {
        let mut client = world.settle(client());
        client.args(["stdio", env!("CARGO_BIN_EXE_toolfold"), "serve", "--stdio", "--surface", surface]);
        check(surface, client, &steps);
    }
}

fn check(surface: &str, client: Command, steps: &[Value]) {
    let answers = lines(client, steps);
    assert_eq!(answers.len(), steps.len() + 1, "{surface}: {answers:#?}");
    for shown in &answers[1..steps.len()] {
        assert!(shown.to_string().contains("calculate"), "{surface}: {shown:#}");
    }
    let last = answers.last().unwrap();
    assert!(text(last).contains("42"), "{surface}: {last:#}");
}
