//! Agents of the official A2A SDK behind Toolfold: found by their cards and called, in every version and over every binding
//! that is spoken here.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use toolfold_test::{StdioClient, plain_http};

use crate::peers;
use crate::world::World;

/// Where its cards are, each another way of speaking to the same agent.
const WAYS: [&str; 4] = ["rpc", "rest", "old-rpc", "old-rest"];

struct Scene {
    agent: Child,
    url: String,
    world: World,
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.agent.kill();
        let _ = self.agent.wait();
    }
}

impl Scene {
    fn new() -> Scene {
        let mut command = Command::new(peers::venv("python"));
        command.arg(peers::script("agent.py")).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut agent = command.spawn().unwrap();
        let mut port = String::new();
        BufReader::new(agent.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let url = format!("http://127.0.0.1:{}", port.trim());
        let world = World::without_config();
        // They are all alike, and the second of two that are would be held for a look.
        let sections = WAYS.map(|way| {
            format!("[agents.{way}]\ncard = \"{url}/{way}/.well-known/agent-card.json\"\ntrust = \"always\"\n")
        });
        fs::write(world.path("toolfold.toml"), sections.concat()).unwrap();
        Scene { agent, url, world }
    }

    async fn client(&self) -> StdioClient {
        let store = self.world.path("store.db").display().to_string();
        let config = self.world.path("toolfold.toml").display().to_string();
        let variables = [("TOOLFOLD_STORE", store.as_str()), ("TOOLFOLD_CONFIG", config.as_str())];
        let client = StdioClient::start(env!("CARGO_BIN_EXE_toolfold"), &["serve", "--stdio"], &variables)
            .with_capabilities(json!({"elicitation": {}}));
        client.initialize("2025-11-25").await;
        client
    }
}

fn asking(way: &str, message: &str) -> Value {
    json!({"name": "call_tool", "arguments": {"tool": format!("{way}.ask"), "arguments": {"message": message}}})
}

/// The texts of a result, and whether it is an error.
fn said(result: &Value) -> (String, bool) {
    let texts: Vec<&str> =
        result["content"].as_array().unwrap().iter().filter_map(|item| item["text"].as_str()).collect();
    (texts.join("\n"), result["isError"] == true)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_of_the_sdk_is_found_and_answers_however_it_is_spoken_to() {
    let scene = Scene::new();
    let client = scene.client().await;
    let query = json!({"name": "find_tools", "arguments": {"query": "plan a journey by train", "kind": "agent"}});
    let (found, _) = said(&client.request("tools/call", query).await);
    assert!(WAYS.iter().any(|way| found.contains(&format!("{way}.ask"))), "{found}");
    for way in WAYS {
        let (message, wrong) = said(&client.request("tools/call", asking(way, "echo hello")).await);
        assert!(!wrong && message.starts_with("you said hello\n(context_id: "), "{way}: {message}");
        let (task, wrong) = said(&client.request("tools/call", asking(way, "work Rome")).await);
        assert!(!wrong && task.starts_with("a plan for Rome\n"), "{way}: {task}");
        assert!(task.contains("\"stops\":3") && task.contains("have a good journey"), "{way}: {task}");
        let (failed, wrong) = said(&client.request("tools/call", asking(way, "fail")).await);
        assert!(wrong && failed.contains("there is no road"), "{way}: {failed}");
        let refused = match client.try_request("tools/call", asking(way, "refuse")).await {
            Ok(result) => result.get().to_owned(),
            Err(error) => error.message,
        };
        assert!(refused.contains("not on a Sunday"), "{way}: {refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_an_agent_of_the_sdk_is_put_and_answered() {
    let scene = Scene::new();
    let client = scene.client().await;
    for way in WAYS {
        let asked = client.request("tools/call", asking(way, "ask"));
        let answered = async {
            let question = client.next_request().await;
            assert_eq!(question.params["message"], "first or second class?", "{way}");
            client.answer(&question, json!({"action": "accept", "content": {"answer": "second class"}})).await;
        };
        let (result, ()) = tokio::join!(asked, answered);
        let (ticket, wrong) = said(&result);
        assert!(!wrong && ticket.contains("a ticket second class"), "{way}: {ticket}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cancelled_cancels_the_task() {
    let scene = Scene::new();
    let client = scene.client().await;
    for (done, way) in WAYS.into_iter().enumerate() {
        let mut params = asking(way, "wait");
        params["_meta"] = json!({"progressToken": way});
        let id = client.begin("tools/call", params).await;
        // Of the one before there may be some left.
        while client.next_notification("notifications/progress").await["progressToken"] != way {}
        client.cancel(&id).await;
        let mut canceled = 0;
        while canceled <= done {
            let answer = plain_http().get(format!("{}/canceled", scene.url)).send().await.unwrap();
            canceled = serde_json::from_str::<Vec<String>>(&answer.text().await.unwrap()).unwrap().len();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(canceled, done + 1, "{way}");
    }
}
