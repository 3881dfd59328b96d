//! Calls that need the client's input in the stateless era: what they ask, and what they make of the answers.
//!
//! The state a client carries back is signed with a key of this process; a changed one is refused.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use rmcp::ErrorData;
use rmcp::model::{ClientCapabilities, InputRequiredResult, InputResponses};
use serde_json::{Value, json};

static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);

pub(crate) enum Round {
    Ask(InputRequiredResult),
    Done(String),
}

/// One round of a call, or `None` where the name is not one of these calls.
pub(crate) fn play(
    name: &str,
    responses: Option<&InputResponses>,
    state: Option<&str>,
    capabilities: &ClientCapabilities,
) -> Result<Option<Round>, ErrorData> {
    let round = match name {
        "test_input_required_result_elicitation" | "test_streaming_elicitation" => {
            once(json!({"user_name": elicit("What is your name?", "name", "string")}), responses)?
        }
        "test_input_required_result_sampling" => {
            once(json!({"capital_question": sample("What is the capital of France?")}), responses)?
        }
        "test_input_required_result_list_roots" => {
            once(json!({"client_roots": {"method": "roots/list", "params": {}}}), responses)?
        }
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            with_state(name, json!({"confirm": elicit("Please confirm", "ok", "boolean")}), responses, state)?
        }
        "test_input_required_result_multiple_inputs" => {
            let requests = json!({
                "user_name": elicit("What is your name?", "name", "string"),
                "greeting": sample("Generate a greeting"),
                "client_roots": {"method": "roots/list", "params": {}},
            });
            with_state(name, requests, responses, state)?
        }
        "test_input_required_result_multi_round" => multi_round(responses, state)?,
        "test_input_required_result_capabilities" => once(for_capabilities(capabilities), responses)?,
        "test_input_required_result_prompt" => once(
            json!({"user_context": elicit("What context should the prompt use?", "context", "string")}),
            responses,
        )?,
        _ => return Ok(None),
    };
    Ok(Some(round))
}

fn once(requests: Value, responses: Option<&InputResponses>) -> Result<Round, ErrorData> {
    match answered(&requests, responses) {
        Some(answers) => Ok(Round::Done(format!("Got {answers}"))),
        None => ask(requests, None),
    }
}

fn with_state(
    name: &str,
    requests: Value,
    responses: Option<&InputResponses>,
    state: Option<&str>,
) -> Result<Round, ErrorData> {
    if state.is_some_and(|state| state != sign(name, 1)) {
        return Err(refused());
    }
    match answered(&requests, responses) {
        Some(answers) if state.is_some() => Ok(Round::Done(format!("state-ok: {answers}"))),
        _ => ask(requests, Some(sign(name, 1))),
    }
}

fn multi_round(responses: Option<&InputResponses>, state: Option<&str>) -> Result<Round, ErrorData> {
    let name = "test_input_required_result_multi_round";
    let first = json!({"step1": elicit("Step 1: What is your name?", "name", "string")});
    let second = json!({"step2": elicit("Step 2: What is your favorite color?", "color", "string")});
    match state {
        None => ask(first, Some(sign(name, 1))),
        Some(state) if state == sign(name, 1) => match answered(&first, responses) {
            Some(_) => ask(second, Some(sign(name, 2))),
            None => ask(first, Some(sign(name, 1))),
        },
        Some(state) if state == sign(name, 2) => match answered(&second, responses) {
            Some(answers) => Ok(Round::Done(format!("Both steps are done: {answers}"))),
            None => ask(second, Some(sign(name, 2))),
        },
        Some(_) => Err(refused()),
    }
}

fn for_capabilities(capabilities: &ClientCapabilities) -> Value {
    let mut requests = json!({});
    let declared = serde_json::to_value(capabilities).unwrap_or_default();
    if declared.get("sampling").is_some() {
        requests["greeting"] = sample("Generate a greeting");
    }
    if declared.get("elicitation").is_some() {
        requests["user_name"] = elicit("What is your name?", "name", "string");
    }
    if declared.get("roots").is_some() {
        requests["client_roots"] = json!({"method": "roots/list", "params": {}});
    }
    requests
}

/// The answers to all the requests, if all are there and are objects.
fn answered(requests: &Value, responses: Option<&InputResponses>) -> Option<Value> {
    let requests = requests.as_object().filter(|requests| !requests.is_empty())?;
    let answers =
        requests.keys().map(|key| Some((key.clone(), responses?.get(key).filter(|a| a.is_object())?.clone())));
    answers.collect::<Option<serde_json::Map<_, _>>>().map(Value::Object)
}

fn ask(requests: Value, state: Option<String>) -> Result<Round, ErrorData> {
    let mut result = json!({"resultType": "input_required", "inputRequests": requests});
    if let Some(state) = state {
        result["requestState"] = state.into();
    }
    let result = serde_json::from_value(result);
    result.map(Round::Ask).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn sign(name: &str, round: u8) -> String {
    format!("{round}.{:016x}", KEY.hash_one((name, round)))
}

fn refused() -> ErrorData {
    ErrorData::invalid_params("requestState was changed on its way", None)
}

fn elicit(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    json!({"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}})
}

fn sample(question: &str) -> Value {
    let message = json!({"role": "user", "content": {"type": "text", "text": question}});
    json!({"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 100}})
}
