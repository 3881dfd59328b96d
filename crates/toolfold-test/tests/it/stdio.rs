//! The fake server over stdio, driven by the raw client.

use serde_json::json;
use toolfold_test::{FakeServer, StdioClient};

fn start(server: &FakeServer) -> StdioClient {
    let (command, args) = server.stdio_command();
    StdioClient::start(&command, &args, &[])
}

#[tokio::test]
async fn legacy_handshake_list_and_call() {
    let server = FakeServer::script(json!({"tools": ["add"], "instructions": "Add things."}));
    let mut client = start(&server);
    let hello = client.initialize("2025-06-18").await;
    assert_eq!(hello["protocolVersion"], "2025-06-18");
    assert_eq!(hello["instructions"], "Add things.");
    let list = client.request("tools/list", json!({})).await;
    assert_eq!(
        list,
        json!({"tools": [{"name": "add", "description": "Does add.", "inputSchema": {"type": "object"}}]})
    );
    let result = client.request("tools/call", json!({"name": "add", "arguments": {"a": 1}})).await;
    assert_eq!(result, json!({"content": [{"type": "text", "text": "{\"a\":1}"}], "structuredContent": {"a": 1}}));
    assert!(client.close().await.success());
    let events: Vec<_> = server.journal().iter().map(|entry| entry["event"].as_str().unwrap().to_owned()).collect();
    assert_eq!(events, ["start", "message", "message", "message", "message", "exit"]);
    assert_eq!(server.received("tools/call").len(), 1);
}

#[tokio::test]
async fn modern_requests_need_their_meta() {
    let server = FakeServer::script(json!({"eras": ["modern"], "tools": ["add"]}));
    let client = start(&server);
    let discovered = client.modern("server/discover", json!({})).await;
    assert_eq!(discovered["supportedVersions"], json!(["2026-07-28"]));
    let list = client.modern("tools/list", json!({})).await;
    assert_eq!(list["resultType"], "complete");
    assert_eq!(list["ttlMs"], 60_000);
    let error = client.try_request("tools/list", json!({})).await.unwrap_err();
    assert_eq!(error.code, -32602);
    let error = client.try_request("initialize", json!({"protocolVersion": "2025-06-18"})).await.unwrap_err();
    assert_eq!(
        (error.code, error.data.unwrap().get()),
        (-32022, r#"{"supported":["2026-07-28"],"requested":"2025-06-18"}"#)
    );
}

#[tokio::test]
async fn legacy_requests_need_their_handshake() {
    let server = FakeServer::script(json!({"eras": ["legacy"]}));
    let client = start(&server);
    assert_eq!(client.try_request("tools/list", json!({})).await.unwrap_err().code, -32602);
    assert_eq!(client.try_modern("server/discover", json!({})).await.unwrap_err().code, -32601);
}

#[tokio::test]
async fn a_probe_may_end_or_poison_a_server() {
    let server = FakeServer::script(json!({"eras": ["legacy"], "on_probe": "exit"}));
    let mut client = start(&server);
    assert!(client.try_modern("server/discover", json!({})).await.is_err());
    assert_eq!(client.ended().await.code(), Some(1));

    let server = FakeServer::script(json!({"eras": ["legacy"], "on_probe": "poison"}));
    let mut client = start(&server);
    client.begin("server/discover", json!({})).await;
    client.begin("initialize", json!({"protocolVersion": "2025-06-18"})).await;
    assert_eq!(client.ended().await.code(), Some(1));
}

#[tokio::test]
async fn pages() {
    let server = FakeServer::script(json!({"tools": ["a", "b", "c"], "page": 2}));
    let client = start(&server);
    client.initialize("2025-11-25").await;
    let first = client.request("tools/list", json!({})).await;
    assert_eq!(first["tools"].as_array().unwrap().len(), 2);
    let second = client.request("tools/list", json!({"cursor": first["nextCursor"]})).await;
    assert_eq!(second["tools"][0]["name"], "c");
    assert!(second.get("nextCursor").is_none());
    assert_eq!(client.try_request("tools/list", json!({"cursor": "?"})).await.unwrap_err().code, -32602);
}

#[tokio::test]
async fn definitions_and_results_keep_their_bytes() {
    let definition =
        r#"{"name":"odd","x-unknown":[1.0,1e400,12345678901234567890123],"inputSchema":{"type":"object"}}"#;
    let result = r#"{"content":[],"isError":false,"x":1.50}"#;
    let script = format!(r#"{{"tools":[{definition}],"calls":{{"odd":{{"result":{result}}}}}}}"#);
    let (command, _) = FakeServer::script(json!({})).stdio_command();
    let client = StdioClient::start(&command, &["--script-json", &script], &[]);
    client.initialize("2025-11-25").await;
    let list = client.try_request("tools/list", json!({})).await.unwrap();
    assert_eq!(list.get(), format!(r#"{{"tools":[{definition}]}}"#));
    let called = client.try_request("tools/call", json!({"name": "odd"})).await.unwrap();
    assert_eq!(called.get(), result);
}

#[tokio::test]
async fn progress_and_log_come_before_the_result() {
    let server =
        FakeServer::script(json!({"tools": ["slow"], "calls": {"slow": {"progress": 2, "log": 1, "delay_ms": 1}}}));
    let client = start(&server);
    client.initialize("2025-11-25").await;
    client.request("tools/call", json!({"name": "slow", "_meta": {"progressToken": "t"}})).await;
    let methods: Vec<_> = client.notifications().iter().map(|n| n["method"].as_str().unwrap().to_owned()).collect();
    assert_eq!(methods, ["notifications/progress", "notifications/progress", "notifications/message"]);
}

#[tokio::test]
async fn questions_in_both_eras() {
    let server = FakeServer::script(json!({"tools": ["ask"], "calls": {"ask": {"elicit": true, "roots": true}}}));
    let client = start(&server);
    client.initialize("2025-11-25").await;
    let call = client.request("tools/call", json!({"name": "ask"}));
    let answers = async {
        let question = client.next_request().await;
        assert_eq!(question.method, "elicitation/create");
        client.answer(&question, json!({"action": "accept", "content": {"name": "Ada"}})).await;
        let question = client.next_request().await;
        assert_eq!(question.method, "roots/list");
        client.answer(&question, json!({"roots": []})).await;
    };
    let (result, ()) = tokio::join!(call, answers);
    assert_eq!(result["structuredContent"]["answers"]["elicit"]["content"]["name"], "Ada");

    let asked = client.modern("tools/call", json!({"name": "ask"})).await;
    assert_eq!(asked["resultType"], "input_required");
    assert_eq!(asked["inputRequests"]["elicit"]["method"], "elicitation/create");
    let responses = json!({"elicit": {"action": "decline"}, "roots": {"roots": []}});
    let again = json!({"name": "ask", "inputResponses": responses, "requestState": asked["requestState"]});
    let result = client.modern("tools/call", again).await;
    assert_eq!(result["structuredContent"]["answers"]["elicit"]["action"], "decline");
    let wrong = json!({"name": "ask", "inputResponses": responses, "requestState": "mine"});
    assert_eq!(client.try_modern("tools/call", wrong).await.unwrap_err().code, -32602);
}

#[tokio::test]
async fn a_cancelled_call_is_not_answered_and_a_hanging_one_harms_no_other() {
    let server = FakeServer::script(json!({"tools": ["hang", "add"], "calls": {"hang": {"hang": true}}}));
    let mut client = start(&server);
    client.initialize("2025-11-25").await;
    let id = client.begin("tools/call", json!({"name": "hang"})).await;
    client.request("tools/call", json!({"name": "add"})).await;
    client.cancel(&id).await;
    client.request("ping", json!({})).await;
    assert!(client.close().await.success());
    assert_eq!(client.strays(), Vec::<String>::new());
    assert_eq!(server.received("notifications/cancelled").len(), 1);
}

#[tokio::test]
async fn list_changed_reaches_legacy_clients_and_modern_listeners() {
    let server = FakeServer::script(json!({"tools": ["grow"], "calls": {"grow": {"list_changed": "grown"}}}));
    let client = start(&server);
    client.initialize("2025-11-25").await;
    client.request("tools/call", json!({"name": "grow"})).await;
    client.next_notification("notifications/tools/list_changed").await;
    assert_eq!(client.request("tools/list", json!({})).await["tools"][1]["name"], "grown");

    let client = start(&server);
    let listen = json!({"notifications": {"toolsListChanged": true}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}});
    client.begin("subscriptions/listen", listen).await;
    client.next_notification("notifications/subscriptions/acknowledged").await;
    client.modern("tools/call", json!({"name": "grow"})).await;
    let changed = client.next_notification("notifications/tools/list_changed").await;
    assert_eq!(changed["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
}

#[tokio::test]
async fn hostile_processes() {
    let server = FakeServer::script(json!({
        "garbage": ["Starting up!", "{\"not\": \"a message\"}"], "stderr": 3, "tools": ["die"],
        "calls": {"die": {"exit": 7}}, "invalid_schema": true, "duplicate_names": true, "long_name": true, "huge_list": 100_000,
    }));
    let mut client = start(&server);
    client.initialize("2025-11-25").await;
    assert!(client.strays().iter().any(|line| line == "Starting up!"));
    let list = client.request("tools/list", json!({})).await;
    let names: Vec<_> = list["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.iter().any(|name| name.len() == 200));
    assert_eq!(names.iter().filter(|name| **name == "twin").count(), 2);
    assert!(list.to_string().len() > 100_000);
    assert!(client.try_request("tools/call", json!({"name": "die"})).await.is_err());
    assert_eq!(client.ended().await.code(), Some(7));
    assert_eq!(client.stderr().lines().count(), 3);

    let server = FakeServer::script(json!({"crash_after_ms": 1}));
    assert_eq!(start(&server).ended().await.code(), Some(3));
    let server = FakeServer::script(json!({"exit_at_start": 4}));
    assert_eq!(start(&server).ended().await.code(), Some(4));
    assert_eq!(server.starts().len(), 1);
}

fn signal(name: &str, pid: &str) {
    let status = std::process::Command::new("kill").args([name, pid]).status().expect("kill can be started");
    assert!(status.success(), "kill {name} {pid}");
}

#[tokio::test]
async fn signals_and_children() {
    let folder = tempfile::tempdir().unwrap();
    let child = folder.path().join("child.pid");
    let server = FakeServer::script(json!({"ignore_sigterm": true, "spawn_child": child}));
    let mut stubborn = start(&server);
    stubborn.initialize("2025-11-25").await;
    signal("-TERM", &stubborn.pid().to_string());
    stubborn.request("ping", json!({})).await;
    signal("-KILL", &std::fs::read_to_string(&child).unwrap());
    stubborn.kill().await;

    let server = FakeServer::script(json!({}));
    let mut polite = start(&server);
    polite.initialize("2025-11-25").await;
    signal("-TERM", &polite.pid().to_string());
    assert!(polite.ended().await.success());
    assert_eq!(server.journal().last().unwrap()["why"], "sigterm");
}

#[tokio::test]
async fn a_misspelt_script_is_an_error() {
    let server = FakeServer::script(json!({"tolls": []}));
    let mut client = start(&server);
    assert_eq!(client.ended().await.code(), Some(2));
    assert!(client.stderr().contains("unknown field `tolls`"), "{}", client.stderr());
}
