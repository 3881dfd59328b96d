//! The fake server over HTTP, driven by the raw client.

use serde_json::json;
use toolfold_test::{FakeServer, HttpClient};

#[tokio::test]
async fn a_legacy_session_from_start_to_end() {
    let server = FakeServer::script(json!({"tools": ["add", "grow"], "calls": {"grow": {"list_changed": "grown"}}}));
    let running = server.http();
    let client = HttpClient::new(running.url());
    client.initialize("2025-11-25").await;
    assert!(client.session().is_some());
    client.open_stream().await;
    client.request("tools/call", json!({"name": "grow"})).await;
    client.next_notification("notifications/tools/list_changed").await;
    let result = client.request("tools/call", json!({"name": "add", "arguments": {"a": 1}})).await;
    assert_eq!(result["structuredContent"], json!({"a": 1}));
    assert_eq!(client.try_request("no/such", json!({})).await.unwrap_err().code, -32601);
    assert_eq!(client.delete().await, 204);
    let gone = client.try_request("tools/list", json!({})).await.unwrap_err();
    assert!(gone.message.contains("404"), "{gone}");
    assert!(HttpClient::new(running.url()).try_request("tools/list", json!({})).await.is_err());
}

#[tokio::test]
async fn questions_and_progress_on_the_stream_of_a_call() {
    let server = FakeServer::script(json!({"tools": ["ask"], "calls": {"ask": {"sample": true, "progress": 2}}}));
    let running = server.http();
    let client = HttpClient::new(running.url());
    client.initialize("2025-11-25").await;
    let call = client.request("tools/call", json!({"name": "ask", "_meta": {"progressToken": 5}}));
    let answer = async {
        let question = client.next_request().await;
        assert_eq!(question.method, "sampling/createMessage");
        client
            .answer(&question, json!({"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}))
            .await;
    };
    let (result, ()) = tokio::join!(call, answer);
    assert_eq!(result["structuredContent"]["answers"]["sample"]["model"], "m");
    assert_eq!(client.notifications().len(), 2);
}

#[tokio::test]
async fn modern_requests_and_their_headers() {
    let annotated = json!({"name": "regional", "inputSchema": {"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"}}}});
    let server =
        FakeServer::script(json!({"tools": ["grow", annotated], "calls": {"grow": {"list_changed": "grown"}}}));
    let running = server.http();
    let client = HttpClient::new(running.url());
    client.listen(json!({"toolsListChanged": true})).await;
    client.modern("tools/call", json!({"name": "grow"})).await;
    client.next_notification("notifications/tools/list_changed").await;
    let error =
        client.try_modern("tools/call", json!({"name": "regional", "arguments": {"region": "eu"}})).await.unwrap_err();
    assert_eq!(error.code, -32020);
    let told = HttpClient::new(running.url()).with_header("Mcp-Param-Region", "eu");
    told.modern("tools/call", json!({"name": "regional", "arguments": {"region": "eu"}})).await;
    let wrong = HttpClient::new(running.url()).with_header("Mcp-Method", "tools/list");
    assert_eq!(wrong.try_modern("tools/call", json!({"name": "grow"})).await.unwrap_err().code, -32020);
}

#[tokio::test]
async fn failures_on_order() {
    let server = FakeServer::script(json!({"tools": ["add"], "http": {
        "status": {"tools/list": 503}, "require": {"authorization": "Bearer t"}, "session_requests": 1}}));
    let running = server.http();
    let stranger = HttpClient::new(running.url());
    assert!(stranger.try_request("initialize", json!({})).await.unwrap_err().message.contains("401"));
    let client = HttpClient::new(running.url()).with_header("Authorization", "Bearer t");
    client.initialize("2025-11-25").await;
    assert!(client.try_request("tools/list", json!({})).await.unwrap_err().message.contains("503"));
    client.request("tools/call", json!({"name": "add"})).await;
    assert!(client.try_request("tools/call", json!({"name": "add"})).await.unwrap_err().message.contains("404"));
}
