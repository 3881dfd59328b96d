//! What passes through: results as they came, prompts, resources, logs, and servers that misbehave.

use std::time::Duration;

use serde_json::{Value, json};
use toolfold_core::Surface;
use toolfold_test::{FakeServer, HttpClient};

use crate::support::{config, over_http, start, text};

async fn client(servers: &[(&str, &FakeServer)], surface: Surface) -> HttpClient {
    let gateway = start(config(surface, servers));
    let client = HttpClient::new(format!("http://{}/mcp", over_http(gateway, surface).await));
    client.initialize("2025-11-25").await;
    client
}

#[tokio::test]
async fn a_result_arrives_byte_for_byte() {
    let result = r#"{"content":[{"type":"image","data":"AA==","mimeType":"image/png","odd":1.50},{"type":"hologram","z":1,"a":[]},{"type":"resource_link","uri":"x://y","name":"y"}],"structuredContent":{"big":123456789012345678901234567890,"b":1,"a":2},"isError":false,"_meta":{"k":"v"},"unknown":{"x":[null]}}"#;
    let script = format!(r#"{{"eras":["legacy"],"tools":["odd"],"calls":{{"odd":{{"result":{result}}}}}}}"#);
    let fake = FakeServer::script(
        serde_json::from_str(&script.replace("123456789012345678901234567890", "12345678901234567")).unwrap(),
    );
    let client = client(&[("fake", &fake)], Surface::Compact).await;
    let expected = result.replace("123456789012345678901234567890", "12345678901234567").replace("1.50", "1.5");
    for params in [
        json!({"name": "fake.odd", "arguments": {}}),
        json!({"name": "fake__odd"}),
        json!({"name": "call_tool", "arguments": {"tool": "odd", "arguments": {}}}),
        json!({"name": "call_tool", "arguments": {"tool": "odd", "arguments": "{}"}}),
    ] {
        let got = client.try_request("tools/call", params).await.unwrap();
        assert_eq!(got.get(), expected);
    }
}

#[tokio::test]
async fn an_error_of_the_server_is_its_own() {
    let fake = FakeServer::script(
        json!({"tools": ["no"], "calls": {"no": {"error": {"code": -32099, "message": "mine", "data": {"d": 1}}}}}),
    );
    let client = client(&[("fake", &fake)], Surface::Compact).await;
    let error = client.try_request("tools/call", json!({"name": "no", "arguments": {}})).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str(), error.data.unwrap().get()), (-32099, "mine", r#"{"d":1}"#));
}

#[tokio::test]
async fn prompts_and_resources_are_unique_and_find_their_way_back() {
    let offers = |name: &str| {
        FakeServer::script(json!({
            "name": name,
            "prompts": [{"name": "ask", "description": name}],
            "resources": [{"uri": "x://same", "name": "same"}, {"uri": format!("x://{name}"), "name": name}],
            "templates": [{"uriTemplate": format!("{name}://{{id}}"), "name": "t"}],
        }))
    };
    let (one, two) = (offers("one"), offers("two"));
    let client = client(&[("one", &one), ("two", &two)], Surface::Compact).await;
    let list = client.request("prompts/list", json!({})).await;
    let names: Vec<&str> =
        list["prompts"].as_array().unwrap().iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["one__ask", "two__ask"]);
    let list = client.request("resources/list", json!({})).await;
    let uris: Vec<&str> =
        list["resources"].as_array().unwrap().iter().map(|resource| resource["uri"].as_str().unwrap()).collect();
    // Both came at the start, so neither has the address that both say they have.
    assert_eq!(uris, ["one+x://same", "x://one", "two+x://same", "x://two"]);
    let both = client.try_request("resources/read", json!({"uri": "x://same"})).await.unwrap_err();
    assert_eq!(both.message, "Several servers have x://same. Ask for one of: one+x://same, two+x://same");
    client.request("prompts/get", json!({"name": "two__ask"})).await;
    assert_eq!(two.received("prompts/get")[0]["params"]["name"], "ask");
    for (uri, server, original) in
        [("two+x://same", &two, "x://same"), ("one://5", &one, "one://5"), ("x://one", &one, "x://one")]
    {
        let _ = client.try_request("resources/read", json!({"uri": uri})).await;
        let read = server.received("resources/read");
        assert_eq!(read.last().unwrap()["params"]["uri"], original);
    }
    let missing = client.try_request("prompts/get", json!({"name": "two__aks"})).await.unwrap_err();
    assert_eq!(missing.message, "There is no prompt \"two__aks\". Did you mean \"two__ask\"?");
    assert_eq!(client.try_request("resources/list", json!({"cursor": "x"})).await.unwrap_err().code, -32602);
}

#[tokio::test]
async fn prompts_and_resources_are_found_by_search_and_called_like_tools() {
    let fake = FakeServer::script(json!({
        "tools": ["review"],
        "prompts": [
            {"name": "review", "description": "Review a change before it is merged", "arguments": [{"name": "branch", "required": true}]},
        ],
        "resources": [{"uri": "x://handbook/holidays", "description": "Which days are holidays for the whole company"}],
        "templates": [{"uriTemplate": "x://people/{id}", "name": "person", "description": "Address and birthday of a colleague"}],
    }));
    let client = client(&[("fake", &fake)], Surface::Compact).await;
    let find = async |arguments: Value| {
        text(&client.request("tools/call", json!({"name": "find_tools", "arguments": arguments})).await).to_owned()
    };
    let call = async |arguments: Value| {
        client.request("tools/call", json!({"name": "call_tool", "arguments": arguments})).await
    };
    assert_eq!(
        find(json!({"query": "review a change", "kind": "prompt"})).await,
        "fake.review-prompt — prompt: Review a change before it is merged"
    );
    assert_eq!(
        find(json!({"kind": "resource"})).await,
        "fake.holidays — resource: Which days are holidays for the whole company\n\
         fake.person — resource: Address and birthday of a colleague"
    );
    assert!(find(json!({"query": "company holidays"})).await.starts_with("fake.holidays — resource: Which days"));
    // They are in nobody's way: a tool's name means the tool, and nodes have tools alone.
    assert!(find(json!({"path": ["Servers", "fake"]})).await.lines().all(|line| !line.contains("resource")));
    let details = find(json!({"tool": "fake.review-prompt"})).await;
    assert!(details.contains("branch") && details.contains("prompts/get, name"), "{details}");
    let got = call(json!({"tool": "fake.review-prompt", "arguments": {"branch": "main"}})).await;
    assert_eq!(text(&got), r#"review with {"branch":"main"}"#);
    let got = call(json!({"tool": "fake.holidays"})).await;
    assert_eq!(got["content"][0]["resource"]["text"], "content of x://handbook/holidays");
    let got = call(json!({"tool": "fake.person", "arguments": {"uri": "x://people/7"}})).await;
    assert_eq!(got["content"][0]["resource"]["text"], "content of x://people/7");
    assert_eq!(call(json!({"tool": "fake.person"})).await["isError"], true);
}

#[tokio::test]
async fn a_subscribed_resource_is_announced_to_its_watchers() {
    let fake = FakeServer::script(json!({
        "resources": [{"uri": "x://a", "name": "a"}],
        "tools": ["touch"],
        "calls": {"touch": {"resource_updated": "x://a"}},
    }));
    let client = client(&[("fake", &fake)], Surface::Compact).await;
    client.open_stream().await;
    client.request("resources/subscribe", json!({"uri": "x://a"})).await;
    client.request("tools/call", json!({"name": "touch", "arguments": {}})).await;
    let told = client.next_notification("notifications/resources/updated").await;
    assert_eq!(told["uri"], "x://a");
}

#[tokio::test]
async fn nobody_watches_what_a_server_has_not_agreed_to() {
    let fake = FakeServer::script(json!({
        "eras": ["legacy"],
        "resources": [{"uri": "x://a", "name": "a"}],
        "silent": ["resources/subscribe"],
    }));
    let mut config = config(Surface::Compact, &[("fake", &fake)]);
    config.servers.values_mut().for_each(|server| server.timeouts.call = Duration::from_millis(300));
    let address = over_http(start(config), Surface::Compact).await;
    let clients = [0, 1].map(|_| HttpClient::new(format!("http://{address}/mcp")));
    for client in &clients {
        client.initialize("2025-11-25").await;
    }
    let watch = async |client: &HttpClient| client.try_request("resources/subscribe", json!({"uri": "x://a"})).await;
    let (one, other) = tokio::join!(watch(&clients[0]), watch(&clients[1]));
    assert!(one.is_err() && other.is_err(), "{one:?} {other:?}");
}

#[tokio::test]
async fn a_method_nobody_knows_goes_to_the_only_server() {
    let fake = FakeServer::script(json!({"answers": {"groups/list": {"groups": [], "_meta": {"a": 1}}}}));
    let config = config(Surface::Compact, &[("fake", &fake)]);
    let client = HttpClient::new(format!("http://{}/mcp", over_http(start(config), Surface::Compact).await));
    client.initialize("2025-11-25").await;
    let answer = client.request("groups/list", json!({"x": 1})).await;
    assert_eq!(answer["groups"], json!([]));
    assert_eq!(answer["_meta"]["a"], 1);
}

#[tokio::test]
async fn one_broken_server_harms_no_other() {
    let good = FakeServer::script(json!({"tools": ["work"]}));
    let garbage = FakeServer::script(json!({"tools": ["noisy"], "garbage": ["Starting…", "{not json}", ""]}));
    let crashing = FakeServer::script(json!({"exit_at_start": 1}));
    let hanging = FakeServer::script(json!({"silent": ["initialize", "server/discover"]}));
    let odd = FakeServer::script(
        json!({"tools": ["fine"], "invalid_schema": true, "duplicate_names": true, "long_name": true}),
    );
    let servers =
        [("good", &good), ("garbage", &garbage), ("crashing", &crashing), ("hanging", &hanging), ("odd", &odd)];
    let client = client(&servers, Surface::Compact).await;
    for tool in ["good.work", "garbage.noisy", "odd.fine", "odd.twin"] {
        let result = client.request("tools/call", json!({"name": tool, "arguments": {}})).await;
        assert!(result["isError"].is_null(), "{tool}: {result}");
    }
    let gone = client.request("tools/call", json!({"name": "crashing.x", "arguments": {}})).await;
    assert!(text(&gone).contains("SERVER_UNAVAILABLE"), "{gone}");
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_reported_and_not_called_again() {
    let fake = FakeServer::script(json!({"tools": ["die", "live"], "calls": {"die": {"exit": 9}}}));
    let client = client(&[("fake", &fake)], Surface::Compact).await;
    let result = client.request("tools/call", json!({"name": "fake.die", "arguments": {}})).await;
    let error: Value = serde_json::from_str(text(&result)).unwrap();
    assert_eq!(error["error"]["code"], "SERVER_UNAVAILABLE");
    assert_eq!(fake.received("tools/call").len(), 1);
}

#[tokio::test]
async fn log_messages_and_progress_belong_to_the_call_that_caused_them() {
    let fake = FakeServer::script(json!({"tools": ["talk"], "calls": {"talk": {"log": 2, "progress": 2}}}));
    let client = client(&[("fake", &fake)], Surface::Compact).await;
    client.request("logging/setLevel", json!({"level": "debug"})).await;
    let call = json!({"tool": "fake.talk", "arguments": {}});
    client.request("tools/call", json!({"name": "call_tool", "arguments": call, "_meta": {"progressToken": 7}})).await;
    let told = client.notifications();
    let count = |method: &str| told.iter().filter(|message| message["method"] == method).count();
    assert_eq!((count("notifications/message"), count("notifications/progress")), (2, 2), "{told:?}");
    let tokens: Vec<&Value> = told.iter().filter_map(|message| message["params"].get("progressToken")).collect();
    assert_eq!(tokens, [&json!(7), &json!(7)]);
    let odd = client.try_request("logging/setLevel", json!({"level": "loud"})).await.unwrap_err();
    assert!(odd.message.contains("debug, info, notice"), "{odd}");
}

#[tokio::test]
async fn completion_goes_to_the_server_whose_prompt_it_is() {
    let fake = FakeServer::script(json!({
        "prompts": [{"name": "ask", "arguments": [{"name": "language"}]}],
        "templates": [{"uriTemplate": "x://{id}", "name": "x"}],
        "answers": {"completion/complete": {"completion": {"values": ["rust"]}}},
    }));
    let client = client(&[("fake", &fake)], Surface::Compact).await;
    let argument = json!({"name": "language", "value": "r"});
    for (reference, key, original) in [
        (json!({"type": "ref/prompt", "name": "fake__ask"}), "name", "ask"),
        (json!({"type": "ref/resource", "uri": "x://{id}"}), "uri", "x://{id}"),
    ] {
        let answer = client.request("completion/complete", json!({"ref": reference, "argument": argument})).await;
        assert_eq!(answer["completion"]["values"], json!(["rust"]));
        assert_eq!(fake.received("completion/complete").last().unwrap()["params"]["ref"][key], original);
    }
    let odd = client.try_request("completion/complete", json!({"ref": {"type": "?"}, "argument": argument})).await;
    assert_eq!(odd.unwrap_err().code, -32602);
}

#[tokio::test]
async fn pinned_tools_stand_beside_the_meta_tools_as_their_server_defines_them() {
    let definition = json!({"name": "keep", "description": "d", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "forbidden"}});
    let fake = FakeServer::script(json!({"tools": [definition, "other"]}));
    let mut config = config(Surface::Compact, &[("fake", &fake)]);
    config.pin = vec!["fake.keep".into(), "fake.nowhere".into()];
    let client = HttpClient::new(format!("http://{}/mcp", over_http(start(config), Surface::Compact).await));
    let list = client.modern("tools/list", json!({})).await;
    let names: Vec<&Value> = list["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["find_tools", "call_tool", "fake__keep"]);
    assert_eq!(list["tools"][2]["execution"], definition["execution"]);
}
