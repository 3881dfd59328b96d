//! Clients that send slowly, and how little that is to everybody else. What they have lying here together is bounded, and who has been
//! waited for the longest makes room.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolfold_config::Config;
use toolfold_core::Surface;

use crate::support::{modern_meta, over_http, start};

/// An eighth of this is for what is waited for, and another one for what is worked on and small.
const MEMORY: usize = 8 << 20;

async fn served() -> SocketAddr {
    let mut config = Config { surface: Surface::Compact, ..Config::default() };
    config.limits.memory = MEMORY;
    over_http(start(config), Surface::Compact).await
}

/// A call with an argument of this many bytes: its head, and its body.
fn call(size: usize) -> (String, String) {
    let arguments = json!({"tool": "local.echo", "arguments": {"text": "x".repeat(size)}});
    let params = json!({"name": "call_tool", "arguments": arguments, "_meta": modern_meta()});
    let body = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params}).to_string();
    let headers = "Host: localhost\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
        Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: call_tool\r\n";
    (format!("POST /mcp HTTP/1.1\r\n{headers}Content-Length: {}\r\n\r\n", body.len()), body)
}

async fn connected(address: SocketAddr, sends: &str) -> TcpStream {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.set_nodelay(true).unwrap();
    // Who is closed meanwhile cannot send.
    let _ = socket.write_all(sends.as_bytes()).await;
    socket
}

async fn answered(socket: &mut TcpStream, size: usize) {
    let mut answer = Vec::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        let text = String::from_utf8_lossy(&answer).into_owned();
        if text.starts_with("HTTP/1.1 200") && text.contains(&"x".repeat(size)) && text.ends_with('}') {
            return;
        }
        let length = socket.read(&mut piece).await.unwrap();
        assert!(length > 0, "{size} bytes: {text:.300}");
        answer.extend_from_slice(&piece[..length]);
    }
}

/// Calls of ordinary sizes are answered, however their bytes come in.
async fn others_are_served(address: SocketAddr) {
    for size in [10, 5_000, 20_000, 60_000] {
        let (head, body) = call(size);
        answered(&mut connected(address, &format!("{head}{body}")).await, size).await;
        // In several pieces, each read on its own.
        let mut socket = connected(address, &head[..head.len() / 2]).await;
        for piece in [&head[head.len() / 2..], &body[..body.len() / 2], &body[body.len() / 2..]] {
            tokio::time::sleep(Duration::from_millis(5)).await;
            socket.write_all(piece.as_bytes()).await.unwrap();
        }
        answered(&mut socket, size).await;
    }
    // A head as large as any, and slow.
    let (head, body) = call(10);
    let long = format!("X-Long: {}\r\nHost:", "y".repeat(30_000));
    let head = head.replacen("Host:", &long, 1);
    let mut socket = connected(address, &head[..20_000]).await;
    tokio::time::sleep(Duration::from_millis(5)).await;
    socket.write_all((head[20_000..].to_owned() + &body).as_bytes()).await.unwrap();
    answered(&mut socket, 10).await;
}

/// Whether the other end has not closed it; what it has said is read.
fn is_open(socket: &TcpStream) -> bool {
    let mut said = [0; 4096];
    loop {
        match socket.try_read(&mut said) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
}

/// Waits until no more than so many are open.
async fn no_more_than(most: usize, all: &[TcpStream]) {
    let closing = async {
        while all.iter().filter(|socket| is_open(socket)).count() > most {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let open = || all.iter().filter(|socket| is_open(socket)).count();
    tokio::time::timeout(Duration::from_secs(5), closing).await.unwrap_or_else(|_| panic!("{} are open", open()));
}

#[tokio::test]
async fn heads_that_are_not_finished_take_nothing_from_anybody() {
    let address = served().await;
    let mut slow = Vec::new();
    for _ in 0..200 {
        slow.push(connected(address, &format!("GET / HTTP/1.1\r\nX: {}", "y".repeat(16_000))).await);
    }
    others_are_served(address).await;
    no_more_than(MEMORY / 8 / 12_000, &slow).await;
    others_are_served(address).await;
    assert!(!is_open(&slow[0]), "the first has been waited for the longest");
}

#[tokio::test]
async fn small_bodies_that_are_not_finished_take_nothing_from_anybody() {
    let address = served().await;
    let head = call(9_000).0;
    let mut slow = Vec::new();
    for _ in 0..400 {
        slow.push(connected(address, &(head.clone() + &"y".repeat(7_000))).await);
    }
    others_are_served(address).await;
    no_more_than(MEMORY / 8 / 7_000, &slow).await;
    others_are_served(address).await;
    assert!(!is_open(&slow[0]), "the first has been waited for the longest");
}

#[tokio::test]
async fn what_comes_behind_a_request_counts_like_any_other_head() {
    let address = served().await;
    let behind = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\nX: {}", "y".repeat(60_000));
    let mut ahead = Vec::new();
    for _ in 0..60 {
        ahead.push(connected(address, &behind).await);
    }
    no_more_than(MEMORY / 8 / 50_000, &ahead).await;
    others_are_served(address).await;
    // Whoever finishes it is answered.
    let (head, body) = call(5_000);
    let mut socket = connected(address, &format!("{head}{body}{head}")).await;
    answered(&mut socket, 5_000).await;
    socket.write_all(body.as_bytes()).await.unwrap();
    answered(&mut socket, 5_000).await;
}

#[tokio::test]
async fn small_requests_pass_while_large_ones_use_up_their_memory() {
    let address = served().await;
    let (head, _) = call(3 << 20);
    let mut large = Vec::new();
    for _ in 0..8 {
        large.push(connected(address, &(head.clone() + &"y".repeat(2 << 20))).await);
    }
    others_are_served(address).await;
    let refused = plain(address, &call(2 << 20)).await;
    assert!(refused.contains(" 503 ") && refused.contains("Too many requests are being worked on"), "{refused:.300}");
}

async fn plain(address: SocketAddr, (head, body): &(String, String)) -> String {
    let head = head.replacen("Host:", "Connection: close\r\nHost:", 1);
    let mut socket = connected(address, &(head + body)).await;
    let mut answer = String::new();
    let _ = socket.read_to_string(&mut answer).await;
    answer
}

#[tokio::test]
async fn both_eras_are_answered_alike_while_nothing_else_has_room() {
    let address = served().await;
    let client = toolfold_test::HttpClient::new(format!("http://{address}/mcp"));
    client.initialize("2025-11-25").await;
    let (head, _) = call(3 << 20);
    let mut large = Vec::new();
    for _ in 0..8 {
        large.push(connected(address, &(head.clone() + &"y".repeat(2 << 20))).await);
    }
    let asked =
        || json!({"name": "call_tool", "arguments": {"tool": "local.echo", "arguments": {"text": "x".repeat(40_000)}}});
    for answer in [client.request("tools/call", asked()).await, client.modern("tools/call", asked()).await] {
        assert_eq!(answer["content"][0]["text"].as_str().map(str::len), Some(40_000), "{answer:.300}");
    }
}

#[tokio::test]
async fn the_connection_ends_behind_a_long_head() {
    let address = served().await;
    for (length, goes_on) in [(10, true), (6_000, true), (11_000, true), (13_000, false), (90_000, false)] {
        let request = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "y".repeat(length));
        let mut socket = connected(address, &request).await;
        let mut answer = vec![0; 4096];
        let size = socket.read(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer[..size]).into_owned();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert_eq!(!answer.to_ascii_lowercase().contains("connection: close"), goes_on, "{length}: {answer}");
        // Another one is answered, or there is an end.
        let again = socket.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        let more = socket.read(&mut [0; 4096]).await;
        assert_eq!(again.is_ok() && more.is_ok_and(|more| more > 0), goes_on, "{length}");
    }
}
