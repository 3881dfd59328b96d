//! Commands as tools: processes that end when their call does.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use toolfold_config::{ApiSource, HandTool, HandWay, Server, Start, Transport};
use toolfold_core::Secret;
use toolfold_upstream::CallError;

use crate::kit::{Subject, call, config, eventually, names, patiently, runs, text_of};

fn tool(name: &str, words: &[&str], properties: Value) -> HandTool {
    let way = HandWay::Command(words.iter().map(|word| (*word).to_owned()).collect());
    let input = json!({"type": "object", "properties": properties, "additionalProperties": false});
    HandTool { name: name.to_owned(), description: format!("runs {}", words[0]), input, way }
}

fn server(tools: Vec<HandTool>, cwd: Option<&Path>) -> Server {
    let env = BTreeMap::from([("TOKEN".to_owned(), Secret::new("very-secret-token"))]);
    let source = ApiSource { tools, env, cwd: cwd.map(Path::to_owned), ..ApiSource::default() };
    config(Transport::Api(Box::new(source)), Start::Eager)
}

#[tokio::test]
async fn a_command_is_run_without_a_shell() {
    let text = || json!({"text": {"type": "string"}});
    let tools = vec![
        tool("say", &["printf", "%s", "{text}"], text()),
        tool("fail", &["sh", "-c", "echo out; echo very-secret-token >&2; exit 3"], json!({})),
        tool("quiet", &["true"], json!({})),
        tool("missing", &["no-such-program-anywhere"], json!({})),
        tool("read", &["cat"], json!({})),
    ];
    let mut subject = Subject::new(server(tools, None));
    assert_eq!(names(&*subject.listed().await), ["say", "fail", "quiet", "missing", "read"]);
    let said = subject.tool("say", json!({"text": "$(id); `id` $HOME \"'"})).await.unwrap();
    assert_eq!((text_of(&said).as_str(), said.get("isError")), ("$(id); `id` $HOME \"'", None));
    let failed = subject.tool("fail", json!({})).await.unwrap();
    assert_eq!(failed["isError"], true);
    assert_eq!(text_of(&failed), "sh exited (status 3).\n…", "what it says on stderr, without secrets");
    assert_eq!(failed["content"][1]["text"], "out\n");
    assert!(text_of(&subject.tool("quiet", json!({})).await.unwrap()).contains("nothing was printed"));
    assert!(matches!(subject.tool("missing", json!({})).await, Err(CallError::Unavailable { .. })));
    assert!(text_of(&subject.tool("read", json!({})).await.unwrap()).contains("nothing"), "its input is at its end");
    for bad in ["-v", "--version"] {
        let refused = subject.tool("say", json!({ "text": bad })).await.unwrap();
        assert!(text_of(&refused).contains("begins with a dash"), "{refused}");
    }
}

#[tokio::test]
async fn a_command_that_prints_without_end_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo $$ > pid; exec yes";
    let mut subject = Subject::new(server(vec![tool("yes", &["sh", "-c", script], json!({}))], Some(folder.path())));
    subject.listed().await;
    assert!(matches!(subject.tool("yes", json!({})).await, Err(CallError::TooLarge { .. })));
    gone(folder.path()).await;
}

#[tokio::test]
async fn a_command_ends_with_its_call_and_with_its_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo $$ > pid; trap '' TERM; sleep 300 & wait; wait";
    let mut subject = Subject::new(server(vec![tool("wait", &["sh", "-c", script], json!({}))], Some(folder.path())));
    subject.listed().await;
    let params = json!({"name": "wait", "arguments": {}});
    let upstream = subject.upstream.clone();
    let cancelled = tokio::spawn(async move { upstream.request(call("tools/call", params)).await.map(drop) });
    eventually("it runs", || folder.path().join("pid").exists().then_some(())).await;
    cancelled.abort();
    gone(folder.path()).await;
    std::fs::remove_file(folder.path().join("pid")).unwrap();
    let mut short = call("tools/call", json!({"name": "wait", "arguments": {}}));
    short.timeout = Some(Duration::from_millis(500));
    assert!(matches!(subject.call(short).await, Err(CallError::Timeout { .. })));
    gone(folder.path()).await;
}

#[tokio::test]
async fn sixteen_commands_of_a_server_run_at_once_and_the_next_ones_wait() {
    let folder = tempfile::tempdir().unwrap();
    let (gate, begun) = (folder.path().join("gate"), folder.path().join("begun"));
    assert!(Command::new("mkfifo").arg(&gate).status().unwrap().success());
    // Opened by somebody who writes, a pipe lets everybody in.
    let script = "echo begun >> begun; : < gate";
    let mut subject = Subject::new(server(vec![tool("hold", &["sh", "-c", script], json!({}))], Some(folder.path())));
    subject.listed().await;
    let hold = |_| {
        let upstream = subject.upstream.clone();
        let mut call = call("tools/call", json!({"name": "hold", "arguments": {}}));
        call.timeout = Some(Duration::from_secs(300));
        tokio::spawn(async move { upstream.request(call).await.map(drop) })
    };
    let running = || std::fs::read_to_string(&begun).unwrap_or_default().lines().count();
    let mut calls: Vec<_> = (0..16).map(hold).collect();
    eventually("sixteen of them", || (running() == 16).then_some(())).await;
    calls.extend((16..24).map(hold));
    // As long as it takes to start another and see its end, begun after them.
    let mut other = Subject::new(server(vec![tool("other", &["sh", "-c", "echo other"], json!({}))], None));
    other.listed().await;
    assert_eq!(text_of(&other.tool("other", json!({})).await.unwrap()), "other\n");
    assert_eq!(running(), 16);
    let open = std::fs::File::options().read(true).write(true).open(&gate).unwrap();
    for call in calls {
        patiently("its end", call).await.unwrap().unwrap();
    }
    assert_eq!(running(), 24);
    drop(open);
}

/// The process that wrote its number here is no more.
async fn gone(folder: &Path) {
    let number =
        || Some(std::fs::read_to_string(folder.join("pid")).ok()?.trim().to_owned()).filter(|it| !it.is_empty());
    let number = eventually("its number", number).await;
    eventually("its end", || (!runs(&number)).then_some(())).await;
}
