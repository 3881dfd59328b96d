//! What is remembered: after one run that knew its servers, the next answers without starting any.

use std::fs;

use serde_json::{Value, json};
use toolfold_test::HttpClient;

use crate::world::{Served, World};

#[tokio::test]
async fn a_second_start_answers_without_any_server_process() {
    let world = World::with_real_servers();
    let first = world.serve();
    // A search waits until every server has said what it has, so that from here on all of it is remembered.
    let known = ask(&first).await;
    assert!(children(first.id()) > 0, "the first run had to start its servers to learn about them");
    drop(first);

    let second = world.serve();
    assert_eq!(ask(&second).await, known);
    assert_eq!(children(second.id()), 0, "everything was remembered");
    let echo = json!({"name": "everything__echo", "arguments": {"message": "awake"}});
    let answer = client(&second).await.request("tools/call", echo).await;
    assert_eq!(answer["content"][0]["text"], "Echo: awake");
    assert!(children(second.id()) > 0, "a call starts the server it needs");
}

/// A tool list, a search over everything, and the whole definition of a tool of each server.
async fn ask(served: &Served) -> Vec<Value> {
    let client = client(served).await;
    let list = client.request("tools/list", json!({})).await;
    let find = async |arguments: Value| {
        let params = json!({"name": "find_tools", "arguments": arguments});
        let found = client.request("tools/call", params).await;
        assert_ne!(found["isError"], true, "{found:#}");
        found["content"].clone()
    };
    let search = find(json!({"query": "read a text file", "limit": 5})).await;
    assert!(search.to_string().contains("files.read_text_file("), "{search:#}");
    let tools = ["everything.echo", "files.read_text_file", "memory.read_graph", "git.git_log", "time.convert_time"];
    let mut known = vec![list, search];
    for tool in tools {
        known.push(find(json!({"tool": tool, "detail": "full"})).await);
    }
    known
}

async fn client(served: &Served) -> HttpClient {
    let client = HttpClient::new(&served.url);
    client.initialize("2025-11-25").await;
    client
}

/// Child processes that are alive, the reaper among them: it is started with the first server.
fn children(process: u32) -> usize {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).expect("the process runs");
    let of = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).unwrap_or_default();
    tasks.flatten().map(|task| of(task).split_whitespace().count()).sum()
}
