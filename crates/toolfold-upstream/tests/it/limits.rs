//! What a server can make Toolfold hold: so many bytes, and no more.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use toolfold_upstream::CallError;
use toolfold_wire::Memory;

use crate::kit::{Log, Subject, call, eventually, names, script, text_of};

const MEGABYTE: usize = 1 << 20;

fn large_call(deadline: Duration) -> toolfold_upstream::Call {
    let arguments = json!({"text": "x".repeat(MEGABYTE)});
    let mut call = call("tools/call", json!({"name": "echo", "arguments": arguments}));
    call.timeout = Some(deadline);
    call
}

#[tokio::test]
async fn a_server_that_does_not_read_costs_the_newest_call_an_error_and_nobody_memory() {
    let memory = Memory::new(4 * MEGABYTE);
    let mut subject = Subject::within(script(&[]), &memory);
    subject.listed().await;
    subject.tool("deaf", json!({})).await.unwrap();
    let calls = (0..8).map(|_| subject.call(large_call(Duration::from_millis(500))));
    let outcomes = futures_util::future::join_all(calls).await;
    let refused = outcomes.iter().filter(|outcome| matches!(outcome, Err(CallError::Unavailable { .. }))).count();
    let late = outcomes.iter().filter(|outcome| matches!(outcome, Err(CallError::Timeout { .. }))).count();
    assert_eq!((late, refused), (3, 5), "{outcomes:?}");
    insta::assert_snapshot!(outcomes[7].as_ref().unwrap_err(), @"the server does not read what it is sent, and more cannot be kept for it");
    assert!(memory.used() < 2 * MEGABYTE, "what nobody waits for any more is not kept: {}", memory.used());
    drop(subject);
}

#[tokio::test]
async fn a_server_that_does_not_read_is_given_up_after_two_deadlines_of_a_call_and_at_least_a_minute() {
    for (deadline, patience) in [(10, 60), (30, 60), (45, 90)] {
        let mut config = script(&[]);
        config.timeouts.call = Duration::from_secs(deadline);
        let mut subject = Subject::new(config);
        subject.listed().await;
        subject.tool("deaf", json!({})).await.unwrap();
        tokio::time::pause();
        let begun = Instant::now();
        let outcome = subject.upstream.request(large_call(Duration::from_secs(3600))).await;
        let (took, patience) = (begun.elapsed(), Duration::from_secs(patience));
        tokio::time::resume();
        let why = outcome.unwrap_err().to_string();
        assert!(why.contains("no longer reads its input"), "{why}");
        assert!((patience..patience + Duration::from_secs(1)).contains(&took), "{deadline}: {took:?}");
    }
}

#[tokio::test]
async fn an_answer_is_counted_for_as_long_as_it_is_kept() {
    let memory = Memory::new(64 * MEGABYTE);
    let mut subject = Subject::within(script(&[]), &memory);
    subject.listed().await;
    let call = call("tools/call", json!({"name": "big", "arguments": {"size": 900_000}}));
    let answer = subject.upstream.request(call).await.unwrap();
    assert!(memory.used() >= 900_000, "{}", memory.used());
    drop(answer);
    eventually("its share", || (memory.used() == 0).then_some(())).await;
}

#[tokio::test]
async fn an_answer_for_which_there_is_no_memory_fails_alone() {
    let memory = Memory::new(MEGABYTE / 2);
    let mut subject = Subject::within(script(&[]), &memory);
    subject.listed().await;
    let error = subject.tool("big", json!({"size": 900_000})).await.unwrap_err();
    insta::assert_snapshot!(error, @"the server has sent more at once than there is memory for");
    assert_eq!(text_of(&subject.tool("echo", json!({})).await.unwrap()), "{}");
}

#[tokio::test]
async fn a_batch_of_many_is_no_message() {
    let mut subject = Subject::new(script(&[]));
    subject.listed().await;
    assert_eq!(text_of(&subject.tool("batch", json!({})).await.unwrap()), "sent");
}

#[tokio::test]
async fn a_list_has_an_end() {
    let mut config = script(&["many=25001"]);
    config.max_message = 8 * MEGABYTE;
    let mut subject = Subject::new(config);
    let manifest = subject.listed().await;
    let names: Vec<String> = names(&manifest);
    assert_eq!((names.len(), names.last().map(String::as_str)), (25_000, Some("t24999")));
}

#[tokio::test]
async fn cursors_are_counted_with_the_list_they_belong_to() {
    let log = Log::new();
    let mut config = script(&["cursors=100000", &log.argument("log")]);
    config.max_message = MEGABYTE;
    let mut subject = Subject::new(config);
    assert!(subject.listed().await.tools.is_empty());
    assert_eq!(log.messages("tools/list").len(), 11, "a megabyte of them, and not a thousand");
}

#[tokio::test]
async fn an_entry_of_a_list_has_200000_values() {
    // Those of the enumeration, and four of what is around it.
    let mut config = script(&["values=3,199996,199997"]);
    config.max_message = 8 * MEGABYTE;
    let mut subject = Subject::new(config);
    assert_eq!(names(&*subject.listed().await), ["v3", "v199996"]);
}

#[tokio::test]
async fn why_a_server_failed_has_2000_characters() {
    let mut subject = Subject::new(script(&["version=9", "versions=1000000"]));
    let why = subject.why_failing().await;
    assert!(why.contains("999…") && why.chars().count() <= 2_000, "{}", why.len());
}

#[tokio::test]
async fn a_list_that_did_not_change_is_the_same_list() {
    let mut subject = Subject::new(script(&[]));
    let first = subject.listed().await;
    subject.upstream.refresh();
    assert!(std::sync::Arc::ptr_eq(&first, &subject.listed().await));
    let result: Value = subject.tool("echo", json!({})).await.unwrap();
    assert_eq!(text_of(&result), "{}");
}

#[tokio::test]
async fn a_server_has_1024_calls_open_and_the_next_one_is_told_so() {
    let mut subject = Subject::new(script(&[]));
    subject.listed().await;
    let hang = || {
        let mut call = call("tools/call", json!({"name": "slow", "arguments": {}}));
        call.timeout = Some(Duration::from_secs(60));
        call
    };
    let mut open: Vec<_> = (0..1024).map(|_| Box::pin(subject.call(hang()))).collect();
    for call in &mut open {
        assert!(futures_util::poll!(call.as_mut()).is_pending());
    }
    let error = subject.call(hang()).await.unwrap_err();
    assert!(error.to_string().contains("1024 calls open"), "{error}");
}
