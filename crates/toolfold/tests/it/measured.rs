//! What others make of our figures: OpenTelemetry's own messages and Prometheus's own parser read them.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use toolfold_test::{FakeServer, HttpClient, plain_http};

use crate::fakes::world;
use crate::peers;

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_and_a_reader_that_we_did_not_write() {
    let mut script = Command::new(peers::venv("python"));
    script.arg(peers::script("telemetry.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut collector = script.spawn().unwrap();
    let mut said = BufReader::new(collector.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let address: String = serde_json::from_str(&line).unwrap();

    let fake = FakeServer::script(
        json!({"eras": ["legacy"], "tools": ["look", "fail"], "calls": {"fail": {"error": {"code": -32000, "message": "no"}}}}),
    );
    let world = world(&format!("[telemetry]\notlp = \"{address}\""), &[("fake", &fake)]);
    let served = world.serve();
    let client = HttpClient::new(served.url.clone());
    client.initialize("2025-11-25").await;
    // A trace of the HTTP request itself, which is another thing than that of the message.
    let carrier = "4bf92f3577b34da6a3ce929d0e0e4736";
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let mut call = json!({"name": "call_tool", "arguments": {"tool": "fake.look", "arguments": {}}});
    call["_meta"] = json!({"traceparent": format!("00-{trace}-b7ad6b7169203331-01")});
    client.request("tools/call", json!({"name": "find_tools", "arguments": {"query": "look"}})).await;
    client.request("tools/call", call).await;
    let _ = client
        .try_request("tools/call", json!({"name": "call_tool", "arguments": {"tool": "fake.fail", "arguments": {}}}))
        .await;
    let mut carried = json!({"name": "call_tool", "arguments": {"tool": "fake.look", "arguments": {}}});
    carried["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "traceparent": "00-11111111111111111111111111111111-2222222222222222-01",
    });
    let carried = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": carried});
    let request = plain_http().post(&served.url).header("accept", "application/json, text/event-stream");
    let request = request.header("content-type", "application/json").header("mcp-protocol-version", "2026-07-28");
    let request = request.header("mcp-method", "tools/call").header("mcp-name", "call_tool");
    let request = request.header("traceparent", format!("00-{carrier}-00f067aa0ba902b7-01"));
    let reply = request.body(carried.to_string()).send().await.unwrap();
    assert_eq!(reply.status(), 200, "{}", reply.text().await.unwrap());
    let text = plain_http().get(served.url.replace("/mcp", "/metrics")).send().await.unwrap().text().await.unwrap();
    served.stop();

    collector.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert!(collector.wait().unwrap().success());
    let understood: Value = serde_json::from_str(&rest).unwrap();

    let spans = understood["spans"].as_array().unwrap();
    let span = |name: &str| {
        let found = spans.iter().find(|span| span["name"] == name && span["trace"] == trace);
        found.unwrap_or_else(|| panic!("{name} in {spans:#?}"))
    };
    let (asked, sent) = (span("tools/call call_tool"), span("tools/call look"));
    assert_eq!((&asked["kind"], &asked["parent"]), (&json!(2), &json!("b7ad6b7169203331")));
    assert_eq!((&sent["kind"], &sent["parent"]), (&json!(3), &asked["span"]));
    assert_eq!(sent["attributes"]["toolfold.tool.id"], "fake.look");
    assert_eq!(sent["attributes"]["gen_ai.operation.name"], "execute_tool");
    let failed = spans.iter().find(|span| span["name"] == "tools/call fail").unwrap();
    assert_eq!((&failed["error"], &failed["attributes"]["error.type"]), (&json!(2), &json!("-32000")));

    let about = |span: &Value, key: &str| span["attributes"][key].clone();
    assert_eq!(about(asked, "network.transport"), "tcp");
    assert_eq!(
        (about(asked, "mcp.protocol.version"), about(asked, "client.address")),
        (json!("2025-11-25"), json!("127.0.0.1"))
    );
    assert!(asked["attributes"]["mcp.session.id"].is_string() && asked["links"] == json!([]), "{asked:#}");
    assert_eq!((about(sent, "network.transport"), about(sent, "toolfold.server")), (json!("pipe"), json!("fake")));
    assert!(sent["attributes"]["mcp.protocol.version"].is_string(), "{sent:#}");
    assert_eq!(failed["attributes"]["rpc.response.status_code"], "-32000");
    let linked = spans.iter().find(|span| span["trace"] == "11111111111111111111111111111111" && span["kind"] == 2);
    let linked = linked.unwrap_or_else(|| panic!("{spans:#?}"));
    assert_eq!(linked["parent"], "2222222222222222", "the message says what it belongs to");
    assert_eq!(linked["links"], json!([{"trace": carrier, "span": "00f067aa0ba902b7", "flags": 0x301}]));
    assert_eq!(about(linked, "mcp.protocol.version"), "2026-07-28");

    let metrics = understood["metrics"].as_array().unwrap();
    let value = |name: &str, key: &str, label: &str| {
        let fits = |metric: &&Value| metric["name"] == name && metric["attributes"][key] == label;
        metrics.iter().rev().find(fits).map(|metric| metric["value"].clone())
    };
    assert_eq!(value("toolfold.calls", "outcome", "done"), Some(json!(2.0)), "{metrics:#?}");
    assert_eq!(value("mcp.server.operation.duration", "error.type", "-32000"), Some(json!(1)), "{metrics:#?}");
    for (name, transport) in [("mcp.server.session.duration", "tcp"), ("mcp.client.session.duration", "pipe")] {
        assert_eq!(value(name, "network.transport", transport), Some(json!(1)), "{name} in {metrics:#?}");
    }
    let units = metrics.iter().filter(|metric| metric["name"].as_str().is_some_and(|name| name.ends_with("duration")));
    assert!(units.into_iter().all(|metric| metric["unit"] == "s" && metric["kind"] == "histogram"));
    let read = &understood["read"];
    assert_eq!(read[r#"toolfold_calls_total{"outcome": "done", "server": "fake"}"#], 2.0, "{read:#}");
    assert_eq!(read[r#"toolfold_disclosures_total{"via": "search"}"#], 1.0);
    assert!(read["toolfold_search_seconds_count{}"].is_number());
}
