//! What a server that fails costs, and what it says about why.

use std::time::Duration;

use serde_json::{Value, json};
use toolfold_config::Transport;
use toolfold_upstream::{CallError, State};

use crate::kit::{Log, Subject, eventually, runs, script, text_of};

/// Does what a patient caller does: waits as long as it was told to.
async fn insist(subject: &Subject, tool: &str) -> Value {
    loop {
        match subject.tool(tool, json!({})).await {
            Ok(result) => return result,
            Err(CallError::Unavailable { retry_in: Some(wait), .. }) => tokio::time::sleep(wait).await,
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn a_crash_during_a_call_fails_it_once_and_the_server_comes_back() {
    let log = Log::new();
    let mut subject = Subject::new(script(&[&log.argument("log")]));
    subject.listed().await;
    let error = subject.tool("crash", json!({})).await.unwrap_err();
    insta::assert_snapshot!(error, @"the server exited (status 3) during the call; whether the call took effect is unknown");
    insta::assert_snapshot!(subject.why_failing().await, @"the server exited (status 3); it said: Fatal error: out of cheese");
    assert_eq!(text_of(&insist(&subject, "echo").await), "{}");
    let calls = log.messages("tools/call");
    let crashes = calls.iter().filter(|message| message["params"]["name"] == "crash").count();
    assert_eq!(crashes, 1, "a call is never sent twice");
}

#[tokio::test]
async fn a_server_that_fails_at_once_is_throttled_and_says_why_without_the_secret() {
    let mut subject = Subject::new(script(&["fail"]));
    let first = subject.until(|state| matches!(state, State::Failing { .. })).await;
    let State::Failing { why, retry_in } = first else { unreachable!() };
    insta::assert_snapshot!(why, @"the server exited (status 4); it said: Error: the token … is not valid");
    let second = subject.until(|state| matches!(state, State::Failing { .. })).await;
    let State::Failing { retry_in: longer, .. } = second else { unreachable!() };
    assert!(longer > retry_in, "{longer:?} after {retry_in:?}");
    let refused = subject.tool("echo", json!({})).await;
    assert!(matches!(refused, Err(CallError::Unavailable { retry_in: Some(_), .. })), "{refused:?}");
}

#[tokio::test]
async fn a_command_that_does_not_exist_says_what_to_do() {
    let mut config = script(&[]);
    if let Transport::Stdio { command, .. } = &mut config.transport {
        *command = "no-such-program".into();
    }
    let mut subject = Subject::new(config.clone());
    insta::assert_snapshot!(subject.why_failing().await, @"`no-such-program` was not found: is the program installed, and is it on Toolfold's PATH?");
    if let Transport::Stdio { cwd, .. } = &mut config.transport {
        *cwd = Some("/no/such/place".into());
    }
    let mut subject = Subject::new(config);
    insta::assert_snapshot!(subject.why_failing().await, @"its working directory /no/such/place does not exist: correct `cwd` or create it");
}

#[tokio::test]
async fn an_idle_server_is_stopped_and_started_again_by_the_next_call() {
    let log = Log::new();
    let mut config = script(&[&log.argument("starts")]);
    config.timeouts.idle = Duration::from_millis(200);
    let mut subject = Subject::new(config);
    let manifest = subject.listed().await;
    subject.until(|state| *state == State::Known).await;
    let first = log.lines("starts").pop().unwrap();
    assert!(!runs(&first));
    let second = text_of(&subject.tool("pid", json!({})).await.unwrap());
    assert_ne!(first, second);
    assert_eq!(subject.upstream.manifest().map(|known| known.era), Some(manifest.era));
    subject.until(|state| *state == State::Known).await;
}

#[tokio::test]
async fn a_subscription_keeps_a_server_running_and_survives_its_crash() {
    let log = Log::new();
    let mut config = script(&[&log.argument("log")]);
    config.timeouts.idle = Duration::from_millis(100);
    let mut subject = Subject::new(config);
    subject.upstream.subscribe("x://1").await.unwrap();
    subject.listed().await;
    subject.tool("crash", json!({})).await.unwrap_err();
    subject.until(|state| *state == State::Ready).await;
    eventually("the second subscription", || (log.messages("resources/subscribe").len() == 2).then_some(())).await;
}

#[tokio::test]
async fn calls_that_arrive_during_the_start_wait_for_it() {
    let subject = Subject::new(script(&[]));
    let calls = (0..20).map(|n| subject.tool("echo", json!({ "n": n })));
    for (n, result) in futures_util::future::join_all(calls).await.into_iter().enumerate() {
        assert_eq!(text_of(&result.unwrap()), format!("{{\"n\": {n}}}"));
    }
}

#[tokio::test]
async fn a_call_does_not_wait_longer_for_the_start_than_its_own_deadline() {
    let subject = Subject::new(script(&["silent"]));
    let mut call = crate::kit::call("tools/call", json!({"name": "echo"}));
    call.timeout = Some(Duration::from_millis(100));
    let outcome = subject.call(call).await;
    assert!(matches!(outcome, Err(CallError::Timeout { .. })), "{outcome:?}");
}
