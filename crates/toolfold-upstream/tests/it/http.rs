//! Servers over streamable HTTP, of both eras.

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::http::{HeaderMap, Method};
use serde_json::json;
use toolfold_config::Transport;
use toolfold_core::Secret;
use toolfold_upstream::{CallError, Event, State};
use toolfold_wire::Era;

use crate::http_server::{HttpServer, serve};
use crate::kit::{Client, Subject, by, call, eventually, http, names, patiently};

async fn ready(server: &HttpServer) -> Subject {
    let mut subject = Subject::new(http(&server.url));
    subject.listed().await;
    subject
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

#[tokio::test]
async fn a_legacy_server_gets_its_session_and_version_back() {
    let server = serve(Era::Legacy).await;
    let subject = ready(&server).await;
    let result = subject.tool("echo", json!({"a": 1})).await.unwrap();
    assert_eq!(result["echo"], json!({"name": "echo", "arguments": {"a": 1}}));
    let (headers, _) = server.posts("tools/call").remove(0);
    assert_eq!(header(&headers, "mcp-session-id"), Some("s1"));
    assert_eq!(header(&headers, "mcp-protocol-version"), Some("2025-06-18"));
    assert_eq!(header(&headers, "accept"), Some("application/json, text/event-stream"));
    assert_eq!(header(&headers, "authorization"), Some("Bearer open-sesame"));
    assert_eq!(server.posts("server/discover").len(), 1);
    patiently("the stop", subject.upstream.stop()).await;
    assert_eq!(server.seen(&Method::DELETE, None).len(), 1);
}

#[tokio::test]
async fn what_a_server_does_not_take_is_waited_for_by_nobody_and_256_times() {
    let server = serve(Era::Legacy).await;
    let subject = ready(&server).await;
    for _ in 0..300 {
        subject.upstream.notify("notifications/never", None);
    }
    let taken = || server.posts("notifications/never").len();
    eventually("as many as there may be", || (taken() == 256).then_some(())).await;
    subject.tool("echo", json!({})).await.unwrap();
    assert_eq!(taken(), 256);
}

#[tokio::test]
async fn a_server_that_says_too_much_is_not_listened_to_until_the_second_is_over() {
    let server = serve(Era::Legacy).await;
    let subject = ready(&server).await;
    let begun = std::time::Instant::now();
    subject.tool("talk", json!({"times": 25_000})).await.unwrap();
    // The rest of a second that had begun, a whole one, and a part of the next.
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_stateless_server_gets_the_headers_it_asks_for() {
    let server = serve(Era::Modern).await;
    let mut subject = Subject::new(http(&server.url));
    let manifest = subject.listed().await;
    assert_eq!(names(&manifest), ["echo", "route"], "a tool with invalid annotations is left out");
    subject.tool("route", json!({"region": "Zürich"})).await.unwrap();
    let (headers, body) = server.posts("tools/call").remove(0);
    let seen = ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-region", "mcp-session-id"];
    let seen = seen.map(|name| format!("{name}: {}", header(&headers, name).unwrap_or("-"))).join("\n");
    insta::assert_snapshot!(seen, @r"
    mcp-protocol-version: 2026-07-28
    mcp-method: tools/call
    mcp-name: route
    mcp-param-region: =?base64?WsO8cmljaA==?=
    mcp-session-id: -
    ");
    assert_eq!(body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"], json!({"elicitation": {}}));
    assert!(server.posts("initialize").is_empty() && server.seen(&Method::GET, None).is_empty());
    match subject.call(call("x/unknown", json!({}))).await {
        Err(CallError::Answered(error)) => assert_eq!(error.code, -32601),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn both_eras_follow_announced_changes() {
    for era in [Era::Legacy, Era::Modern] {
        let server = serve(era).await;
        let mut subject = ready(&server).await;
        server.say(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})).await;
        subject.listed().await;
        assert_eq!(server.posts("tools/list").len(), 2);
    }
}

#[tokio::test]
async fn what_a_server_says_on_no_calls_stream_is_reported() {
    let server = serve(Era::Legacy).await;
    let mut subject = ready(&server).await;
    subject.upstream.subscribe("x://1").await.unwrap();
    let updated = |uri| json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}});
    // Of what nobody subscribed to, nobody hears.
    server.say(updated("x://2")).await;
    server.say(updated("x://1/part")).await;
    match subject.next().await {
        Event::Updated { uri, .. } => assert_eq!(uri, "x://1/part"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_stateless_server_is_asked_to_listen_for_a_resource_before_subscribe_returns() {
    let server = serve(Era::Modern).await;
    let subject = ready(&server).await;
    eventually("the first listening", || server.posts("subscriptions/listen").pop()).await;
    patiently("the subscription", subject.upstream.subscribe("x://1")).await.unwrap();
    let listening = server.posts("subscriptions/listen").pop().unwrap().1;
    assert_eq!(
        listening["params"]["notifications"],
        json!({"toolsListChanged": true, "resourceSubscriptions": ["x://1"]})
    );
}

#[tokio::test]
async fn a_call_whose_server_forgot_us_in_the_middle_is_not_made_again() {
    let server = serve(Era::Legacy).await;
    let subject = ready(&server).await;
    let lost = subject.tool("cut and forget", json!({})).await;
    assert!(matches!(lost, Err(CallError::Unavailable { .. })), "{lost:?}");
    assert_eq!(server.posts("tools/call").len(), 1, "nobody knows what came of it");
    assert!(subject.tool("echo", json!({})).await.is_ok(), "the next call begins a new session");
}

#[tokio::test]
async fn a_question_on_a_calls_own_stream_goes_to_that_calls_client() {
    let server = serve(Era::Legacy).await;
    let subject = ready(&server).await;
    let clients = [Client::new(json!({"colour": "red"})), Client::new(json!({"colour": "blue"}))];
    let ask = |n: usize| subject.call(by(&clients[n], n as u64, "tools/call", json!({"name": "ask"})));
    let (red, blue) = tokio::join!(ask(0), ask(1));
    assert_eq!(red.unwrap()["answer"], json!({"colour": "red"}));
    assert_eq!(blue.unwrap()["answer"], json!({"colour": "blue"}));
    for client in &clients {
        assert_eq!(client.hear().await.0, "notifications/message");
        assert_eq!(client.asked.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_resumed_and_the_request_not_repeated() {
    let server = serve(Era::Legacy).await;
    let subject = ready(&server).await;
    assert_eq!(subject.tool("cut", json!({})).await.unwrap(), json!({"resumed": true}));
    assert_eq!(server.posts("tools/call").len(), 1);
    let error = subject.tool("break", json!({})).await.unwrap_err();
    insta::assert_snapshot!(error, @"the server ended its stream before the answer; whether the call took effect is unknown");
    assert_eq!(server.posts("tools/call").len(), 2);
}

#[tokio::test]
async fn a_forgotten_session_is_begun_anew_and_the_refused_call_sent_there() {
    let server = serve(Era::Legacy).await;
    let mut subject = ready(&server).await;
    server.session.fetch_add(1, Ordering::SeqCst);
    assert_eq!(subject.tool("echo", json!({})).await.unwrap()["echo"]["name"], "echo");
    let sessions: Vec<_> =
        server.posts("tools/call").iter().map(|(h, _)| header(h, "mcp-session-id").unwrap().to_owned()).collect();
    assert_eq!(sessions, ["s1", "s2"], "refused unseen by the first, processed by the second");
    subject.until(|state| *state == State::Ready).await;
}

#[tokio::test]
async fn statuses_and_sizes_become_errors_that_say_something() {
    let server = serve(Era::Legacy).await;
    let subject = ready(&server).await;
    insta::assert_snapshot!(subject.tool("busy", json!({})).await.unwrap_err(), @"the server answered HTTP 503");
    insta::assert_snapshot!(subject.tool("huge", json!({})).await.unwrap_err(), @"the server's answer is larger than 1048576 bytes");
    let mut config = http(&server.url);
    if let Transport::Http { headers, .. } = &mut config.transport {
        headers.insert("Authorization".to_owned(), Secret::new("Bearer wrong"));
    }
    insta::assert_snapshot!(Subject::new(config.clone()).why_failing().await, @"the server refused our credentials (HTTP 401): check the token in its `headers`");
    if let Transport::Http { headers, .. } = &mut config.transport {
        headers.clear();
    }
    let asleep = Subject::new(config).until(|state| matches!(state, State::NeedsLogin { .. })).await;
    assert!(matches!(asleep, State::NeedsLogin { .. }), "without a header that speaks for us somebody has to log in");
    let wrong = server.url.replace("/mcp", "/elsewhere");
    insta::assert_snapshot!(Subject::new(http(&wrong)).why_failing().await, @"the server answered HTTP 404: check its `url`");
}

#[tokio::test]
async fn a_redirect_is_followed_where_the_request_can_go_as_it_is() {
    let server = serve(Era::Legacy).await;
    let mut moved = Subject::new(http(&server.url.replace("/mcp", "/moved")));
    moved.listed().await;
    let result = moved.tool("echo", json!({"a": 1})).await.unwrap();
    assert_eq!(result["echo"]["arguments"], json!({"a": 1}));
    assert_eq!(server.posts("tools/call").len(), 1);
    let heard = server.seen(&Method::POST, None).len();
    for path in ["/away", "/see"] {
        let why = Subject::new(http(&server.url.replace("/mcp", path))).why_failing().await;
        assert_eq!(why, "the server redirects to another address: correct its `url`", "{path}");
    }
    assert_eq!(server.seen(&Method::POST, None).len(), heard, "a redirect that is not followed sends nothing");
}

#[tokio::test]
async fn a_server_that_is_not_there_says_so() {
    let port = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let mut subject = Subject::new(http(&format!("http://127.0.0.1:{port}/mcp?token=geheim")));
    let why = subject.why_failing().await;
    insta::assert_snapshot!(why, @"the server cannot be reached (Connection refused (os error 111)): check that it runs and that its `url` is right");
}

#[tokio::test]
async fn a_deadline_cancels_at_a_legacy_server_by_a_notification() {
    let server = serve(Era::Legacy).await;
    let subject = ready(&server).await;
    let mut late = call("tools/call", json!({"name": "hang"}));
    late.timeout = Some(Duration::from_millis(100));
    let outcome = subject.call(late).await;
    assert!(matches!(outcome, Err(CallError::Timeout { .. })), "{outcome:?}");
    let cancelled = eventually("the cancellation", || server.posts("notifications/cancelled").pop()).await;
    assert_eq!(cancelled.1["params"]["requestId"], server.posts("tools/call")[0].1["id"]);
}

#[tokio::test]
async fn a_deadline_cancels_at_a_stateless_server_by_closing_the_stream() {
    let server = serve(Era::Modern).await;
    let subject = ready(&server).await;
    let mut late = call("tools/call", json!({"name": "hang"}));
    late.timeout = Some(Duration::from_millis(100));
    let outcome = subject.call(late).await;
    assert!(matches!(outcome, Err(CallError::Timeout { .. })), "{outcome:?}");
    subject.tool("echo", json!({})).await.unwrap();
    assert!(server.posts("notifications/cancelled").is_empty());
}
