//! Which era a server speaks is found out without harming it.

use serde_json::json;
use toolfold_config::{EraChoice, Start};
use toolfold_upstream::{Event, State};
use toolfold_wire::Era;

use crate::kit::{Log, Subject, call, eventually, names, script, text_of};

const ALL: [&str; 8] = ["echo", "crash", "slow", "progress", "ask", "big", "grow", "pid"];

#[tokio::test]
async fn a_legacy_server_is_asked_on_a_throw_away_child_and_greeted_on_a_fresh_one() {
    let log = Log::new();
    let mut subject = Subject::new(script(&[&log.argument("log"), &log.argument("starts")]));
    let manifest = subject.listed().await;
    assert_eq!((manifest.era, manifest.version.as_str()), (Era::Legacy, "2025-11-25"));
    assert_eq!(manifest.instructions.as_deref(), Some("be kind"));
    assert_eq!(names(&manifest), ALL);
    assert!(manifest.tools[0].get().contains(r#""execution": {"odd": true}"#), "definitions are kept as they came");
    assert_eq!(manifest.templates.len(), 1, "one broken list costs itself alone");
    assert_eq!(log.lines("starts").len(), 2);
    assert_eq!(log.messages("server/discover").len(), 1);
    assert_eq!(log.messages("initialize").len(), 1);
    assert_eq!(log.messages("notifications/initialized").len(), 1);
}

#[tokio::test]
async fn a_server_that_dies_on_the_probe_is_served_all_the_same() {
    let mut subject = Subject::new(script(&["dies"]));
    assert_eq!(subject.listed().await.era, Era::Legacy);
    let result = subject.tool("echo", json!({"a": 1})).await.unwrap();
    assert_eq!(text_of(&result), r#"{"a": 1}"#);
}

#[tokio::test]
async fn a_server_that_is_silent_on_the_probe_is_given_up_on_after_a_while() {
    let log = Log::new();
    let mut subject = Subject::new(script(&["silent", &log.argument("starts")]));
    assert_eq!(subject.listed().await.era, Era::Legacy);
    assert_eq!(log.lines("starts").len(), 2);
}

#[tokio::test]
async fn a_stateless_server_keeps_the_child_that_was_asked() {
    let log = Log::new();
    let mut subject = Subject::new(script(&["era=modern", &log.argument("log"), &log.argument("starts")]));
    let manifest = subject.listed().await;
    assert_eq!((manifest.era, manifest.version.as_str()), (Era::Modern, "2026-07-28"));
    assert_eq!(manifest.server_info.as_ref().unwrap().get(), r#"{"name": "modern", "version": "1"}"#);
    assert_eq!(names(&manifest), ALL);
    let mut call = call("tools/call", json!({"name": "echo", "arguments": {}, "_meta": {"mine": 1}}));
    call.client_capabilities = Some(toolfold_wire::raw(&json!({"sampling": {}})));
    let result = subject.call(call).await.unwrap();
    insta::assert_snapshot!(result["structuredContent"]["_meta"], @r#"{"mine":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"toolfold","version":"0.1.0"},"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}"#);
    assert_eq!(result["unknownField"], json!([1, {"x": 1.0}]));
    assert_eq!(log.lines("starts").len(), 1);
    assert!(log.messages("initialize").is_empty());
}

#[tokio::test]
async fn a_stateless_server_announces_changes_on_the_listening_request() {
    let log = Log::new();
    let mut subject = Subject::new(script(&["era=modern", &log.argument("log")]));
    subject.listed().await;
    let listen = log.message("subscriptions/listen").await;
    assert_eq!(listen["params"]["notifications"], json!({"toolsListChanged": true, "resourcesListChanged": true}));
    subject.tool("grow", json!({})).await.unwrap();
    assert_eq!(names(&*subject.listed().await).last().map(String::as_str), Some("grown"));
    subject.upstream.subscribe("x://1").await.unwrap();
    loop {
        if let Event::Updated { uri, .. } = subject.next().await {
            assert_eq!(uri, "x://1");
            break;
        }
    }
}

#[tokio::test]
async fn the_era_is_remembered_and_not_asked_for_again() {
    let mut first = Subject::new(script(&[]));
    let manifest = first.listed().await;
    let json = serde_json::to_string(&*manifest).unwrap();
    assert!(json.starts_with(r#"{"era":"legacy","version":"2025-11-25""#), "{json}");
    let log = Log::new();
    let remembered = serde_json::from_str(&json).unwrap();
    let config = script(&["dies", &log.argument("log"), &log.argument("starts")]);
    let second = Subject::remembering(config, Some(std::sync::Arc::new(remembered)));
    assert_eq!(second.upstream.state(), State::Known);
    assert!(log.lines("starts").is_empty(), "nothing is started before the first call");
    second.tool("echo", json!({})).await.unwrap();
    assert_eq!(log.lines("starts").len(), 1);
    assert!(log.messages("server/discover").is_empty());
}

#[tokio::test]
async fn a_remembered_era_that_is_no_longer_true_is_corrected() {
    let mut first = Subject::new(script(&[]));
    let manifest = first.listed().await;
    let mut second = Subject::remembering(script(&["era=modern"]), Some(manifest));
    second.tool("echo", json!({})).await.unwrap();
    assert_eq!(second.listed().await.era, Era::Modern);
}

#[tokio::test]
async fn a_version_nobody_knows_is_refused_clearly() {
    let mut config = script(&["version=1999-01-01"]);
    config.era = EraChoice::Legacy;
    let mut subject = Subject::new(config);
    insta::assert_snapshot!(subject.why_failing().await, @r#"the server speaks protocol "1999-01-01"; Toolfold speaks 2026-07-28, 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25"#);
}

#[tokio::test]
async fn an_old_version_is_accepted_and_a_remembered_eager_server_lists_again() {
    let mut config = script(&["version=2024-11-05"]);
    config.start = Start::Eager;
    let mut subject = Subject::new(config.clone());
    let manifest = subject.listed().await;
    assert_eq!(manifest.version, "2024-11-05");
    let mut again = Subject::remembering(config, Some(manifest));
    assert_eq!(again.listed().await.version, "2024-11-05");
    let ready = eventually("ready", || Some(again.upstream.state())).await;
    assert_eq!(ready, State::Ready);
}
