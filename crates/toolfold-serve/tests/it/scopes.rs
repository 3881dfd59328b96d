//! Tokens of an issuer that are good and not good enough, and issuers that have to be asked.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use toolfold_core::{AccessRule, Pattern, RuleEffect};
use toolfold_test::{HttpClient, plain_http};

use crate::access::rule;
use crate::issuers::{PUBLIC, world};
use crate::support::text;

/// A stranger who makes up tokens that only their issuer can read does not make us ask for each; and where it cannot be asked,
/// nobody says that a token is wrong.
#[tokio::test]
async fn an_issuer_is_asked_about_strange_tokens_within_a_bound() {
    let world = world(Vec::new()).await;
    assert_eq!(world.with_token("/mcp", "opaque-alice").await, 200);
    let statuses = (0..80).map(|number| {
        let (world, token) = (&world, format!("opaque-made-up-{number}"));
        async move { world.with_token("/mcp", &token).await }
    });
    let statuses = futures_util::future::join_all(statuses).await;
    assert!(statuses.iter().all(|status| [401, 503].contains(status)), "{statuses:?}");
    assert!(statuses.contains(&503) && statuses.contains(&401), "{statuses:?}");
    let asked = world.provider.introspected.load(Ordering::SeqCst);
    assert!(asked < 70, "{asked}");
    assert_eq!(world.with_token("/mcp", "opaque-alice").await, 200, "what is known is not asked for");
    world.provider.down.store(true, Ordering::SeqCst);
    assert_eq!(world.with_token("/mcp", "opaque-later").await, 503);
}

/// What a token looks like is its issuer's business: that it has dots in it makes it none that could be read here.
#[tokio::test]
async fn a_token_with_dots_in_it_is_asked_about_unless_it_is_signed() {
    let world = world(Vec::new()).await;
    for token in ["opaque-alice.a0AfH6SMB-xyz", "opaque-alice.with.dots", "opaque-alice.of.more.than.three.parts"] {
        assert_eq!(world.with_token("/mcp", token).await, 200, "{token}");
    }
    let asked = world.provider.introspected.load(Ordering::SeqCst);
    let unsigned = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.";
    assert_eq!(world.with_token("/mcp", unsigned).await, 401);
    assert_eq!(
        world.provider.introspected.load(Ordering::SeqCst),
        asked,
        "nobody is asked about what anybody could write"
    );
}

#[tokio::test]
async fn keys_without_a_name_may_be_renewed_too() {
    let mut world = world(Vec::new()).await;
    let old = world.provider.token(&world.provider.claims());
    assert_eq!(world.with_token("/mcp", &old).await, 200);
    let new = world.provider.renewed();
    assert_eq!(world.with_token("/mcp", &new).await, 401, "they were asked for a moment ago");
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(6)).await;
    tokio::time::resume();
    assert_eq!(world.with_token("/mcp", &new).await, 200);
}

#[tokio::test]
async fn a_scope_is_asked_for_where_it_would_help() {
    let see = rule("alice", RuleEffect::See);
    let call = AccessRule { number: 2, scopes: vec!["desk:call".into()], ..rule("alice", RuleEffect::Call) };
    let world = world(vec![see, call]).await;
    let (status, challenge, _) = world
        .post(
            "/mcp/direct",
            &[("authorization", &format!("Bearer {}", world.provider.token(&world.provider.claims())))],
        )
        .await;
    let place = format!("{PUBLIC}/.well-known/oauth-protected-resource/mcp/direct");
    let wanted = format!(
        "Bearer error=\"insufficient_scope\", resource_metadata=\"{place}\", scope=\"desk:call\", error_description=\"This takes a token with this scope.\""
    );
    assert_eq!((status, challenge), (403, wanted.clone()));
    // The place is the one that was asked, also where it is the default by its own name.
    let token = format!("Bearer {}", world.provider.token(&world.provider.claims()));
    for path in ["/mcp", "/mcp/compact"] {
        let (status, challenge, _) = world.post(path, &[("authorization", &token)]).await;
        assert_eq!((status, challenge), (403, wanted.replace("/mcp/direct", path)));
    }
    assert_eq!(world.fake.received("tools/call").len(), 0);
    // Whatever it is that takes the scope, and wherever it is asked for.
    let headers = [("authorization", token.as_str())];
    for (method, key, name) in [("prompts/get", "name", "desk__greet"), ("resources/read", "uri", "desk://top")] {
        let (status, challenge, said) = world.ask("/mcp/direct", &headers, method, (key, name), json!({})).await;
        assert_eq!((status, &challenge), (403, &wanted), "{method}: {said}");
        assert!(world.fake.received(method).is_empty());
    }
    let rest = plain_http().post(format!("http://{}/v1/call_tool", world.address));
    let rest = rest.header("content-type", "application/json").header("authorization", &token);
    let rest = rest.body(json!({"tool_id": "desk.read", "arguments": {}}).to_string()).send().await.unwrap();
    let challenge = rest.headers().get("www-authenticate").unwrap().to_str().unwrap().to_owned();
    assert_eq!((rest.status().as_u16(), challenge), (403, wanted.replace("/mcp/direct", "/mcp")));
    let more = world.provider.with(|claims| claims["scope"] = json!("desk"));
    assert_eq!(world.with_token("/mcp/direct", &more).await, 200, "a broader one is enough");
    // For bob no scope would help: there is no such tool.
    let bob = world.provider.with(|claims| claims["sub"] = json!("bob"));
    let client =
        HttpClient::new(format!("http://{}/mcp", world.address)).with_header("authorization", &format!("Bearer {bob}"));
    let answer = client.modern("tools/call", json!({"name": "desk.read", "arguments": {}})).await;
    assert!(text(&answer).contains("TOOL_NOT_FOUND"), "{answer}");
}

#[tokio::test]
async fn groups_and_claims_decide_too() {
    let mut readers = rule("*", RuleEffect::Call);
    readers.groups = vec![Pattern::new("readers")];
    readers.claims = [("department".to_owned(), Pattern::new("sales"))].into();
    let world = world(vec![readers]).await;
    let status = async |change: fn(&mut Value)| {
        let token = world.provider.with(change);
        let client = HttpClient::new(format!("http://{}/mcp/direct", world.address))
            .with_header("authorization", &format!("Bearer {token}"));
        client.modern("tools/list", json!({})).await["tools"].as_array().unwrap().len()
    };
    assert_eq!(status(|claims| claims["department"] = json!("sales")).await, 5);
    assert_eq!(status(|claims| claims["department"] = json!(["law", "Sales"])).await, 5);
    assert_eq!(status(|_| {}).await, 0);
    assert_eq!(
        status(|claims| {
            claims["department"] = json!("sales");
            claims["groups"] = json!(["writers"]);
        })
        .await,
        0
    );
}
