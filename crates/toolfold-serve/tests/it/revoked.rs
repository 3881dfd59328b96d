//! What was opened with a token ends when the token does, whichever era and whichever way it was opened.

use std::time::Duration;

use futures_util::FutureExt;
use reqwest::{RequestBuilder, Response};
use serde_json::json;
use toolfold_store::Store;
use toolfold_test::plain_http;

use crate::access::Team;
use crate::support::modern_meta;

/// Several times what is promised: what counts is that it ends by itself.
const LONGEST: Duration = Duration::from_secs(60);

async fn opened(request: RequestBuilder, token: &str) -> Response {
    let accept = "application/json, text/event-stream";
    let response = request.bearer_auth(token).header("accept", accept).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    response
}

/// Everything that stays open for as long as its client likes.
async fn streams(team: &Team, name: &str) -> Vec<(&'static str, Response)> {
    let (token, http) = (&team.tokens[name], plain_http());
    let session = team.client(name);
    session.initialize("2025-11-25").await;
    let of_session = http.get(session.url()).header("mcp-session-id", session.session().unwrap());
    let params = json!({"_meta": modern_meta(), "notifications": {"toolsListChanged": true}});
    let listen = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params});
    let subscription = http
        .post(session.url())
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "subscriptions/listen")
        .body(listen.to_string());
    let calls = http.get(format!("http://{}/v1/calls", team.address));
    vec![
        ("a session's stream", opened(of_session, token).await),
        ("a subscription", opened(subscription, token).await),
        ("the calls", opened(calls, token).await),
    ]
}

#[tokio::test]
async fn what_a_token_opened_ends_when_it_is_revoked() {
    let team = Team::with(Vec::new()).await;
    let (alices, bobs) = (streams(&team, "alice").await, streams(&team, "bob").await);
    let store = Store::open(Some(&team.folder.path().join("toolfold.db"))).await.unwrap().store;
    assert!(store.revoke_token("alice").await.unwrap());
    for (what, mut stream) in alices {
        let to_its_end = async { while let Ok(Some(_)) = stream.chunk().await {} };
        assert!(tokio::time::timeout(LONGEST, to_its_end).await.is_ok(), "{what} goes on");
    }
    for (what, mut stream) in bobs {
        while let Some(said) = stream.chunk().now_or_never() {
            assert!(said.unwrap().is_some(), "{what} of somebody else has ended");
        }
    }
}
