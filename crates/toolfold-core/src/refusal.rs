//! Every way Toolfold says no. A refusal is written for a model: a sentence to act on, hints, and the call to make
//! next. What a person needs to find the cause is kept apart and goes to the log alone.

use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    NoMatchInCategory,
    UnknownPath,
    ToolNotFound,
    NotAuthorized,
    InvalidArguments,
    InvalidRequest,
    InvalidCursor,
    ServerUnavailable,
    ServerTimeout,
    Quarantined,
    RateLimited,
    TooLarge,
}

/// Whose fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    Caller,
    Server,
    Toolfold,
}

/// What to do after a refusal. A wish and no tool's name: every surface spells it out in tools that its clients have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// See what there is.
    Overview,
    Search {
        query: String,
    },
    /// See what is in a node; the root's path is empty.
    Browse {
        path: Vec<String>,
    },
    /// Read about a tool, as much as there is where `full` says so.
    Describe {
        tool: String,
        full: bool,
    },
    /// See which agents there are.
    Agents,
}

/// A [`Next`] as a call of one surface's tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NextAction {
    pub tool: String,
    pub arguments: Value,
}

#[derive(Debug, Clone, thiserror::Error)]
#[error("{}: {message}", self.code)]
pub struct Refusal {
    pub code: Code,
    /// A sentence a model can act on. Never a path of this machine, a secret or a cause.
    pub message: String,
    pub hints: Vec<String>,
    pub next: Option<Next>,
    /// `next` in the words of the surface that the refusal is told on.
    pub next_action: Option<Box<NextAction>>,
    /// More for a program: the schema of the offending part, the candidates.
    pub details: Option<Value>,
    /// For the log alone.
    pub cause: Option<String>,
}

impl Refusal {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Refusal {
            code,
            message: message.into(),
            hints: Vec::new(),
            next: None,
            next_action: None,
            details: None,
            cause: None,
        }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub fn hints(mut self, hints: impl IntoIterator<Item = String>) -> Self {
        self.hints.extend(hints);
        self
    }

    pub fn next(mut self, next: Next) -> Self {
        self.next = Some(next);
        self
    }

    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    pub fn cause(mut self, cause: impl fmt::Display) -> Self {
        self.cause = Some(cause.to_string());
        self
    }

    /// `{"error": {"code", "message", "hints", "next_action"}}`.
    pub fn to_json(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message, "hints": self.hints});
        if let Some(next) = &self.next_action {
            error["next_action"] = json!(next);
        }
        if let Some(details) = &self.details {
            error["details"] = details.clone();
        }
        json!({ "error": error })
    }
}

impl Code {
    /// In the order of the documents.
    pub const ALL: [Code; 12] = [
        Code::NoMatchInCategory,
        Code::UnknownPath,
        Code::ToolNotFound,
        Code::NotAuthorized,
        Code::InvalidArguments,
        Code::InvalidRequest,
        Code::InvalidCursor,
        Code::ServerUnavailable,
        Code::ServerTimeout,
        Code::Quarantined,
        Code::RateLimited,
        Code::TooLarge,
    ];

    /// What it says, for people who read about it.
    pub fn meaning(self) -> &'static str {
        match self {
            Code::NoMatchInCategory => {
                "Nothing in that node fits the query. The hints name nodes where something does."
            }
            Code::UnknownPath => "There is no such node. The hint is the nearest path that exists.",
            Code::ToolNotFound => {
                "No tool has that name, or several have. The hints are the nearest names. A tool that the caller may not see answers the same."
            }
            Code::NotAuthorized => {
                "The tool can be seen and not called: `forbid`, a rule, or a door that does not lead to it."
            }
            Code::InvalidArguments => {
                "The arguments do not fit the tool's schema. The answer says what is wrong, where, and how that part should look."
            }
            Code::InvalidRequest => {
                "The request itself is wrong: a meta-tool's arguments, a path of the HTTP API, a body."
            }
            Code::InvalidCursor => "The cursor was not given out, or belongs to another query. Ask again without it.",
            Code::ServerUnavailable => {
                "The server behind the tool is down, failing, or gone in the middle of the call. Trying again may help."
            }
            Code::ServerTimeout => "The server did not answer in time. The call may still have had its effect.",
            Code::Quarantined => "The definition is new or has changed, and nobody has approved it yet.",
            Code::RateLimited => "Too much at once. Wait, then try again.",
            Code::TooLarge => "The request or the answer is larger than what is taken or passed on.",
        }
    }

    pub fn blame(self) -> Blame {
        match self {
            Code::ServerUnavailable | Code::ServerTimeout => Blame::Server,
            _ => Blame::Caller,
        }
    }

    /// Whether the same request may succeed later, unchanged.
    pub fn retry_helps(self) -> bool {
        matches!(self, Code::ServerUnavailable | Code::ServerTimeout | Code::RateLimited)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Code::NoMatchInCategory => "NO_MATCH_IN_CATEGORY",
            Code::UnknownPath => "UNKNOWN_PATH",
            Code::ToolNotFound => "TOOL_NOT_FOUND",
            Code::NotAuthorized => "NOT_AUTHORIZED",
            Code::InvalidArguments => "INVALID_ARGUMENTS",
            Code::InvalidRequest => "INVALID_REQUEST",
            Code::InvalidCursor => "INVALID_CURSOR",
            Code::ServerUnavailable => "SERVER_UNAVAILABLE",
            Code::ServerTimeout => "SERVER_TIMEOUT",
            Code::Quarantined => "QUARANTINED",
            Code::RateLimited => "RATE_LIMITED",
            Code::TooLarge => "TOO_LARGE",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
