//! Servers that were broken: what is remembered of that, and that whoever mends one is believed.

use std::process::Output;
use std::time::Duration;

use serde_json::{Value, json};
use toolfold_test::{FakeServer, HttpClient};

use crate::fakes::world;
use crate::world::World;

fn run(world: &World, arguments: &[&str]) -> Output {
    world.toolfold(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("not JSON: {}", stderr(output)))
}

/// What was wrong is remembered, and whoever has mended it and names the server does not hear it again.
#[test]
fn a_server_that_was_mended_answers_who_names_it() {
    let commands = [
        &["call", "mended.work"][..],
        &["show", "mended.work"],
        &["ls", "mended"],
        &["search", "work", "--server", "mended"],
    ];
    for command in commands {
        let fake = FakeServer::script(json!({"exit_at_start": 1}));
        let world = world("", &[("mended", &fake)]);
        for _ in 0..2 {
            let failed = run(&world, command);
            assert!(!failed.status.success() && stderr(&failed).contains("exited (status 1)"), "{}", stderr(&failed));
        }
        fake.rewrite(json!({"tools": ["work"]}));
        let mended = run(&world, command);
        assert!(mended.status.success(), "{command:?}: {}", stderr(&mended));
    }
}

#[tokio::test]
async fn a_client_that_names_a_server_that_was_mended_is_answered() {
    let fake = FakeServer::script(json!({"exit_at_start": 1}));
    let world = world("", &[("mended", &fake)]);
    assert!(!run(&world, &["call", "mended.work"]).status.success());
    fake.rewrite(json!({"tools": ["work"]}));
    let served = world.serve();
    let client = HttpClient::new(&served.url);
    let answer = client.modern("tools/call", json!({"name": "call_tool", "arguments": {"tool": "mended.work"}})).await;
    assert!(answer["isError"] != true, "{answer}");
}

/// The first time, too, when nothing is remembered of it.
#[test]
fn status_says_the_same_of_a_silent_server_every_time() {
    let silent = FakeServer::script(json!({"silent": ["server/discover", "initialize"]}));
    let world = world("", &[("silent", &silent)]);
    for _ in 0..2 {
        let servers = json_of(&run(&world, &["status", "--json"]));
        assert_eq!(servers[0]["state"], "failing", "{servers}");
        assert_eq!(servers[0]["why"], "it had not answered after 30 s, when it was last tried");
    }
}

fn a_reader() -> FakeServer {
    // It reads whatever it is asked for.
    FakeServer::script(json!({"templates": [{"uriTemplate": "note://{number}", "name": "a note"}]}))
}

/// Nothing was ever heard of it: nobody has an address from it.
#[tokio::test]
async fn a_broken_server_keeps_nobody_from_what_another_has() {
    let fake = a_reader();
    let broken = "[servers.broken]\ncommand = \"true\"\nenv = { A = \"${NOT_SET_ANYWHERE}\" }\n";
    let served = world(broken, &[("good", &fake)]).serve();
    let client = HttpClient::new(&served.url);
    let read = client.modern("resources/read", json!({"uri": "listed-nowhere://7"})).await;
    assert_eq!(read["contents"][0]["uri"], "listed-nowhere://7", "{read}");
}

/// Servers are called as the schemes of addresses are, and an address names its server before a `+` alone.
#[tokio::test]
async fn a_silent_server_that_is_called_like_a_scheme_holds_no_address_up() {
    let (fake, silent) = (a_reader(), FakeServer::script(json!({"silent": ["server/discover", "initialize"]})));
    let served = world("", &[("good", &fake), ("note", &silent)]).serve();
    let client = HttpClient::new(&served.url);
    let read = client.modern("resources/read", json!({"uri": "note://7"}));
    // Its own deadline is 30 s.
    let read = tokio::time::timeout(Duration::from_secs(25), read).await.expect("it waits for the silent one");
    assert_eq!(read["contents"][0]["uri"], "note://7", "{read}");
}
