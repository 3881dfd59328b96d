//! JSON-RPC envelopes. A reader would expect typed parameters and results here: there are none, on purpose.

use std::fmt;

use bytes::Bytes;
use bytestring::ByteString;
use serde::de::{Deserializer as _, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::object::{Object, write_text};
use crate::raw::{Raw, raw, text_of};

/// Messages that one array may hold, and levels that JSON may be nested: more than any honest peer sends, few enough
/// that thirty megabytes of brackets cost no more than to be read once.
pub const MOST_BATCHED: usize = 100;
pub const DEEPEST: usize = 128;
/// No method of anybody is longer, and no id or token of a sane peer. Both are repeated and kept apart from their message.
pub const LONGEST_METHOD: usize = 256;
pub const LONGEST_ID: usize = 16 * 1024;

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

    pub fn to_raw(&self) -> Raw {
        Raw::made(self.0.clone())
    }

    /// Strings and numbers are ids; anything else is not.
    pub fn from_raw(raw: &Raw) -> Option<Self> {
        Id::from_json(raw.get())
    }

    /// A number that no computer has is none: echoed, it would make of the answer something that many cannot read.
    fn from_json(text: &str) -> Option<Self> {
        let is_number = || text.parse().is_ok_and(f64::is_finite);
        let first = *text.as_bytes().first()?;
        let is_one = first == b'"' || ((first == b'-' || first.is_ascii_digit()) && is_number());
        is_one.then(|| Id(text.to_owned()))
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

    /// Reads one message. An array is not one: see [`Message::parse_all`]. Its payload is a slice of these bytes.
    pub fn parse(bytes: impl Into<Bytes>) -> Result<Message, BadMessage> {
        let whole = text_of(bytes.into()).map_err(|error| no_json(&error))?;
        if too_deep(whole.as_bytes()) {
            return Err(refused(format!("Invalid request: nested deeper than {DEEPEST} levels")));
        }
        Message::read(&whole, &whole)
    }

    /// Reads one message or, as protocol 2025-03-26 allowed, an array of them.
    pub fn parse_all(bytes: impl Into<Bytes>) -> Vec<Result<Message, BadMessage>> {
        let bytes = bytes.into();
        if bytes.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'[') {
            return vec![Message::parse(bytes)];
        }
        Message::parse_batch(bytes).unwrap_or_else(|bad| vec![Err(bad)])
    }

    fn parse_batch(bytes: Bytes) -> Result<Vec<Result<Message, BadMessage>>, BadMessage> {
        let whole = text_of(bytes).map_err(|error| no_json(&error))?;
        if too_deep(whole.as_bytes()) {
            return Err(refused(format!("Invalid request: nested deeper than {DEEPEST} levels")));
        }
        let mut reader = serde_json::Deserializer::from_str(&whole);
        let items = reader.deserialize_seq(Batch).map_err(|error| bad_json(&whole, &error))?;
        let Some(items) = items else {
            return Err(refused(format!("Invalid request: a batch may have at most {MOST_BATCHED} messages")));
        };
        reader.end().map_err(|error| no_json(&error))?;
        if items.is_empty() {
            return Err(BadMessage { id: None, error: invalid_request() });
        }
        Ok(items.into_iter().map(|item| Message::read(&whole, item.get())).collect())
    }

    /// Reads a message out of a part of the whole.
    fn read(whole: &ByteString, json: &str) -> Result<Message, BadMessage> {
        let incoming: Incoming<'_> = serde_json::from_str(json).map_err(|error| bad_json(json, &error))?;
        let raw_id = incoming.id;
        let id = raw_id.and_then(|raw| Id::from_json(raw.get()));
        let part = |value: &RawValue| Raw::part(whole, value);
        match (incoming.method, id, incoming.result, incoming.error) {
            (Some(method), Some(id), _, _) => Ok(Message::Request { id, method, params: incoming.params.map(part) }),
            (Some(method), None, _, _) if raw_id.is_none() => {
                Ok(Message::Notification { method, params: incoming.params.map(part) })
            }
            (None, Some(id), _, Some(error)) => Ok(Message::Response { id, outcome: Err(error) }),
            (None, Some(id), Some(result), None) => Ok(Message::Response { id, outcome: Ok(part(result)) }),
            (_, id, _, _) => Err(BadMessage { id, error: invalid_request() }),
        }
    }

    /// A request as one line of JSON, as [`Message::to_line`] writes it: the parameters are copied once, into the line.
    pub fn request_line(id: &Id, method: &str, params: Option<&Object>) -> String {
        let mut line = String::with_capacity(params.map_or(0, Object::length) + 96);
        line.push_str(r#"{"jsonrpc":"2.0","id":"#);
        line.push_str(id.as_json());
        line.push_str(r#","method":"#);
        write_text(method, &mut line);
        if let Some(params) = params {
            line.push_str(r#","params":"#);
            params.write(&mut line);
        }
        line.push('}');
        one_line(line)
    }

    /// The message as one line of JSON, without the newline. A payload that came over several lines is folded into
    /// one: a newline between two JSON tokens means nothing, and inside a string it can only stand escaped.
    pub fn to_line(&self) -> String {
        let payload = match self {
            Message::Request { params, .. } | Message::Notification { params, .. } => params.as_ref(),
            Message::Response { outcome, .. } => outcome.as_ref().ok(),
        };
        let mut line = String::with_capacity(payload.map_or(0, |payload| payload.get().len()) + 96);
        line.push_str(r#"{"jsonrpc":"2.0""#);
        if let Message::Request { id, .. } | Message::Response { id, .. } = self {
            line.push_str(r#","id":"#);
            line.push_str(id.as_json());
        }
        match self {
            Message::Request { method, .. } | Message::Notification { method, .. } => {
                line.push_str(r#","method":"#);
                write_text(method, &mut line);
                line.push_str(if payload.is_some() { r#","params":"# } else { "" });
            }
            Message::Response { outcome: Ok(_), .. } => line.push_str(r#","result":"#),
            Message::Response { outcome: Err(error), .. } => {
                line.push_str(r#","error":"#);
                line.push_str(raw(error).get());
            }
        }
        line.push_str(payload.map_or("", Raw::get));
        line.push('}');
        one_line(line)
    }
}

/// An array of values, `None` where there are more than a batch may have. It is not read to its end then.
struct Batch;

impl<'de> Visitor<'de> for Batch {
    type Value = Option<Vec<&'de RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut read = Vec::new();
        while let Some(item) = items.next_element()? {
            if read.len() == MOST_BATCHED {
                return Ok(None);
            }
            read.push(item);
        }
        Ok(Some(read))
    }
}

fn one_line(line: String) -> String {
    if !line.as_bytes().contains(&b'\n') && !line.as_bytes().contains(&b'\r') {
        return line;
    }
    // In place: it may be ten megabytes of what somebody wrote for people to read.
    let mut bytes = line.into_bytes();
    bytes.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    String::from_utf8(bytes).unwrap_or_default()
}

/// Whether brackets are nested deeper than anybody needs. What is inside a text does not count, and is only told apart
/// where there are brackets enough for it to matter.
fn too_deep(json: &[u8]) -> bool {
    let brackets = json.iter().filter(|byte| matches!(byte, b'[' | b'{')).count();
    if brackets <= DEEPEST {
        return false;
    }
    let (mut depth, mut text, mut escaped) = (0usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if text => escaped = true,
            b'"' => text = !text,
            b'[' | b'{' if !text => depth += 1,
            b']' | b'}' if !text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

fn invalid_request() -> RpcError {
    RpcError::new(crate::code::INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message")
}

fn refused(why: String) -> BadMessage {
    BadMessage { id: None, error: RpcError::new(crate::code::INVALID_REQUEST, why) }
}

fn no_json(error: &serde_json::Error) -> BadMessage {
    BadMessage { id: None, error: RpcError::new(crate::code::PARSE_ERROR, format!("Parse error: {error}")) }
}

/// JSON of the wrong shape is an invalid request; what is no JSON at all is a parse error.
fn bad_json(json: &str, error: &serde_json::Error) -> BadMessage {
    match serde_json::from_str::<serde::de::IgnoredAny>(json) {
        Ok(_) => BadMessage { id: None, error: invalid_request() },
        Err(_) => no_json(error),
    }
}
