//! What people read of calls and servers afterwards: which call a line of the log is about, and which server failed.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use toolfold_test::{FakeServer, HttpClient};

use crate::fakes::{until, world};
use crate::world::World;

#[tokio::test]
async fn lines_of_two_calls_at_once_can_be_told_apart() {
    let [one, two] = ["first", "second"]
        .map(|tool| FakeServer::script(json!({"tools": [tool], "calls": {tool: {"delay_ms": 200, "exit": 3}}})));
    let world = world("", &[("one", &one), ("two", &two)]);
    let served = world.serve();
    let client = HttpClient::new(&served.url);
    client.initialize("2025-11-25").await;
    let call = async |tool: &str| client.request("tools/call", json!({"name": tool, "arguments": {}})).await;
    let (first, second) = tokio::join!(call("one.first"), call("two.second"));
    assert!(first["isError"] == true && second["isError"] == true, "{first} {second}");
    let is_said = |tool: &str| {
        let named = |line: &str| line.contains(&format!("call{{tool={tool:?} principal=local}}"));
        served.lines().iter().any(|line| named(line) && line.contains("the call failed"))
    };
    until("both are told apart", || is_said("one.first") && is_said("two.second")).await;
}

/// Its tools are remembered and found, and it could not be started: both are said, also where nothing is running.
#[tokio::test]
async fn a_server_that_failed_is_failing_although_its_tools_are_remembered() {
    let fake = FakeServer::script(json!({"tools": ["work"]}));
    let (program, arguments) = fake.stdio_command();
    let world = World::without_config();
    let script = world.path("server.sh");
    let write = |text: String| {
        fs::write(&script, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let quoted: Vec<String> = arguments.iter().map(|argument| format!("'{argument}'")).collect();
    write(format!("exec '{program}' {}", quoted.join(" ")));
    fs::write(world.path("toolfold.toml"), format!("[servers.fake]\ncommand = {script:?}\n")).unwrap();
    let status = || -> Value {
        let told = world.toolfold(&["status", "--json"]).output().unwrap();
        let all: Value = serde_json::from_slice(&told.stdout).unwrap();
        all.as_array().unwrap().iter().find(|server| server["name"] == "fake").unwrap().clone()
    };
    assert!(world.toolfold(&["call", "fake.work"]).output().unwrap().status.success());
    assert_eq!(status()["state"], "known");
    write("echo 'no such database' >&2; exit 4".to_owned());
    let call = world.toolfold(&["call", "fake.work"]).output().unwrap();
    assert!(!call.status.success());
    let said = String::from_utf8_lossy(&call.stderr).into_owned();
    assert!(said.contains("no such database"), "{said}");
    let failed = status();
    assert_eq!((&failed["state"], &failed["tools"]), (&json!("failing"), &json!(1)), "{failed}");
    assert!(failed["why"].as_str().unwrap().contains("no such database"), "{failed}");
}
