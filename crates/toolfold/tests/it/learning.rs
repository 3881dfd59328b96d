//! What is called after a search, in several runs, is learned, explained, exported and forgotten.

use serde_json::{Value, json};
use toolfold_test::StdioClient;

use crate::world::World;

/// One conversation: a search and a call of what it showed.
async fn converse(world: &World) {
    let folders = [("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("HOME", "home")];
    let mut env: Vec<(&str, String)> =
        folders.into_iter().map(|(variable, folder)| (variable, world.path(folder).display().to_string())).collect();
    env.push(("TOOLFOLD_STORE", world.path("store.db").display().to_string()));
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let config = world.path("toolfold.toml").display().to_string();
    let mut client =
        StdioClient::start(env!("CARGO_BIN_EXE_toolfold"), &["serve", "--stdio", "--config", &config], &env);
    client.initialize("2025-11-25").await;
    let find = json!({"name": "find_tools", "arguments": {"query": "how long is my text", "limit": 20}});
    let found = client.request("tools/call", find).await;
    assert!(found.to_string().contains("toolbox.text_count"), "{found}");
    let call = json!({"name": "call_tool", "arguments": {"tool": "toolbox.text_count", "arguments": {"text": "a"}}});
    assert_ne!(client.request("tools/call", call).await["isError"], true);
    client.close().await;
}

fn run(world: &World, arguments: &[&str]) -> (String, String) {
    let output = world.toolfold(arguments).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn use_is_learned_explained_exported_and_forgotten() {
    let world = World::with_config("learn = \"queries\"\n");
    for _ in 0..3 {
        converse(&world).await;
    }
    let search = ["search", "how long is my text", "--explain", "-n", "20"];
    let (explained, _) = run(&world, &search);
    assert!(explained.contains("for having been called 3 times after requests like this one"), "{explained}");
    let (exported, _) = run(&world, &["eval", "--from-use", "--export"]);
    let line: Value = serde_json::from_str(exported.trim()).unwrap();
    assert_eq!(line, json!({"id": "use-1", "query": "how long is my text", "relevant": ["toolbox.text_count"]}));
    let (figures, _) = run(&world, &["eval", "--from-use", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&figures).unwrap()["figures"]["queries"], 1);
    assert_eq!(run(&world, &["forget", "text_sort_lines"]).0, "There was nothing to forget.\n");
    assert_eq!(run(&world, &["forget"]).0, "Forgot one habit.\n");
    assert!(!run(&world, &search).0.contains("having been called"));
    let (_, hint) = run(&world, &["eval", "--from-use"]);
    insta::assert_snapshot!(hint, @r#"
    No request is remembered with its text.

    hint: texts are kept from the moment that the configuration says learn = "queries", of requests that ended in a call
    "#);
}
