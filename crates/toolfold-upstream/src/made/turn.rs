//! What an agent says, in either version of its protocol, as what is done about it.

use serde_json::{Value, json};
use toolfold_core::beginning;

use super::card::{Binding, Card, Version};

const LONGEST_WORDS: usize = 4_000;

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has it, or is at it.
    Working,
    Done,
    /// It wants to know something first.
    Asks,
    /// It wants somebody to log in first.
    WantsLogin,
    Failed,
}

/// One answer of an agent.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub(super) stage: Stage,
    /// Its own word for it.
    pub(super) state: String,
    pub(super) task: Option<String>,
    pub(super) context: Option<String>,
    /// What it says of how far it is.
    pub(super) words: String,
    pub(super) content: Vec<Value>,
}

impl Turn {
    /// `None` where it is neither a task nor a message.
    pub(super) fn read(said: &Value) -> Option<Turn> {
        // 1.0 says what it is by the name of the member, 0.3 by `kind`.
        let named = |key: &str| said.get(key).filter(|inner| inner.is_object());
        let said = named("task").or_else(|| named("message")).unwrap_or(said);
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let Some(status) = said.get("status").filter(|status| status.is_object()) else {
            let parts = parts(said)?;
            return Some(Turn {
                stage: Stage::Done,
                state: "message".to_owned(),
                task: text(said, "taskId"),
                context: text(said, "contextId"),
                words: words(parts),
                content: parts.iter().filter_map(content).collect(),
            });
        };
        let state = text(status, "state").unwrap_or_default();
        let state = state.trim_start_matches("TASK_STATE_").to_ascii_lowercase().replace('_', "-");
        let stage = match state.as_str() {
            "completed" => Stage::Done,
            "input-required" => Stage::Asks,
            "auth-required" => Stage::WantsLogin,
            "failed" | "rejected" | "canceled" | "cancelled" => Stage::Failed,
            _ => Stage::Working,
        };
        let message = status.get("message").and_then(parts);
        let artifacts = said.get("artifacts").and_then(Value::as_array).into_iter().flatten();
        let mut shown: Vec<Value> = artifacts.filter_map(parts).flatten().filter_map(content).collect();
        shown.extend(message.into_iter().flatten().filter_map(content));
        Some(Turn {
            stage,
            state,
            task: text(said, "id"),
            context: text(said, "contextId"),
            words: message.map(|parts| words(parts)).unwrap_or_default(),
            content: shown,
        })
    }
}

/// What is said to it.
pub(super) fn message(card: &Card, id: &str, text: &str, task: Option<&str>, context: Option<&str>) -> Value {
    let mut message = match (card.version, card.binding) {
        (Version::One, _) => json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]}),
        (Version::Old, Binding::Rpc) => {
            json!({"kind": "message", "messageId": id, "role": "user", "parts": [{"kind": "text", "text": text}]})
        }
        // Over HTTP, 0.3 is spelled as its protocol buffers are, where parts are `content`; some read `parts` all the same.
        (Version::Old, Binding::Rest) => json!({
            "messageId": id, "role": "ROLE_USER", "content": [{"text": text}], "parts": [{"kind": "text", "text": text}]
        }),
    };
    for (key, value) in [("taskId", task), ("contextId", context)] {
        if let Some(value) = value {
            message[key] = json!(value);
        }
    }
    let configuration = match card.version {
        Version::One => json!({"returnImmediately": true}),
        Version::Old => json!({"blocking": false}),
    };
    json!({"message": message, "configuration": configuration})
}

/// Of a message or an artifact.
fn parts(said: &Value) -> Option<&Vec<Value>> {
    said.get("parts").or_else(|| said.get("content"))?.as_array()
}

fn words(parts: &[Value]) -> String {
    let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
    beginning(&texts.join("\n"), LONGEST_WORDS).into_owned()
}

/// A part as a part of a result.
fn content(part: &Value) -> Option<Value> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(words) = text(part, "text") {
        return Some(json!({"type": "text", "text": words}));
    }
    if let Some(data) = part.get("data") {
        return Some(json!({"type": "text", "text": data.to_string()}));
    }
    let file = part.get("file").unwrap_or(part);
    let kind = text(file, "mediaType").or_else(|| text(file, "mimeType"));
    let kind = kind.unwrap_or_else(|| "application/octet-stream".to_owned());
    let name = text(file, "filename").or_else(|| text(file, "name")).unwrap_or_else(|| "file".to_owned());
    if let Some(bytes) = ["raw", "bytes", "fileWithBytes"].iter().find_map(|key| text(file, key)) {
        return Some(match kind.split('/').next() {
            Some("image") => json!({"type": "image", "data": bytes, "mimeType": kind}),
            Some("audio") => json!({"type": "audio", "data": bytes, "mimeType": kind}),
            _ => {
                json!({"type": "resource", "resource": {"uri": format!("a2a:{name}"), "mimeType": kind, "blob": bytes}})
            }
        });
    }
    let uri = ["url", "uri", "fileWithUri"].iter().find_map(|key| text(file, key))?;
    Some(json!({"type": "resource_link", "uri": uri, "name": name, "mimeType": kind}))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Map;

    use super::*;

    #[test]
    fn both_versions_are_read_alike() {
        let one = json!({"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_INPUT_REQUIRED",
            "message": {"parts": [{"text": "which?"}]}}, "artifacts": [{"parts": [{"data": {"a": 1}}]}]}});
        let old = json!({"kind": "task", "id": "t", "contextId": "c", "status": {"state": "input-required",
            "message": {"parts": [{"kind": "text", "text": "which?"}]}}, "artifacts": [{"parts": [{"kind": "data", "data": {"a": 1}}]}]});
        for said in [one, old] {
            let turn = Turn::read(&said).unwrap();
            assert_eq!((turn.stage, turn.task.as_deref(), turn.words.as_str()), (Stage::Asks, Some("t"), "which?"));
            assert_eq!(
                turn.content,
                [json!({"type": "text", "text": "{\"a\":1}"}), json!({"type": "text", "text": "which?"})]
            );
        }
        let message = Turn::read(&json!({"message": {"parts": [{"raw": "AQ==", "mediaType": "image/png"}]}})).unwrap();
        assert_eq!((message.stage, message.content[0]["type"].as_str()), (Stage::Done, Some("image")));
        let over_http = json!({"message": {"role": "ROLE_AGENT", "content": [{"file": {"fileWithBytes": "AQ==", "mimeType": "image/png"}}]}});
        assert_eq!(Turn::read(&over_http).unwrap().content, message.content, "0.3 as its protocol buffers spell it");
        assert!(Turn::read(&json!({"odd": 1})).is_none());
    }

    fn text() -> impl Strategy<Value = String> {
        let likely = [
            "TASK_STATE_WORKING",
            "completed",
            "input-required",
            "TASK_STATE_AUTH_REQUIRED",
            "failed",
            "canceled",
            "task",
            "message",
            "image/png",
            "audio/x",
            "text",
            "AQ==",
            "https://a.example/x",
            "\u{202e}\n",
        ];
        prop_oneof![
            6 => prop::sample::select(likely.to_vec()).prop_map(str::to_owned),
            1 => any::<String>(),
            1 => ("[a_É\n]", 1..6_000_usize).prop_map(|(text, times)| text.repeat(times)),
        ]
    }

    fn said() -> impl Strategy<Value = Value> {
        const KEYS: [&str; 24] = [
            "task",
            "message",
            "status",
            "state",
            "parts",
            "content",
            "artifacts",
            "text",
            "data",
            "file",
            "raw",
            "bytes",
            "fileWithBytes",
            "url",
            "uri",
            "fileWithUri",
            "mediaType",
            "mimeType",
            "filename",
            "name",
            "id",
            "taskId",
            "contextId",
            "kind",
        ];
        let leaf = prop_oneof![6 => text().prop_map(Value::from), 1 => any::<f64>().prop_map(Value::from), 1 => Just(Value::Null)];
        leaf.prop_recursive(6, 40, 5, |inner| {
            let members = prop::collection::vec((prop::sample::select(KEYS.to_vec()), inner.clone()), 0..6);
            prop_oneof![
                3 => members.prop_map(|some| some.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into()),
                1 => prop::collection::vec(inner, 0..4).prop_map(Value::from),
            ]
        })
    }

    /// A task or a message with parts of any kind.
    fn likely() -> impl Strategy<Value = Value> {
        let parts = || prop::collection::vec(said(), 0..4);
        (text(), parts(), parts(), 0..4_u8).prop_map(|(state, parts, others, kind)| {
            let message = json!({"parts": parts});
            match kind {
                0 => json!({"message": message}),
                1 => json!({"kind": "message", "content": others, "taskId": state}),
                2 => json!({"task": {"id": "t", "status": {"state": state, "message": message}, "artifacts": others}}),
                _ => {
                    json!({"id": "t", "status": {"state": state, "message": message}, "artifacts": [{"parts": others}]})
                }
            }
        })
    }

    proptest! {
        #[test]
        fn any_answer_is_a_turn_or_none(said in prop_oneof![1 => said(), 2 => likely()]) {
            let length = said.to_string().len();
            if let Some(turn) = Turn::read(&said) {
                prop_assert!(turn.words.chars().count() <= LONGEST_WORDS + 1);
                prop_assert!(turn.state.len() <= length);
                let shown: usize = turn.content.iter().map(|part| part.to_string().len()).sum();
                // What it says, with a name for each part, and as JSON in a text.
                prop_assert!(shown <= 8 * length + 100, "{} of {}", shown, length);
                for part in &turn.content {
                    let whole: &[&str] = match part["type"].as_str().unwrap() {
                        "text" => &["/text"],
                        "image" | "audio" => &["/data", "/mimeType"],
                        "resource" => &["/resource/uri", "/resource/mimeType", "/resource/blob"],
                        "resource_link" => &["/uri", "/name", "/mimeType"],
                        other => return Err(TestCaseError::fail(other.to_owned())),
                    };
                    prop_assert!(whole.iter().all(|place| part.pointer(place).is_some_and(Value::is_string)), "{}", part);
                }
            } else {
                let inner = ["task", "message"].iter().any(|key| said[*key].is_object());
                prop_assert!(inner || !said["status"].is_object(), "{}", said);
            }
        }
    }
}
