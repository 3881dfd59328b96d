//! JSON-RPC envelopes. A reader would expect typed parameters and results here: there are none, on purpose.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

/// JSON as it came, or as it will be sent.
pub type Raw = Box<RawValue>;

/// Any serialisable value as raw JSON. `null` for what cannot be written as JSON (a map with odd keys).
pub fn raw<T: Serialize + ?Sized>(value: &T) -> Raw {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Text that is already JSON as raw JSON; an error where it is not.
pub fn raw_of(text: &str) -> Result<Raw, serde_json::Error> {
    RawValue::from_string(text.to_owned())
}

/// A request's id, kept as the JSON text it came as: `1` and `"1"` are different ids, and both are echoed exactly.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(String);

impl Id {
    pub fn number(n: u64) -> Self {
        Id(n.to_string())
    }

    pub fn text(text: &str) -> Self {
        Id(serde_json::Value::from(text).to_string())
    }

    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// The number this id is, if it is one of ours.
    pub fn as_number(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    pub fn as_raw(&self) -> &RawValue {
        serde_json::from_str(&self.0).unwrap_or(RawValue::NULL)
    }

    pub fn to_raw(&self) -> Raw {
        self.as_raw().to_owned()
    }

    /// Strings and numbers are ids; anything else is not.
    pub fn from_raw(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        let first = text.as_bytes().first()?;
        (*first == b'"' || *first == b'-' || first.is_ascii_digit()).then(|| Id(text.to_owned()))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The error member of a response.
#[derive(Debug, Clone, Serialize, Deserialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Raw>,
}

impl RpcError {
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        RpcError { code, message: message.into(), data: None }
    }

    pub fn with_data<T: Serialize + ?Sized>(mut self, data: &T) -> Self {
        self.data = Some(raw(data));
        self
    }

    pub fn method_not_found(method: &str) -> Self {
        RpcError::new(crate::code::METHOD_NOT_FOUND, format!("Method not found: {method}"))
    }

    pub fn invalid_params(message: impl Into<String>) -> Self {
        RpcError::new(crate::code::INVALID_PARAMS, message)
    }

    pub fn internal(message: impl Into<String>) -> Self {
        RpcError::new(crate::code::INTERNAL_ERROR, message)
    }
}

/// One JSON-RPC message.
#[derive(Debug, Clone)]
pub enum Message {
    Request { id: Id, method: String, params: Option<Raw> },
    Notification { method: String, params: Option<Raw> },
    Response { id: Id, outcome: Result<Raw, RpcError> },
}

/// What arrived is not a message. Carries the id when one could be read, so that the sender gets its answer.
#[derive(Debug, thiserror::Error)]
#[error("{}", error.message)]
pub struct BadMessage {
    pub id: Option<Id>,
    pub error: RpcError,
}

impl BadMessage {
    /// The answer to it, as a line. What had no readable id is answered with `null`, as JSON-RPC wants it.
    pub fn to_line(&self) -> String {
        let id = self.id.as_ref().map_or("null", Id::as_json);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, raw(&self.error))
    }
}

#[derive(Deserialize)]
struct Incoming<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default, borrow, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<RpcError>,
}

/// A member that is there, `null` included: `"result": null` is an answer, and `"id": null` is no notification.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

#[derive(Serialize)]
struct Outgoing<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a RpcError>,
}

impl Message {
    pub fn request(id: Id, method: impl Into<String>, params: Option<Raw>) -> Self {
        Message::Request { id, method: method.into(), params }
    }

    pub fn notification(method: impl Into<String>, params: Option<Raw>) -> Self {
        Message::Notification { method: method.into(), params }
    }

    pub fn response(id: Id, outcome: Result<Raw, RpcError>) -> Self {
        Message::Response { id, outcome }
    }

    /// Reads one message. An array is not one: see [`Message::parse_all`].
    pub fn parse(bytes: &[u8]) -> Result<Message, BadMessage> {
        let incoming: Incoming<'_> = serde_json::from_slice(bytes).map_err(|error| bad_json(bytes, &error))?;
        let raw_id = incoming.id;
        let id = raw_id.and_then(Id::from_raw);
        let own = |value: &RawValue| value.to_owned();
        match (incoming.method, id, incoming.result, incoming.error) {
            (Some(method), Some(id), _, _) => Ok(Message::Request { id, method, params: incoming.params.map(own) }),
            (Some(method), None, _, _) if raw_id.is_none() => {
                Ok(Message::Notification { method, params: incoming.params.map(own) })
            }
            (None, Some(id), _, Some(error)) => Ok(Message::Response { id, outcome: Err(error) }),
            (None, Some(id), Some(result), None) => Ok(Message::Response { id, outcome: Ok(own(result)) }),
            (_, id, _, _) => Err(BadMessage { id, error: invalid_request() }),
        }
    }

    /// Reads one message or, as protocol 2025-03-26 allowed, an array of them.
    pub fn parse_all(bytes: &[u8]) -> Vec<Result<Message, BadMessage>> {
        if bytes.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'[') {
            return vec![Message::parse(bytes)];
        }
        match serde_json::from_slice::<Vec<&RawValue>>(bytes) {
            Ok(items) if items.is_empty() => vec![Err(BadMessage { id: None, error: invalid_request() })],
            Ok(items) => items.iter().map(|item| Message::parse(item.get().as_bytes())).collect(),
            Err(error) => vec![Err(bad_json(bytes, &error))],
        }
    }

    /// The message as one line of JSON, without the newline. A payload that came over several lines is folded into
    /// one: a newline between two JSON tokens means nothing, and inside a string it can only stand escaped.
    pub fn to_line(&self) -> String {
        let outgoing = match self {
            Message::Request { id, method, params } => {
                Outgoing { id: Some(id.as_raw()), method: Some(method), params: params.as_deref(), ..Outgoing::EMPTY }
            }
            Message::Notification { method, params } => {
                Outgoing { method: Some(method), params: params.as_deref(), ..Outgoing::EMPTY }
            }
            Message::Response { id, outcome } => Outgoing {
                id: Some(id.as_raw()),
                result: outcome.as_ref().ok().map(|raw| &**raw),
                error: outcome.as_ref().err(),
                ..Outgoing::EMPTY
            },
        };
        let mut line = serde_json::to_string(&outgoing).unwrap_or_default();
        if [b'\n', b'\r'].iter().any(|end| line.as_bytes().contains(end)) {
            line = line.replace(['\n', '\r'], " ");
        }
        line
    }
}

impl Outgoing<'_> {
    const EMPTY: Self = Outgoing { jsonrpc: "2.0", id: None, method: None, params: None, result: None, error: None };
}

fn invalid_request() -> RpcError {
    RpcError::new(crate::code::INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message")
}

/// JSON of the wrong shape is an invalid request; what is no JSON at all is a parse error.
fn bad_json(bytes: &[u8], error: &serde_json::Error) -> BadMessage {
    let error = match serde_json::from_slice::<serde::de::IgnoredAny>(bytes) {
        Ok(_) => invalid_request(),
        Err(_) => RpcError::new(crate::code::PARSE_ERROR, format!("Parse error: {error}")),
    };
    BadMessage { id: None, error }
}
