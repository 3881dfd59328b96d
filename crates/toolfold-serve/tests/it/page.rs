//! The page's files, what it may ask for, and who may not.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use toolfold_core::{Surface, Trust};
use toolfold_gateway::{Gateway, Options};
use toolfold_test::{FakeServer, HttpClient, plain_http};

use crate::rest::gateway;
use crate::support::{all_settled, config, key, over_http, start, with_token};

async fn over(gateway: Gateway) -> SocketAddr {
    all_settled(&gateway).await;
    over_http(gateway, Surface::Compact).await
}

fn asked(address: SocketAddr, method: Method, path: &str) -> RequestBuilder {
    plain_http().request(method, format!("http://{address}{path}"))
}

fn browser(address: SocketAddr, path: &str) -> RequestBuilder {
    asked(address, Method::GET, path).header("accept", "text/html,application/xhtml+xml,*/*;q=0.8")
}

async fn json_of(request: RequestBuilder) -> (u16, Value) {
    let reply = request.send().await.unwrap();
    (reply.status().as_u16(), serde_json::from_str(&reply.text().await.unwrap()).unwrap_or_default())
}

fn header<'a>(reply: &'a Response, name: &str) -> &'a str {
    reply.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
}

/// The addresses below `/page/` that a text names, in quotation marks.
fn parts(text: &str) -> Vec<String> {
    let named = text.split(['"', '\'', '`']);
    let own = named.filter_map(|word| word.strip_prefix("/page/").or_else(|| word.strip_prefix("./")));
    own.filter(|name| name.ends_with(".js") || name.ends_with(".css") || name.ends_with(".svg"))
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn a_browser_gets_the_whole_page_in_little_and_under_a_strict_policy() {
    let address = over(gateway()).await;
    let (mut pending, mut seen, mut bytes) = (vec![String::new()], Vec::new(), 0);
    while let Some(name) = pending.pop() {
        let path = if name.is_empty() { "/".to_owned() } else { format!("/page/{name}") };
        let reply = browser(address, &path).send().await.unwrap();
        assert_eq!(reply.status(), 200, "{path}");
        let policy = header(&reply, "content-security-policy").to_owned();
        for rule in [
            "default-src 'none'",
            "script-src 'self';",
            "style-src 'self';",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(rule), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(header(&reply, "x-content-type-options"), "nosniff");
        assert_eq!(header(&reply, "cross-origin-resource-policy"), "same-origin");
        let kind = match path.rsplit('.').next() {
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "text/html; charset=utf-8",
        };
        assert_eq!(header(&reply, "content-type"), kind, "{path}");
        let text = reply.text().await.unwrap();
        bytes += text.len();
        seen.push(name);
        let more = parts(&text).into_iter().filter(|name| !seen.contains(name));
        for name in more.collect::<Vec<_>>() {
            if !pending.contains(&name) {
                pending.push(name);
            }
        }
    }
    assert!(seen.len() > 10, "{seen:?}");
    assert!(bytes < 100_000, "{bytes}");
    assert_eq!(browser(address, "/page/nothing.js").send().await.unwrap().status(), 404);
    assert_eq!(asked(address, Method::POST, "/").send().await.unwrap().status(), 405);
}

#[tokio::test]
async fn who_is_no_browser_gets_a_few_lines() {
    let address = over(gateway()).await;
    let text = asked(address, Method::GET, "/").send().await.unwrap().text().await.unwrap();
    assert!(text.starts_with("Toolfold") && text.contains("/mcp"), "{text}");
}

#[tokio::test]
async fn who_is_connected_is_told_in_both_eras_and_for_as_long() {
    let address = over(gateway()).await;
    let clients = async || {
        let (status, told) = json_of(asked(address, Method::GET, "/v1/clients")).await;
        assert_eq!(status, 200, "{told}");
        assert_eq!(told["total"].as_u64(), told["clients"].as_array().map(|all| all.len() as u64));
        told["clients"].as_array().unwrap().clone()
    };
    assert_eq!(clients().await, Vec::<Value>::new(), "whoever looks is not a client");
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": format!("<b>\u{202e}agent{}", "x".repeat(5_000)), "version": "7"},
    });
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello});
    let post = |body: &Value| {
        let request = asked(address, Method::POST, "/mcp").header("accept", "application/json, text/event-stream");
        request.header("content-type", "application/json").body(body.to_string())
    };
    let reply = post(&hello).send().await.unwrap();
    let session = header(&reply, "mcp-session-id").to_owned();
    let call = json!({"name": "call_tool", "arguments": {"tool": "local.echo", "arguments": {"text": "x"}}});
    let ask = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call});
    post(&ask).header("mcp-session-id", &session).send().await.unwrap().text().await.unwrap();
    HttpClient::new(format!("http://{address}/mcp")).modern("tools/list", json!({})).await;

    let told = clients().await;
    let [stateless, old] = &told[..] else { panic!("{told:#?}") };
    assert_eq!((&stateless["era"], &stateless["protocol"]), (&json!("stateless"), &json!("2026-07-28")));
    assert_eq!((&stateless["calls"], &stateless["principal"]), (&json!(0), &json!("local")));
    let name = old["client"].as_str().unwrap();
    assert!(name.starts_with(r"<b>\u{202e}agentxxx") && name.chars().count() < 600, "{name}");
    assert_eq!((&old["era"], &old["protocol"]), (&json!("session"), &json!("2025-06-18")));
    assert_eq!((&old["calls"], &old["transport"]), (&json!(1), &json!("http")));
    assert!(old["since"].as_u64() <= old["seen"].as_u64(), "{old}");

    let ended = asked(address, Method::DELETE, "/mcp").header("mcp-session-id", &session).send().await.unwrap();
    assert_eq!(ended.status(), 204);
    assert_eq!(clients().await.len(), 1, "a session that is over is nobody");
}

#[tokio::test]
async fn with_a_token_the_page_is_there_and_empty() {
    let address = over_http(start(with_token("secret-token")), Surface::Compact).await;
    let page = browser(address, "/").send().await.unwrap();
    assert_eq!(page.status(), 200);
    let text = page.text().await.unwrap();
    assert!(text.contains("data-token=\"required\"") && !text.contains("secret-token"), "{text}");
    for path in ["/v1/servers", "/v1/clients", "/v1/calls", "/v1/tokens", "/v1/status", "/"] {
        assert_eq!(asked(address, Method::GET, path).send().await.unwrap().status(), 401, "{path}");
        let reply = asked(address, Method::GET, path).bearer_auth("secret-token").send().await.unwrap();
        assert_eq!(reply.status(), 200, "{path}");
    }
    let wrong = asked(address, Method::POST, "/v1/stop_server").bearer_auth(key()).body("{}").send().await.unwrap();
    assert_eq!(wrong.status(), 401, "the key is no second token");
}

#[tokio::test]
async fn pages_of_other_places_and_names_get_nothing() {
    let address = over(gateway()).await;
    for path in ["/", "/page/main.js", "/v1/calls", "/v1/servers"] {
        let renamed = browser(address, path).header("host", "rebound.example").send().await.unwrap();
        assert_eq!(renamed.status(), 403, "{path}");
        let foreign = browser(address, path).header("origin", "http://evil.example").send().await.unwrap();
        assert_eq!(foreign.status(), 403, "{path}");
    }
    for site in ["cross-site", "same-site"] {
        let stream = asked(address, Method::GET, "/v1/calls").header("accept", "text/event-stream");
        let reply = stream.header("sec-fetch-site", site).header("sec-fetch-mode", "cors").send().await.unwrap();
        assert_eq!(reply.status(), 403, "{site}");
        let stop = asked(address, Method::POST, "/v1/stop_server").bearer_auth(key());
        let stop = stop.header("sec-fetch-site", site).header("content-type", "application/json").body("{}");
        assert_eq!(stop.send().await.unwrap().status(), 403, "{site}");
    }
    let own = asked(address, Method::GET, "/v1/calls").header("sec-fetch-site", "same-origin").send().await.unwrap();
    assert_eq!(own.status(), 200);
}

#[tokio::test]
async fn a_server_is_started_and_stopped_with_the_key_alone() {
    let fake = FakeServer::script(json!({"tools": ["work"], "stderr": 3}));
    let gateway = Gateway::start(Options { config: config(Surface::Compact, &[("fake", &fake)]), local: Vec::new() });
    let address = over(gateway).await;
    let order = |verb: &str, server: &str| {
        asked(address, Method::POST, &format!("/v1/{verb}")).body(json!({"server": server}).to_string())
    };
    let call = || asked(address, Method::POST, "/v1/call_tool").body(json!({"tool_id": "fake.work"}).to_string());
    let state = async || {
        let (_, servers) = json_of(asked(address, Method::GET, "/v1/servers")).await;
        servers["servers"][0].clone()
    };
    assert_eq!(json_of(call()).await.0, 200);
    for verb in ["start_server", "stop_server"] {
        assert_eq!(json_of(order(verb, "fake")).await.0, 401, "{verb}");
        assert_eq!(json_of(order(verb, "fake").bearer_auth("0".repeat(24))).await.0, 401, "{verb}");
        assert_eq!(json_of(order(verb, "fakes").bearer_auth(key())).await.0, 400, "{verb}");
    }
    assert_eq!(state().await["state"], "ready");
    assert_eq!(json_of(order("stop_server", "fake").bearer_auth(key())).await.0, 200);
    let stopped = state().await;
    assert_eq!((&stopped["state"], stopped["said"].as_array().unwrap().len()), (&json!("stopped"), 3), "{stopped}");
    assert_eq!(json_of(call()).await.0, 503);
    assert_eq!(json_of(order("start_server", "fake").bearer_auth(key())).await.0, 200);
    assert_eq!(json_of(call()).await.0, 200, "a call waits for it");
    assert_eq!(state().await["state"], "ready");
}

/// Stopped while it was failing it is not tried again by itself, and it is when somebody says so.
#[tokio::test]
async fn a_failing_server_says_why_and_is_tried_again() {
    let fake = FakeServer::script(json!({"exit_at_start": 3, "stderr": 2}));
    let gateway = Gateway::start(Options { config: config(Surface::Compact, &[("fake", &fake)]), local: Vec::new() });
    let address = over(gateway).await;
    let state = async || json_of(asked(address, Method::GET, "/v1/servers")).await.1["servers"][0].clone();
    let order = |verb: &str| {
        asked(address, Method::POST, &format!("/v1/{verb}")).bearer_auth(key()).body(r#"{"server":"fake"}"#)
    };
    let failing = state().await;
    assert_eq!(failing["state"], "failing");
    assert!(failing["why"].as_str().unwrap().contains("status 3"), "{failing}");
    assert_eq!(json_of(order("stop_server")).await.0, 200);
    let stopped = state().await;
    assert_eq!((&stopped["state"], &stopped["why"]), (&json!("stopped"), &Value::Null), "{stopped}");
    fake.rewrite(json!({"tools": ["work"]}));
    assert_eq!(json_of(order("start_server")).await.0, 200);
    let begun = std::time::Instant::now();
    while state().await["tools"] != 1 {
        assert!(begun.elapsed() < Duration::from_secs(20), "{}", state().await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(state().await["state"], "ready");
}

#[tokio::test]
async fn calls_are_listed_and_streamed_without_what_they_said() {
    let address = over(gateway()).await;
    let mut stream =
        asked(address, Method::GET, "/v1/calls").header("accept", "text/event-stream").send().await.unwrap();
    assert_eq!(header(&stream, "content-type"), "text/event-stream");
    let body = json!({"tool_id": "storage.put_object", "arguments": {"key": "a secret argument"}}).to_string();
    assert_eq!(json_of(asked(address, Method::POST, "/v1/call_tool").body(body)).await.0, 200);
    let mut text = String::new();
    while !text.contains("storage.put_object") {
        let chunk = tokio::time::timeout(Duration::from_secs(20), stream.chunk()).await.unwrap().unwrap().unwrap();
        text += std::str::from_utf8(&chunk).unwrap();
    }
    let (_, listed) = json_of(asked(address, Method::GET, "/v1/calls")).await;
    assert_eq!((&listed["total"], &listed["failed"], &listed["missed"]), (&json!(1), &json!(0), &json!(0)));
    assert_eq!(
        (&listed["calls"][0]["tool"], &listed["calls"][0]["outcome"]),
        (&json!("storage.put_object"), &json!("done"))
    );
    assert!(!format!("{text}{listed}").contains("secret argument"));
}

#[tokio::test]
async fn only_so_many_follow_calls_at_once() {
    let address = over(gateway()).await;
    let mut open = Vec::new();
    let refused = loop {
        let reply =
            asked(address, Method::GET, "/v1/calls").header("accept", "text/event-stream").send().await.unwrap();
        if reply.status() != 200 {
            break reply;
        }
        open.push(reply);
        assert!(open.len() <= 64, "without end");
    };
    assert_eq!((refused.status().as_u16(), open.len()), (429, 64));
    let (status, _) = json_of(asked(address, Method::GET, "/v1/calls")).await;
    assert_eq!(status, 200, "a look is always possible");
}

#[tokio::test]
async fn what_an_agent_finds_is_explained_and_every_level_has_its_price() {
    let address = over(gateway()).await;
    let explain = asked(address, Method::POST, "/v1/explain").body(r#"{"query":"rename a symbol"}"#);
    let (status, found) = json_of(explain).await;
    assert_eq!(status, 200);
    assert!(
        found["text"].as_str().unwrap().starts_with("refactor.rename_symbol(symbol: string, new_name: string)"),
        "{found}"
    );
    let best = &found["hits"][0];
    assert_eq!((&best["tool_id"], &best["shown"]), (&json!("refactor.rename_symbol"), &json!(true)));
    assert!(
        best["terms"].as_array().unwrap().iter().any(|term| term["term"].as_str().unwrap().starts_with("symbol")),
        "{best}"
    );
    let levels = asked(address, Method::POST, "/v1/levels").body(r#"{"tool_id":"refactor.rename_symbol"}"#);
    let (_, levels) = json_of(levels).await;
    let names: Vec<&str> =
        levels["levels"].as_array().unwrap().iter().map(|level| level["level"].as_str().unwrap()).collect();
    assert_eq!(names, ["name", "summary", "signature", "details", "full"]);
    assert!(levels["levels"].as_array().unwrap().iter().all(|level| level["tokens"].as_u64() > Some(0)), "{levels}");
    let (_, cost) = json_of(asked(address, Method::GET, "/v1/tokens")).await;
    let servers = cost["servers"].as_array().unwrap();
    let sum: u64 = servers.iter().map(|server| server["direct"].as_u64().unwrap()).sum();
    assert_eq!((cost["direct"].as_u64(), servers.len()), (Some(sum), 2));
    assert!(cost["menu"].as_u64().unwrap() <= 200, "{cost}");
}

#[tokio::test]
async fn tools_are_filtered_by_place_and_words() {
    let address = over(gateway()).await;
    let ids = async |query: &str| {
        let (status, found) = json_of(asked(address, Method::GET, &format!("/v1/tools?{query}"))).await;
        assert_eq!(status, 200, "{found}");
        found["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["tool_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids("path=Servers/storage").await, ["storage.put_object"]);
    assert_eq!(ids("filter=CODE%20function").await, ["refactor.extract_function"]);
    assert_eq!(ids("path=Servers/refactor&filter=bucket").await, Vec::<String>::new());
    assert_eq!(json_of(asked(address, Method::GET, "/v1/tools?path=No/Where")).await.0, 404);
}

/// A server's words reach the page as words: what acts is written out, and JSON is JSON.
#[tokio::test]
async fn hostile_words_are_words() {
    let markup = "<script>alert(1)</script>\u{202e}\u{1b}[31m\"}";
    let tool = json!({"name": markup, "description": markup, "inputSchema": {"type": "object"}});
    let fake = FakeServer::script(json!({ "name": markup, "tools": [tool] }));
    // Without somebody who vouches for it, it would be held for what is in it.
    let mut config = config(Surface::Compact, &[("fake", &fake)]);
    config.servers.values_mut().for_each(|server| server.trust = Trust::Always);
    let address = over(Gateway::start(Options { config, local: Vec::new() })).await;
    let (_, tools) = json_of(asked(address, Method::GET, "/v1/tools")).await;
    let id = tools["tools"][0]["tool_id"].as_str().unwrap().to_owned();
    assert_eq!(id, format!("fake.{markup}"), "an id is what it is called by");
    let levels = asked(address, Method::POST, "/v1/levels").body(json!({ "tool_id": id }).to_string());
    let (status, levels) = json_of(levels).await;
    assert_eq!(status, 200);
    for level in levels["levels"].as_array().unwrap() {
        let text = level["text"].as_str().unwrap();
        assert!(!text.contains(['\u{202e}', '\u{1b}']), "{text}");
    }
    let (_, found) = json_of(asked(address, Method::POST, "/v1/explain").body(r#"{"query":"script alert"}"#)).await;
    assert!(!found["text"].as_str().unwrap().contains(['\u{202e}', '\u{1b}']), "{found}");
}
