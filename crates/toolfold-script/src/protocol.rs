//! What the process of a script and whoever started it say to each other: one JSON value a line, on stdin and stdout.
//!
//! What a reader would get wrong: nothing the process says is believed. It is taken for what a stranger says, because after
//! a mistake in the engine it may be one: lines have a largest size, requests are counted on both sides, and an id that is
//! used twice or an answer nobody waits for ends the run.

use serde::{Deserialize, Serialize};
use toolfold_wire::Raw;

use crate::limits::ScriptLimits;
use crate::thrown::Thrown;

/// The first line to the process.
#[derive(Debug, Serialize, Deserialize)]
pub struct Begin {
    pub code: String,
    /// What the script sees as `input`.
    pub input: Raw,
    pub limits: ScriptLimits,
}

/// Every other line to the process, which alone reads it.
#[derive(Debug, Serialize)]
pub struct Answer {
    pub id: u64,
    #[serde(flatten)]
    pub what: HostAnswer,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HostAnswer {
    /// A tool result, to be unwrapped, or any other value.
    Result(Raw),
    Value(Raw),
    Thrown(Thrown),
}

/// A line from the process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// The process is up, behind its walls.
    Ready(Walls),
    Ask {
        id: u64,
        what: Ask,
    },
    Print(String),
    /// Content for the client, beside the answer.
    Show(Raw),
    /// The value that was returned; nothing where there was none.
    Returned(Option<Raw>),
    Threw(Uncaught),
    /// The script noticed by itself that it is over a limit.
    Over(SelfMade),
}

/// What a script asks for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// To call a tool, by any spelling of its name.
    Call {
        tool: String,
        arguments: Option<Raw>,
    },
    Find {
        query: String,
        limit: Option<usize>,
    },
    Describe {
        tool: String,
    },
    /// A kept result.
    Result {
        handle: String,
    },
}

/// What stands between the process and the system, beside its being a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    /// System calls are filtered.
    pub seccomp: bool,
    /// Files and networks are out of reach.
    pub landlock: bool,
    /// Its address space is bounded.
    pub address_space: bool,
}

/// An exception that nobody caught.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Uncaught {
    /// `SyntaxError`, `TypeError`, …
    pub name: String,
    pub message: String,
    /// What a refusal or a tool's error was thrown with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default)]
    pub hints: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Raw>,
    /// Where in the source, as far as that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

/// The limits that the process itself looks after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelfMade {
    Cpu,
    Memory,
    /// It waits for something that will never come.
    Stuck,
    /// What it returned or asked for is too large to be said.
    Size,
}
