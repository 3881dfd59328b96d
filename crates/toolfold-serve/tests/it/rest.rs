//! The HTTP API, over a real socket.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use toolfold_config::Config;
use toolfold_core::{ServerName, Surface};
use toolfold_gateway::{Gateway, LocalServer, LocalTool, Options, Output};
use toolfold_test::{FakeServer, plain_http};

use crate::support::{all_settled, config, key, over_http, start, with_token};

/// A few tools to walk, search, expand and call.
pub(crate) fn gateway() -> Gateway {
    let tool = |name: &str, description: &str, properties: Value, required: Value| {
        let schema = json!({"type": "object", "properties": properties, "required": required});
        let output = json!({"type": "object", "properties": {"changed_files": {"type": "integer"}}, "required": ["changed_files"]});
        let definition =
            json!({"name": name, "description": description, "inputSchema": schema, "outputSchema": output});
        LocalTool::blocking(definition, |_| Output::Json(json!({"changed_files": 3})))
    };
    let text = || json!({"type": "string"});
    let refactor = vec![
        tool(
            "rename_symbol",
            "Renames a symbol project-wide and updates references.",
            json!({"symbol": text(), "new_name": text()}),
            json!(["symbol", "new_name"]),
        ),
        tool("extract_function", "Extracts lines of code into a function.", json!({"file": text()}), json!(["file"])),
    ];
    let storage = vec![tool("put_object", "Uploads an object to a bucket.", json!({"key": text()}), json!([]))];
    let server = |name: &str, tools| LocalServer { name: ServerName::new(name).unwrap(), title: None, tools };
    let local = vec![server("refactor", refactor), server("storage", storage)];
    Gateway::start(Options { config: Config { toolbox: false, ..Config::default() }, local })
}

struct Api(SocketAddr);

impl Api {
    async fn over(gateway: Gateway) -> Api {
        Api(over_http(gateway, Surface::Compact).await)
    }

    async fn send(&self, method: reqwest::Method, path: &str, body: impl Into<reqwest::Body>) -> (u16, Value) {
        self.send_as(None, method, path, body).await
    }

    async fn send_as(
        &self,
        key: Option<&str>,
        method: reqwest::Method,
        path: &str,
        body: impl Into<reqwest::Body>,
    ) -> (u16, Value) {
        let url = format!("http://{}{path}", self.0);
        let request = plain_http().request(method, url).body(body);
        let request = key.into_iter().fold(request, |request, key| request.bearer_auth(key));
        let reply = request.send().await.unwrap();
        let status = reply.status().as_u16();
        (status, serde_json::from_str(&reply.text().await.unwrap()).unwrap_or_default())
    }

    async fn post(&self, verb: &str, body: Value) -> (u16, Value) {
        self.send(reqwest::Method::POST, &format!("/v1/{verb}"), body.to_string()).await
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        self.send(reqwest::Method::GET, path, "").await
    }

    /// The status and code of a refusal, which always has the same shape.
    async fn refusal(&self, verb: &str, body: Value) -> (u16, String) {
        let (status, answer) = self.post(verb, body).await;
        let error = &answer["error"];
        assert!(error["message"].is_string() && error["hints"].is_array(), "{answer}");
        (status, error["code"].as_str().unwrap().to_owned())
    }
}

fn ids(pointers: &Value) -> Vec<&str> {
    pointers.as_array().unwrap().iter().map(|tool| tool["tool_id"].as_str().unwrap()).collect()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test]
async fn from_the_root_to_a_result() {
    let api = Api::over(gateway()).await;
    let (status, root) = api.send(reqwest::Method::POST, "/v1/list", "").await;
    assert_eq!((status, keys(&root)), (200, vec!["path", "nodes", "tools", "next_cursor"]));
    assert_eq!(keys(&root["nodes"][0]), ["name", "path", "summary", "tags"]);
    let (_, listed) = api.post("list", json!({"path": ["Servers", "refactor"]})).await;
    assert_eq!(ids(&listed["tools"]), ["refactor.extract_function", "refactor.rename_symbol"]);
    let asked =
        json!({"query": "rename a symbol", "category_path": ["Servers", "refactor"], "limit": 5, "cursor": null});
    let (_, found) = api.post("search_tool_by_category", asked).await;
    assert_eq!(keys(&found), ["category_path", "results", "next_cursor"]);
    assert_eq!(keys(&found["results"][0]), ["tool_id", "path", "summary", "tags", "confidence"]);
    assert_eq!(ids(&found["results"])[0], "refactor.rename_symbol");
    let (_, expanded) = api.post("expand_tool", json!({"tool_id": "refactor.rename_symbol"})).await;
    assert_eq!(keys(&expanded), ["tool_id", "path", "summary", "args_schema", "result_schema"]);
    assert_eq!(expanded["args_schema"]["required"], json!(["symbol", "new_name"]));
    let arguments = json!({"symbol": "a", "new_name": "b"});
    let (status, result) =
        api.post("call_tool", json!({"tool_id": "refactor.rename_symbol", "arguments": arguments})).await;
    assert_eq!((status, &result["structuredContent"]), (200, &json!({"changed_files": 3})));
    assert!(result["content"].is_array(), "a result is passed on whole");
}

#[tokio::test]
async fn nodes_are_found() {
    let api = Api::over(gateway()).await;
    let (status, found) = api.post("search_nodes", json!({"query": "refactor", "limit": 5})).await;
    assert_eq!(status, 200);
    assert_eq!(keys(&found["results"][0]), ["path", "summary", "confidence"]);
}

#[tokio::test]
async fn pages_follow_each_other() {
    let api = Api::over(gateway()).await;
    let (_, first) = api.post("list", json!({"path": ["Servers", "refactor"], "limit": 1})).await;
    let (_, second) = api.post("list", json!({"cursor": first["next_cursor"]})).await;
    assert_eq!(ids(&first["tools"]), ["refactor.extract_function"]);
    assert_eq!((ids(&second["tools"]), &second["next_cursor"]), (vec!["refactor.rename_symbol"], &Value::Null));
}

#[tokio::test]
async fn refusals_have_a_status_and_a_way_on() {
    let api = Api::over(gateway()).await;
    let cases = [
        ("list", json!({"path": ["Nowhere"]}), (404, "UNKNOWN_PATH")),
        ("expand_tool", json!({"tool_id": "refactor.rename"}), (404, "TOOL_NOT_FOUND")),
        ("call_tool", json!({"tool_id": "no.such"}), (404, "TOOL_NOT_FOUND")),
        ("call_tool", json!({"tool_id": "refactor.rename_symbol", "arguments": {}}), (400, "INVALID_ARGUMENTS")),
        ("call_tool", json!({}), (400, "INVALID_REQUEST")),
        ("expand_tool", json!({}), (400, "INVALID_REQUEST")),
        ("list", json!({"cursor": "nonsense"}), (400, "INVALID_CURSOR")),
        ("list", json!([1]), (400, "INVALID_REQUEST")),
    ];
    for (verb, body, (status, code)) in cases {
        assert_eq!(api.refusal(verb, body.clone()).await, (status, code.to_owned()), "{verb} {body}");
    }
    let asked = json!({"query": "zebra", "category_path": ["Servers", "storage"]});
    assert_eq!(api.refusal("search_tool_by_category", asked).await, (404, "NO_MATCH_IN_CATEGORY".to_owned()));
    let (_, answer) = api.post("expand_tool", json!({"tool_id": "refactor.rename"})).await;
    let next = answer["error"]["next_action"]["tool"].as_str().unwrap();
    assert!(["list", "search_nodes"].contains(&next), "the next step is one of this API: {next}");
}

#[tokio::test]
async fn what_is_not_json_or_not_here_is_said_in_json() {
    let api = Api::over(gateway()).await;
    let (status, answer) = api.send(reqwest::Method::POST, "/v1/list", "{").await;
    assert_eq!((status, &answer["error"]["code"]), (400, &json!("INVALID_REQUEST")));
    let (status, _) = api.send(reqwest::Method::POST, "/v1/list", vec![0xff, 0xfe]).await;
    assert_eq!(status, 400);
    assert_eq!(api.get("/v1/list").await.0, 405);
    let (status, answer) = api.get("/v1/nothing").await;
    assert_eq!((status, answer["error"]["hints"].as_array().unwrap().len()), (404, 18));
    let (status, answer) = api.send(reqwest::Method::POST, "/v1/list", vec![b' '; 33 * 1024 * 1024]).await;
    assert_eq!((status, &answer["error"]["code"]), (413, &json!("TOO_LARGE")));
}

#[tokio::test]
async fn what_there_is_can_be_looked_at() {
    let api = Api::over(gateway()).await;
    let (_, tools) = api.get("/v1/tools?limit=2").await;
    assert_eq!(ids(&tools["tools"]), ["refactor.extract_function", "refactor.rename_symbol"]);
    assert_eq!((&tools["total"], &tools["next_offset"]), (&json!(3), &json!(2)));
    let (_, tools) = api.get("/v1/tools?server=storage&offset=0").await;
    assert_eq!(ids(&tools["tools"]), ["storage.put_object"]);
    assert_eq!(tools["tools"][0]["name"], "storage__put_object");
    for wrong in ["limit=many", "kind=cat", "page=2"] {
        assert_eq!(api.get(&format!("/v1/tools?{wrong}")).await.0, 400, "{wrong}");
    }
    let (_, stats) = api.get("/v1/stats").await;
    assert_eq!((&stats["kinds"], &stats["servers"]), (&json!({"tool": 3}), &json!({"refactor": 2, "storage": 1})));
    let (_, tree) = api.get("/v1/tree").await;
    let servers = tree["nodes"].as_array().unwrap().iter().find(|node| node["name"] == "Servers").unwrap();
    assert_eq!((&servers["nodes"][0]["name"], &servers["nodes"][0]["entries"]), (&json!("refactor"), &json!(2)));
    let (_, status) = api.get("/v1/status").await;
    assert_eq!(status["tools"], 3);
}

#[tokio::test]
async fn the_node_of_a_server_that_is_not_there_says_so() {
    let broken = FakeServer::script(json!({"exit_at_start": 1}));
    let gateway = start(config(Surface::Compact, &[("broken", &broken)]));
    all_settled(&gateway).await;
    let api = Api::over(gateway).await;
    let (status, answer) = api.get("/v1/tools?path=Servers/broken").await;
    assert_eq!((status, &answer["error"]["code"]), (503, &json!("SERVER_UNAVAILABLE")), "{answer}");
}

#[tokio::test]
async fn every_described_endpoint_answers() {
    let api = Api::over(gateway()).await;
    let (_, document) = api.get("/openapi.json").await;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let method = method.to_uppercase().parse().unwrap();
            let example = &operation["requestBody"]["content"]["application/json"]["example"];
            let body = if example.is_null() { String::new() } else { example.to_string() };
            let (status, answer) = api.send_as(Some(key()), method, path, body).await;
            assert!(status == 200 || answer["error"]["next_action"].is_object(), "{path}: {status} {answer}");
        }
    }
}

#[tokio::test]
async fn the_api_asks_for_the_token_too() {
    let api = Api::over(start(with_token("secret"))).await;
    assert_eq!(api.post("list", json!({})).await.0, 401);
    let url = format!("http://{}/v1/list", api.0);
    let reply = plain_http().post(url).bearer_auth("secret").send().await.unwrap();
    assert_eq!(reply.status().as_u16(), 200);
}

#[tokio::test]
async fn a_server_that_fails_is_the_servers_fault() {
    let fake = FakeServer::script(json!({"tools": ["no", "slow", "crash"], "calls": {
        "no": {"error": {"code": -32099, "message": "mine"}},
        "slow": {"delay_ms": 60_000},
        "crash": {"exit": 1},
    }}));
    let mut config = config(Surface::Compact, &[("fake", &fake)]);
    for server in config.servers.values_mut() {
        server.timeouts.call = Duration::from_secs(1);
    }
    let api = Api::over(Gateway::start(Options { config, local: Vec::new() })).await;
    let cases =
        [("no", 502, "SERVER_UNAVAILABLE"), ("slow", 504, "SERVER_TIMEOUT"), ("crash", 503, "SERVER_UNAVAILABLE")];
    for (tool, status, code) in cases {
        let refusal = api.refusal("call_tool", json!({"tool_id": tool})).await;
        assert_eq!(refusal, (status, code.to_owned()), "{tool}");
    }
}
