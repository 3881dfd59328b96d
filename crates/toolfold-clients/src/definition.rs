//! One server as Toolfold would have it in `toolfold.toml`. Its texts are in Toolfold's own spelling (`${V}`, `$$`).

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value, json};

#[derive(Clone, PartialEq, Eq, Default)]
pub struct ServerDefinition {
    pub command: Option<String>,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub cwd: Option<String>,
    pub url: Option<String>,
    pub headers: Vec<(String, String)>,
    /// Not used until somebody has seen to it.
    pub is_off: bool,
    pub timeout: Option<Duration>,
    pub connect_timeout: Option<Duration>,
    /// Tools that are never to be found.
    pub forbid: Vec<String>,
}

/// What is in variables and arguments is nobody's business.
impl fmt::Debug for ServerDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerDefinition").field("what", &self.told()).field("is_off", &self.is_off).finish()
    }
}

impl ServerDefinition {
    /// As a table of `toolfold.toml`.
    pub fn to_value(&self) -> Value {
        let mut table = Map::new();
        let pairs = |pairs: &[(String, String)]| -> Value {
            Value::Object(pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect())
        };
        table.extend(self.command.iter().map(|command| ("command".to_owned(), json!(command))));
        table.extend(self.url.iter().map(|url| ("url".to_owned(), json!(url))));
        if !self.args.is_empty() {
            table.insert("args".to_owned(), json!(self.args));
        }
        if !self.env.is_empty() {
            table.insert("env".to_owned(), pairs(&self.env));
        }
        table.extend(self.cwd.iter().map(|cwd| ("cwd".to_owned(), json!(cwd))));
        if !self.headers.is_empty() {
            table.insert("headers".to_owned(), pairs(&self.headers));
        }
        if self.is_off {
            table.insert("enabled".to_owned(), json!(false));
        }
        table.extend(self.timeout.map(|time| ("timeout".to_owned(), duration(time))));
        table.extend(self.connect_timeout.map(|time| ("connect_timeout".to_owned(), duration(time))));
        if !self.forbid.is_empty() {
            table.insert("forbid".to_owned(), json!(self.forbid));
        }
        Value::Object(table)
    }

    /// A few words for people: the program and the package it runs, or the host. Never an argument that could be secret.
    pub fn told(&self) -> String {
        if let Some(url) = &self.url {
            let plain = url.split(['?', '#']).next().unwrap_or_default();
            let whole = url::Url::parse(plain).ok();
            return match whole.as_ref().and_then(|url| Some((url.scheme(), url.host_str()?, url.port()))) {
                Some((scheme, host, Some(port))) => format!("{scheme}://{host}:{port}/…"),
                Some((scheme, host, None)) => format!("{scheme}://{host}/…"),
                None => "a URL".to_owned(),
            };
        }
        let command = self.command.as_deref().unwrap_or_default();
        let program = command.rsplit(['/', '\\']).next().unwrap_or(command);
        match self.package() {
            Some(package) => format!("{program} {package}"),
            None => program.to_owned(),
        }
    }

    /// What a runner of packages is told to run.
    fn package(&self) -> Option<&str> {
        let command = self.command.as_deref()?.rsplit(['/', '\\']).next()?;
        let runners = [
            "npx", "npx.cmd", "bunx", "pnpx", "uvx", "pipx", "uv", "docker", "podman", "node", "python", "python3",
            "deno", "bun",
        ];
        if !runners.contains(&command) {
            return None;
        }
        let is_package = |word: &&String| {
            let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "@/._-:".contains(c));
            plain && word.len() <= 80 && !word.starts_with(['-', '.']) && word.contains(['@', '/', '-', '_', '.'])
        };
        // What follows an option may be its value, unless the option is known to have none.
        let mut before = "";
        for word in &self.args {
            let free =
                !before.starts_with('-') || ["-y", "--yes", "-i", "--rm", "-it", "--init", "-m"].contains(&before);
            if free && is_package(&word) && !crate::secrets::looks_like_token(word) {
                return Some(word);
            }
            before = word;
        }
        None
    }

    /// Sets a variable of the server, and hands it on to where that is in a container: none sees a variable that is not.
    pub fn set_variable(&mut self, name: &str, value: &str) {
        let is_new = self.env.iter().all(|(known, _)| known != name);
        self.env.retain(|(known, _)| known != name);
        self.env.push((name.to_owned(), value.to_owned()));
        let runs = |word: &&str| ["docker", "podman"].contains(word);
        let program = self.command.as_deref().and_then(|command| command.rsplit(['/', '\\']).next());
        let run = self.args.iter().position(|word| word == "run");
        if let (Some(run), true) = (run.filter(|_| program.as_ref().is_some_and(runs)), is_new)
            && !self.args.iter().any(|word| word == name)
        {
            self.args.splice(run + 1..run + 1, ["-e".to_owned(), name.to_owned()]);
        }
    }

    /// What makes two entries the same server.
    pub(crate) fn is_same_as(&self, other: &ServerDefinition) -> bool {
        let sorted = |pairs: &[(String, String)]| {
            let mut pairs = pairs.to_vec();
            pairs.sort();
            pairs
        };
        let trimmed = |url: &Option<String>| url.as_deref().map(|url| url.trim_end_matches('/').to_owned());
        self.command == other.command
            && self.args == other.args
            && trimmed(&self.url) == trimmed(&other.url)
            && sorted(&self.env) == sorted(&other.env)
            && sorted(&self.headers) == sorted(&other.headers)
    }

    /// Every text in it, to be looked through or changed.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &String> {
        let pairs = self.env.iter().chain(&self.headers).map(|(_, value)| value);
        self.command.iter().chain(&self.args).chain(&self.cwd).chain(&self.url).chain(pairs)
    }

    /// The variables that must be set for it to start, each once.
    pub fn needs(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.texts().flat_map(|text| crate::variables::needed(text)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

fn duration(time: Duration) -> Value {
    match time.subsec_millis() {
        0 => json!(format!("{}s", time.as_secs())),
        _ => json!(format!("{}ms", time.as_millis())),
    }
}
