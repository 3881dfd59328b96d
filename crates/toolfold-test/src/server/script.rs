//! What a fake server is told to do. Every field has a default: `{}` is a server of both eras without tools.
//!
//! A misspelt key is an error, not a server that quietly behaves. Definitions stay raw JSON, so that a test can compare
//! what came out of a gateway with the very bytes that went in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toolfold_wire::{Object, Raw, RpcError, raw};

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    pub name: String,
    pub version: String,
    pub instructions: Option<String>,
    /// `legacy`, `modern`, or both.
    pub eras: Vec<EraName>,
    /// What a server without the modern era does when it is asked `server/discover`.
    pub on_probe: OnProbe,
    /// Sent instead of the capabilities that follow from the lists.
    pub capabilities: Option<Raw>,

    /// A saved `tools/list` result to serve, before `tools`.
    pub catalog: Option<PathBuf>,
    /// Definitions as they are; a bare string stands for a simple tool of that name.
    pub tools: Vec<Raw>,
    pub prompts: Vec<Raw>,
    pub resources: Vec<Raw>,
    pub templates: Vec<Raw>,
    /// Adds tools whose definitions are wrong in eight different ways.
    pub invalid_schema: bool,
    /// Adds two tools of the same name.
    pub duplicate_names: bool,
    /// Adds a tool whose name has 200 characters.
    pub long_name: bool,
    /// Adds tools of about a kilobyte each until the list has this many bytes.
    pub huge_list: usize,
    /// Entries per page of a list.
    pub page: Option<usize>,
    /// Every page of a list has a next one.
    pub endless_pages: bool,

    /// What a call of a tool does, by its name; without an entry it echoes its arguments.
    pub calls: BTreeMap<String, Call>,
    /// Results for whole methods, known or not, that go before everything else.
    pub answers: BTreeMap<String, Raw>,
    /// Methods whose caller is asked for a name first.
    pub asks: Vec<String>,
    /// Methods that are never answered.
    pub silent: Vec<String>,

    /// Lines for stdout that are not messages: all of them at the start, then one before each message.
    pub garbage: Vec<String>,
    /// Lines for stderr at the start.
    pub stderr: usize,
    /// Exits with this code before it reads anything.
    pub exit_at_start: Option<i32>,
    pub crash_after_ms: Option<u64>,
    pub ignore_sigterm: bool,
    pub ignore_eof: bool,
    /// Starts a sleeping child that holds stdout open, and writes its process id into this file.
    pub spawn_child: Option<PathBuf>,

    pub http: Http,
}

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Http {
    /// Answers every request with a stream of events, not only where there is more than the answer to send.
    pub always_stream: bool,
    /// Legacy: hand out session ids and insist on them.
    pub sessions: bool,
    /// Legacy: a session is forgotten after this many requests.
    pub session_requests: Option<usize>,
    /// A status instead of an answer, by method.
    pub status: BTreeMap<String, u16>,
    /// Headers without which the answer is 401.
    pub require: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EraName {
    Legacy,
    Modern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnProbe {
    Error,
    Silent,
    Exit,
    /// Silent, and the next `initialize` makes it exit.
    Poison,
}

/// One call, played from top to bottom.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Call {
    /// Lines for stderr.
    pub stderr: usize,
    pub delay_ms: u64,
    /// Progress notifications, if the caller gave a token.
    pub progress: u64,
    /// Log messages, if the caller may hear them.
    pub log: u64,
    /// Other notifications, `[method, params]`.
    pub notify: Vec<(String, Raw)>,
    /// Adds a tool of this name and says that the list changed.
    pub list_changed: Option<String>,
    /// Puts these tools in place of all there are, and says that the list changed.
    pub list_becomes: Option<Vec<Raw>>,
    /// Says that this resource changed.
    pub resource_updated: Option<String>,
    /// Asks the client; `true` or the parameters of the question.
    pub elicit: Option<Raw>,
    pub sample: Option<Raw>,
    pub roots: bool,
    /// Ends the process with this code, in the middle of the call.
    pub exit: Option<i32>,
    /// Never answers.
    pub hang: bool,
    /// A JSON-RPC error.
    pub error: Option<RpcError>,
    /// The result, as it is.
    pub result: Option<Raw>,
    /// A text of this many bytes.
    pub big: Option<usize>,
}

impl Default for Script {
    fn default() -> Self {
        Script {
            name: "fake".to_owned(),
            version: "1.0.0".to_owned(),
            instructions: None,
            eras: vec![EraName::Legacy, EraName::Modern],
            on_probe: OnProbe::Error,
            capabilities: None,
            catalog: None,
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            invalid_schema: false,
            duplicate_names: false,
            long_name: false,
            huge_list: 0,
            page: None,
            endless_pages: false,
            calls: BTreeMap::new(),
            answers: BTreeMap::new(),
            asks: Vec::new(),
            silent: Vec::new(),
            garbage: Vec::new(),
            stderr: 0,
            exit_at_start: None,
            crash_after_ms: None,
            ignore_sigterm: false,
            ignore_eof: false,
            spawn_child: None,
            http: Http::default(),
        }
    }
}

impl Default for Http {
    fn default() -> Self {
        Http {
            always_stream: false,
            sessions: true,
            session_requests: None,
            status: BTreeMap::new(),
            require: BTreeMap::new(),
        }
    }
}

impl Script {
    pub fn parse(text: &str) -> Result<Script, String> {
        serde_json::from_str(text).map_err(|error| format!("the script is not valid: {error}"))
    }

    pub fn speaks(&self, era: EraName) -> bool {
        self.eras.contains(&era)
    }

    /// The tools of the first list, in the order they are served.
    pub fn all_tools(&self) -> Result<Vec<Raw>, String> {
        let mut tools = match &self.catalog {
            Some(path) => saved_tools(path)?,
            None => Vec::new(),
        };
        tools.extend(self.tools.iter().map(expand));
        if self.invalid_schema {
            tools.extend(invalid_tools());
        }
        if self.duplicate_names {
            tools.extend([simple_tool("twin"), simple_tool("twin")]);
        }
        if self.long_name {
            tools.push(simple_tool(&"long_".repeat(40)));
        }
        tools.extend(filler(self.huge_list));
        Ok(tools)
    }
}

/// The definition that a name alone stands for.
pub fn simple_tool(name: &str) -> Raw {
    let tool = serde_json::json!({
        "name": name,
        "description": format!("Does {name}."),
        "inputSchema": {"type": "object"},
    });
    raw(&tool)
}

pub(super) fn expand(tool: &Raw) -> Raw {
    match serde_json::from_str::<String>(tool.get()) {
        Ok(name) => simple_tool(&name),
        Err(_) => tool.clone(),
    }
}

fn saved_tools(path: &Path) -> Result<Vec<Raw>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let saved: Object = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    saved.read("tools").ok_or_else(|| format!("{}: no list of tools", path.display()))
}

fn invalid_tools() -> Vec<Raw> {
    let tools = serde_json::json!([
        {"name": "no_schema", "description": "Has no inputSchema."},
        {"name": "null_schema", "inputSchema": null},
        {"name": "text_schema", "inputSchema": "object"},
        {"name": "bad_type", "inputSchema": {"type": 42, "properties": {"a": {"type": "strnig"}}}},
        {"name": "dangling_ref", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/missing"}}}},
        {"name": "boolean_output", "inputSchema": {"type": "object"}, "outputSchema": true},
        {"description": "Has no name.", "inputSchema": {"type": "object"}},
        "not an object",
    ]);
    tools.as_array().map(|tools| tools.iter().map(raw).collect()).unwrap_or_default()
}

fn filler(bytes: usize) -> Vec<Raw> {
    let words = "filler text that a server might well write about its tool ".repeat(16);
    let tool = |n: usize| {
        raw(
            &serde_json::json!({"name": format!("filler_{n}"), "description": words, "inputSchema": {"type": "object"}}),
        )
    };
    let mut size = 0;
    let mut tools = Vec::new();
    while size < bytes {
        tools.push(tool(tools.len()));
        size += words.len() + 80;
    }
    tools
}
