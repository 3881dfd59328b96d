//! Calls over stdio: what passes through, what is kept apart, and what a bad server costs.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use toolfold_upstream::{CallError, Event};
use toolfold_wire::Silent;

use crate::kit::{Client, Log, Subject, by, call, eventually, names, patiently, runs, script, text_of};

async fn ready(traits: &[&str]) -> Subject {
    let mut subject = Subject::new(script(traits));
    subject.listed().await;
    subject
}

#[tokio::test]
async fn results_and_errors_pass_as_they_came() {
    let subject = ready(&[]).await;
    let result = subject.tool("echo", json!({"n": 12345678901234567890u64})).await.unwrap();
    assert_eq!(result["unknownField"], json!([1, {"x": 1.0}]));
    assert_eq!(result["structuredContent"]["arguments"]["n"], json!(12345678901234567890u64));
    match subject.tool("nothing", json!({})).await {
        Err(CallError::Answered(error)) => {
            assert_eq!((error.code, error.message.as_str()), (-32602, "no tool nothing"));
            assert_eq!(error.data.unwrap().get(), r#"{"hint": "echo"}"#);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(subject.call(call("x/unknown", json!({}))).await.unwrap(), json!({}));
    let odd = subject.tool("odd error", json!({})).await.unwrap_err();
    insta::assert_snapshot!(odd, @"the server's answer is not a valid JSON-RPC response");
}

#[tokio::test]
async fn garbage_on_stdout_is_passed_over() {
    let subject = ready(&["garbage"]).await;
    assert_eq!(text_of(&subject.tool("echo", json!({})).await.unwrap()), "{}");
}

#[tokio::test]
async fn an_answer_that_is_too_large_fails_alone() {
    let subject = ready(&[]).await;
    let (big, small) =
        tokio::join!(subject.tool("big", json!({"size": 3_000_000})), subject.tool("echo", json!({"still": "here"})));
    assert!(matches!(big, Err(CallError::TooLarge { limit: 1_048_576 })), "{big:?}");
    assert_eq!(text_of(&small.unwrap()), r#"{"still": "here"}"#);
    assert_eq!(text_of(&subject.tool("echo", json!({})).await.unwrap()), "{}");
}

#[tokio::test]
async fn pages_are_put_together_and_an_endless_list_ends() {
    let mut subject = Subject::new(script(&["paging"]));
    assert_eq!(names(&*subject.listed().await).len(), 8);
    let mut endless = Subject::new(script(&["paging=endless"]));
    // Its fourth page is its first again; duplicates are left out.
    assert_eq!(names(&*endless.listed().await), ["echo", "crash", "slow"]);
}

#[tokio::test]
async fn fifty_announcements_are_one_listing() {
    let log = Log::new();
    let mut subject = ready(&[&log.argument("log")]).await;
    subject.tool("grow", json!({})).await.unwrap();
    assert_eq!(names(&*subject.listed().await).last().map(String::as_str), Some("grown"));
    assert!(log.messages("tools/list").len() <= 3, "{:?}", log.messages("tools/list"));
    assert_eq!(log.messages("resources/templates/list").len(), 1, "only what changed is listed again");
}

#[tokio::test]
async fn refresh_lists_again() {
    let mut subject = ready(&[]).await;
    subject.upstream.refresh();
    subject.listed().await;
}

#[tokio::test]
async fn progress_comes_back_under_the_callers_own_token() {
    let subject = ready(&[]).await;
    let client = Client::new(json!({}));
    let params = json!({"name": "progress", "_meta": {"progressToken": "mine"}});
    let result = subject.call(by(&client, 1, "tools/call", params)).await.unwrap();
    assert_ne!(text_of(&result), "\"mine\"", "the server sees a token of ours");
    let (method, params) = client.hear().await;
    assert_eq!(method, "notifications/progress");
    assert_eq!(params, json!({"progressToken": "mine", "progress": 1, "note": "kept"}));
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_the_server() {
    let log = Log::new();
    let subject = ready(&[&log.argument("log")]).await;
    let client = Client::new(json!({}));
    let call = by(&client, 1, "tools/call", json!({"name": "slow"}));
    tokio::select! {
        outcome = subject.call(call) => panic!("it is slow: {outcome:?}"),
        heard = client.hear() => {
            assert_eq!(heard.0, "notifications/message", "a log line of the only client's call is its own");
        }
    }
    let cancelled = log.message("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], log.messages("tools/call")[0]["id"]);
}

#[tokio::test]
async fn a_deadline_and_a_dropped_call_are_cancellations_too() {
    let log = Log::new();
    let subject = ready(&[&log.argument("log")]).await;
    let mut late = call("tools/call", json!({"name": "slow"}));
    late.timeout = Some(Duration::from_millis(50));
    let outcome = subject.call(late).await;
    assert!(matches!(outcome, Err(CallError::Timeout { after }) if after.as_millis() == 50), "{outcome:?}");
    log.message("notifications/cancelled").await;
    let client = Client::new(json!({}));
    tokio::select! {
        _ = subject.call(by(&client, 1, "tools/call", json!({"name": "slow"}))) => panic!("slow answers nobody"),
        _ = client.hear() => {}
    }
    eventually("the second cancellation", || (log.messages("notifications/cancelled").len() == 2).then_some(())).await;
    assert_eq!(text_of(&subject.tool("echo", json!({})).await.unwrap()), "{}");
}

#[tokio::test]
async fn a_question_goes_to_the_client_whose_call_is_open() {
    let subject = ready(&[]).await;
    let client = Client::new(json!({"action": "accept", "content": {"colour": "red"}}));
    let result = subject.call(by(&client, 1, "tools/call", json!({"name": "ask"}))).await.unwrap();
    assert_eq!(text_of(&result), r#"{"action": "accept", "content": {"colour": "red"}}"#);
    let asked = client.asked.lock().unwrap().clone();
    assert_eq!(asked, [("elicitation/create".to_owned(), json!({"message": "Colour?", "odd": 1}))]);
}

#[tokio::test]
async fn a_question_that_could_be_for_two_clients_is_put_to_neither() {
    let subject = ready(&[]).await;
    let (one, two) = (Client::new(json!("one")), Client::new(json!("two")));
    let slow = by(&one, 1, "tools/call", json!({"name": "slow"}));
    tokio::select! {
        _ = subject.call(slow) => panic!("slow answers nobody"),
        result = async {
            one.hear().await;
            subject.call(by(&two, 2, "tools/call", json!({"name": "ask"}))).await
        } => {
            let refusal = text_of(&result.unwrap());
            insta::assert_snapshot!(refusal, @r#"{"code": -32603, "message": "Toolfold cannot tell which of its clients elicitation/create is meant for: no call, or calls of several clients, are open. Ask while exactly one call is open."}"#);
        }
    }
    assert!(one.asked.lock().unwrap().is_empty() && two.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn two_calls_of_one_client_are_no_doubt() {
    let subject = ready(&[]).await;
    let client = Client::new(json!({"action": "decline"}));
    tokio::select! {
        _ = subject.call(by(&client, 1, "tools/call", json!({"name": "slow"}))) => panic!("slow answers nobody"),
        result = async {
            client.hear().await;
            subject.call(by(&client, 1, "tools/call", json!({"name": "ask"}))).await
        } => assert_eq!(text_of(&result.unwrap()), r#"{"action": "decline"}"#),
    }
}

#[tokio::test]
async fn the_time_a_person_thinks_is_not_the_servers() {
    let subject = ready(&[]).await;
    let client = Client::new(json!({"after": 2.5}));
    let mut call = by(&client, 1, "tools/call", json!({"name": "ask"}));
    call.timeout = Some(Duration::from_secs(2));
    assert_eq!(text_of(&subject.call(call).await.unwrap()), r#"{"after": 2.5}"#);
}

#[tokio::test]
async fn a_flood_of_questions_is_bounded() {
    let subject = ready(&[]).await;
    let client = Client::new(json!(null));
    let result = subject.call(by(&client, 1, "tools/call", json!({"name": "flood"}))).await.unwrap();
    assert_eq!(text_of(&result), "flooded");
    // All two hundred came before the answer, and none of the first is ever answered.
    eventually("the questions", || (client.asked.lock().unwrap().len() >= 64).then_some(())).await;
    assert_eq!(client.asked.lock().unwrap().len(), 64);
    assert_eq!(text_of(&subject.tool("echo", json!({})).await.unwrap()), "{}");
}

#[tokio::test]
async fn a_client_has_ten_minutes_for_a_question() {
    let subject = ready(&[]).await;
    let client = Client::new(json!(null));
    let mut call = by(&client, 1, "tools/call", json!({"name": "ask"}));
    call.timeout = Some(Duration::from_secs(3600));
    let before = Instant::now();
    let unanswered = async {
        eventually("the question", || (!client.asked.lock().unwrap().is_empty()).then_some(())).await;
        tokio::time::pause();
        let since = Instant::now();
        let told = client.inbox.lock().await.recv().await.unwrap();
        assert_eq!(told.0, "taken back");
        assert!(before.elapsed() >= Duration::from_secs(600), "{:?}", before.elapsed());
        assert!(since.elapsed() < Duration::from_secs(601), "{:?}", since.elapsed());
        // What the server makes of it takes time of its own.
        tokio::time::resume();
    };
    let (result, ()) = tokio::join!(subject.upstream.request(call), unanswered);
    let result = serde_json::from_str(result.unwrap().get()).unwrap();
    assert!(text_of(&result).contains("did not answer elicitation/create in time"), "{result}");
}

#[tokio::test]
async fn a_question_that_is_taken_back_is_no_longer_put() {
    let subject = ready(&[]).await;
    let client = Client::new(json!(null));
    let asked = async {
        while client.asked.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    // One that is taken back before it was put is heard of by nobody.
    let taken_back = async {
        patiently("a question", asked).await;
        subject.call(by(&client, 1, "tools/call", json!({"name": "take back"}))).await
    };
    let asking = subject.call(by(&client, 1, "tools/call", json!({"name": "ask on"})));
    let (asking, taken_back) = tokio::join!(asking, taken_back);
    assert!(asking.is_ok() && taken_back.is_ok(), "{asking:?} {taken_back:?}");
    assert_eq!(client.hear().await.0, "taken back");
}

#[tokio::test]
async fn a_peer_that_answers_nothing_refuses_for_itself() {
    let subject = ready(&[]).await;
    let mut call = call("tools/call", json!({"name": "ask"}));
    call.peer = std::sync::Arc::new(Silent);
    assert!(text_of(&subject.call(call).await.unwrap()).contains("-32601"));
}

#[tokio::test]
async fn subscriptions_and_the_log_level_reach_the_server() {
    let log = Log::new();
    let mut subject = ready(&[&log.argument("log")]).await;
    subject.upstream.set_log_level("warning");
    assert_eq!(log.message("logging/setLevel").await["params"], json!({"level": "warning"}));
    subject.upstream.subscribe("x://1").await.unwrap();
    loop {
        if let Event::Updated { uri, .. } = subject.next().await {
            assert_eq!(uri, "x://1");
            break;
        }
    }
    subject.upstream.unsubscribe("x://1").await.unwrap();
    assert_eq!(log.message("resources/unsubscribe").await["params"], json!({"uri": "x://1"}));
    subject.upstream.notify("notifications/roots/list_changed", None);
    log.message("notifications/roots/list_changed").await;
}

#[tokio::test]
async fn stop_returns_when_a_stubborn_server_and_its_child_are_gone() {
    let log = Log::new();
    let subject = ready(&[&log.argument("stubborn")]).await;
    let pids = log.lines("stubborn")[0].clone();
    patiently("the stop", subject.upstream.stop()).await;
    assert!(pids.split(' ').all(|pid| !runs(pid)), "{pids}");
    let refused = subject.tool("echo", json!({})).await;
    assert!(matches!(refused, Err(CallError::Unavailable { .. })), "{refused:?}");
}

#[tokio::test]
async fn stop_waits_for_a_server_that_is_still_being_greeted() {
    let log = Log::new();
    let subject = Subject::new(script(&["silent", &log.argument("stubborn")]));
    let pids = eventually("the start", || log.lines("stubborn").pop()).await;
    patiently("the stop", subject.upstream.stop()).await;
    assert!(pids.split(' ').all(|pid| !runs(pid)), "{pids}");
}

#[tokio::test]
async fn dropping_the_last_handle_stops_the_server() {
    let log = Log::new();
    let mut subject = ready(&[&log.argument("starts")]).await;
    let pid = log.lines("starts").pop().unwrap();
    assert!(runs(&pid));
    drop(subject.upstream.clone());
    assert_eq!(text_of(&subject.tool("pid", json!({})).await.unwrap()), pid);
    let Subject { upstream, reports } = &mut subject;
    let held = std::mem::replace(
        upstream,
        toolfold_upstream::Upstream::spawn(
            std::sync::Arc::new(script(&["fail"])),
            None,
            tokio::sync::mpsc::unbounded_channel().0,
            &crate::kit::house(),
        ),
    );
    drop(held);
    while patiently("the end of the reports", reports.recv()).await.is_some() {}
    assert!(!runs(&pid));
}
