//! An event as it is stored. The order of the members is the order in which they are written, and never changes: what is
//! new is added at the end.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::moment::Moment;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    Search,
    Browse,
    Describe,
    Load,
    Call,
    Result,
    Refuse,
    Login,
    Approve,
    Hold,
    Config,
    Server,
    Start,
    Stop,
    /// Events that could not be written.
    Gap,
    /// Events that were old enough to be taken away.
    Cut,
}

impl EventKind {
    pub fn as_str(self) -> &'static str {
        match self {
            EventKind::Search => "search",
            EventKind::Browse => "browse",
            EventKind::Describe => "describe",
            EventKind::Load => "load",
            EventKind::Call => "call",
            EventKind::Result => "result",
            EventKind::Refuse => "refuse",
            EventKind::Login => "login",
            EventKind::Approve => "approve",
            EventKind::Hold => "hold",
            EventKind::Config => "config",
            EventKind::Server => "server",
            EventKind::Start => "start",
            EventKind::Stop => "stop",
            EventKind::Gap => "gap",
            EventKind::Cut => "cut",
        }
    }
}

/// In bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    #[serde(rename = "in")]
    pub input: usize,
    #[serde(rename = "out")]
    pub output: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditEvent {
    pub number: u64,
    pub time: Moment,
    pub kind: EventKind,
    /// Who, and how that was proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<String>,
    /// The program, as it calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u64>,
    /// The id of the request, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalog: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// What decided, where something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// In microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    /// Of what was answered, where it was for a model to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<usize>,
    /// How whoever calls came to know the tool: search, browse, describe, load, pinned, listed or direct.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// The place of the tool in the answer that showed it, from 1, and how sure that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// The number of the event that showed the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<u64>,
    /// Of a result: its call. Of a call that goes on: where it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// Tools that an answer named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// What else there is to say, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// How many events a gap or a cut is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// What was asked for and is no tool: the name of a prompt, the address of a resource without its query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The door that it was called through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub door: Option<String>,
}

impl AuditEvent {
    pub(crate) fn new(number: u64, time: Moment, kind: EventKind) -> Self {
        AuditEvent {
            number,
            time,
            kind,
            principal: None,
            auth: None,
            client: None,
            trace: None,
            session: None,
            request: None,
            surface: None,
            catalog: None,
            server: None,
            method: None,
            tool: None,
            fingerprint: None,
            rule: None,
            outcome: None,
            code: None,
            duration: None,
            sizes: None,
            tokens: None,
            via: None,
            rank: None,
            confidence: None,
            follows: None,
            of: None,
            shown: Vec::new(),
            query: None,
            arguments: None,
            result: None,
            about: None,
            events: None,
            target: None,
            door: None,
        }
    }

    /// Whether whoever called had been shown the tool by an answer.
    pub fn is_discovered(&self) -> bool {
        matches!(self.via.as_deref(), Some("search" | "browse" | "describe" | "load"))
    }
}
