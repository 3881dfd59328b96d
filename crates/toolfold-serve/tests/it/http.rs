//! MCP over HTTP.

use serde_json::{Value, json};
use toolfold_core::Surface;
use toolfold_test::{FakeServer, HttpClient, HttpReply, plain_http};

use crate::support::{
    all_settled, config, http_client, local_gateway, modern_meta, names, over_http, start, text, with_token,
};

async fn client() -> HttpClient {
    http_client(local_gateway(Surface::Compact), Surface::Compact).await
}

fn headers(pairs: &[(&str, &str)]) -> reqwest::header::HeaderMap {
    let pair = |(name, value): &(&str, &str)| {
        (reqwest::header::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap())
    };
    pairs.iter().map(pair).collect()
}

fn code(reply: &HttpReply) -> i64 {
    let body: Value = serde_json::from_str(&reply.body).unwrap();
    body["error"]["code"].as_i64().unwrap()
}

#[tokio::test]
async fn a_session_begins_is_used_and_ends() {
    let client = client().await;
    let result = client.initialize("2025-06-18").await;
    assert_eq!(result["protocolVersion"], "2025-06-18");
    assert_eq!(client.session().unwrap().len(), 32);
    assert_eq!(names(&client.request("tools/list", json!({})).await), ["find_tools", "call_tool"]);
    assert_eq!(client.delete().await, 204);
    let reply = client.post(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, headers(&[])).await;
    assert_eq!(reply.status, 404);
    assert_eq!(client.delete().await, 404);
}

#[tokio::test]
async fn what_does_not_belong_to_a_session_is_told_so() {
    let client = client().await;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    assert_eq!(client.post(list, headers(&[])).await.status, 400);
    assert_eq!(client.post(list, headers(&[("mcp-session-id", "nonsense")])).await.status, 404);
    assert_eq!(client.post("{", headers(&[])).await.status, 400);
    client.initialize("2025-06-18").await;
    let odd = client.post(list, headers(&[("mcp-protocol-version", "2019-01-01")])).await;
    assert_eq!((odd.status, code(&odd)), (400, -32022));
}

#[tokio::test]
async fn the_stateless_era_checks_its_headers() {
    let client = client().await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "local.echo", "arguments": {"text": "hi"}, "_meta": modern_meta()}}).to_string();
    let right = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "local.echo")];
    let reply = client.post(&body, headers(&right)).await;
    assert_eq!(reply.status, 200);
    assert_eq!(text(&reply.messages()[0]["result"]), "hi");
    for (place, value) in [(0, "2025-11-25"), (1, "tools/list"), (2, "other")] {
        let mut wrong = right;
        wrong[place].1 = value;
        let reply = client.post(&body, headers(&wrong)).await;
        assert_eq!((reply.status, code(&reply)), (400, -32020), "{}", right[place].0);
        let missing: Vec<_> = right.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, pair)| *pair).collect();
        let reply = client.post(&body, headers(&missing)).await;
        assert_eq!((reply.status, code(&reply)), (400, -32020), "without {}", right[place].0);
    }
}

#[tokio::test]
async fn the_stateless_era_has_its_own_statuses() {
    let client = client().await;
    let post_as = async |version: &str, method: &str, params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        client.post(&body, headers(&[("mcp-protocol-version", version), ("mcp-method", method)])).await
    };
    let post = async |method: &str, params: Value| post_as("2026-07-28", method, params).await;
    let unknown = post("no/such", json!({"_meta": modern_meta()})).await;
    assert_eq!((unknown.status, code(&unknown)), (404, -32601));
    let bare = post("tools/list", json!({})).await;
    assert_eq!((bare.status, code(&bare)), (400, -32602));
    let mut other = modern_meta();
    other["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let other = post_as("2031-01-01", "tools/list", json!({"_meta": other})).await;
    assert_eq!((other.status, code(&other)), (400, -32022));
    let told = client
        .post(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#, headers(&[("mcp-protocol-version", "2026-07-28")]))
        .await;
    assert_eq!(told.status, 202);
}

#[tokio::test]
async fn other_methods_of_http_are_for_sessions() {
    let address = over_http(local_gateway(Surface::Compact), Surface::Compact).await;
    let url = format!("http://{address}/mcp");
    let http = plain_http();
    assert_eq!(http.get(&url).send().await.unwrap().status(), 405);
    assert_eq!(http.delete(&url).send().await.unwrap().status(), 405);
    assert_eq!(http.put(&url).send().await.unwrap().status(), 405);
    assert_eq!(http.get(format!("http://{address}/healthz")).send().await.unwrap().status(), 200);
    assert_eq!(http.get(format!("http://{address}/nowhere")).send().await.unwrap().status(), 404);
    assert_eq!(http.post(format!("{url}/nosuch")).send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn strangers_are_turned_away() {
    let address = over_http(local_gateway(Surface::Compact), Surface::Compact).await;
    let status = async |name: &str, value: &str| {
        plain_http().get(format!("http://{address}/healthz")).header(name, value).send().await.unwrap().status()
    };
    assert_eq!(status("host", "evil.example").await, 403);
    assert_eq!(status("origin", "http://evil.example").await, 403);
    assert_eq!(status("origin", "http://localhost:3000").await, 200);
    assert_eq!(status("host", "localhost:1234").await, 200);
}

#[tokio::test]
async fn a_token_is_asked_for_where_one_is_configured() {
    let address = over_http(start(with_token("s3cret")), Surface::Compact).await;
    let status = async |value: Option<&str>| {
        let request = plain_http().get(format!("http://{address}/v1/status"));
        let request = value.iter().fold(request, |request, value| request.header("authorization", *value));
        request.send().await.unwrap().status()
    };
    assert_eq!(status(None).await, 401);
    assert_eq!(status(Some("Bearer s3cre")).await, 401);
    assert_eq!(status(Some("Basic s3cret")).await, 401);
    assert_eq!(status(Some("Bearer s3cret")).await, 200);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let client = client().await;
    let body = "x".repeat(33 * 1024 * 1024);
    assert_eq!(client.post(&body, headers(&[])).await.status, 413);
}

#[tokio::test]
async fn every_surface_has_a_path() {
    let gateway = local_gateway(Surface::Compact);
    let address = over_http(gateway, Surface::Compact).await;
    let direct = HttpClient::new(format!("http://{address}/mcp/direct"));
    direct.initialize("2025-11-25").await;
    assert_eq!(names(&direct.request("tools/list", json!({})).await), ["local__echo"]);
    let compact = HttpClient::new(format!("http://{address}/mcp/compact"));
    assert_eq!(names(&compact.modern("tools/list", json!({})).await), ["find_tools", "call_tool"]);
}

#[tokio::test]
async fn a_batch_is_answered_in_one_body() {
    let client = client().await;
    client.initialize("2025-03-26").await;
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"bad":1},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
    let reply = client.post(batch, headers(&[])).await;
    let answers: Vec<Value> = serde_json::from_str(&reply.body).unwrap();
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(1), &json!(null), &json!(2)]);
}

#[tokio::test]
async fn what_is_said_before_the_answer_makes_it_a_stream_that_can_be_resumed() {
    let fake = FakeServer::script(json!({"tools": ["slow"], "calls": {"slow": {"progress": 3}}}));
    let client = http_client(start(config(Surface::Compact, &[("fake", &fake)])), Surface::Compact).await;
    client.initialize("2025-11-25").await;
    let call = json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {"name": "fake.slow", "arguments": {}, "_meta": {"progressToken": "p"}}});
    let reply = client.post(&call.to_string(), headers(&[])).await;
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    let messages = reply.messages();
    let progress =
        |message: &Value| message["method"] == "notifications/progress" && message["params"]["progressToken"] == "p";
    assert_eq!(messages.iter().filter(|message| progress(message)).count(), 3);
    assert_eq!(messages.last().unwrap()["id"], 77);

    let ids: Vec<&str> = reply.body.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
    let resume = plain_http()
        .get(client.url())
        .header("mcp-session-id", client.session().unwrap())
        .header("accept", "text/event-stream")
        .header("last-event-id", ids[ids.len() - 2]);
    let body = resume.send().await.unwrap().text().await.unwrap();
    assert_eq!(body.matches("data: ").count(), 1, "{body}");
    assert!(body.contains(r#""id":77"#), "{body}");
}

#[tokio::test]
async fn tools_that_come_and_go_are_announced_where_they_are_shown() {
    let fake = FakeServer::script(json!({"tools": ["grow"], "calls": {"grow": {"list_changed": "grown"}}}));
    let gateway = start(config(Surface::Direct, &[("fake", &fake)]));
    all_settled(&gateway).await;
    let address = over_http(gateway, Surface::Direct).await;
    let old = HttpClient::new(format!("http://{address}/mcp"));
    old.initialize("2025-11-25").await;
    old.open_stream().await;
    let new = HttpClient::new(format!("http://{address}/mcp"));
    let heard = new.listen(json!({"toolsListChanged": true})).await;
    assert_eq!(heard["notifications"], json!({"toolsListChanged": true}));
    old.request("tools/call", json!({"name": "fake__grow", "arguments": {}})).await;
    old.next_notification("notifications/tools/list_changed").await;
    new.next_notification("notifications/tools/list_changed").await;
    assert!(names(&old.request("tools/list", json!({})).await).contains(&"fake__grown".to_owned()));
}

#[tokio::test]
async fn the_state_of_the_servers_can_be_seen() {
    let fake = FakeServer::script(json!({"tools": ["one", "two"]}));
    let broken = FakeServer::script(json!({"exit_at_start": 3}));
    let gateway = start(config(Surface::Compact, &[("fake", &fake), ("broken", &broken)]));
    all_settled(&gateway).await;
    let address = over_http(gateway, Surface::Compact).await;
    let status: Value = plain_http()
        .get(format!("http://{address}/v1/status"))
        .send()
        .await
        .unwrap()
        .text()
        .await
        .map(|text| serde_json::from_str(&text).unwrap())
        .unwrap();
    let states: Vec<(&str, &str, u64)> = status["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|server| {
            (server["name"].as_str().unwrap(), server["state"].as_str().unwrap(), server["tools"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(states, [("broken", "failing", 0), ("fake", "ready", 2), ("local", "ready", 1)]);
}
