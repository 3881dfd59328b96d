//! What is remembered: after one run that knew its servers, the next answers without starting any.

use std::fs;

use serde_json::{Value, json};
use toolfold_test::HttpClient;

use crate::world::World;

#[tokio::test]
async fn a_second_start_answers_without_any_server_process() {
    let world = World::with_real_servers().learn();
    let second = world.serve();
    let client = HttpClient::new(&second.url);
    client.initialize("2025-11-25").await;
    ask(&client).await;
    assert_eq!(children(second.id()), 0, "everything was remembered");

    let echo = json!({"name": "everything__echo", "arguments": {"message": "awake"}});
    let answer = client.request("tools/call", echo).await;
    assert_eq!(answer["content"][0]["text"], "Echo: awake");
    assert!(children(second.id()) > 0, "a call starts the server it needs");
}

/// A tool list, a search over everything, and the whole definition of a tool of each server.
async fn ask(client: &HttpClient) {
    let list = client.request("tools/list", json!({})).await;
    assert_eq!(list["tools"].as_array().map(Vec::len), Some(2));
    let find = async |arguments: Value| {
        let params = json!({"name": "find_tools", "arguments": arguments});
        let found = client.request("tools/call", params).await;
        assert_ne!(found["isError"], true, "{found:#}");
        found["content"].to_string()
    };
    let found = find(json!({"query": "read a text file", "limit": 5})).await;
    assert!(found.contains("files.read_text_file("), "{found}");
    let tools = ["everything.echo", "files.read_text_file", "memory.read_graph", "git.git_log", "time.convert_time"];
    for tool in tools {
        let definition = find(json!({"tool": tool, "detail": "full"})).await;
        assert!(definition.contains("input_schema"), "{definition}");
    }
}

/// Child processes that are alive, the reaper among them: it is started with the first server.
fn children(process: u32) -> usize {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).expect("the process runs");
    let of = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).unwrap_or_default();
    tasks.flatten().map(|task| of(task).split_whitespace().count()).sum()
}
