//! What strangers, pages, and slow or greedy clients get: an answer, a reason, or the end of their connection.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use toolfold_core::Surface;
use toolfold_serve::serve_http;
use toolfold_test::{FakeServer, HttpClient, plain_http};

use crate::support::{all_settled, config, http_client, impatient, local_gateway, modern_meta, over_http, start, text};

const HELLO: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}"#;

/// Sends bytes and returns all that comes back until the connection ends.
async fn raw(address: SocketAddr, bytes: &str) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(bytes.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let _ = socket.read_to_string(&mut answer).await;
    answer
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}

async fn local() -> SocketAddr {
    over_http(local_gateway(Surface::Compact), Surface::Compact).await
}

#[tokio::test]
async fn what_can_be_read_in_two_ways_is_refused() {
    let address = local().await;
    let length = HELLO.len();
    let post = async |target: &str, hosts: &str| {
        let head = format!("POST {target} HTTP/1.1\r\n{hosts}Content-Length: {length}\r\nConnection: close\r\n\r\n");
        status(&raw(address, &(head + HELLO)).await).to_owned()
    };
    assert_eq!(post("/mcp", "Host: localhost\r\n").await, "200");
    assert_eq!(post("/mcp", "Host: localhost\r\nHost: evil.example\r\n").await, "400");
    assert_eq!(post("/mcp", "Host: evil.example\r\nHost: localhost\r\n").await, "400");
    assert_eq!(post("http://evil.example/mcp", "Host: localhost\r\n").await, "400");
    assert_eq!(post("http://localhost/mcp", "Host: localhost\r\n").await, "400");
    assert_eq!(post("/mcp", "").await, "400");
}

#[tokio::test]
async fn a_page_of_another_port_calls_nothing() {
    let address = local().await;
    let body = json!({"tool_id": "local.echo", "arguments": {"text": "called by a page"}}).to_string();
    let call = async |headers: &[(&str, &str)]| {
        let request = plain_http().post(format!("http://{address}/v1/call_tool")).body(body.clone());
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let reply = request.send().await.unwrap();
        (reply.status().as_u16(), reply.text().await.unwrap().contains("called by a page"))
    };
    let page = ("origin", "http://localhost:3000");
    assert_eq!(call(&[page, ("content-type", "text/plain")]).await, (415, false));
    assert_eq!(call(&[page]).await, (415, false));
    assert_eq!(call(&[page, ("content-type", "application/json")]).await, (403, false));
    assert_eq!(call(&[("content-type", "text/plain")]).await, (415, false));
    assert_eq!(call(&[("content-type", "application/json"), ("sec-fetch-site", "same-site")]).await, (403, false));
    assert_eq!(call(&[("content-type", "application/json")]).await, (200, true));
}

#[tokio::test]
async fn a_request_sent_as_a_notification_is_not_worked_on() {
    let fake = FakeServer::script(json!({"tools": ["do"]}));
    let gateway = start(config(Surface::Compact, &[("fake", &fake)]));
    all_settled(&gateway).await;
    let client = http_client(gateway, Surface::Compact).await;
    client.initialize("2025-06-18").await;
    let call = json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "do", "arguments": {}}});
    assert_eq!(client.post(&call.to_string(), Default::default()).await.status, 202);
    let batch = json!([call, {"jsonrpc": "2.0", "id": 1, "method": "ping"}]);
    assert_eq!(client.post(&batch.to_string(), Default::default()).await.status, 200);
    // A call with an id comes after them on the same pipe: had they been passed on, they would have arrived.
    client.request("tools/call", json!({"name": "call_tool", "arguments": {"tool": "fake.do"}})).await;
    let received = fake.received("tools/call");
    assert_eq!(received.len(), 1, "{received:?}");
}

#[tokio::test]
async fn who_accepts_json_alone_gets_json_and_who_accepts_nothing_of_ours_is_refused_before() {
    let fake = FakeServer::script(json!({"tools": ["slow"], "calls": {"slow": {"progress": 3}}}));
    let address = over_http(start(config(Surface::Compact, &[("fake", &fake)])), Surface::Compact).await;
    let client = HttpClient::new(format!("http://{address}/mcp"));
    client.initialize("2025-06-18").await;
    let call = async |accept: &str, modern: bool| {
        let mut params = json!({"name": "fake.slow", "arguments": {}, "_meta": {"progressToken": "p"}});
        let mut request = plain_http().post(client.url()).header("accept", accept);
        if modern {
            params["_meta"] = modern_meta();
            params["_meta"]["progressToken"] = json!("p");
            request = request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", "tools/call");
            request = request.header("mcp-name", "fake.slow");
        } else {
            request = request.header("mcp-session-id", client.session().unwrap());
        }
        let body = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}).to_string();
        let reply = request.body(body).send().await.unwrap();
        let kind = reply.headers()["content-type"].to_str().unwrap().to_owned();
        (reply.status().as_u16(), kind, reply.text().await.unwrap())
    };
    for modern in [false, true] {
        let (status, kind, body) = call("application/json", modern).await;
        assert_eq!((status, kind.as_str()), (200, "application/json"), "{body}");
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["id"], 5);
        let (status, kind, body) = call("text/event-stream", modern).await;
        assert_eq!((status, kind.as_str()), (200, "text/event-stream"), "{body}");
        let before = fake.received("tools/call").len();
        assert_eq!(call("image/png", modern).await.0, 406);
        assert_eq!(fake.received("tools/call").len(), before, "refused before it was made");
    }
}

#[tokio::test]
async fn a_meta_tool_obeys_no_rule_of_a_server() {
    // A server whose tool has the meta-tool's name and wants one of its parameters in a header.
    let schema = json!({"type": "object", "properties": {"tool": {"type": "string", "x-mcp-header": "Tool"}}});
    let fake = FakeServer::script(json!({"tools": [{"name": "call_tool", "inputSchema": schema}]}));
    let gateway = start(config(Surface::Compact, &[("fake", &fake)]));
    all_settled(&gateway).await;
    let client = http_client(gateway, Surface::Compact).await;
    let arguments = json!({"tool": "local.echo", "arguments": {"text": "hi"}});
    let result = client.modern("tools/call", json!({"name": "call_tool", "arguments": arguments})).await;
    assert_eq!(text(&result), "hi");
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let address = impatient().await;
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n";
    assert_eq!(status(&raw(address, head).await), "408");
    let chunked = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello";
    assert_eq!(status(&raw(address, chunked).await), "408");
    assert_eq!(status(&raw(address, &head.replace("/mcp", "/v1/list")).await), "408");
}

#[tokio::test]
async fn a_connection_without_a_request_is_closed() {
    let address = impatient().await;
    for sent in ["", "POST /mcp", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: "] {
        assert_eq!(raw(address, sent).await, "", "{sent:?}");
    }
    // After an answer too.
    let answer = raw(address, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(status(&answer), "200");
}

#[tokio::test]
async fn capabilities_are_kept_so_they_have_a_length() {
    let client = http_client(local_gateway(Surface::Compact), Surface::Compact).await;
    let long = json!({"x": "y".repeat(100_000)});
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": long}});
    let reply = client.post(&hello.to_string(), Default::default()).await;
    assert!(reply.body.contains("larger than 65536 bytes"), "{}", reply.body);
    assert_eq!(reply.header("mcp-session-id"), None);
}

#[tokio::test]
async fn the_end_waits_for_calls_and_not_for_listeners() {
    let fake = FakeServer::script(json!({"tools": ["slow"], "calls": {"slow": {"delay_ms": 600}}}));
    let gateway = start(config(Surface::Compact, &[("fake", &fake)]));
    all_settled(&gateway).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let served = tokio::spawn(serve_http(gateway, Surface::Compact, listener, stop.clone()));
    let old = HttpClient::new(format!("http://{address}/mcp"));
    old.initialize("2025-11-25").await;
    old.open_stream().await;
    let new = HttpClient::new(format!("http://{address}/mcp"));
    new.listen(json!({"toolsListChanged": true})).await;
    let mut idle = TcpStream::connect(address).await.unwrap();
    idle.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n").await.unwrap();
    let call = json!({"name": "call_tool", "arguments": {"tool": "fake.slow"}});
    let stopping = async {
        while fake.received("tools/call").len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stop.cancel();
    };
    let (one, other, ()) =
        tokio::join!(old.request("tools/call", call.clone()), new.modern("tools/call", call.clone()), stopping);
    assert!(one.get("content").is_some() && other.get("content").is_some(), "{one} {other}");
    tokio::time::timeout(Duration::from_secs(5), served).await.unwrap().unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}
