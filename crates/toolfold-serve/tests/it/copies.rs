//! How often large arguments are copied on their way from a client to a server, counted in bytes that are allocated for it.
//!
//! Calls of two sizes are compared, so that what does not grow with the arguments does not count. What is left is, for each
//! byte more: one in the pieces that the socket is read into, which is no copy yet, one in the buffer that the body is gathered in,
//! and one in the line that is sent on.

use std::alloc::System;

use serde_json::{Value, json};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolfold_config::{Config, Server, Transport};
use toolfold_core::{ServerName, Surface};
use toolfold_gateway::{Gateway, Options};
use toolfold_test::{FakeServer, HttpClient};

use crate::support::{all_settled, config, modern_meta, over_http};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const SMALLER: usize = 10 << 20;
const LARGER: usize = 20 << 20;

fn fake(era: &str) -> FakeServer {
    FakeServer::script(json!({
        "eras": [era],
        "tools": [{"name": "take", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}],
        "calls": {"take": {"result": {"content": [{"type": "text", "text": "taken"}]}}},
    }))
}

/// A request that is ready to be sent, byte for byte.
fn request(session: Option<&str>, name: &str, arguments: Value) -> Vec<u8> {
    let mut params = json!({"name": name, "arguments": arguments});
    let mut headers = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n".to_owned();
    match session {
        Some(session) => headers += &format!("Mcp-Session-Id: {session}\r\nMcp-Protocol-Version: 2025-11-25\r\n"),
        None => {
            params["_meta"] = modern_meta();
            headers += &format!("Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n");
        }
    }
    let body = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params}).to_string();
    format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

/// The bytes that were allocated while this was sent and answered.
async fn allocated(address: &str, request: &[u8]) -> usize {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut answer = vec![0; 64 * 1024];
    let region = Region::new(ALLOCATOR);
    stream.write_all(request).await.unwrap();
    let length = stream.read(&mut answer).await.unwrap();
    let counted = region.change();
    let text = String::from_utf8_lossy(&answer[..length]).into_owned();
    assert!(text.starts_with("HTTP/1.1 200") && text.contains("taken"), "{text}");
    counted.bytes_allocated
}

async fn growth(config: Config, era: &str) -> Vec<(String, f64)> {
    let gateway = Gateway::start(Options { config, local: Vec::new() });
    all_settled(&gateway).await;
    let address = over_http(gateway, Surface::Compact).await.to_string();
    let client = HttpClient::new(format!("http://{address}/mcp"));
    client.initialize("2025-11-25").await;
    let mut found = Vec::new();
    for session in [client.session(), None] {
        let calls = |size: usize| {
            let text = json!({"text": "x".repeat(size)});
            request(session.as_deref(), "call_tool", json!({"tool": "fake.take", "arguments": text}))
        };
        // What is made once, with the first call: connections, buffers, the tool's schema.
        allocated(&address, &calls(SMALLER)).await;
        let (smaller, larger) = (calls(SMALLER), calls(LARGER));
        let more = allocated(&address, &larger).await as f64 - allocated(&address, &smaller).await as f64;
        let who = if session.is_some() { "a session" } else { "a stateless client" };
        found.push((format!("from {who} to a {era} server"), more / (LARGER - SMALLER) as f64));
    }
    found
}

#[tokio::test]
async fn large_arguments_are_copied_twice_at_most() {
    let mut all = Vec::new();
    for era in ["legacy", "modern"] {
        let fake = fake(era);
        all.extend(growth(config(Surface::Compact, &[("fake", &fake)]), &format!("{era} stdio")).await);
        let http = fake.http();
        let name = ServerName::new("fake").unwrap();
        let transport = Transport::Http { url: http.url(), headers: Default::default() };
        let servers = [(name.clone(), Server::new(name, transport))].into();
        let over_http = Config { surface: Surface::Compact, toolbox: false, servers, ..Config::default() };
        all.extend(growth(over_http, &format!("{era} HTTP")).await);
    }
    let dear: Vec<&(String, f64)> = all.iter().filter(|(_, times)| *times > 3.2).collect();
    assert!(dear.is_empty(), "allocated for each byte of arguments: {all:?}");
}
