//! What was opened with a token ends when the token does, whichever era and whichever way it was opened; and where others
//! could come in, nothing is opened without one.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::FutureExt;
use reqwest::{RequestBuilder, Response};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolfold_core::Surface;
use toolfold_serve::serve_http;
use toolfold_store::{Store, StoredToken};
use toolfold_test::{FakeServer, HttpClient, plain_http};

use crate::access::{Team, give_token};
use crate::issuers::{now, world};
use crate::support::{config, modern_meta, start};

/// Several times what is promised: what counts is that it ends by itself, and soon.
const LONGEST: Duration = Duration::from_secs(10);

async fn opened(request: RequestBuilder, token: &str) -> Response {
    let accept = "application/json, text/event-stream";
    let response = request.bearer_auth(token).header("accept", accept).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    response
}

/// Everything that stays open for as long as its client likes.
async fn streams(address: SocketAddr, token: &str) -> Vec<(&'static str, Response)> {
    let http = plain_http();
    let session =
        HttpClient::new(format!("http://{address}/mcp")).with_header("authorization", &format!("Bearer {token}"));
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
    let calls = http.get(format!("http://{address}/v1/calls"));
    vec![
        ("a session's stream", opened(of_session, token).await),
        ("a subscription", opened(subscription, token).await),
        ("the calls", opened(calls, token).await),
    ]
}

async fn assert_ended(streams: Vec<(&'static str, Response)>) {
    for (what, mut stream) in streams {
        let to_its_end = async { while let Ok(Some(_)) = stream.chunk().await {} };
        assert!(tokio::time::timeout(LONGEST, to_its_end).await.is_ok(), "{what} goes on");
    }
}

fn assert_open(streams: Vec<(&'static str, Response)>) {
    for (what, mut stream) in streams {
        while let Some(said) = stream.chunk().now_or_never() {
            assert!(said.unwrap().is_some(), "{what} has ended");
        }
    }
}

#[tokio::test]
async fn what_a_token_opened_ends_when_it_is_revoked() {
    let team = Team::with(Vec::new()).await;
    let [alices, bobs] = [&team.tokens["alice"], &team.tokens["bob"]];
    let (alices, bobs) = (streams(team.address, alices).await, streams(team.address, bobs).await);
    let store = Store::open(Some(&team.folder.path().join("toolfold.db"))).await.unwrap().store;
    assert!(store.revoke_token("alice").await.unwrap());
    assert_ended(alices).await;
    assert_open(bobs);
}

/// As somebody does whose token was stolen: the thief must not go on listening under the same name.
#[tokio::test]
async fn what_a_token_opened_ends_though_its_name_is_given_out_again() {
    let team = Team::with(Vec::new()).await;
    let stolen = streams(team.address, &team.tokens["alice"]).await;
    let store = Store::open(Some(&team.folder.path().join("toolfold.db"))).await.unwrap().store;
    assert!(store.revoke_token("alice").await.unwrap());
    let renewed = give_token(team.folder.path(), "alice", 3).await;
    let fresh = streams(team.address, &renewed).await;
    assert_ended(stolen).await;
    assert_open(fresh);
}

#[tokio::test]
async fn what_an_issuer_vouched_for_ends_with_its_word() {
    let world = world(Vec::new()).await;
    // Clocks may differ by half a minute: it has two seconds left.
    let short = world.provider.with(|claims| claims["exp"] = json!(now() - 28));
    let long = world.provider.token(&world.provider.claims());
    let (short, long) = (streams(world.address, &short).await, streams(world.address, &long).await);
    assert_ended(short).await;
    assert_open(long);
}

/// Nobody could show who they are, and everybody can come: that is refused before anybody is answered.
#[tokio::test]
async fn where_others_can_come_somebody_must_have_a_token() {
    let (folder, fake) = (tempfile::tempdir().unwrap(), FakeServer::script(json!({"tools": ["look"]})));
    let path = folder.path().join("toolfold.db");
    let mut config = config(Surface::Compact, &[("fake", &fake)]);
    (config.store, config.http.local) = (Some(path.clone().into()), Some(false));
    let gateway = start(config);
    let serve = async |stop: CancellationToken| {
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let address = format!("127.0.0.1:{}", listener.local_addr().unwrap().port());
        (address, tokio::spawn(serve_http(gateway.clone(), Surface::Compact, listener, stop)))
    };
    let refused = |outcome: std::io::Result<()>| {
        let error = outcome.expect_err("nobody has a token");
        assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
        assert!(error.to_string().contains("toolfold token add"), "{error}");
    };
    refused(serve(CancellationToken::new()).await.1.await.unwrap());
    // One that is over is none.
    let store = Store::open(Some(&path)).await.unwrap().store;
    let over = StoredToken {
        name: "over".into(),
        groups: Vec::new(),
        beginning: String::new(),
        created_at: 1,
        expires_at: Some(2),
    };
    assert!(store.add_token([1; 32], over).await.unwrap());
    refused(serve(CancellationToken::new()).await.1.await.unwrap());
    let token = give_token(folder.path(), "alice", 1).await;
    let stop = CancellationToken::new();
    let (address, served) = serve(stop.clone()).await;
    let status = async |token: Option<&str>| {
        let request = plain_http().get(format!("http://{address}/v1/status"));
        let request = token.iter().fold(request, |request, token| request.bearer_auth(token));
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!((status(None).await, status(Some(&token)).await), (401, 200));
    stop.cancel();
    served.await.unwrap().unwrap();
}
