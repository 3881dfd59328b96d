//! What `/openapi.json` says, held against what the endpoints answer: to requests that are right, wrong, and broken.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use toolfold_config::Rate;
use toolfold_core::{Pattern, Surface};
use toolfold_gateway::{Gateway, Options};
use toolfold_test::{FakeServer, plain_http};

use crate::rest::gateway;
use crate::support::{all_settled, config, key, over_http, start, with_token};

struct Described {
    url: String,
    document: Value,
    wrong: Vec<String>,
    held: usize,
    /// Path, method and status of every answer so far.
    seen: BTreeSet<(String, String, String)>,
}

impl Described {
    async fn over(gateway: Gateway) -> Described {
        let address = over_http(gateway, Surface::Compact).await;
        let url = format!("http://{address}");
        let document: Value = serde_json::from_str(include_str!("../../src/http/openapi.json")).unwrap();
        Described { url, document, wrong: Vec::new(), held: 0, seen: BTreeSet::new() }
    }

    /// Sends a request and holds the answer against what the document says of that status.
    async fn check(&mut self, method: &str, path: &str, body: &str, headers: &[(&str, &str)]) -> (u16, Value) {
        let request =
            plain_http().request(method.parse().unwrap(), format!("{}{path}", self.url)).body(body.to_owned());
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let reply = request.send().await.unwrap();
        let status = reply.status().as_u16();
        let json = reply.headers().get("content-type").is_some_and(|kind| kind == "application/json");
        let text = reply.text().await.unwrap();
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        let place = format!("{method} {path} {} → {status}", &body[..body.len().min(80)]);
        let described = &self.document["paths"][path.split('?').next().unwrap()][method.to_lowercase()]["responses"];
        let described = described.get(status.to_string()).unwrap_or(&described["default"]).clone();
        // What is not described at all is answered as every refusal is.
        let fallback = json!({"$ref": "#/components/responses/Error"});
        let response = self.follow(if described.is_null() { &fallback } else { &described });
        let mut schema = response["content"]["application/json"]["schema"].clone();
        schema["components"] = self.document["components"].clone();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let problems: Vec<String> = validator.iter_errors(&answer).map(|problem| problem.to_string()).collect();
        if !json || !problems.is_empty() {
            self.wrong.push(format!("{place}: json {json}, {problems:?} in {}", &text[..text.len().min(300)]));
        }
        self.held += 1;
        let path = path.split('?').next().unwrap().to_owned();
        self.seen.insert((path, method.to_lowercase(), status.to_string()));
        (status, answer)
    }

    /// Every path with what is right, wrong and broken.
    async fn try_everything(&mut self) {
        let paths = self.document["paths"].as_object().unwrap().clone();
        for (path, methods) in &paths {
            for (method, operation) in methods.as_object().unwrap() {
                let method = method.to_uppercase();
                let example = operation["requestBody"]["content"]["application/json"]["example"].to_string();
                let broken = [
                    "",
                    "{}",
                    "[1]",
                    "{",
                    "null",
                    "7",
                    r#"{"limit": -1}"#,
                    r#"{"cursor": "x"}"#,
                    r#"{"query": 7, "path": 7, "tool_id": 7}"#,
                ];
                for body in broken.into_iter().chain([example.as_str()]) {
                    self.check(&method, path, if method == "GET" { "" } else { body }, JSON).await;
                }
                self.check(&method, path, "{}", &[("content-type", "text/plain")]).await;
                self.check(&method, path, "{}", &[("host", "evil.example")]).await;
                self.check(if method == "GET" { "POST" } else { "GET" }, path, "", JSON).await;
                self.check("PUT", path, "", JSON).await;
            }
        }
        for query in
            ["limit=1", "limit=x", "offset=2", "server=refactor", "server=no", "kind=tool", "kind=x", "nonsense=1"]
        {
            self.check("GET", &format!("/v1/tools?{query}"), "", &[]).await;
        }
        self.check("GET", "/v1/nothing", "", &[]).await;
    }

    /// What the document names and nobody has been answered.
    fn unseen(&self) -> Vec<String> {
        let mut unseen = Vec::new();
        for (path, methods) in self.document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                for status in operation["responses"].as_object().unwrap().keys().filter(|status| *status != "default") {
                    if !self.seen.contains(&(path.clone(), method.clone(), status.clone())) {
                        unseen.push(format!("{method} {path} {status}"));
                    }
                }
            }
        }
        unseen
    }

    fn follow(&self, response: &Value) -> Value {
        match response["$ref"].as_str() {
            Some(reference) => self.document.pointer(&reference[1..]).unwrap().clone(),
            None => response.clone(),
        }
    }

    fn done(self, least: usize) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
        assert!(self.held >= least, "{}", self.held);
    }
}

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

#[tokio::test]
async fn every_answer_is_as_described() {
    let mut described = Described::over(gateway()).await;
    described.try_everything().await;
    described.done(100);
}

#[tokio::test]
async fn walking_searching_expanding_and_calling_are_as_described() {
    let mut described = Described::over(gateway()).await;
    let (_, listed) =
        described.check("POST", "/v1/list", r#"{"path": ["Servers", "refactor"], "limit": 1}"#, JSON).await;
    described.check("POST", "/v1/list", &json!({"cursor": listed["next_cursor"]}).to_string(), JSON).await;
    for (path, body) in [
        ("/v1/search_tool_by_category", json!({"query": "rename a symbol", "category_path": ["Servers", "refactor"]})),
        ("/v1/search_tool_by_category", json!({"query": "zebra", "category_path": ["Servers", "storage"]})),
        ("/v1/search_nodes", json!({"query": "refactor", "limit": 5})),
        ("/v1/expand_tool", json!({"tool_id": "refactor.rename_symbol"})),
        ("/v1/expand_tool", json!({"tool_id": "refactor.rename"})),
        ("/v1/call_tool", json!({"tool_id": "refactor.rename_symbol", "arguments": {"symbol": "a", "new_name": "b"}})),
        ("/v1/call_tool", json!({"tool_id": "refactor.rename_symbol", "arguments": {}})),
        ("/v1/call_tool", json!({"tool_id": "x".repeat(100_000)})),
    ] {
        described.check("POST", path, &body.to_string(), JSON).await;
    }
    described.done(10);
}

#[tokio::test]
async fn servers_at_their_worst_and_missing_tokens_are_as_described() {
    let fake = FakeServer::script(json!({"tools": ["no", "crash"], "calls": {
        "no": {"error": {"code": -32099, "message": "mine"}},
        "crash": {"exit": 1},
    }}));
    let broken = FakeServer::script(json!({"exit_at_start": 3}));
    let config = config(Surface::Compact, &[("fake", &fake), ("broken", &broken)]);
    let gateway = Gateway::start(Options { config, local: Vec::new() });
    all_settled(&gateway).await;
    let mut described = Described::over(gateway).await;
    described.check("GET", "/v1/status", "", &[]).await;
    assert_eq!(described.check("POST", "/v1/call_tool", r#"{"tool_id": "no"}"#, JSON).await.0, 502);
    assert_eq!(described.check("POST", "/v1/call_tool", r#"{"tool_id": "crash"}"#, JSON).await.0, 503);
    described.check("GET", "/v1/status", "", &[]).await;
    described.done(4);
    let mut described = Described::over(start(with_token("secret"))).await;
    assert_eq!(described.check("GET", "/v1/status", "", &[]).await.0, 401);
    assert_eq!(described.check("POST", "/v1/list", "{}", &[("authorization", "Bearer secret")]).await.0, 200);
    described.done(2);
}

#[tokio::test]
async fn every_status_that_is_described_is_answered() {
    let mut described = Described::over(gateway()).await;
    described.try_everything().await;
    let key = format!("Bearer {}", key());
    let with_key: &[(&str, &str)] = &[JSON[0], ("authorization", &key)];
    for (path, body) in [
        ("/v1/list", json!({"path": ["Servers", "nowhere"]})),
        ("/v1/search_tool_by_category", json!({"query": "rename a symbol", "category_path": ["Nowhere"]})),
        ("/v1/search_nodes", json!({"query": "zzzz qqqq"})),
        ("/v1/search_nodes", json!({"query": "refactor"})),
        ("/v1/expand_tool", json!({"tool_id": "refactor.nothing"})),
        ("/v1/call_tool", json!({"tool_id": "refactor.nothing"})),
        ("/v1/call_tool", json!({"tool_id": "refactor.rename_symbol", "arguments": {"symbol": "a", "new_name": "b"}})),
        ("/v1/levels", json!({"tool_id": "refactor.nothing"})),
        ("/v1/approvals", json!({"all": true})),
        ("/v1/approvals", json!({"all": "some"})),
        ("/v1/approvals", json!({"ids": ["refactor.nothing@0123456789"]})),
        ("/v1/start_server", json!({"server": "nowhere"})),
        ("/v1/stop_server", json!({"server": "nowhere"})),
    ] {
        described.check("POST", path, &body.to_string(), with_key).await;
    }
    described.check("GET", "/v1/approvals?limit=x", "", &[]).await;
    described.check("GET", "/v1/tools?path=Nowhere", "", &[]).await;

    let fake = FakeServer::script(json!({
        "tools": ["no", "crash", "hang", "big", "delete_all", "fine"],
        "calls": {
            "no": {"error": {"code": -32099, "message": "mine"}},
            "crash": {"exit": 1},
            "hang": {"hang": true},
            "big": {"big": 300_000},
        },
    }));
    let mut config = config(Surface::Compact, &[("fake", &fake)]);
    for server in config.servers.values_mut() {
        server.timeouts.call = Duration::from_millis(500);
        server.max_message = 100_000;
        server.forbid = vec![Pattern::new("delete_*")];
    }
    config.limits.calls = Some(Rate { count: 5, per: Duration::from_secs(3600) });
    let gateway = Gateway::start(Options { config, local: Vec::new() });
    all_settled(&gateway).await;
    let mut worse = Described::over(gateway.clone()).await;
    for (tool, status) in
        [("delete_all", 403), ("fine", 200), ("no", 502), ("big", 413), ("hang", 504), ("crash", 503), ("fine", 429)]
    {
        let body = json!({"tool_id": format!("fake.{tool}")}).to_string();
        assert_eq!(worse.check("POST", "/v1/call_tool", &body, JSON).await.0, status, "{tool}");
    }
    for path in ["/v1/start_server", "/v1/stop_server"] {
        worse.check("POST", path, r#"{"server": "fake"}"#, with_key).await;
    }
    gateway.stop().await;
    worse.check("POST", "/v1/approvals", r#"{"all": true}"#, with_key).await;
    described.seen.append(&mut worse.seen);
    described.wrong.append(&mut worse.wrong);
    assert_eq!(described.unseen(), Vec::<String>::new());
    described.done(200);
}
