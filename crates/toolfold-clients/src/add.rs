//! A server from what people have in hand: a command line, a URL, the name of a package, a `server.json`, a bundle, or the
//! JSON block of somebody's README. What is missing is told by name and never guessed.

mod bundle;
mod package;
mod paste;
mod server_json;

use std::path::Path;

use toolfold_core::slug;
use url::Url;

use crate::definition::ServerDefinition;
use crate::environment::Environment;
use crate::files::{self, FileError};

#[derive(Debug, Clone)]
pub struct NewServer {
    pub name: String,
    pub definition: ServerDefinition,
    /// What somebody has to say before it can work.
    pub missing: Vec<Missing>,
    pub notes: Vec<String>,
}

/// A value that is not known. In the definition it is `${name}` until it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub name: String,
    pub about: String,
    pub is_secret: bool,
    pub choices: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum AddError {
    #[error("{0}")]
    NotUnderstood(String),
    #[error("{}", .0)]
    Unusable(String),
    #[error(transparent)]
    File(#[from] FileError),
}

/// `command` and its arguments, as typed behind `--`.
pub fn from_command(name: Option<&str>, words: &[String]) -> Result<NewServer, AddError> {
    let Some((program, args)) = words.split_first() else {
        return Err(AddError::NotUnderstood("there is no command behind `--`".to_owned()));
    };
    // As typed: whoever writes `${V}` here means Toolfold's.
    let definition =
        ServerDefinition { command: Some(program.clone()), args: args.to_vec(), ..ServerDefinition::default() };
    let guess = || {
        let said = definition.told();
        let last = said.split_whitespace().last().unwrap_or(program).to_owned();
        name_of_package(&last)
    };
    let name = name.map_or_else(guess, str::to_owned);
    Ok(NewServer { name, definition, missing: Vec::new(), notes: Vec::new() })
}

/// Anything else: a URL, `npm:…`, `pypi:…`, `oci:…`, a `server.json` or an `.mcpb`. A bundle is unpacked below the state
/// folder.
pub fn from_target(name: Option<&str>, target: &str, environment: &Environment) -> Result<NewServer, AddError> {
    let named = |mut server: NewServer| {
        if let Some(name) = name {
            server.name = name.to_owned();
        }
        server
    };
    if target.starts_with("http://") || target.starts_with("https://") {
        return from_url(target).map(named);
    }
    if let Some(server) = package::from_name(target) {
        return server.map(named);
    }
    let path = environment.directory.join(target);
    if !files::is_file(&path) {
        return Err(AddError::NotUnderstood(format!(
            "{target:?} is neither a URL, nor npm:…, pypi:… or oci:…, nor a file that is there"
        )));
    }
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("mcpb" | "dxt" | "zip") => bundle::from_file(&path, environment).map(named),
        _ => from_json_file(&path, environment).map(named),
    }
}

/// Every server of a text that somebody copied: any client's file, an entry alone, or a `server.json`, with words around.
pub fn from_text(name: Option<&str>, text: &str, environment: &Environment) -> Result<Vec<NewServer>, AddError> {
    paste::read(name, text, environment.home.as_deref())
}

fn from_json_file(path: &Path, environment: &Environment) -> Result<NewServer, AddError> {
    let text = files::read(path)?.unwrap_or_default();
    let mut servers = from_text(None, &text, environment)?;
    match servers.len() {
        1 => Ok(servers.remove(0)),
        count => Err(AddError::NotUnderstood(format!(
            "{} has {count} servers in it: `toolfold import` takes over a client's file, and `toolfold add -` all of a text",
            path.display()
        ))),
    }
}

fn from_url(text: &str) -> Result<NewServer, AddError> {
    let url = Url::parse(text).map_err(|reason| AddError::NotUnderstood(format!("that is not a URL: {reason}")))?;
    if !url.username().is_empty() || url.password().is_some() {
        let why = "the URL has a user name or password in it: give it as a header with --header";
        return Err(AddError::NotUnderstood(why.to_owned()));
    }
    let host = url.host_str().unwrap_or_default();
    let definition = ServerDefinition { url: Some(text.to_owned()), ..ServerDefinition::default() };
    Ok(NewServer { name: name_of_host(host), definition, missing: Vec::new(), notes: Vec::new() })
}

/// `mcp.linear.app` is `linear`.
fn name_of_host(host: &str) -> String {
    let parts: Vec<&str> = host.split('.').collect();
    let dull = ["mcp", "api", "www", "app", "server"];
    let kept = parts.iter().take(parts.len().saturating_sub(1).max(1)).find(|part| !dull.contains(part));
    let is_number = host.chars().all(|c| c.is_ascii_digit() || c == '.');
    slug(if is_number || host.is_empty() { "local" } else { kept.copied().unwrap_or(host) })
}

/// `@modelcontextprotocol/server-github@1.2` is `github`.
pub(crate) fn name_of_package(package: &str) -> String {
    let bare = package.rsplit('/').next().unwrap_or(package);
    let bare = bare.split(['@', ':']).next().filter(|bare| !bare.is_empty()).unwrap_or(bare);
    let bare = bare.strip_suffix(".js").or(bare.strip_suffix(".py")).unwrap_or(bare);
    let mut name = slug(&bare.to_lowercase()).replace('_', "-");
    for start in ["mcp-server-", "server-", "mcp-"] {
        name = name.strip_prefix(start).unwrap_or(&name).to_owned();
    }
    for end in ["-mcp-server", "-server", "-mcp"] {
        name = name.strip_suffix(end).unwrap_or(&name).to_owned();
    }
    let name = name.trim_matches('-').to_owned();
    if name.is_empty() { "server".to_owned() } else { name.chars().take(48).collect() }
}
