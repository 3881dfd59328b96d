//! MCP on a pipe.

use serde_json::json;
use toolfold_core::Surface;
use toolfold_test::FakeServer;

use crate::support::{Pipe, all_settled, config, local_gateway, modern_meta, names, start, text};

fn pipe() -> Pipe {
    Pipe::to(local_gateway(Surface::Compact), Surface::Compact)
}

#[tokio::test]
async fn every_old_version_is_spoken_and_unknown_ones_get_our_latest() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let answer = pipe().initialize(version).await;
        assert_eq!(answer["result"]["protocolVersion"], version);
        assert_eq!(answer["result"]["serverInfo"]["name"], "toolfold");
    }
    for version in ["2026-07-28", "1999-01-01", ""] {
        assert_eq!(pipe().initialize(version).await["result"]["protocolVersion"], "2025-11-25");
    }
}

#[tokio::test]
async fn the_stateless_era_needs_no_beginning() {
    let mut pipe = pipe();
    let discover =
        json!({"jsonrpc": "2.0", "id": "a", "method": "server/discover", "params": {"_meta": modern_meta()}});
    let answer = pipe.exchange(discover).await;
    assert_eq!(answer["id"], "a");
    let result = &answer["result"];
    assert_eq!(result["supportedVersions"][0], "2026-07-28");
    assert_eq!(result["resultType"], "complete");
    assert!(result["ttlMs"].is_u64() && result["cacheScope"].is_string());
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "toolfold");
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": modern_meta()}});
    assert_eq!(names(&pipe.exchange(list).await["result"]), ["find_tools", "call_tool"]);
}

#[tokio::test]
async fn both_eras_share_one_pipe() {
    let mut pipe = pipe();
    pipe.initialize("2025-06-18").await;
    let old = pipe.exchange(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    assert!(old["result"]["resultType"].is_null());
    let call = json!({"name": "local.echo", "arguments": {"text": "hi"}, "_meta": modern_meta()});
    let new = pipe.exchange(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})).await;
    assert_eq!(text(&new["result"]), "hi");
    assert_eq!(new["result"]["resultType"], "complete");
}

#[tokio::test]
async fn what_is_wrong_is_answered_and_loses_nothing() {
    let mut pipe = pipe();
    let mut code = async |line: &str| {
        pipe.send(line).await;
        let answer = pipe.receive().await;
        (answer["id"].clone(), answer["error"]["code"].as_i64().unwrap())
    };
    assert_eq!(code("this is not JSON").await, (json!(null), -32700));
    assert_eq!(code(r#"{"jsonrpc":"2.0","id":5}"#).await, (json!(5), -32600));
    assert_eq!(code(r#"{"jsonrpc":"2.0","id":6,"method":"tools/list"}"#).await, (json!(6), -32600));
    assert_eq!(code(r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}"#).await, (json!(7), -32602));
    assert_eq!(code(r#"{"jsonrpc":"2.0","id":8,"method":"server/discover"}"#).await, (json!(8), -32602));
    let wrong = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2030-01-01", "io.modelcontextprotocol/clientCapabilities": {}}});
    let discover = json!({"jsonrpc": "2.0", "id": 9, "method": "server/discover", "params": wrong}).to_string();
    assert_eq!(code(&discover).await, (json!(9), -32022));
    assert_eq!(pipe.exchange(json!({"jsonrpc": "2.0", "id": 10, "method": "ping"})).await["result"], json!({}));
}

#[tokio::test]
async fn methods_of_the_other_era_do_not_exist() {
    let mut pipe = pipe();
    for method in ["ping", "logging/setLevel", "resources/subscribe", "no/such/method"] {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": modern_meta(), "uri": "x", "level": "info"}});
        assert_eq!(pipe.exchange(request).await["error"]["code"], -32601, "{method}");
    }
}

#[tokio::test]
async fn a_batch_is_answered_message_by_message() {
    let mut pipe = pipe();
    pipe.initialize("2025-03-26").await;
    pipe.send(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#)
        .await;
    let mut ids = [pipe.receive().await["id"].as_i64(), pipe.receive().await["id"].as_i64()];
    ids.sort_unstable();
    assert_eq!(ids, [Some(1), Some(2)]);
}

/// A server that says nothing is waited for by who may need it, and by nobody else.
#[tokio::test]
async fn what_is_there_is_told_while_a_search_waits_for_others() {
    let silent = FakeServer::script(json!({"silent": ["server/discover", "initialize"]}));
    let mut pipe = Pipe::to(start(config(Surface::Compact, &[("silent", &silent)])), Surface::Compact);
    pipe.initialize("2025-11-25").await;
    let asked = [
        json!({"query": "say it again"}),
        json!({"tool": "local.echo"}),
        json!({"path": ["Servers", "local"]}),
        json!({"path": "local", "query": "say it again"}),
        json!({"path": ["Servers", "nobody"]}),
        json!({"kind": "colour"}),
    ];
    for (id, arguments) in asked.iter().enumerate() {
        let params = json!({"name": "find_tools", "arguments": arguments});
        pipe.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()).await;
    }
    let mut ids = Vec::new();
    while ids.len() < asked.len() {
        ids.extend(pipe.receive().await["id"].as_u64());
    }
    assert_eq!(ids.last(), Some(&0), "{ids:?}");
}

#[tokio::test]
async fn requests_under_way_at_the_end_of_input_are_answered() {
    let mut pipe = pipe();
    pipe.initialize("2025-11-25").await;
    for id in 1..=20 {
        let params = json!({"name": "call_tool", "arguments": {"tool": "echo", "arguments": {"text": "x".repeat(id)}}});
        pipe.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()).await;
    }
    let mut ids: Vec<u64> = pipe.close().await.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=20).collect::<Vec<u64>>());
}

#[tokio::test]
async fn a_listener_is_acknowledged_and_can_be_cancelled() {
    let mut pipe = pipe();
    let params = json!({"_meta": modern_meta(), "notifications": {"toolsListChanged": true, "resourceSubscriptions": ["x://none"]}});
    let told =
        pipe.exchange(json!({"jsonrpc": "2.0", "id": "s", "method": "subscriptions/listen", "params": params})).await;
    assert_eq!(told["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(told["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "s");
    pipe.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}}"#).await;
    assert!(pipe.close().await.is_empty());
}

#[tokio::test]
async fn a_listener_goes_on_when_a_conversation_begins_beside_it() {
    let fake = FakeServer::script(json!({"tools": ["grow"], "calls": {"grow": {"list_changed": "grown"}}}));
    let gateway = start(config(Surface::Direct, &[("fake", &fake)]));
    all_settled(&gateway).await;
    let mut pipe = Pipe::to(gateway, Surface::Direct);
    let params = json!({"_meta": modern_meta(), "notifications": {"toolsListChanged": true}});
    let listen = json!({"jsonrpc": "2.0", "id": "s", "method": "subscriptions/listen", "params": params});
    assert_eq!(pipe.exchange(listen).await["method"], "notifications/subscriptions/acknowledged");
    pipe.initialize("2025-11-25").await;
    let params = json!({"name": "fake__grow", "arguments": {}});
    pipe.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()).await;
    let (mut listeners, mut conversations) = (0, 0);
    while listeners + conversations < 2 {
        let told = pipe.receive().await;
        if told["method"] == "notifications/tools/list_changed" {
            let is_listeners = told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "s";
            *if is_listeners { &mut listeners } else { &mut conversations } += 1;
        }
    }
    assert_eq!((listeners, conversations), (1, 1));
}
