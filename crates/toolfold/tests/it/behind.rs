//! Toolfold behind Toolfold: a server like any other with another configuration, and the end of it with the same.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use toolfold_test::FakeServer;

use crate::fakes::{config, text, until};
use crate::world::World;

const TOOLFOLD: &str = env!("CARGO_BIN_EXE_toolfold");

fn behind(name: &str, program: &str, file: &Path) -> String {
    format!("[servers.{name}]\ncommand = {program:?}\nargs = [\"-c\", {file:?}, \"serve\", \"--stdio\"]\n\n")
}

#[test]
fn a_copy_of_the_program_over_the_same_file_is_told_apart() {
    let world = World::with_config("");
    let copy = world.path("toolfold-old");
    fs::copy(TOOLFOLD, &copy).unwrap();
    let text = behind("again", copy.to_str().unwrap(), &world.path("toolfold.toml"));
    fs::write(world.path("toolfold.toml"), text).unwrap();
    let output = world.toolfold(&["status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    insta::assert_snapshot!(status[0]["why"].as_str().unwrap(), @"the server exited (status 2); it said: error: this Toolfold is behind itself: one with the same configuration has started it");
    assert_eq!((&status[0]["state"], output.status.code()), (&json!("failing"), Some(3)));
}

#[test]
fn behind_too_many_it_does_not_start() {
    let world = World::with_config("");
    let mut command = world.toolfold(&["serve", "--stdio"]);
    let deep = command.env("TOOLFOLD_BEHIND", "1 2 3 4 5").output().unwrap();
    insta::assert_snapshot!(String::from_utf8_lossy(&deep.stderr), @r"
    error: this Toolfold is behind 5 others: each has started the next, and at most 4 may

    hint: take the server that runs Toolfold out of that configuration, or give it a file of its own with --config
    hint: in a shell that a server has opened: unset TOOLFOLD_BEHIND
    ");
    assert_eq!(deep.status.code(), Some(2));
}

#[tokio::test]
async fn two_files_that_lead_to_each_other_end_where_they_meet() {
    let fake = FakeServer::script(json!({"tools": ["work"]}));
    let world = World::with_config("");
    let (here, there) = (world.path("toolfold.toml"), world.path("there.toml"));
    fs::write(&here, config("", &[("fake", &fake)]) + &behind("there", TOOLFOLD, &there)).unwrap();
    fs::write(&there, behind("here", TOOLFOLD, &here)).unwrap();
    let served = world.serve();
    let log = world.path("state/toolfold/logs/here.log");
    let said = || fs::read_to_string(&log).unwrap_or_default();
    until("the second has heard of it", || said().contains("this Toolfold is behind itself")).await;
    let client = toolfold_test::HttpClient::new(&served.url);
    client.initialize("2025-11-25").await;
    let params = json!({"name": "fake.work", "arguments": {}});
    assert!(client.request("tools/call", params).await["isError"].is_null());
    // Every Toolfold over the first file would have started one.
    assert!(fake.starts().len() <= 2, "{:?}", fake.starts());
}

#[tokio::test]
async fn behind_another_configuration_it_is_a_server_like_any_other() {
    let fake = FakeServer::script(json!({"tools": ["work"]}));
    let world = World::with_config("");
    let inner = world.path("inner.toml");
    fs::write(&inner, config("surface = \"direct\"", &[("fake", &fake)])).unwrap();
    fs::write(world.path("toolfold.toml"), behind("inner", TOOLFOLD, &inner)).unwrap();
    let served = world.serve();
    let client = toolfold_test::HttpClient::new(&served.url);
    client.initialize("2025-11-25").await;
    let found = async || {
        let find = json!({"name": "find_tools", "arguments": {"path": "inner"}});
        text(&client.request("tools/call", find).await).to_owned()
    };
    let begun = std::time::Instant::now();
    while !found().await.contains("fake__work") {
        assert!(begun.elapsed().as_secs() < 60, "its tool is not found: {}", found().await);
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let params = json!({"name": "inner.fake__work", "arguments": {}});
    let result = client.request("tools/call", params).await;
    assert!(result["isError"].is_null(), "{result}");
    // What it starts knows both, and nothing else of ours.
    let environment = fs::read(format!("/proc/{}/environ", fake.starts().last().unwrap())).unwrap();
    let environment = String::from_utf8_lossy(&environment).into_owned();
    let ours: Vec<&str> = environment.split('\0').filter(|variable| variable.starts_with("TOOLFOLD_")).collect();
    assert_eq!(ours.len(), 1, "{ours:?}");
    assert_eq!(ours[0].strip_prefix("TOOLFOLD_BEHIND=").unwrap().split(' ').count(), 2);
}
