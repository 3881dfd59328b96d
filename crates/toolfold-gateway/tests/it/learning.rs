//! What is called after a search comes earlier next time: after several conversations, and until it is forgotten.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolfold_config::{Config, Learn};
use toolfold_core::{Principal, ServerName, Surface};
use toolfold_gateway::{Client, Gateway, LocalServer, LocalTool, Options, Output, Request};
use toolfold_wire::{Object, Silent};

const ASKED: &str = "look at the papers";

fn start(learn: Learn) -> Gateway {
    let tool = |name: &str, description: &str| {
        let definition = json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
        let fails = name == "broken";
        LocalTool::blocking(definition, move |_| match fails {
            true => Output::Failure("it failed".into()),
            false => Output::Text("done".into()),
        })
    };
    let tools = vec![
        tool("read_document", "Read the papers of a person."),
        tool("view_folder", "Look at what is in a folder of papers."),
        tool("broken", "Look at the papers in a drawer."),
    ];
    let local = vec![LocalServer { name: ServerName::new("office").unwrap(), title: None, tools }];
    Gateway::start(Options { config: Config { learn, toolbox: false, ..Config::default() }, local })
}

/// One conversation of the person who runs the program.
fn session() -> Arc<Client> {
    Arc::new(Client::session(Principal::local(), Surface::Compact, None, toolfold_gateway::Advertised::ALL))
}

async fn ask(gateway: &Gateway, client: &Arc<Client>, tool: &str, arguments: Value) -> String {
    let params = Object::of(&json!({"name": tool, "arguments": arguments}));
    let request = Request::new(client.clone(), Arc::new(Silent), "tools/call", params);
    let result: Value = serde_json::from_str(gateway.handle(request).await.unwrap().get()).unwrap();
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

async fn search_and_call(gateway: &Gateway, client: &Arc<Client>, tool: &str) {
    let answer = ask(gateway, client, "find_tools", json!({"query": ASKED, "limit": 9})).await;
    assert!(answer.contains(tool), "{answer}");
    ask(gateway, client, "call_tool", json!({"tool": tool, "arguments": {}})).await;
}

/// How often what was called for this request counts, and for which tool.
fn learned(gateway: &Gateway) -> Option<(String, u32)> {
    let scope = gateway.latest(&session());
    let view = scope.view();
    let query = toolfold_index::Query { text: ASKED, limit: 9, explain: true, ..Default::default() };
    let hits = view.rank(query).hits;
    let lifted = hits.iter().find(|hit| hit.explain.learned.is_some())?;
    Some((view.entry(lifted.entry).id.to_string(), lifted.explain.learned?.times))
}

/// What was remembered beside the answers is there after a moment.
async fn eventually(gateway: &Gateway, expected: Option<(String, u32)>) {
    let there = async {
        while learned(gateway) != expected {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), there).await;
    assert!(waited.is_ok(), "expected {expected:?}, there is {:?}", learned(gateway));
}

#[tokio::test]
async fn what_is_called_in_several_conversations_is_learned_and_forgotten() {
    let gateway = start(Learn::Names);
    for _ in 0..3 {
        search_and_call(&gateway, &session(), "office.view_folder").await;
    }
    eventually(&gateway, Some(("office.view_folder".to_owned(), 3))).await;
    assert!(gateway.used_requests().await.unwrap().is_empty(), "no text is kept");
    assert_eq!(gateway.forget(Some("office.read_document"), false).await.unwrap(), 0);
    assert_eq!(gateway.forget(None, false).await.unwrap(), 1);
    assert_eq!(learned(&gateway), None);
}

#[tokio::test]
async fn one_conversation_teaches_nothing() {
    let gateway = start(Learn::Names);
    let client = session();
    for _ in 0..5 {
        search_and_call(&gateway, &client, "office.view_folder").await;
    }
    // A call that failed, one that no search led to, and one whose search showed something else.
    for _ in 0..3 {
        search_and_call(&gateway, &session(), "office.broken").await;
        ask(&gateway, &session(), "call_tool", json!({"tool": "office.read_document", "arguments": {}})).await;
    }
    // The next conversation makes two, which is still no habit.
    search_and_call(&gateway, &session(), "office.view_folder").await;
    search_and_call(&gateway, &session(), "office.view_folder").await;
    eventually(&gateway, Some(("office.view_folder".to_owned(), 3))).await;
    assert_eq!(gateway.forget(None, true).await.unwrap(), 1, "one habit and no other was learned");
}

#[tokio::test]
async fn texts_are_kept_where_they_are_wanted() {
    let gateway = start(Learn::Queries);
    for tool in ["office.view_folder", "office.view_folder", "office.read_document"] {
        search_and_call(&gateway, &session(), tool).await;
    }
    let kept = async {
        loop {
            let requests = gateway.used_requests().await.unwrap();
            if requests.iter().flat_map(|request| &request.tools).map(|(_, times)| times).sum::<u32>() == 3 {
                return requests;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let requests = tokio::time::timeout(Duration::from_secs(20), kept).await.unwrap();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].text, ASKED);
    assert_eq!(requests[0].tools, [("office.view_folder".to_owned(), 2), ("office.read_document".to_owned(), 1)]);
}

#[tokio::test]
async fn nothing_is_learned_where_that_is_switched_off() {
    let gateway = start(Learn::Off);
    for _ in 0..4 {
        search_and_call(&gateway, &session(), "office.view_folder").await;
    }
    assert_eq!(gateway.forget(None, true).await.unwrap(), 0);
    assert_eq!(learned(&gateway), None);
}
