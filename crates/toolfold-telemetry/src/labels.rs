//! What a label may say. A stranger's string is never one: what is not in these lists is one of the others.

use toolfold_wire::{LEGACY, MODERN};

pub(crate) const OTHER: &str = "other";
const OTHER_ERROR: &str = "_OTHER";

/// Methods that are counted under their own name.
const METHODS: [&str; 18] = [
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "completion/complete",
    "logging/setLevel",
    "ping",
    "initialize",
    "server/discover",
    "subscriptions/listen",
    "tasks/get",
    "tasks/cancel",
    "tasks/update",
];

/// Errors that are counted under their own name; what else a server makes up is one.
const ERRORS: [&str; 19] = [
    "tool_error",
    "-32700",
    "-32600",
    "-32601",
    "-32602",
    "-32603",
    "-32000",
    "-32001",
    "-32002",
    "-32042",
    "SERVER_UNAVAILABLE",
    "SERVER_TIMEOUT",
    "SERVER_ERROR",
    "RATE_LIMITED",
    "NOT_AUTHORIZED",
    "QUARANTINED",
    "INVALID_ARGUMENTS",
    "INVALID_REQUEST",
    "TOOL_NOT_FOUND",
];

/// What carries messages between two programs, and in which version of the protocol. Empty where nothing does: what is
/// asked of a tool of this process travels nowhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Carriage {
    /// As OpenTelemetry calls it.
    pub transport: &'static str,
    pub version: &'static str,
}

impl Carriage {
    pub const PIPE: &'static str = "pipe";
    pub const TCP: &'static str = "tcp";

    /// `version` as a server says it.
    pub fn new(transport: &'static str, version: &str) -> Self {
        let known = LEGACY.into_iter().chain([MODERN]).find(|known| *known == version);
        Carriage { transport, version: known.unwrap_or_default() }
    }

    /// As attributes of a span.
    pub fn attributes(self) -> impl Iterator<Item = (&'static str, String)> {
        let protocol = if self.transport == Carriage::TCP { "http" } else { "" };
        let all = [
            ("network.transport", self.transport),
            ("network.protocol.name", protocol),
            ("mcp.protocol.version", self.version),
        ];
        all.into_iter().filter(|(_, value)| !value.is_empty()).map(|(key, value)| (key, value.to_owned()))
    }
}

pub(crate) fn known_error(error: &str) -> &'static str {
    ERRORS.iter().find(|known| **known == error).copied().unwrap_or(OTHER_ERROR)
}

pub(crate) fn known_method(method: &str) -> &'static str {
    METHODS.iter().find(|known| **known == method).copied().unwrap_or(OTHER)
}
