//! What belongs to one is as good as nothing in the hands of another: calls that wait for an answer, what a server wants back,
//! results that were kept, and what somebody listens to.

use serde_json::{Value, json};
use toolfold_core::{RuleEffect, Surface};
use toolfold_test::{FakeServer, HttpClient};

use crate::access::{Team, code, rule};
use crate::support::text;

fn asking(era: &str) -> FakeServer {
    FakeServer::script(json!({
        "eras": [era],
        "tools": ["ask"],
        "calls": {"ask": {"elicit": {"message": "Which colour?", "requestedSchema": {"type": "object", "properties": {"colour": {"type": "string"}}}}}},
    }))
}

fn call() -> Value {
    json!({"name": "call_tool", "arguments": {"tool": "shop.ask", "arguments": {}}})
}

#[tokio::test]
async fn a_call_that_waits_is_nobody_elses() {
    for (era, rules) in [("legacy", vec![]), ("modern", vec![]), ("legacy", vec![rule("*", RuleEffect::Call)])] {
        let shop = asking(era);
        let team = Team::of(rules, |config| {
            let servers = crate::support::config(Surface::Compact, &[("shop", &shop)]).servers;
            config.servers.extend(servers);
        })
        .await;
        let (alice, bob) = (team.client("alice"), team.client("bob"));
        let alice = alice.with_capabilities(json!({"elicitation": {}}));
        let bob = bob.with_capabilities(json!({"elicitation": {}}));
        let first = alice.modern("tools/call", call()).await;
        assert_eq!(first["resultType"], "input_required", "{era}: {first}");
        let key = first["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
        let answered = |state: &Value| {
            let mut again = call();
            again["requestState"] = state.clone();
            again["inputResponses"] = json!({&key: {"action": "accept", "content": {"colour": "blue"}}});
            again
        };
        // Bob's attempt ends as one with a state that nobody ever got.
        let said =
            async |client: &HttpClient, state: &Value| match client.try_modern("tools/call", answered(state)).await {
                Ok(result) => result.get().to_owned(),
                Err(error) => format!("{} {}", error.code, error.message),
            };
        let state = first["requestState"].as_str().unwrap();
        // Of the same form, and nobody's.
        let last = if state.ends_with('0') { '1' } else { '0' };
        let invented = format!("{}{last}", &state[..state.len() - 1]);
        let stolen = said(&bob, &first["requestState"]).await;
        assert!(!stolen.contains("blue") && !stolen.contains("input_required"), "{era}: {stolen}");
        assert!(stolen.contains("requestState") || stolen.contains("INVALID_REQUEST"), "{era}: {stolen}");
        assert_eq!(stolen, said(&bob, &json!(invented)).await, "{era}");
        let changed = said(&alice, &json!(format!("{state}x"))).await;
        assert!(!changed.contains("blue"), "{era}: nor is one that was changed hers: {changed}");
        // And leaves alice's where it was.
        let last = alice.modern("tools/call", answered(&first["requestState"])).await;
        assert_eq!(last["resultType"], "complete", "{era}: {last}");
        assert!(last.to_string().contains("blue"), "{era}: {last}");
    }
}

#[tokio::test]
async fn a_result_that_was_kept_is_nobody_elses() {
    let long = FakeServer::script(json!({"tools": ["tell"], "calls": {"tell": {"result":
        {"content": [{"type": "text", "text": "the secret ".repeat(20_000)}]}}}}));
    let team = Team::of(Vec::new(), |config| {
        config.servers.extend(crate::support::config(Surface::Compact, &[("long", &long)]).servers);
    })
    .await;
    let told = team.call("alice", "long.tell", json!({})).await;
    let said = told.to_string();
    let at = said.find("toolfold://results/").unwrap_or_else(|| panic!("it is kept: {said:.800}"))
        + "toolfold://results/".len();
    let handle: String = said[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
    let uri = format!("toolfold://results/{handle}");
    let read = |name: &'static str, handle: String| {
        let team = &team;
        async move { team.call(name, "results.read", json!({"result": handle})).await }
    };
    assert!(text(&read("alice", handle.clone()).await).contains("the secret"));
    let stolen = read("bob", handle.clone()).await;
    let invented: String = handle.chars().rev().collect();
    let made_up = read("bob", invented.clone()).await;
    assert_eq!(stolen["isError"], true);
    assert!(!stolen.to_string().contains("the secret"), "{stolen}");
    assert_eq!(code(&stolen), code(&made_up));
    assert_eq!(stolen.to_string().replace(&handle, "#"), made_up.to_string().replace(&invented, "#"));
    assert!(team.client("alice").try_modern("resources/read", json!({"uri": uri})).await.is_ok());
    assert!(team.client("bob").try_modern("resources/read", json!({"uri": uri})).await.is_err());
}

#[tokio::test]
async fn what_somebody_listens_to_is_told_to_them_alone() {
    let news = FakeServer::script(json!({
        "tools": ["touch"],
        "calls": {"touch": {"resource_updated": "x://a"}},
        "resources": [{"uri": "x://a", "name": "A"}],
    }));
    let team = Team::of(Vec::new(), |config| {
        config.servers.extend(crate::support::config(Surface::Compact, &[("news", &news)]).servers);
    })
    .await;
    let (alice, bob) = (team.client("alice"), team.client("bob"));
    for client in [&alice, &bob] {
        client.initialize("2025-11-25").await;
        client.open_stream().await;
    }
    alice.request("resources/subscribe", json!({"uri": "x://a"})).await;
    // Bob ends what is not his: nothing of alice's ends.
    let _ = bob.try_request("resources/unsubscribe", json!({"uri": "x://a"})).await;
    let touch = json!({"name": "news.touch", "arguments": {}});
    bob.request("tools/call", touch.clone()).await;
    let told = alice.next_notification("notifications/resources/updated").await;
    assert_eq!(told["uri"], "x://a");
    // He has been answered since, and heard of nothing.
    bob.request("tools/list", json!({})).await;
    assert!(!format!("{:?}", bob.notifications()).contains("x://a"), "{:?}", bob.notifications());
}
