//! The numbers of SECURITY.md that a client meets, at their edges: what is within passes, the next one does not.

use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use toolfold_config::{Config, Limits, Rate};
use toolfold_core::Surface;
use toolfold_test::{FakeServer, HttpClient};
use toolfold_wire::RpcError;

use crate::support::{Pipe, all_settled, config, http_client, local_gateway, modern_meta, over_http, start};

async fn client() -> HttpClient {
    http_client(local_gateway(Surface::Compact), Surface::Compact).await
}

fn ping(id: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

/// So many levels of JSON, the message and its `params` among them.
fn nested(levels: usize) -> String {
    let inner = levels - 2;
    let value = format!("{}{}", "[".repeat(inner), "]".repeat(inner));
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{value}}}}}"#)
}

#[tokio::test]
async fn a_batch_has_a_hundred_messages_and_json_128_levels() {
    let client = client().await;
    client.initialize("2025-03-26").await;
    let batch = async |count: usize| {
        let pings: Vec<Value> = (0..count).map(|id| ping(json!(id))).collect();
        client.post(&Value::Array(pings).to_string(), Default::default()).await
    };
    let within = batch(100).await;
    assert_eq!(within.messages().iter().flat_map(|all| all.as_array().unwrap().clone()).count(), 100);
    assert!(batch(101).await.body.contains("error"));

    let deep = async |levels: usize| client.post(&nested(levels), Default::default()).await.body;
    assert!(deep(128).await.contains("\"result\""));
    assert!(!deep(129).await.contains("\"result\""));
}

#[tokio::test]
async fn a_head_has_96_kilobytes() {
    let client = client().await;
    let hello =
        json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": modern_meta()}}).to_string();
    let status = async |length: usize| {
        let mut headers = reqwest::header::HeaderMap::new();
        for (name, value) in [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "server/discover")] {
            headers.insert(name, value.parse().unwrap());
        }
        headers.insert("x-long", "x".repeat(length).parse().unwrap());
        client.post(&hello, headers).await.status
    };
    assert_eq!(status(95 * 1024).await, 200);
    assert_eq!(status(96 * 1024).await, 431);
}

#[tokio::test]
async fn what_is_kept_of_a_client_has_a_length() {
    let client = client().await;
    // Capabilities are counted as they are written.
    let hello = |length: usize| {
        let capabilities = json!({"x": "y".repeat(length - r#"{"x":""}"#.len())});
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": capabilities}})
    };
    let greet = async |length: usize| client.post(&hello(length).to_string(), Default::default()).await;
    assert!(greet(64 * 1024).await.header("mcp-session-id").is_some());
    assert!(greet(64 * 1024 + 1).await.header("mcp-session-id").is_none());

    client.initialize("2025-11-25").await;
    let answered = async |message: Value| client.post(&message.to_string(), Default::default()).await.body;
    // An id is counted with its quotation marks.
    assert!(answered(ping(json!("i".repeat(16 * 1024 - 2)))).await.contains("\"result\""));
    assert!(!answered(ping(json!("i".repeat(16 * 1024 - 1)))).await.contains("\"result\""));

    let unknown = async |length: usize| client.try_request(&"m".repeat(length), json!({})).await.unwrap_err();
    assert_eq!(unknown(256).await.code, -32601);
    assert_ne!(unknown(257).await.code, -32601);
}

#[tokio::test]
async fn an_address_that_is_watched_has_2_kilobytes_and_a_listener_a_hundred() {
    let address = |length: usize| format!("file:///{}", "u".repeat(length - "file:///".len()));
    let resource = json!({"uri": address(2048), "name": "long"});
    let fake = FakeServer::script(
        json!({"tools": ["do"], "resources": [resource], "capabilities": {"resources": {"subscribe": true}}}),
    );
    let gateway = start(config(Surface::Compact, &[("fake", &fake)]));
    all_settled(&gateway).await;
    let url = format!("http://{}/mcp", over_http(gateway, Surface::Compact).await);
    let old = HttpClient::new(url.clone());
    old.initialize("2025-11-25").await;
    let subscribe = async |length: usize| old.try_request("resources/subscribe", json!({"uri": address(length)})).await;
    let problem = |outcome: Result<_, RpcError>| outcome.err().map(|error| error.message).unwrap_or_default();
    assert!(!problem(subscribe(2048).await).contains("long"), "the longest is not too long");
    assert!(problem(subscribe(2049).await).contains("2048"), "the next one is");

    let new = HttpClient::new(url);
    let listen = async |count: usize| {
        let addresses: Vec<String> = (0..count).map(|n| format!("file:///{n}")).collect();
        let params = json!({"notifications": {"resourceSubscriptions": addresses}});
        new.try_modern("subscriptions/listen", params).await.err()
    };
    assert!(listen(101).await.is_some_and(|error| error.message.contains("100")));
}

#[tokio::test]
async fn an_address_that_is_read_has_8_kilobytes() {
    let fake = FakeServer::script(json!({
        "tools": ["do"], "templates": [{"uriTemplate": "file:///{path}", "name": "file"}], "capabilities": {"resources": {}},
    }));
    let gateway = start(config(Surface::Compact, &[("fake", &fake)]));
    all_settled(&gateway).await;
    let client = http_client(gateway, Surface::Compact).await;
    client.initialize("2025-11-25").await;
    let address = |length: usize| format!("file:///{}", "u".repeat(length - "file:///".len()));
    let asked = || fake.received("resources/read").len();
    let _ = client.try_request("resources/read", json!({"uri": address(8 * 1024)})).await;
    assert_eq!(asked(), 1, "the longest is asked for");
    let refused = client.try_request("resources/read", json!({"uri": address(8 * 1024 + 1)})).await.unwrap_err();
    assert!(refused.message.starts_with("Resource not found: file:///uuu"), "{}", refused.message);
    assert!(refused.message.len() < 1_000);
    assert_eq!(asked(), 1, "the next one is nobody's");
}

#[tokio::test]
async fn a_session_has_512_requests_at_once_and_so_has_a_pipe() {
    let fake = FakeServer::script(json!({"tools": ["hang", "do"], "calls": {"hang": {"hang": true}}}));
    let gateway = start(config(Surface::Compact, &[("fake", &fake)]));
    all_settled(&gateway).await;
    let client = Arc::new(http_client(gateway.clone(), Surface::Compact).await);
    client.initialize("2025-11-25").await;
    let call = json!({"name": "call_tool", "arguments": {"tool": "fake.hang"}});
    let calls: Vec<_> = (0..512)
        .map(|_| {
            let (client, call) = (client.clone(), call.clone());
            tokio::spawn(async move { client.try_request("tools/call", call).await })
        })
        .collect();
    while fake.received("tools/call").len() < 512 {
        tokio::task::yield_now().await;
    }
    let refused = client.try_request("tools/call", call.clone()).await.unwrap_err();
    assert!(refused.message.contains("512"), "{refused:?}");
    assert_eq!(fake.received("tools/call").len(), 512);
    calls.iter().for_each(tokio::task::JoinHandle::abort);

    // On a pipe the next one waits for a second, and no longer: what is behind it may be what the others wait for.
    let fake = FakeServer::script(json!({"tools": ["hang"], "calls": {"hang": {"hang": true}}}));
    let gateway = start(config(Surface::Compact, &[("fake", &fake)]));
    all_settled(&gateway).await;
    let mut pipe = Pipe::to(gateway, Surface::Compact);
    pipe.initialize("2025-11-25").await;
    for id in 1..=512 {
        pipe.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call}).to_string()).await;
    }
    while fake.received("tools/call").len() < 512 {
        tokio::task::yield_now().await;
    }
    let begun = std::time::Instant::now();
    let refused = pipe.exchange(ping(json!("late"))).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("512"), "{refused}");
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    pipe.send(&cancelled.to_string()).await;
    assert!(pipe.exchange(ping(json!("later"))).await["result"].is_object());
}

#[tokio::test]
async fn requests_of_a_batch_are_counted_like_any_others() {
    let limits = Limits { requests: Some(Rate { count: 4, per: Duration::from_secs(3600) }), ..Limits::default() };
    let gateway = start(Config { limits, ..config(Surface::Compact, &[]) });
    let client = http_client(gateway, Surface::Compact).await;
    client.initialize("2025-03-26").await;
    let pings: Vec<Value> = (0..9).map(|id| ping(json!(id))).collect();
    let answers = client.post(&Value::Array(pings).to_string(), Default::default()).await.messages();
    let answers = answers[0].as_array().unwrap().clone();
    // `initialize` and what follows it were two.
    let answered: Vec<bool> = answers.iter().map(|answer| answer["result"].is_object()).collect();
    assert_eq!(answered, [true, true, false, false, false, false, false, false, false]);
    assert!(answers[8]["error"].to_string().contains("RATE_LIMITED"), "{}", answers[8]);
}

#[tokio::test]
async fn who_listens_does_not_wait_for_a_server_that_is_silent() {
    let addresses: Vec<String> = (0..9).map(|number| format!("file:///{number}")).collect();
    let resources: Vec<Value> = addresses.iter().map(|uri| json!({"uri": uri, "name": uri})).collect();
    let fake = FakeServer::script(json!({
        "eras": ["legacy"], "tools": ["do"], "resources": resources,
        "capabilities": {"tools": {}, "resources": {"subscribe": true}}, "silent": ["resources/subscribe"],
    }));
    let gateway = start(config(Surface::Compact, &[("fake", &fake)]));
    all_settled(&gateway).await;
    let mut pipe = Pipe::to(gateway, Surface::Compact);
    let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": addresses});
    let params = json!({"notifications": wanted, "_meta": modern_meta()});
    pipe.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}).to_string())
        .await;
    while fake.received("resources/subscribe").len() < addresses.len() {
        tokio::task::yield_now().await;
    }
    tokio::time::pause();
    let begun = tokio::time::Instant::now();
    let acknowledged = pipe.receive().await;
    // Timers are exact to a millisecond.
    assert!(begun.elapsed() < Duration::from_secs(16), "{:?}", begun.elapsed());
    assert_eq!(acknowledged["params"]["notifications"], json!({"toolsListChanged": true}));
}

#[tokio::test]
async fn there_are_4096_sessions_and_the_next_one_is_told_when_to_come_back() {
    let client = client().await;
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}}).to_string();
    for number in 0..4096 {
        let reply = client.post(&hello, Default::default()).await;
        assert_eq!(reply.status, 200, "session {number}");
    }
    let refused = client.post(&hello, Default::default()).await;
    assert_eq!(refused.status, 503);
    assert!(refused.header("retry-after").is_some());
}

#[tokio::test]
async fn there_are_2048_subscriptions_over_http() {
    // Both ends of each connection are in this process.
    let files = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files }).unwrap();
    let client = client().await;
    let wanted = || json!({"toolsListChanged": true});
    for _ in 0..2048 {
        client.listen(wanted()).await;
    }
    let next = client.try_modern("subscriptions/listen", json!({"notifications": wanted()})).await;
    let refused = next.unwrap_err();
    assert!(refused.message.contains("subscriptions are open"), "{refused:?}");
}

#[tokio::test]
async fn a_pipe_has_64_subscriptions() {
    let mut pipe = Pipe::to(local_gateway(Surface::Compact), Surface::Compact);
    let listen = |id: usize| {
        let params = json!({"_meta": modern_meta(), "notifications": {"toolsListChanged": true}});
        json!({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params})
    };
    for id in 1..=64 {
        let acknowledged = pipe.exchange(listen(id)).await;
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    }
    let refused = pipe.exchange(listen(65)).await;
    assert!(
        refused["error"]["message"].as_str().is_some_and(|message| message.contains("subscriptions are open")),
        "{refused}"
    );
}
