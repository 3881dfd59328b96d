//! Agents that speak A2A, in both versions and over both bindings: a fake one that does what its message says.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State as Kept;
use axum::http::{Method, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use toolfold_config::{Start, Transport};
use toolfold_core::Secret;
use toolfold_upstream::CallError;

use crate::kit::{Client, Subject, by, call, config, eventually, names, text_of};

#[derive(Default)]
struct Agent {
    /// What it was asked, by name.
    asked: Mutex<Vec<(String, Value)>>,
    looks: Mutex<usize>,
}

type Shared = Arc<(Agent, Mutex<Value>)>;

/// Where it is, and what it was asked.
async fn serve(card: impl Fn(&str) -> Value) -> (String, Shared) {
    let agent: Shared = Arc::default();
    let app = Router::new().fallback(answer).with_state(agent.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    *agent.1.lock().unwrap() = card(&url);
    tokio::spawn(async move { axum::serve(listener, app).await });
    (format!("{url}/.well-known/agent-card.json"), agent)
}

fn card(binding: &str, url: &str) -> Value {
    json!({"name": "Planner", "description": "Plans trips.", "version": "2",
        "supportedInterfaces": [{"url": url, "protocolBinding": binding, "protocolVersion": "1.0"}],
        "skills": [{"id": "route", "name": "Route finder", "description": "Finds a way", "tags": ["travel"]}]})
}

async fn answer(Kept(kept): Kept<Shared>, method: Method, uri: Uri, body: Bytes) -> Response {
    let json = |value: Value| ([("content-type", "application/json")], value.to_string()).into_response();
    if uri.path() == "/.well-known/agent-card.json" {
        return json(kept.1.lock().unwrap().clone());
    }
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let rpc = body.get("jsonrpc").is_some();
    let (name, params) = match rpc {
        true => (body["method"].as_str().unwrap().to_owned(), body["params"].clone()),
        false => (format!("{method} {}", uri.path()), body),
    };
    kept.0.asked.lock().unwrap().push((name.clone(), params.clone()));
    let said = say(&kept.0, &name, &params);
    json(if rpc { json!({"jsonrpc": "2.0", "id": 1, "result": said}) } else { said })
}

/// Does what it is told: `reply`, `work`, `ask`, `fail`, `wait`.
fn say(agent: &Agent, name: &str, params: &Value) -> Value {
    let task = |state: &str, words: &str| {
        let artifacts =
            if state.ends_with("COMPLETED") { json!([{"parts": [{"text": "the plan"}]}]) } else { json!([]) };
        json!({"id": "t1", "contextId": "c1", "status": {"state": state, "message": {"parts": [{"text": words}]}}, "artifacts": artifacts})
    };
    let text = params["message"]["parts"][0]["text"].as_str().unwrap_or_default();
    match (name, text) {
        ("SendMessage" | "POST /message:send", "reply") => {
            json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "hello"}]}})
        }
        ("message/send", _) => {
            json!({"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "old hello"}]})
        }
        (_, "much") => json!({"message": {"parts": [{"text": "hello"}], "metadata": vec![1; 250_000]}}),
        (_, "ask") => json!({"task": task("TASK_STATE_INPUT_REQUIRED", "by train?")}),
        (_, "fail") => json!({"task": task("TASK_STATE_FAILED", "no road")}),
        (_, "work" | "wait") => json!({"task": task("TASK_STATE_WORKING", "thinking")}),
        ("GetTask" | "GET /tasks/t1", _) => {
            let mut looks = agent.looks.lock().unwrap();
            *looks += 1;
            let waits = agent.asked.lock().unwrap()[0].1["message"]["parts"][0]["text"] == "wait";
            if *looks >= 2 && !waits {
                task("TASK_STATE_COMPLETED", "done")
            } else {
                task("TASK_STATE_WORKING", "still thinking")
            }
        }
        ("CancelTask", _) => task("TASK_STATE_CANCELED", ""),
        _ => json!({"task": task("TASK_STATE_COMPLETED", &format!("told {text}"))}),
    }
}

async fn subject(card: String) -> Subject {
    let mut subject = Subject::new(config(Transport::Agent { card, headers: BTreeMap::new() }, Start::Eager));
    assert_eq!(names(&*subject.listed().await), ["ask"]);
    subject
}

fn asked(agent: &Shared) -> Vec<String> {
    agent.0.asked.lock().unwrap().iter().map(|(name, _)| name.clone()).collect()
}

#[tokio::test]
async fn an_agent_is_told_something_and_answers() {
    let (address, agent) = serve(|url| card("JSONRPC", &format!("{url}/rpc"))).await;
    let subject = subject(address).await;
    let manifest = subject.upstream.manifest().unwrap();
    assert!(
        manifest.tools[0].get().contains("Route finder: Finds a way"),
        "its skills are found: {:?}",
        manifest.tools
    );
    assert_eq!(text_of(&subject.tool("ask", json!({"message": "reply"})).await.unwrap()), "hello");
    let failed = subject.tool("ask", json!({"message": "fail"})).await.unwrap();
    assert_eq!((failed["isError"].as_bool(), text_of(&failed).as_str()), (Some(true), "no road"));
    assert_eq!(asked(&agent), ["SendMessage", "SendMessage"]);
}

#[tokio::test]
async fn an_answer_of_very_many_values_is_not_made_into_them() {
    let (address, _) = serve(|url| card("JSONRPC", &format!("{url}/rpc"))).await;
    let subject = subject(address).await;
    let error = subject.tool("ask", json!({"message": "much"})).await.unwrap_err();
    assert_eq!(error.to_string(), "the agent's answer is neither a task nor a message");
    assert_eq!(text_of(&subject.tool("ask", json!({"message": "reply"})).await.unwrap()), "hello");
}

#[tokio::test]
async fn a_task_is_asked_about_until_it_has_come_to_something() {
    for (binding, path, expected) in [
        ("JSONRPC", "/rpc", ["SendMessage", "GetTask", "GetTask"]),
        ("HTTP+JSON", "/", ["POST /message:send", "GET /tasks/t1", "GET /tasks/t1"]),
    ] {
        let (address, agent) = serve(|url| card(binding, &format!("{url}{path}"))).await;
        let subject = subject(address).await;
        let client = Client::new(json!({}));
        let params = json!({"name": "ask", "arguments": {"message": "work"}, "_meta": {"progressToken": "p"}});
        let result = subject.call(by(&client, 1, "tools/call", params)).await.unwrap();
        assert_eq!(text_of(&result), "the plan");
        assert_eq!(asked(&agent), expected);
        let progress =
            |n: u32, words: &str| json!({"progress": n, "message": format!("working: {words}"), "progressToken": "p"});
        assert_eq!(client.hear().await, ("notifications/progress".to_owned(), progress(1, "thinking")));
        assert_eq!(client.hear().await, ("notifications/progress".to_owned(), progress(2, "still thinking")));
    }
}

#[tokio::test]
async fn a_question_of_an_agent_is_put_to_whoever_calls() {
    let (address, agent) = serve(|url| card("JSONRPC", url)).await;
    let subject = subject(address).await;
    let client = Client::new(json!({"action": "accept", "content": {"answer": "yes, by train"}}));
    let params = json!({"name": "ask", "arguments": {"message": "ask"}});
    let result = subject.call(by(&client, 1, "tools/call", params.clone())).await.unwrap();
    assert_eq!(result["content"][1]["text"], "told yes, by train");
    let second = agent.0.asked.lock().unwrap()[1].1["message"].clone();
    assert_eq!((second["taskId"].as_str(), second["contextId"].as_str()), (Some("t1"), Some("c1")));
    let silent = Client::new(json!({"action": "decline"}));
    let result = subject.call(by(&silent, 1, "tools/call", params)).await.unwrap();
    assert_eq!((result["isError"].as_bool(), text_of(&result).as_str()), (Some(true), "by train?"));
    let what = result["content"][1]["text"].as_str().unwrap();
    assert!(what.contains("calling it again with a message and context_id: c1, task_id: t1"), "{what}");
    let on = json!({"message": "no", "task_id": "t1", "context_id": "c1"});
    assert_eq!(text_of(&subject.tool("ask", on).await.unwrap()), "the plan");
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_cancels_its_task() {
    let (address, agent) = serve(|url| card("JSONRPC", url)).await;
    let subject = subject(address).await;
    let upstream = subject.upstream.clone();
    let params = json!({"name": "ask", "arguments": {"message": "wait"}});
    let waiting = tokio::spawn(async move { upstream.request(call("tools/call", params)).await.map(drop) });
    eventually("it is asked about", || asked(&agent).contains(&"GetTask".to_owned()).then_some(())).await;
    waiting.abort();
    eventually("it is cancelled", || asked(&agent).contains(&"CancelTask".to_owned()).then_some(())).await;
}

#[tokio::test]
async fn an_older_agent_is_spoken_to_as_it_speaks() {
    let (address, agent) =
        serve(|url| json!({"name": "Old", "url": format!("{url}/a2a"), "protocolVersion": "0.3.0", "skills": []}))
            .await;
    let subject = subject(address).await;
    assert_eq!(text_of(&subject.tool("ask", json!({"message": "hi"})).await.unwrap()), "old hello");
    assert_eq!(asked(&agent), ["message/send"]);
}

/// A card that leads elsewhere gets no key, and no way to this machine.
#[tokio::test]
async fn a_card_is_not_believed_about_where_a_key_goes() {
    let (elsewhere, agent) = serve(|url| card("JSONRPC", url)).await;
    let elsewhere = elsewhere.trim_end_matches("/.well-known/agent-card.json").to_owned();
    let (address, _) = serve(|_| card("JSONRPC", &elsewhere)).await;
    let headers = BTreeMap::from([("Authorization".to_owned(), Secret::new("Bearer open-sesame"))]);
    let mut keyed = Subject::new(config(Transport::Agent { card: address.clone(), headers }, Start::Eager));
    assert!(keyed.why_failing().await.contains("which is elsewhere, and no key is sent there"));
    let subject = subject(address).await;
    let refused = subject.tool("ask", json!({"message": "reply"})).await;
    assert!(matches!(refused, Err(CallError::Unavailable { .. })), "{refused:?}");
    assert!(asked(&agent).is_empty());
}
