//! A call of an agent: a message to it, and its task until that has come to something.
//!
//! What a reader would get wrong: a message is sent once. What happens afterwards is only asked about, however often, and a
//! question of the agent is put to whoever calls, if they can be asked.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use hyper::http::Method;
use hyper::http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use toolfold_core::beginning;
use toolfold_wire::{Object, Raw, RpcError, has_more_values, raw};

use super::ask::{Asking, Known, Sending};
use super::card::{Binding, Card, Version};
use super::refused;
use super::turn::{Stage, Turn, message};
use crate::apart::apart;
use crate::call::CallError;
use crate::connection::Connection;
use crate::listing::MOST_VALUES;
use crate::question::put_question;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const VERSION: HeaderName = HeaderName::from_static("a2a-version");
/// How long is waited before a task is asked about again: more each time.
const FIRST_LOOK: Duration = Duration::from_millis(100);
const LONGEST_LOOK: Duration = Duration::from_secs(3);
/// Questions of an agent in one call.
const MOST_QUESTIONS: usize = 10;
const FAREWELL: Duration = Duration::from_secs(5);

/// What is asked of an agent.
enum Wanted<'a> {
    Send(Value),
    Look(&'a str),
    Cancel(&'a str),
}

pub(super) async fn call(
    asking: &Asking,
    connection: &Arc<Connection>,
    id: u64,
    card: &Arc<Card>,
    arguments: &Map<String, Value>,
) -> Result<Raw, CallError> {
    let text = |key: &str| arguments.get(key).and_then(Value::as_str).map(str::to_owned);
    let (mut words, mut task, mut context) = (text("message").unwrap_or_default(), text("task_id"), text("context_id"));
    let mut progress = 0_u32;
    for number in 0..=MOST_QUESTIONS {
        let own = format!("toolfold-{}-{id}-{number}-{}", connection.shared.instance, unique());
        let sent = message(card, &own, &words, task.as_deref(), context.as_deref());
        let mut turn = ask(asking, connection, card, Wanted::Send(sent)).await?;
        let mut begun = Begun { connection, card, task: None };
        let mut patience = FIRST_LOOK;
        while turn.stage == Stage::Working {
            let Some(task) = turn.task.clone() else {
                return Ok(refused("The agent is at work on a task without a name."));
            };
            begun.task = Some(task.clone());
            progress += 1;
            tell(connection, id, progress, &turn);
            tokio::time::sleep(patience).await;
            patience = (patience * 2).min(LONGEST_LOOK);
            turn = ask(asking, connection, card, Wanted::Look(&task)).await?;
        }
        begun.task = None;
        if turn.stage != Stage::Asks || number == MOST_QUESTIONS {
            return Ok(outcome(&turn));
        }
        begun.task.clone_from(&turn.task);
        let answer = question(connection, id, &turn).await;
        begun.task = None;
        match answer {
            Some(answer) => (words, task, context) = (answer, turn.task, turn.context),
            None => return Ok(outcome(&turn)),
        }
    }
    Ok(refused("The agent asks without end."))
}

/// Messages are told apart by their ids, which no two of ours share.
fn unique() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// A task that nobody waits for any more is ended, as far as its agent ends one.
struct Begun<'a> {
    connection: &'a Arc<Connection>,
    card: &'a Arc<Card>,
    task: Option<String>,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        let Some(task) = self.task.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (connection, card) = (self.connection.clone(), self.card.clone());
        runtime.spawn(async move {
            let crate::connection::Link::Made(maker) = &connection.link else { return };
            let ending = ask(&maker.asking, &connection, &card, Wanted::Cancel(&task));
            let _ = tokio::time::timeout(FAREWELL, ending).await;
        });
    }
}

async fn ask(
    asking: &Asking,
    connection: &Arc<Connection>,
    card: &Card,
    wanted: Wanted<'_>,
) -> Result<Turn, CallError> {
    let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, JSON)]);
    if card.version == Version::One {
        headers.insert(VERSION, HeaderValue::from_static("1.0"));
    }
    let (method, url, body) = match card.binding {
        Binding::Rpc => (Method::POST, card.url.clone(), rpc(card.version, &wanted).to_string()),
        Binding::Rest => rest(card, &wanted),
    };
    let known = if card.distant { Known::No } else { Known::Yes };
    let limit = connection.shared.config.max_message;
    let body = Bytes::from(body);
    let asked = Sending { method, url: &url, headers, body, known, distant: card.distant, limit };
    let answer = asking.ask(connection, asked).await?;
    let (size, body) = (answer.body.len(), answer.body.clone());
    // Made into a tree, where nobody waits for it, and only where that is not many times as large.
    let read = move || {
        let text = std::str::from_utf8(&body).ok()?;
        if has_more_values(text, MOST_VALUES) { None } else { serde_json::from_str(text).ok() }
    };
    let said: Option<Value> = apart(size, read).await;
    if let Some(error) = said.as_ref().and_then(|said| said.get("error")) {
        let code = error.get("code").and_then(Value::as_i64).unwrap_or(toolfold_wire::code::INTERNAL_ERROR);
        let words = error.get("message").and_then(Value::as_str).unwrap_or_default();
        let error = RpcError::new(code, format!("the agent refused: {}", beginning(words, 1_000)));
        return Err(connection.shared.answered(error));
    }
    if !(200..300).contains(&answer.status) {
        return Err(CallError::unavailable(format!("the agent answered HTTP {}", answer.status)));
    }
    let mut said = said.unwrap_or_default();
    if card.binding == Binding::Rpc {
        said = said.get_mut("result").map(Value::take).unwrap_or_default();
    }
    Turn::read(&said).ok_or_else(|| CallError::unavailable("the agent's answer is neither a task nor a message"))
}

fn rpc(version: Version, wanted: &Wanted<'_>) -> Value {
    let names = match version {
        Version::One => ["SendMessage", "GetTask", "CancelTask"],
        Version::Old => ["message/send", "tasks/get", "tasks/cancel"],
    };
    let (method, params) = match wanted {
        Wanted::Send(message) => (names[0], message.clone()),
        Wanted::Look(task) => (names[1], json!({ "id": task })),
        Wanted::Cancel(task) => (names[2], json!({ "id": task })),
    };
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn rest(card: &Card, wanted: &Wanted<'_>) -> (Method, String, String) {
    let base = card.url.trim_end_matches('/');
    let base =
        if card.version == Version::Old && !base.ends_with("/v1") { format!("{base}/v1") } else { base.to_owned() };
    let coded = |task: &str| url::form_urlencoded::byte_serialize(task.as_bytes()).collect::<String>();
    match wanted {
        Wanted::Send(message) => (Method::POST, format!("{base}/message:send"), message.to_string()),
        Wanted::Look(task) => (Method::GET, format!("{base}/tasks/{}", coded(task)), String::new()),
        Wanted::Cancel(task) => (Method::POST, format!("{base}/tasks/{}:cancel", coded(task)), "{}".to_owned()),
    }
}

fn tell(connection: &Connection, id: u64, progress: u32, turn: &Turn) {
    let Some((owner, token)) = connection.owner_of_token(id) else { return };
    let words = if turn.words.is_empty() { turn.state.clone() } else { format!("{}: {}", turn.state, turn.words) };
    let mut params = Object::new().with("progress", &progress).with("message", &beginning(&words, 500));
    params.set_raw("progressToken", token);
    owner.peer.notify("notifications/progress", Some(params.to_raw()));
}

/// Puts the agent's question to whoever calls; `None` where they cannot be asked or do not answer.
async fn question(connection: &Connection, id: u64, turn: &Turn) -> Option<String> {
    let owner = connection.owner_of(id)?;
    let words = if turn.words.is_empty() { "The agent wants to know more before it goes on." } else { &turn.words };
    let question = json!({
        "message": words,
        "requestedSchema": {
            "type": "object",
            "properties": {"answer": {"type": "string", "title": "Reply", "description": "What the agent is told."}},
            "required": ["answer"],
        },
    });
    owner.thinking.fetch_add(1, Ordering::Relaxed);
    let answer = put_question(&*owner.peer, "elicitation/create", Some(raw(&question))).await;
    owner.thinking.fetch_sub(1, Ordering::Relaxed);
    let answer = Object::parse(&answer.ok()?)?;
    let agreed = answer.string("action").as_deref() == Some("accept");
    answer.object("content").filter(|_| agreed)?.string("answer")
}

fn outcome(turn: &Turn) -> Raw {
    let named =
        |key: &str, value: &Option<String>| value.as_ref().map(|value| format!("{key}: {}", beginning(value, 200)));
    let ids: Vec<String> =
        [named("context_id", &turn.context), named("task_id", &turn.task)].into_iter().flatten().collect();
    let ids = ids.join(", ");
    let mut content = turn.content.clone();
    let mut say = |text: String| content.push(json!({"type": "text", "text": text}));
    match turn.stage {
        Stage::Done | Stage::Working if ids.is_empty() => {}
        Stage::Done | Stage::Working => say(format!("({}; to go on with it, give the context_id)", ids)),
        Stage::Asks => say(format!(
            "The agent wants to know something before it goes on. Reply it by calling it again with a message and {ids}."
        )),
        Stage::WantsLogin => say(format!(
            "The agent wants somebody to log in before it goes on, as it says above. Call it again afterwards with {ids}."
        )),
        Stage::Failed => say(format!("The task was {}.", turn.state)),
    }
    let is_error = matches!(turn.stage, Stage::Failed | Stage::WantsLogin | Stage::Asks);
    let mut result = json!({ "content": content });
    if is_error {
        result["isError"] = json!(true);
    }
    raw(&result)
}
