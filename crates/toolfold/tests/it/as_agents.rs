//! What a person finds is what an agent finds: the same tools in the same order, with the same doubt.

use std::process::Output;

use serde_json::{Value, json};
use toolfold_test::HttpClient;

use crate::world::World;

const REQUESTS: [&str; 9] = [
    "what time is it in Tokyo",
    "sort lines of text",
    "split a csv",
    "send an email to bob",
    "resize an image",
    "hash of a file",
    "open a pull request",
    "read a file",
    "order a pizza",
];

fn lines(text: &str) -> Vec<String> {
    let id = |line: &str| line.split(['(', ' ']).next().unwrap_or_default().to_owned();
    let is_tool = |line: &&str| line.starts_with("toolbox.");
    text.lines().filter(is_tool).map(id).collect()
}

#[tokio::test]
async fn a_search_on_the_command_line_is_the_agents_search() {
    let world = World::with_config("toolbox = true\n");
    let served = world.serve();
    let client = HttpClient::new(&served.url);
    for query in REQUESTS {
        let found = client.modern("tools/call", json!({"name": "find_tools", "arguments": {"query": query}})).await;
        let agent = found["content"][0]["text"].as_str().unwrap().to_owned();
        let output: Output = world.toolfold(&["search", query]).output().unwrap();
        let person = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(lines(&person), lines(&agent), "{query}: {person}\nand the agent: {agent}");
        let doubt = |text: &str| text.lines().any(|line| line.starts_with("No close match"));
        assert_eq!(doubt(&person), doubt(&agent), "{query}: {person}\nand the agent: {agent}");
        assert_eq!(output.status.success(), !lines(&agent).is_empty(), "{query}");
        let output = world.toolfold(&["search", query, "--json"]).output().unwrap();
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let ids: Vec<&str> = json["hits"].as_array().unwrap().iter().filter_map(|hit| hit["tool"].as_str()).collect();
        assert_eq!(ids, lines(&agent), "{query}");
        assert_eq!(json["close_match"] == false, doubt(&agent) || ids.is_empty(), "{query}: {json}");
    }
}
