//! What others have learned of what is hidden is not felt: somebody who sees everything makes habits of it, and who does not
//! see it is answered as if nobody had.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolfold_config::{Config, Learn};
use toolfold_core::{AccessRule, Pattern, Principal, Secret, Surface};
use toolfold_gateway::{Advertised, Client, Gateway, Request};
use toolfold_test::{FakeServer, HttpClient};
use toolfold_wire::{Object, Silent};

use crate::interference::{TOKEN, seen, tool};
use crate::support::{all_settled, config, over_http, start};

const ASKED: &str = "what somebody is paid";

/// One conversation of the person who runs the program.
fn session() -> Arc<Client> {
    Arc::new(Client::session(Principal::local(), Surface::Compact, None, Advertised::ALL))
}

async fn ask(gateway: &Gateway, client: &Arc<Client>, name: &str, arguments: Value) -> Value {
    let params = Object::of(&json!({"name": name, "arguments": arguments}));
    let request = Request::new(client.clone(), Arc::new(Silent), "tools/call", params);
    serde_json::from_str(gateway.handle(request).await.unwrap().get()).unwrap()
}

/// Asks, and calls this, in as many conversations as make a habit; waits until it is one.
async fn teach(gateway: &Gateway, id: &str) {
    for _ in 0..4 {
        let client = session();
        let found = ask(gateway, &client, "find_tools", json!({"query": ASKED, "limit": 20})).await;
        assert!(found.to_string().contains(id), "{found}");
        let called = ask(gateway, &client, "call_tool", json!({"tool": id, "arguments": {}})).await;
        assert_eq!(called["isError"], json!(null), "{called}");
    }
    let is_learned = || {
        let scope = gateway.latest(&session());
        let view = scope.view();
        let query = toolfold_index::Query { text: ASKED, limit: 20, explain: true, ..Default::default() };
        let hits = view.rank(query).hits;
        hits.iter().any(|hit| hit.explain.learned.is_some() && view.entry(hit.entry).id.to_string() == id)
    };
    let there = async {
        while !is_learned() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(20), there).await.is_ok(), "{id} is not learned");
}

async fn served(config: Config, taught: &[&str]) -> SocketAddr {
    let all = AccessRule { number: 2, who: vec![Pattern::new("local")], servers: Vec::new(), ..seen(&[]) };
    let rules = vec![seen(&["post", "local"]), all];
    let mut config = Config { rules, learn: Learn::Names, ..config };
    config.http.token = Some(Secret::new(TOKEN));
    let gateway = start(config);
    all_settled(&gateway).await;
    for id in taught {
        teach(&gateway, id).await;
    }
    over_http(gateway, Surface::Compact).await
}

/// Every search there is, with the same words and with others. Nothing is called, so nothing is learned on the way.
async fn searches(address: SocketAddr) -> Vec<(String, String)> {
    let mut said = Vec::new();
    for surface in Surface::ALL {
        let client = HttpClient::new(format!("http://{address}/mcp/{surface}"))
            .with_header("authorization", &format!("Bearer {TOKEN}"));
        let list = client.modern("tools/list", json!({})).await;
        for name in list["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()) {
            if name.contains("__") || name == "run_code" {
                continue;
            }
            for query in [ASKED, "what is somebody paid", "paid", "a letter to somebody", "salary"] {
                let arguments = json!({"query": query, "action": "search", "category_path": []});
                let asked = json!({"name": name, "arguments": arguments});
                let answer = client.try_modern("tools/call", asked).await;
                said.push((
                    format!("{surface} {name} {query}"),
                    format!("{:?}", answer.map(|raw| raw.get().to_owned())),
                ));
            }
        }
    }
    said
}

#[tokio::test]
async fn what_was_learned_of_what_is_hidden_is_not_felt() {
    let post = FakeServer::script(json!({"tools": [
        tool("read_pay_slip", "Read what somebody is paid from a letter."),
        tool("count_letters", "Count what somebody paid for letters."),
        tool("send_letter", "Send a letter to somebody who is paid for it."),
    ]}));
    let payroll = FakeServer::script(json!({"tools": [
        tool("look_up", "What an employee is paid, and what somebody else is."),
        tool("compare", "Compare what somebody is paid with what others are."),
    ]}));
    let both = config(Surface::Compact, &[("post", &post), ("payroll", &payroll)]);
    let one = config(Surface::Compact, &[("post", &post)]);
    // Habits of what is hidden, and of what is not: the weights of words come from whatever whoever asks can see.
    let hidden = served(both.clone(), &["payroll.look_up", "post.count_letters"]).await;
    let absent = served(one.clone(), &["post.count_letters"]).await;
    let (a, b) = (searches(hidden).await, searches(absent).await);
    assert!(a.len() > 40 && a.iter().any(|(_, answer)| answer.contains("read_pay_slip")), "{}", a.len());
    for (a, b) in a.iter().zip(&b) {
        assert_eq!(a, b);
    }
}

/// Whoever sees the same learns together: what one of them calls comes earlier for all of them, and for nobody else.
#[tokio::test]
async fn those_who_see_the_same_learn_together() {
    let post = FakeServer::script(json!({"tools": [
        tool("read_pay_slip", "Read what somebody is paid from a letter."),
        tool("count_letters", "Count what somebody paid for letters."),
    ]}));
    let all = AccessRule { number: 2, who: vec![Pattern::new("local")], servers: Vec::new(), ..seen(&[]) };
    let rules = vec![seen(&["post"]), all];
    let config = Config { rules, learn: Learn::Names, ..config(Surface::Compact, &[("post", &post)]) };
    let gateway = start(config);
    all_settled(&gateway).await;
    let token = || Principal::token();
    for _ in 0..4 {
        let client = Arc::new(Client::session(token(), Surface::Compact, None, Advertised::ALL));
        ask(&gateway, &client, "find_tools", json!({"query": ASKED, "limit": 20})).await;
        ask(&gateway, &client, "call_tool", json!({"tool": "post.count_letters", "arguments": {}})).await;
    }
    let lifted = |principal: Principal| {
        let scope = gateway.latest(&Client::session(principal, Surface::Compact, None, Advertised::ALL));
        let query = toolfold_index::Query { text: ASKED, limit: 20, explain: true, ..Default::default() };
        scope.view().rank(query).hits.iter().any(|hit| hit.explain.learned.is_some())
    };
    let there = async {
        while !lifted(token()) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(20), there).await.is_ok(), "it is learned");
    assert!(!lifted(Principal::local()), "and not by whoever sees more");
}
