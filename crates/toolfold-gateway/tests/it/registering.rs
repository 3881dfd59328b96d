//! Tools of this process that are registered while the gateway runs.

use serde_json::json;
use toolfold_config::Config;
use toolfold_gateway::LocalTool;

use crate::{call, found, ids, server, start};

#[tokio::test]
async fn a_registered_tool_is_found_and_called_at_once() {
    let gateway = start(Config::default());
    gateway.register(server("late", &["measure"])).await.unwrap();
    assert!(found(&gateway, json!({"query": "measure"})).await.starts_with("late.measure"));
    assert_eq!(call(&gateway, "late.measure", json!({})).await["content"][0]["text"], "done");
    assert!(gateway.instructions(toolfold_core::Surface::Compact, &toolfold_core::Principal::local()).contains("late"));
}

#[tokio::test]
async fn more_tools_join_those_of_their_server_and_replace_them_by_name() {
    let gateway = start(Config::default());
    gateway.register(server("home", &["leave", "greet"])).await.unwrap();
    assert_eq!(ids(&gateway), ["home.greet", "home.leave"]);
}

#[tokio::test]
async fn what_cannot_be_a_tool_is_refused_and_changes_nothing() {
    let gateway = start(Config::default());
    let mut odd = server("home", &["leave"]);
    let nameless = json!({"description": "No name.", "inputSchema": {"type": "object"}});
    odd.tools.push(LocalTool::blocking(nameless, |_| unreachable!("it was refused")));
    let why = gateway.register(odd).await.unwrap_err();
    assert_eq!(why.to_string(), "the tool \"\" has no name");
    assert_eq!(ids(&gateway).len(), 1);
}

#[tokio::test]
async fn after_a_stop_registering_says_so() {
    let gateway = start(Config::default());
    gateway.stop().await;
    assert!(gateway.register(server("late", &["x"])).await.is_err());
}
