//! Who hears what a server says: the request it belongs to, or nobody.

use serde_json::{Value, json};
use toolfold_upstream::Event;

use crate::kit::{Client, Subject, by, call, script, text_of};

async fn ready() -> Subject {
    let mut subject = Subject::new(script(&[]));
    subject.listed().await;
    subject
}

fn log(text: &str) -> Value {
    json!({"method": "notifications/message", "params": {"level": "info", "data": text}})
}

fn saying(message: Value, first: bool) -> Value {
    json!({"name": "say", "arguments": {"message": message, "first": first}})
}

/// Everything a client heard until now; the echo has come after it, through the same pipe.
async fn heard(subject: &Subject, client: &Client) -> Vec<String> {
    subject.tool("echo", json!({})).await.unwrap();
    let mut inbox = client.inbox.lock().await;
    std::iter::from_fn(|| inbox.try_recv().ok()).map(|(method, _)| method).collect()
}

#[tokio::test]
async fn a_log_message_during_calls_of_two_clients_reaches_neither() {
    let subject = ready().await;
    let (one, two) = (Client::new(json!({})), Client::new(json!({})));
    tokio::select! {
        _ = subject.call(by(&one, 1, "tools/call", json!({"name": "slow"}))) => panic!("slow answers nobody"),
        said = async {
            assert_eq!(one.hear().await.1["data"], "slow has begun");
            subject.call(by(&two, 2, "tools/call", saying(log("private"), false))).await
        } => assert_eq!(text_of(&said.unwrap()), "said"),
    }
    assert_eq!((heard(&subject, &one).await, heard(&subject, &two).await), (vec![], vec![]));
}

#[tokio::test]
async fn what_is_said_after_a_call_was_given_up_is_not_taken_for_the_next_clients() {
    let subject = ready().await;
    let (one, two) = (Client::new(json!({})), Client::new(json!({})));
    tokio::select! {
        _ = subject.call(by(&one, 1, "tools/call", json!({"name": "slow"}))) => panic!("slow answers nobody"),
        _ = one.hear() => {}
    }
    subject.call(by(&two, 2, "tools/call", saying(log("doubtful"), false))).await.unwrap();
    assert_eq!(heard(&subject, &two).await, Vec::<String>::new());
}

#[tokio::test]
async fn what_belongs_to_no_call_and_to_no_subscription_is_reported_to_nobody() {
    let mut subject = ready().await;
    let updated = json!({"method": "notifications/resources/updated", "params": {"uri": "doc://of-another-server"}});
    for message in [log("nobody's"), json!({"method": "notifications/made-up", "params": {}}), updated] {
        subject.call(call("tools/call", saying(message, true))).await.unwrap();
    }
    subject.upstream.refresh();
    assert!(matches!(subject.next().await, Event::Listed(_)), "the list is the first thing that is reported");
}

#[tokio::test]
async fn a_progress_token_written_with_escapes_is_replaced_like_any_other() {
    let subject = ready().await;
    let client = Client::new(json!({}));
    let mut call = by(&client, 1, "tools/call", json!({}));
    let params = r#"{"name":"progress","\u005fmeta":{"progress\u0054oken":1}}"#;
    call.params = toolfold_wire::Object::parse(&toolfold_wire::raw_of(params).unwrap()).unwrap();
    let token = text_of(&subject.call(call).await.unwrap());
    assert_ne!(token, "1", "the server sees a token of ours");
    assert_eq!(client.hear().await.1["progressToken"], 1);
}

#[tokio::test]
async fn a_question_whose_id_or_method_has_no_end_is_put_to_nobody() {
    let subject = ready().await;
    let client = Client::new(json!({}));
    let question = |id: usize, method: usize| json!({"id": "i".repeat(id - 2), "method": format!("roots/{}", "m".repeat(method - 6)), "params": {}});
    for (id, method) in [(16 * 1024 + 1, 10), (10, 257), (16 * 1024, 256)] {
        let call = by(&client, 1, "tools/call", saying(question(id, method), false));
        assert_eq!(text_of(&subject.call(call).await.unwrap()), "said");
    }
    let asked: Vec<usize> = client.asked.lock().unwrap().iter().map(|(method, _)| method.len()).collect();
    assert_eq!(asked, [256]);
}

#[tokio::test]
async fn a_progress_token_that_is_too_long_to_be_repeated_is_not() {
    let subject = ready().await;
    let client = Client::new(json!({}));
    for (token, heard_of) in [(16 * 1024 - 2, 1), (16 * 1024 - 1, 0)] {
        let params = json!({"name": "progress", "_meta": {"progressToken": "t".repeat(token)}});
        subject.call(by(&client, 1, "tools/call", params)).await.unwrap();
        assert_eq!(heard(&subject, &client).await.len(), heard_of);
    }
}

#[tokio::test]
async fn servers_that_replace_one_another_can_be_told_apart() {
    let (mut first, mut second) = (Subject::new(script(&[])), Subject::new(script(&[])));
    assert_ne!(first.upstream.instance(), second.upstream.instance());
    for subject in [&mut first, &mut second] {
        let report = subject.reports.recv().await.unwrap();
        assert_eq!(report.instance, subject.upstream.instance());
    }
}
