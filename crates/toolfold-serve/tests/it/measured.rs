//! Limits, counters and traces, as somebody at the other end of a socket meets them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolfold_audit::Reader;
use toolfold_config::{AuditMode, Config, Limits, Rate};
use toolfold_core::Surface;
use toolfold_test::{FakeServer, HttpClient, plain_http};

use crate::support::{all_settled, config, over_http, start, with_token};

const HOUR: Duration = Duration::from_secs(3600);

fn rate(count: u32) -> Option<Rate> {
    Some(Rate { count, per: HOUR })
}

fn call(tool: &str) -> Value {
    json!({"name": "call_tool", "arguments": {"tool": tool, "arguments": {"text": "x"}}})
}

#[tokio::test]
async fn too_many_requests_are_told_when_to_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = with_token("s3cret");
    config.limits = Limits { requests: rate(2), unauthenticated: rate(1), ..Limits::default() };
    (config.audit.mode, config.audit.path) = (AuditMode::On, Some(folder.path().join("audit.db")));
    let gateway = start(config);
    let address = over_http(gateway.clone(), Surface::Compact).await;
    let get = async |path: &str, token: &str| {
        let request = plain_http().get(format!("http://{address}{path}")).header("authorization", token);
        let reply = request.send().await.unwrap();
        let after = reply.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
        (reply.status().as_u16(), after, reply.text().await.unwrap())
    };
    assert_eq!(get("/v1/status", "Bearer wrong").await.0, 401);
    assert_eq!(get("/v1/status", "Bearer wrong").await.0, 429, "nobody guesses tokens for long");
    for _ in 0..2 {
        assert_eq!(get("/v1/status", "Bearer s3cret").await.0, 200);
    }
    let (status, after, body) = get("/v1/status", "Bearer s3cret").await;
    assert_eq!((status, after.as_deref()), (429, Some("1800")));
    assert!(body.contains("RATE_LIMITED") && body.contains("1800 s"), "{body}");
    let (status, after, body) = get("/mcp", "Bearer s3cret").await;
    let refused: Value = serde_json::from_str(&body).unwrap();
    let wait = &refused["error"]["details"]["retry_after_seconds"];
    assert_eq!((status, after, &refused["error"]["code"]), (429, Some(wait.to_string()), &json!("RATE_LIMITED")));
    let posted = plain_http().post(format!("http://{address}/mcp/direct")).header("authorization", "Bearer s3cret");
    let reply = posted.body(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string()).send().await.unwrap();
    let header = |name: &str| reply.headers()[name].to_str().unwrap().to_owned();
    let (status, kind, after) = (reply.status().as_u16(), header("content-type"), header("retry-after"));
    assert_eq!((status, kind.as_str()), (429, "application/json"));
    let body: Value = serde_json::from_str(&reply.text().await.unwrap()).unwrap();
    let data = json!({"retry_after_seconds": after.parse::<u64>().unwrap(), "code": "RATE_LIMITED"});
    let error = json!({"code": -32600, "message": format!("Too many requests. Come back in {after} s."), "data": data});
    assert_eq!(body, json!({"jsonrpc": "2.0", "id": null, "error": error}));
    assert_eq!(get("/healthz", "Bearer s3cret").await.0, 200, "a probe is not counted");

    // Who was turned away is on record and counted, however often they came, in a few words.
    let metrics = gateway.metrics();
    for line in
        ["toolfold_refusals_total{code=\"NOT_AUTHORIZED\"} 2", "toolfold_refusals_total{code=\"RATE_LIMITED\"} 4"]
    {
        assert!(metrics.lines().any(|found| found == line), "{line} in\n{metrics}");
    }
    gateway.stop().await;
    let reader = Reader::open(&folder.path().join("audit.db")).unwrap().unwrap();
    let events = reader.tail(100).unwrap();
    let told =
        events.iter().filter_map(|stored| stored.event()).filter(|event| event.outcome.as_deref() == Some("refused"));
    let told: Vec<_> = told.map(|event| (event.kind.as_str(), event.principal, event.about, event.events)).collect();
    let (token, limited) = (Some("token".to_owned()), Some("RATE_LIMITED".to_owned()));
    for expected in [
        ("login", None, Some("NOT_AUTHORIZED".to_owned()), Some(1)),
        ("refuse", None, limited.clone(), Some(1)),
        ("refuse", token, limited, Some(1)),
    ] {
        assert!(told.contains(&expected), "{expected:?} in {told:?}");
    }
    // The second of each came right behind the first, and was told at the end.
    assert_eq!(told.len(), 5, "{told:?}");
}

#[tokio::test]
async fn too_many_calls_are_refused_with_a_time() {
    let limits = Limits { calls_per_server: rate(1), ..Limits::default() };
    let config = Config { limits, ..Config::default() };
    let address = over_http(start(config), Surface::Compact).await;
    let call = async || {
        let body = json!({"tool_id": "local.echo", "arguments": {"text": "x"}}).to_string();
        let request = plain_http().post(format!("http://{address}/v1/call_tool")).body(body);
        let reply = request.send().await.unwrap();
        let after = reply.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
        (reply.status().as_u16(), after)
    };
    assert_eq!(call().await, (200, None));
    assert_eq!(call().await, (429, Some("3600".to_owned())));
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_left_alone_and_status_says_so() {
    let fake = FakeServer::script(json!({"tools": ["slow"], "calls": {"slow": {"delay_ms": 60000}}}));
    let mut config = config(Surface::Compact, &[("fake", &fake)]);
    config.limits.failures = 2;
    for server in config.servers.values_mut() {
        server.timeouts.call = Duration::from_millis(50);
    }
    let gateway = start(config);
    let client = HttpClient::new(format!("http://{}/mcp", over_http(gateway.clone(), Surface::Compact).await));
    for _ in 0..2 {
        let answer = client.modern("tools/call", call("fake.slow")).await.to_string();
        assert!(answer.contains("SERVER_TIMEOUT"), "{answer}");
    }
    let answer = client.modern("tools/call", call("fake.slow")).await.to_string();
    assert!(answer.contains("2 times in a row") && answer.contains("SERVER_UNAVAILABLE"), "{answer}");
    assert_eq!(fake.received("tools/call").len(), 2);
    let status = gateway.status().await;
    let fake = status.iter().find(|server| server.name.as_str() == "fake").unwrap();
    assert_eq!((fake.state, fake.retry_in_seconds.is_some()), ("failing", true));
    assert!(fake.why.as_deref().unwrap().contains("left alone for a while after 2 failed calls"), "{:?}", fake.why);
}

#[tokio::test]
async fn counters_count_and_readiness_is_told() {
    let gateway = start(Config::default());
    let address = over_http(gateway.clone(), Surface::Compact).await;
    let client = HttpClient::new(format!("http://{address}/mcp"));
    client.modern("tools/call", json!({"name": "find_tools", "arguments": {"query": "say the same"}})).await;
    client.modern("tools/call", call("local.echo")).await;
    client.modern("tools/call", call("local.nothing")).await;
    let get = async |path: &str| {
        let reply = plain_http().get(format!("http://{address}{path}")).send().await.unwrap();
        (reply.status().as_u16(), reply.text().await.unwrap())
    };
    let (status, text) = get("/metrics").await;
    assert_eq!(status, 200);
    for line in [
        "toolfold_calls_total{server=\"local\",outcome=\"done\"} 1",
        "toolfold_tool_calls_total{tool=\"local.echo\"} 1",
        "toolfold_refusals_total{code=\"TOOL_NOT_FOUND\"} 1",
        "toolfold_disclosures_total{via=\"search\"} 1",
        "toolfold_search_seconds_count 1",
        "mcp_server_operation_duration_seconds_count{mcp_method_name=\"tools/call\",error_type=\"\",network_transport=\"tcp\",mcp_protocol_version=\"2026-07-28\"} 2",
        "mcp_server_operation_duration_seconds_count{mcp_method_name=\"tools/call\",error_type=\"tool_error\",network_transport=\"tcp\",mcp_protocol_version=\"2026-07-28\"} 1",
        "mcp_client_operation_duration_seconds_count{mcp_method_name=\"tools/call\",error_type=\"\",network_transport=\"\",mcp_protocol_version=\"\"} 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
    assert_eq!(get("/readyz").await.0, 200);
    // What a transport answers by itself is counted too, in each era with what it speaks.
    client.modern("server/discover", json!({})).await;
    client.initialize("2025-11-25").await;
    assert!(client.try_request("initialize", json!({"no": "version"})).await.is_err());
    let (_, text) = get("/metrics").await;
    for (method, error, version) in
        [("server/discover", "", "2026-07-28"), ("initialize", "", "2025-11-25"), ("initialize", "-32602", "")]
    {
        let line = format!(
            "mcp_server_operation_duration_seconds_count{{mcp_method_name=\"{method}\",error_type=\"{error}\",network_transport=\"tcp\",mcp_protocol_version=\"{version}\"}} 1"
        );
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
    // Names of tools are information.
    let guarded = over_http(start(with_token("s3cret")), Surface::Compact).await;
    let reply = plain_http().get(format!("http://{guarded}/metrics")).send().await.unwrap();
    assert_eq!(reply.status().as_u16(), 401);
}

#[tokio::test]
async fn who_must_write_and_cannot_is_not_ready_before_anybody_calls() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("place");
    std::fs::write(&place, "a file where a folder should be").unwrap();
    for (mode, ready) in [(AuditMode::Strict, 503), (AuditMode::On, 200)] {
        let mut config = Config::default();
        (config.audit.mode, config.audit.path) = (mode, Some(place.join("audit.db")));
        let gateway = start(config);
        all_settled(&gateway).await;
        let address = over_http(gateway, Surface::Compact).await;
        let status = async || {
            let reply = plain_http().get(format!("http://{address}/readyz")).send().await.unwrap();
            reply.status().as_u16()
        };
        assert_eq!(status().await, ready, "{mode:?}");
        if mode == AuditMode::Strict {
            std::fs::remove_file(&place).unwrap();
            while status().await != 200 {
                tokio::task::yield_now().await;
            }
            std::fs::remove_dir_all(&place).unwrap();
            std::fs::write(&place, "a file again").unwrap();
        }
    }
}

/// Paths and bodies.
type Taken = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// A collector that takes everything: paths and bodies.
async fn collector() -> (String, Taken) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let taken = Taken::default();
    let kept = taken.clone();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let kept = kept.clone();
            tokio::spawn(async move {
                let mut bytes = Vec::new();
                while let Some((path, body)) = request(&mut socket, &mut bytes).await {
                    kept.lock().unwrap().push((path, body));
                    socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
                }
            });
        }
    });
    (address, taken)
}

async fn request(socket: &mut tokio::net::TcpStream, bytes: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            let (start, length) = (end + 4, length.unwrap_or(0));
            if bytes.len() >= start + length {
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                let body = bytes[start..start + length].to_vec();
                bytes.drain(..start + length);
                return Some((path, body));
            }
        }
        if socket.read_buf(bytes).await.ok()? == 0 {
            return None;
        }
    }
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[tokio::test]
async fn a_trace_goes_on_through_us_and_is_sent() {
    let (address, taken) = collector().await;
    let fake = FakeServer::script(json!({"tools": ["look"]}));
    let mut config = config(Surface::Compact, &[("fake", &fake)]);
    config.telemetry.otlp = Some(address);
    let gateway = start(config);
    let client = HttpClient::new(format!("http://{}/mcp", over_http(gateway.clone(), Surface::Compact).await));
    client.initialize("2025-11-25").await;
    let theirs = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let mut params = call("fake.look");
    params["_meta"] = json!({"traceparent": theirs, "tracestate": "v=1", "mine": [1]});
    client.request("tools/call", params).await;
    let sent = &fake.received("tools/call")[0]["params"]["_meta"];
    let ours = sent["traceparent"].as_str().unwrap();
    assert!(ours.starts_with("00-0af7651916cd43dd8448eb211c80319c-") && ours != theirs, "{sent}");
    assert_eq!((&sent["tracestate"], &sent["mine"]), (&json!("v=1"), &json!([1])));
    gateway.stop().await;
    let taken = taken.lock().unwrap();
    let traces: Vec<u8> =
        taken.iter().filter(|(path, _)| path == "/v1/traces").flat_map(|(_, body)| body.clone()).collect();
    let trace = [0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c];
    for part in
        [&trace[..], b"initialize", b"tools/call call_tool", b"tools/call look", b"toolfold.tool.id", b"fake.look"]
    {
        assert!(holds(&traces, part), "{:?}", String::from_utf8_lossy(part));
    }
    let metrics: Vec<u8> =
        taken.iter().filter(|(path, _)| path == "/v1/metrics").flat_map(|(_, body)| body.clone()).collect();
    assert!(holds(&metrics, b"mcp.client.operation.duration") && holds(&metrics, b"toolfold.calls"));
}

#[tokio::test]
async fn without_a_collector_meta_passes_untouched() {
    let fake = FakeServer::script(json!({"tools": ["look"]}));
    let gateway = start(config(Surface::Compact, &[("fake", &fake)]));
    let client = HttpClient::new(format!("http://{}/mcp", over_http(gateway, Surface::Compact).await));
    client.initialize("2025-11-25").await;
    let theirs = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let mut params = call("fake.look");
    params["_meta"] = json!({"traceparent": theirs});
    client.request("tools/call", params).await;
    assert_eq!(fake.received("tools/call")[0]["params"]["_meta"]["traceparent"], theirs);
}
