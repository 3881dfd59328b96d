//! Questions of a server to its client, across the eras.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use toolfold_config::{Config, Server, Transport};
use toolfold_core::{ServerName, Surface};
use toolfold_test::{FakeServer, HttpClient};

use crate::support::{Pipe, config, over_http, start, text};

fn asking(era: &str) -> FakeServer {
    FakeServer::script(json!({
        "eras": [era],
        "tools": ["ask"],
        "calls": {"ask": {"elicit": {"message": "Which colour?", "requestedSchema": {"type": "object", "properties": {"colour": {"type": "string"}}}}}},
    }))
}

async fn client(fake: &FakeServer, capabilities: Value) -> HttpClient {
    let gateway = start(config(Surface::Compact, &[("fake", fake)]));
    let address = over_http(gateway, Surface::Compact).await;
    HttpClient::new(format!("http://{address}/mcp")).with_capabilities(capabilities)
}

fn call() -> Value {
    json!({"name": "call_tool", "arguments": {"tool": "fake.ask", "arguments": {}}})
}

fn blue() -> Value {
    json!({"action": "accept", "content": {"colour": "blue"}})
}

#[tokio::test]
async fn an_old_client_is_asked_in_the_middle_of_its_call() {
    for era in ["legacy", "modern"] {
        let fake = asking(era);
        let client = client(&fake, json!({"elicitation": {}})).await;
        client.initialize("2025-11-25").await;
        let answered = async {
            let question = client.next_request().await;
            assert_eq!(question.method, "elicitation/create");
            client.answer(&question, blue()).await;
        };
        let (result, ()) = tokio::join!(client.request("tools/call", call()), answered);
        assert!(result.to_string().contains("blue"), "{era}: {result}");
    }
}

#[tokio::test]
async fn an_old_client_has_ten_minutes_for_a_question_of_either_era() {
    for era in ["legacy", "modern"] {
        let fake = asking(era);
        let gateway = start(config(Surface::Compact, &[("fake", &fake)]));
        let mut pipe = Pipe::to(gateway, Surface::Compact);
        let greeting = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}});
        pipe.exchange(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": greeting})).await;
        let before = Instant::now();
        pipe.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call()}).to_string()).await;
        while pipe.receive().await["method"] != "elicitation/create" {}
        tokio::time::pause();
        let since = Instant::now();
        while pipe.receive().await["method"] != "notifications/cancelled" {}
        assert!(before.elapsed() >= Duration::from_secs(600), "{era}: {:?}", before.elapsed());
        assert!(since.elapsed() < Duration::from_secs(601), "{era}: {:?}", since.elapsed());
        // What the server makes of it takes time of its own.
        tokio::time::resume();
        while pipe.receive().await["id"] != 1 {}
    }
}

#[tokio::test]
async fn a_stateless_client_is_asked_by_ending_its_request() {
    for era in ["legacy", "modern"] {
        let fake = asking(era);
        let client = client(&fake, json!({"elicitation": {}})).await;
        let first = client.modern("tools/call", call()).await;
        assert_eq!(first["resultType"], "input_required", "{era}: {first}");
        let (key, question) = first["inputRequests"].as_object().unwrap().iter().next().unwrap();
        assert_eq!(question["method"], "elicitation/create");
        assert_eq!(question["params"]["message"], "Which colour?");
        let mut again = call();
        again["requestState"] = first["requestState"].clone();
        again["inputResponses"] = json!({key: blue()});
        let last = client.modern("tools/call", again.clone()).await;
        assert_eq!(last["resultType"], "complete");
        assert!(last.to_string().contains("blue"), "{era}: {last}");
        // However often the client came, an old server was called once.
        let calls = fake.received("tools/call").len();
        assert_eq!(calls, if era == "legacy" { 1 } else { 2 }, "{era}");
    }
}

#[tokio::test]
async fn a_parked_call_does_not_keep_what_its_server_has() {
    let fake = asking("legacy");
    let http = fake.http();
    let name = ServerName::new("fake").unwrap();
    let over_wire = Server::new(name.clone(), Transport::Http { url: http.url(), headers: Default::default() });
    let over_wire = Config { toolbox: false, servers: [(name, over_wire)].into(), ..Config::default() };
    for config in [config(Surface::Compact, &[("fake", &fake)]), over_wire] {
        let gateway = start(config);
        let address = over_http(gateway.clone(), Surface::Compact).await;
        let client =
            HttpClient::new(format!("http://{address}/mcp")).with_capabilities(json!({"elicitation": {"form": {}}}));
        let mut large = call();
        large["arguments"]["arguments"]["text"] = "x".repeat(8 << 20).into();
        large["_meta"] = json!({"progressToken": "mine"});
        let first = client.modern("tools/call", large).await;
        assert_eq!(first["resultType"], "input_required", "{first}");
        // The request is over, and with it what came in; only its last drop may lag behind the answer.
        while gateway.memory().used() > 1 << 20 {
            tokio::task::yield_now().await;
        }
        let mut again = call();
        again["requestState"] = first["requestState"].clone();
        again["inputResponses"] = json!({"0": blue()});
        let last = client.modern("tools/call", again).await;
        assert!(last.to_string().contains("blue"), "{last}");
    }
}

#[tokio::test]
async fn a_parked_call_cannot_be_picked_up_twice_or_without_answers() {
    let fake = asking("legacy");
    let client = client(&fake, json!({"elicitation": {}})).await;
    let first = client.modern("tools/call", call()).await;
    let mut empty = call();
    empty["requestState"] = first["requestState"].clone();
    let asked_again = client.modern("tools/call", empty).await;
    assert_eq!(asked_again["resultType"], "input_required");
    assert_eq!(asked_again["inputRequests"], first["inputRequests"]);
    let mut stale = call();
    stale["requestState"] = first["requestState"].clone();
    stale["inputResponses"] = json!({"0": blue()});
    let refused = client.modern("tools/call", stale).await;
    assert_eq!(refused["isError"], true);
    assert!(text(&refused).contains("INVALID_REQUEST"), "{refused}");
    assert_eq!(fake.received("tools/call").len(), 1);
}

#[tokio::test]
async fn a_call_that_is_parked_again_and_again_is_one_task() {
    let fake = asking("legacy");
    let client = client(&fake, json!({"elicitation": {}})).await;
    let mut parked = client.modern("tools/call", call()).await;
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    for _ in 0..100 {
        let mut again = call();
        again["requestState"] = parked["requestState"].clone();
        parked = client.modern("tools/call", again).await;
        assert_eq!(parked["resultType"], "input_required");
    }
    assert!(tasks() < before + 20, "{before} tasks became {}", tasks());
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_not() {
    let fake = asking("legacy");
    let client = client(&fake, json!({})).await;
    client.initialize("2025-11-25").await;
    let result = client.try_request("tools/call", call()).await;
    let told = format!("{result:?}");
    assert!(told.contains("does not support elicitation"), "{told}");
}

#[tokio::test]
async fn more_than_64_questions_at_once_are_put_to_nobody() {
    for (count, refused) in [(64, false), (65, true)] {
        let question = json!({"method": "roots/list", "params": {}});
        let questions: serde_json::Map<String, Value> = (0..count).map(|n| (n.to_string(), question.clone())).collect();
        let asks = json!({"resultType": "input_required", "inputRequests": questions});
        let fake =
            FakeServer::script(json!({"eras": ["modern"], "tools": ["ask"], "calls": {"ask": {"result": asks}}}));
        let mut pipe = Pipe::to(start(config(Surface::Compact, &[("fake", &fake)])), Surface::Compact);
        let greeting = json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}});
        pipe.exchange(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": greeting})).await;
        pipe.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call()}).to_string()).await;
        let heard = loop {
            let heard = pipe.receive().await;
            if heard["id"] == 1 {
                break heard;
            }
        };
        let asked = heard["method"] == "roots/list";
        assert_eq!(asked, !refused, "{heard}");
        assert_eq!(heard.to_string().contains("more than 64 questions"), refused, "{heard}");
    }
}

/// The answer to a first question, whatever it was called.
fn again(params: &Value, first: &Value) -> Value {
    let key =
        first["inputRequests"].as_object().unwrap_or_else(|| panic!("no question: {first}")).keys().next().unwrap();
    let mut again = params.clone();
    again["requestState"] = first["requestState"].clone();
    again["inputResponses"] = json!({key: blue()});
    again
}

#[tokio::test]
async fn what_is_called_like_a_tool_and_asks_first_ends_like_a_tool() {
    for era in ["legacy", "modern"] {
        let fake = FakeServer::script(json!({
            "eras": [era],
            "asks": ["resources/read", "prompts/get"],
            "prompts": [{"name": "review", "description": "Review a change"}],
            "resources": [{"uri": "x://holidays", "description": "Days off"}],
        }));
        let client = client(&fake, json!({"elicitation": {}})).await;
        for tool in ["fake.holidays", "fake.review"] {
            let params = json!({"name": "call_tool", "arguments": {"tool": tool}});
            let first = client.modern("tools/call", params.clone()).await;
            let last = client.modern("tools/call", again(&params, &first)).await;
            assert!(last["content"].is_array() && last.get("messages").is_none(), "{era} {tool}: {last}");
        }
    }
}

#[tokio::test]
async fn whatever_was_parked_goes_on_and_only_the_way_it_came() {
    for era in ["legacy", "modern"] {
        let fake = FakeServer::script(json!({
            "eras": [era],
            "asks": ["completion/complete", "groups/list", "resources/read"],
            "answers": {"groups/list": {"resultType": "complete", "groups": ["all of them"]}},
            "prompts": [{"name": "review", "arguments": [{"name": "branch"}]}],
            "resources": [{"uri": "x://a", "name": "a"}],
        }));
        let client = client(&fake, json!({"elicitation": {}})).await;
        let complete = json!({"ref": {"type": "ref/prompt", "name": "fake__review"}, "argument": {"name": "branch", "value": "a"}});
        let cases = [
            ("completion/complete", complete, "alpha"),
            ("groups/list", json!({}), "all of them"),
            ("resources/read", json!({"uri": "x://a"}), "content of x://a"),
        ];
        for (method, params, expected) in cases {
            let first = client.modern(method, params.clone()).await;
            let rest = again(&params, &first);
            let others = ["tools/call", "prompts/get", "resources/read", "completion/complete"];
            for other in others.into_iter().filter(|other| *other != method) {
                let taken = match client.try_modern(other, rest.clone()).await {
                    Ok(result) => result.get().to_owned(),
                    Err(error) => error.message,
                };
                assert!(!taken.contains(expected), "{era}: {method} by way of {other}: {taken}");
            }
            let last = client.modern(method, rest).await;
            assert!(last.to_string().contains(expected), "{era} {method}: {last}");
        }
    }
}
