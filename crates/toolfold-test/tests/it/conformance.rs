//! The conformance fixture answers our raw clients, in both eras and on both transports. Whether it conforms is for
//! the official suite to say.

use std::process::Command;

use serde_json::{Value, json};
use toolfold_test::{HttpClient, RunningHttp, StdioClient, binary};

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().expect("a list of tools").iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[tokio::test]
async fn over_http_in_both_eras() {
    let command = binary("toolfold-test", "conformance-server");
    let running = RunningHttp::start(Command::new(command).args(["--port", "0"]));
    let legacy = HttpClient::new(running.url());
    legacy.initialize("2025-11-25").await;
    let modern = HttpClient::new(running.url());
    let list = modern.modern("tools/list", json!({})).await;
    assert_eq!(names(&list), names(&legacy.request("tools/list", json!({})).await));
    assert_eq!(names(&list).len(), 28);
    let asked = modern.modern("tools/call", json!({"name": "test_input_required_result_elicitation"})).await;
    assert_eq!(asked["inputRequests"]["user_name"]["method"], "elicitation/create");
}

#[tokio::test]
async fn over_stdio() {
    let command = binary("toolfold-test", "conformance-server");
    let client = StdioClient::start(&command.display().to_string(), &["--stdio"], &[]);
    client.initialize("2025-11-25").await;
    let before = client.request("tools/list", json!({})).await;
    client.request("tools/call", json!({"name": "test_trigger_tool_change"})).await;
    client.next_notification("notifications/tools/list_changed").await;
    let after = client.request("tools/list", json!({})).await;
    assert_eq!(names(&after).len(), names(&before).len() + 1);
}
