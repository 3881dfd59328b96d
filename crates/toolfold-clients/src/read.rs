//! An entry of a client's file to a definition of ours. Every client's spelling is understood in every file: people copy
//! entries from one to another, and only what a `${…}` means depends on whose file it is.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};
use url::Url;

use crate::definition::ServerDefinition;
use crate::table::{TimeUnit, Variables};
use crate::variables::{Folders, escaped, translate};

/// How a note begins that tells why an entry cannot be used as it is.
pub(crate) const FOR_NOW: &str = "off for now";

/// The longest that Toolfold waits for anything: some write a number that means for ever.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Why an entry cannot be taken over at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoServer {
    #[error("it is not a table of keys")]
    NoTable,
    #[error("it is a part of that program, not a server")]
    BuiltIn,
    #[error("it speaks over WebSocket, which Toolfold does not")]
    WebSocket,
    #[error("it is reached through a local socket, which Toolfold cannot do")]
    LocalSocket,
    #[error("its URL has a user name or password in it: write it by hand, with them as a header")]
    Login,
    #[error("it has neither a command nor a URL")]
    Nowhere,
}

/// What an entry became.
#[derive(Debug, Clone)]
pub struct ForeignServer {
    pub name: String,
    pub outcome: Result<ServerDefinition, NoServer>,
    /// What is different here, or why it is off.
    pub notes: Vec<String>,
}

/// Whose file an entry is from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) variables: Variables,
    pub(crate) timeout: Option<(&'static str, TimeUnit)>,
    pub(crate) home: Option<&'a Path>,
    /// The project's folder, for a project's file.
    pub(crate) project: Option<&'a Path>,
}

/// All servers of a container, a table or a list.
pub(crate) fn servers(container: &Value, reading: Reading<'_>) -> Vec<ForeignServer> {
    match container {
        Value::Object(members) => members.iter().map(|(name, value)| server(name, value, reading)).collect(),
        Value::Array(items) => {
            let name = |item: &Value| item.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            items.iter().map(|item| server(&name(item), item, reading)).collect()
        }
        _ => Vec::new(),
    }
}

pub(crate) fn server(name: &str, value: &Value, reading: Reading<'_>) -> ForeignServer {
    let name = name.to_owned();
    let Some(table) = value.as_object() else {
        return ForeignServer { name, outcome: Err(NoServer::NoTable), notes: Vec::new() };
    };
    let mut entry = Entry { table: flat(table), reading, notes: Vec::new(), off: Vec::new() };
    let outcome = entry.definition();
    let off = entry.off.iter().map(|why| format!("{FOR_NOW}: {why}"));
    ForeignServer { name, outcome, notes: off.chain(entry.notes).collect() }
}

/// With what is a level deeper brought up: `transport: {type, command, …}`.
fn flat(table: &Map<String, Value>) -> Map<String, Value> {
    let mut flat = table.clone();
    if let Some(Value::Object(inner)) = table.get("transport") {
        flat.remove("transport");
        flat.extend(inner.clone());
    }
    // An older spelling of Zed's.
    if let Some(Value::Object(inner)) = table.get("command") {
        flat.remove("command");
        flat.extend(
            inner.iter().map(|(key, value)| (if key == "path" { "command" } else { key }.to_owned(), value.clone())),
        );
    }
    flat
}

struct Entry<'a> {
    table: Map<String, Value>,
    reading: Reading<'a>,
    notes: Vec<String>,
    off: Vec<String>,
}

impl Entry<'_> {
    fn definition(&mut self) -> Result<ServerDefinition, NoServer> {
        let kind = self.text(&["type", "transport"]).unwrap_or_default();
        match kind.as_str() {
            "builtin" | "platform" | "frontend" | "inline_python" | "sdk" => {
                return Err(NoServer::BuiltIn);
            }
            "ws" | "websocket" => return Err(NoServer::WebSocket),
            "sse" => self.notes.push("the old SSE transport is spoken as streamable HTTP".to_owned()),
            _ => {}
        }
        let is_url =
            ["http", "sse", "remote", "streamableHttp", "streamable-http", "streamable_http"].contains(&kind.as_str());
        let mut made = ServerDefinition::default();
        let (mut command, mut args) = self.command();
        let url = self.text(&["url", "serverUrl", "httpUrl", "uri", "endpoint"]);
        match (command.take().filter(|_| !is_url || url.is_none()), url) {
            (Some(program), _) => {
                made.env = self.environment();
                made.cwd = self.text(&["cwd"]).map(|text| self.translated(&text));
                self.place(&program, &mut args, &mut made);
            }
            (None, Some(url)) => {
                if url.starts_with("unix:") || url.starts_with("pipe:") {
                    return Err(NoServer::LocalSocket);
                }
                if Url::parse(&url).is_ok_and(|url| !url.username().is_empty() || url.password().is_some()) {
                    return Err(NoServer::Login);
                }
                made.url = Some(self.translated(&url));
                made.headers = self.headers();
            }
            (None, None) => return Err(NoServer::Nowhere),
        }
        self.limits(&mut made);
        self.switches(&mut made);
        Ok(made)
    }

    fn command(&self) -> (Option<String>, Vec<String>) {
        let mut words = match ["command", "cmd"].iter().find_map(|key| self.table.get(*key)) {
            Some(Value::String(program)) => vec![program.clone()],
            Some(Value::Array(items)) => items.iter().map(plain).collect(),
            _ => Vec::new(),
        };
        if let Some(Value::Array(items)) = self.table.get("args") {
            words.extend(items.iter().map(plain));
        }
        let mut words = words.into_iter();
        (words.next().filter(|program| !program.trim().is_empty()), words.collect())
    }

    /// A relative path is meant from the project's folder, and there is none once the entry is the user's own.
    fn place(&mut self, program: &str, args: &mut [String], made: &mut ServerDefinition) {
        let is_relative = |word: &str| word == "." || word.starts_with("./") || word.starts_with("../");
        let relative = is_relative(program) || args.iter().any(|word| is_relative(word));
        if relative && made.cwd.is_none() {
            match self.reading.project {
                Some(folder) => made.cwd = Some(escaped(&folder.display().to_string())),
                None => self.notes.push("it has a relative path, which is meant from where Toolfold runs".to_owned()),
            }
        }
        let program = match self.reading.project {
            Some(folder) if is_relative(program) => {
                folder.join(program).components().collect::<std::path::PathBuf>().display().to_string()
            }
            _ => program.to_owned(),
        };
        made.command = Some(self.translated(&program));
        made.args = args.iter().map(|word| self.translated(word)).collect();
    }

    fn environment(&mut self) -> Vec<(String, String)> {
        let mut pairs = self.pairs(&["env", "environment", "envs"]);
        for key in ["env_vars", "env_keys"] {
            let items = self.table.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
            for name in items.iter().filter_map(|item| item.as_str().or_else(|| item.get("name")?.as_str())) {
                if pairs.iter().all(|(known, _)| known != name) {
                    pairs.push((name.to_owned(), format!("${{{name}}}")));
                }
            }
        }
        for key in ["envFile", "env_file"] {
            if self.table.contains_key(key) {
                self.off.push(format!("variables are read from a file there (`{key}`)"));
            }
        }
        pairs
    }

    fn headers(&mut self) -> Vec<(String, String)> {
        let mut pairs = self.pairs(&["headers", "http_headers"]);
        let by_variable = self.table.get("env_http_headers").and_then(Value::as_object).cloned().unwrap_or_default();
        for (header, variable) in by_variable {
            pairs.extend(variable.as_str().map(|variable| (header, format!("${{{variable}}}"))));
        }
        if let Some(variable) = self.text(&["bearer_token_env_var", "api_key_env"]) {
            pairs.push(("Authorization".to_owned(), format!("Bearer ${{{variable}}}")));
        }
        if self.table.contains_key("oauth") || self.table.contains_key("auth") {
            self.notes.push("what that program knows of its login is not taken over".to_owned());
        }
        pairs
    }

    fn limits(&mut self, made: &mut ServerDefinition) {
        let amount = |key: &str| self.table.get(key).and_then(Value::as_f64).filter(|amount| *amount > 0.0);
        let duration = |amount: f64, unit| {
            let seconds = if unit == TimeUnit::Seconds { amount } else { amount / 1000.0 };
            let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| *time >= Duration::from_millis(1));
            time.map(|time| time.min(LONGEST))
        };
        made.timeout = self.reading.timeout.and_then(|(key, unit)| duration(amount(key)?, unit));
        made.connect_timeout = amount("startup_timeout_sec").and_then(|amount| duration(amount, TimeUnit::Seconds));
        for key in ["excludeTools", "disabledTools", "disabled_tools"] {
            let items = self.table.get(key).and_then(Value::as_array);
            made.forbid.extend(items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
        }
        for key in ["includeTools", "enabled_tools", "available_tools", "tools"] {
            let items = self.table.get(key).and_then(Value::as_array);
            if items.is_some_and(|items| !items.is_empty() && !items.iter().any(|item| item == "*")) {
                self.notes.push(format!("only some of its tools are used there (`{key}`); here all are"));
            }
        }
    }

    fn switches(&mut self, made: &mut ServerDefinition) {
        let flag = |key: &str| self.table.get(key).and_then(Value::as_bool);
        if flag("disabled") == Some(true) || flag("enabled") == Some(false) {
            self.notes.push("it is switched off there, and so it is here".to_owned());
            made.is_off = true;
        }
        made.is_off |= !self.off.is_empty();
    }

    fn text(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| self.table.get(*key)?.as_str()).map(str::to_owned)
    }

    /// Names and values, translated; also a list of `NAME=value`.
    fn pairs(&mut self, keys: &[&str]) -> Vec<(String, String)> {
        let found = keys.iter().find_map(|key| self.table.get(*key)).cloned();
        let pairs: Vec<(String, String)> = match found {
            Some(Value::Object(members)) => members
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| (name.clone(), plain(value)))
                .collect(),
            Some(Value::Array(items)) => {
                let pairs = items.iter().filter_map(|item| item.as_str()?.split_once('='));
                pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
            }
            _ => Vec::new(),
        };
        pairs.into_iter().map(|(name, value)| (name, self.translated(&value))).collect()
    }

    /// What has no translation switches the entry off, and stays readable.
    fn translated(&mut self, text: &str) -> String {
        let folders = Folders { home: self.reading.home, project: self.reading.project };
        translate(text, self.reading.variables, folders).unwrap_or_else(|why| {
            let why = why.to_string();
            if !self.off.contains(&why) {
                self.off.push(why);
            }
            escaped(text)
        })
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
