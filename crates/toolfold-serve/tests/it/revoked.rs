//! What was opened with a token ends when the token does, whichever era and whichever way it was opened; and where others
//! could come in, nothing is opened without one.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::FutureExt;
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolfold_core::Surface;
use toolfold_serve::serve_http;
use toolfold_store::{Store, StoredToken};
use toolfold_test::{FakeServer, HttpClient, plain_http};

use crate::access::{Team, give_token};
use crate::issuers::{World, now, world};
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

/// Everything that stays open for as long as its client likes, and what does for as long as a call of this tool: for ever.
async fn streams(address: SocketAddr, token: &str, tool: &str) -> Vec<(&'static str, Response)> {
    let http = plain_http();
    let session =
        HttpClient::new(format!("http://{address}/mcp")).with_header("authorization", &format!("Bearer {token}"));
    session.initialize("2025-11-25").await;
    let session_id = session.session().unwrap();
    let of_session = http.get(session.url()).header("mcp-session-id", &session_id);
    let post = |id: u64, method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        http.post(session.url()).header("content-type", "application/json").body(message.to_string())
    };
    let stateless = |id: u64, method: &str, params: Value| {
        post(id, method, params).header("mcp-protocol-version", "2026-07-28").header("mcp-method", method)
    };
    let params = json!({"_meta": modern_meta(), "notifications": {"toolsListChanged": true}});
    let subscription = stateless(1, "subscriptions/listen", params);
    // Whoever wants to hear how far it is has a stream at once.
    let call = |mut about: Value| {
        about["progressToken"] = json!("p");
        json!({"name": tool, "arguments": {}, "_meta": about})
    };
    let calls_alone = stateless(2, "tools/call", call(modern_meta())).header("mcp-name", tool);
    let in_session = || post(3, "tools/call", call(json!({}))).header("mcp-session-id", &session_id);
    let calls = http.get(format!("http://{address}/v1/calls"));
    vec![
        ("a session's stream", opened(of_session, token).await),
        ("a subscription", opened(subscription, token).await),
        ("the calls", opened(calls, token).await),
        ("a call without a session", opened(calls_alone, token).await),
        ("a call of a session", opened(in_session(), token).await),
        ("another one with the same id", opened(in_session(), token).await),
    ]
}

/// A server with a call that never ends.
fn endless() -> FakeServer {
    FakeServer::script(json!({"tools": ["wait"], "calls": {"wait": {"progress": 1, "hang": true}}}))
}

/// Alice and bob with their tokens, and this server.
async fn team(slow: &FakeServer) -> Team {
    Team::of(Vec::new(), |team| team.servers.extend(config(Surface::Compact, &[("slow", slow)]).servers)).await
}

/// A token of the issuer that has a few seconds left: clocks may differ by half a minute.
fn short_lived(world: &World) -> String {
    world.provider.with(|claims| claims["exp"] = json!(now() - 26))
}

/// Waits until a server has been told that nobody wants the answers to so many calls any more.
async fn until_cancelled(server: &FakeServer, calls: usize) {
    let told = async {
        while server.received("notifications/cancelled").len() < calls {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    assert!(tokio::time::timeout(LONGEST, told).await.is_ok(), "the server works on");
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
    let slow = endless();
    let team = team(&slow).await;
    let streams = async |name: &str| streams(team.address, &team.tokens[name], "slow.wait").await;
    let (alices, bobs) = (streams("alice").await, streams("bob").await);
    let store = Store::open(Some(&team.folder.path().join("toolfold.db"))).await.unwrap().store;
    assert!(store.revoke_token("alice").await.unwrap());
    assert_ended(alices).await;
    until_cancelled(&slow, 3).await;
    assert_open(bobs);
}

/// As somebody does whose token was stolen: the thief must not go on listening under the same name.
#[tokio::test]
async fn what_a_token_opened_ends_though_its_name_is_given_out_again() {
    let slow = endless();
    let team = team(&slow).await;
    let stolen = streams(team.address, &team.tokens["alice"], "slow.wait").await;
    let store = Store::open(Some(&team.folder.path().join("toolfold.db"))).await.unwrap().store;
    assert!(store.revoke_token("alice").await.unwrap());
    let renewed = give_token(team.folder.path(), "alice", 3).await;
    let fresh = streams(team.address, &renewed, "slow.wait").await;
    assert_ended(stolen).await;
    until_cancelled(&slow, 3).await;
    assert_open(fresh);
}

#[tokio::test]
async fn what_an_issuer_vouched_for_ends_with_its_word() {
    let world = world(Vec::new()).await;
    let long = world.provider.token(&world.provider.claims());
    let long = streams(world.address, &long, "desk.wait").await;
    let short = streams(world.address, &short_lived(&world), "desk.wait").await;
    assert_ended(short).await;
    // Who went away without a session has cancelled.
    until_cancelled(&world.fake, 1).await;
    assert_open(long);
}

/// In a session a stream that breaks off is no cancellation: the work goes on for who comes back.
#[tokio::test]
async fn what_was_asked_in_a_session_is_answered_to_the_next_token() {
    let world = world(Vec::new()).await;
    let (url, http) = (format!("http://{}/mcp", world.address), plain_http());
    let (token, next) = (short_lived(&world), world.provider.token(&world.provider.claims()));
    let session = HttpClient::new(&url)
        .with_capabilities(json!({"elicitation": {}}))
        .with_header("authorization", &format!("Bearer {token}"));
    session.initialize("2025-11-25").await;
    let request = |request: RequestBuilder| request.header("mcp-session-id", session.session().unwrap());
    let post =
        |message: Value| request(http.post(&url)).header("content-type", "application/json").body(message.to_string());
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "desk.ask", "arguments": {}}});
    let mut stream = opened(post(call), &token).await;
    let mut heard = String::new();
    let to_its_end = async {
        while let Some(chunk) = stream.chunk().await.unwrap() {
            heard.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    };
    assert!(tokio::time::timeout(LONGEST, to_its_end).await.is_ok(), "the stream goes on: {heard}");
    let question: Value =
        heard.lines().find_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let last = heard.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap();
    let rest = opened(request(http.get(&url)).header("last-event-id", last), &next).await;
    let answer =
        json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"name": "Ada"}}});
    assert_eq!(post(answer).bearer_auth(&next).send().await.unwrap().status(), 202);
    let rest = rest.text().await.unwrap();
    assert!(rest.contains("Ada") && rest.contains(r#""id":1"#), "{rest}");
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
