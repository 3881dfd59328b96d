//! Whatever a stranger sends, the next one is answered: bytes on the pipe, bytes on the socket, headers, event ids.

use std::net::SocketAddr;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolfold_core::Surface;

use crate::support::{Pipe, impatient, local_gateway, over_http};

/// JSON of a few levels, with the words of the protocol among its keys.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["tools/call", "initialize", "2025-06-18", "2026-07-28", "call_tool"])
            .prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "jsonrpc",
        "id",
        "method",
        "params",
        "result",
        "error",
        "_meta",
        "name",
        "arguments",
        "uri",
        "cursor",
        "requestState",
        "protocolVersion",
        "capabilities",
        "notifications",
        "io.modelcontextprotocol/protocolVersion",
        "requestId",
    ]);
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            vec((key.clone(), inner), 0..6)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

/// Bytes that are nearly a message, or nothing like one.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..200),
        json_value().prop_map(|value| value.to_string().into_bytes()),
        (json_value(), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(value, place, byte)| {
            let mut bytes = value.to_string().into_bytes();
            let place = place.index(bytes.len());
            bytes[place] = byte;
            bytes
        }),
    ]
}

/// Few in the suite, as each has a program of its own to talk to; as many as it is told where new bytes are looked for.
fn config() -> ProptestConfig {
    let told = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { told.cases } else { 24 };
    ProptestConfig { cases, ..told }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

async fn exchange(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let _ = socket.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer).await;
    answer
}

async fn is_well(address: SocketAddr) -> bool {
    exchange(address, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .await
        .starts_with(b"HTTP/1.1 200")
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_line_on_the_pipe_leaves_the_next_one_answered(lines in vec(frame(), 1..20)) {
        runtime().block_on(async {
            let mut pipe = Pipe::to(local_gateway(Surface::Compact), Surface::Compact);
            for line in lines {
                let line: Vec<u8> = line.into_iter().filter(|byte| *byte != b'\n').collect();
                pipe.send_bytes(&line).await;
            }
            pipe.send(&json!({"jsonrpc": "2.0", "id": "the last one", "method": "ping"}).to_string()).await;
            while pipe.receive().await["id"] != "the last one" {}
        });
    }

    #[test]
    fn any_body_and_any_headers_leave_the_next_one_answered(
        bodies in vec(frame(), 1..8),
        headers in vec((prop::sample::select(vec!["mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id", "accept", "content-type", "origin", "authorization"]), "[ -~]{0,40}"), 0..5),
        path in prop::sample::select(vec!["/mcp", "/mcp/direct", "/v1/list", "/v1/call_tool", "/v1/tools?limit=1"]),
        method in prop::sample::select(vec!["POST", "GET", "DELETE", "PUT"]),
    ) {
        runtime().block_on(async {
            let address = over_http(local_gateway(Surface::Compact), Surface::Compact).await;
            for body in bodies {
                let mut request = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\nConnection: close\r\n", body.len()).into_bytes();
                for (name, value) in &headers {
                    request.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
                }
                request.extend_from_slice(b"\r\n");
                request.extend_from_slice(&body);
                let answer = exchange(address, &request).await;
                assert!(answer.starts_with(b"HTTP/1.1 "), "{}", String::from_utf8_lossy(&request));
            }
            assert!(is_well(address).await);
        });
    }

    #[test]
    fn any_bytes_on_the_socket_leave_the_next_one_answered(bytes in vec(vec(any::<u8>(), 0..300), 1..10)) {
        runtime().block_on(async {
            let address = impatient().await;
            for bytes in bytes {
                exchange(address, &bytes).await;
            }
            assert!(is_well(address).await);
        });
    }
}
