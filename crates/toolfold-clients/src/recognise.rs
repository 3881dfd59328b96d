//! Whose file it is that somebody names with `--config`, and what it means in Toolfold's own words. A plain `mcpServers`
//! file is left to Toolfold's own reader, which knows the place of every key; this is for all the others.

use std::path::Path;

use serde_json::Value;

use crate::environment::Environment;
use crate::format::FileFormat;
use crate::import::{free_name, write_server};
use crate::read::{FOR_NOW, ForeignServer};
use crate::survey::{folders, in_root};
use crate::table::{KnownClient, Variables, clients};

/// A client's file, as a `toolfold.toml` would say it.
#[derive(Debug, Clone)]
pub struct Recognised {
    /// The client's name.
    pub client: &'static str,
    pub toml: String,
    /// A server's name, and what is different here or why it is not there.
    pub notes: Vec<(String, String)>,
}

/// `None` where it is nobody's, or nothing but a plain `mcpServers` file.
pub fn recognise(path: &Path, text: &str, environment: &Environment) -> Option<Recognised> {
    let (client, root) = whose(path, text)?;
    let project = client
        .project
        .iter()
        .find(|end| path.ends_with(end))
        .and_then(|end| path.ancestors().nth(Path::new(end).components().count()));
    let project = project.unwrap_or(&environment.directory);
    let mut servers = in_root(client, &root, environment.home.as_deref(), Some(project));
    let here = |folder: &str| environment.directory.starts_with(folder);
    for (_, container) in folders(&root).filter(|(folder, _)| here(folder)) {
        let local = serde_json::json!({"mcpServers": container});
        servers.extend(in_root(client, &local, environment.home.as_deref(), Some(project)));
    }
    if is_plain(text, &root, &servers) {
        return None;
    }
    Some(translated(client, servers))
}

fn translated(client: &'static KnownClient, servers: Vec<ForeignServer>) -> Recognised {
    // An empty table says that servers are named, and that there are none.
    let mut recognised = Recognised { client: client.name, toml: "[servers]\n".to_owned(), notes: Vec::new() };
    let mut taken = Vec::new();
    for server in servers {
        let name = free_name(&server.name, "", &taken);
        let written = server.outcome.map(|definition| write_server(&recognised.toml, &name, &definition));
        let left_out = |why: &dyn std::fmt::Display| (name.clone(), format!("is left out: {why}"));
        match written {
            Ok(Ok(toml)) => recognised.toml = toml,
            Ok(Err(why)) => recognised.notes.push(left_out(&why)),
            Err(why) => recognised.notes.push(left_out(&why)),
        }
        if name != server.name {
            recognised.notes.push((name.clone(), format!("is called {:?} there", server.name)));
        }
        recognised.notes.extend(server.notes.into_iter().map(|note| (name.clone(), note)));
        taken.push(name);
    }
    recognised
}

/// By where it is, else by what is in it.
fn whose(path: &Path, text: &str) -> Option<(&'static KnownClient, Value)> {
    // Our own file is never taken for somebody else's.
    if path.file_name().is_some_and(|name| name == "toolfold.toml") {
        return None;
    }
    let fits = |client: &&'static KnownClient| {
        let places = client.user.iter().map(|place| place.path).chain(client.project.iter().copied());
        places.filter(|end| end.contains('/') || end.starts_with('.')).any(|end| path.ends_with(end))
    };
    let read = |client: &'static KnownClient| {
        let root = client.format.parse(text).ok()?;
        let has_servers = client.containers_in(&root).next().is_some();
        has_servers.then_some((client, root))
    };
    let by_place = clients().filter(fits).find_map(read);
    let is_own = || FileFormat::Toml.parse(text).is_ok_and(|root| root.get("servers").is_some());
    let known = by_place.or_else(|| if is_own() { None } else { by_content(path, text) });
    known
        .or_else(|| if is_own() { None } else { clients().filter(fits).find_map(|client| without(client, path, text)) })
}

/// A client's own file before it has any server. A project's `.mcp.json` is nobody's in particular.
fn without(client: &'static KnownClient, path: &Path, text: &str) -> Option<(&'static KnownClient, Value)> {
    let root = client.format.parse(text).ok()?;
    let has_something = root.as_object().is_some_and(|members| !members.is_empty());
    (has_something && !path.ends_with(".mcp.json")).then_some((client, root))
}

/// The first client whose kind of file it is, and whose way of holding servers it has. `mcpServers` alone is anybody's, and is
/// read with every spelling of variables.
fn by_content(path: &Path, text: &str) -> Option<(&'static KnownClient, Value)> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let may_be = |format: FileFormat| match ending {
        "json" | "jsonc" => matches!(format, FileFormat::Json | FileFormat::Jsonc),
        "toml" => format == FileFormat::Toml,
        "yaml" | "yml" => format == FileFormat::Yaml,
        _ => true,
    };
    let family = |format: FileFormat| if format == FileFormat::Json { FileFormat::Jsonc } else { format };
    let formats = [FileFormat::Jsonc, FileFormat::Toml, FileFormat::Yaml].into_iter().filter(|format| may_be(*format));
    // Each is tried once, however many clients have it.
    let roots: Vec<(FileFormat, Value)> =
        formats.filter_map(|format| format.parse(text).ok().map(|root| (format, root))).collect();
    let shared = clients().filter(|client| client.variables == Variables::Any);
    shared.chain(clients()).find_map(|client| {
        let (_, root) = roots.iter().find(|(format, _)| *format == family(client.format))?;
        let is_list = client.shape != crate::edit::Shape::Map;
        let holds = client.containers_in(root).any(|path| {
            let container = path.iter().try_fold(root, |value, key| value.get(key));
            container.is_some_and(|container| container.is_array() == is_list && has_entries(container))
        });
        holds.then(|| (client, root.clone()))
    })
}

fn has_entries(container: &Value) -> bool {
    let is_entry = |value: &Value| {
        ["command", "cmd", "url", "httpUrl", "serverUrl", "uri", "transport", "type"]
            .iter()
            .any(|key| value.get(key).is_some())
    };
    match container {
        Value::Object(members) => members.values().any(is_entry),
        Value::Array(items) => items.iter().any(is_entry),
        _ => false,
    }
}

/// Strict JSON with `mcpServers` or `servers`, and entries that Toolfold's own reader understands whole.
fn is_plain(text: &str, root: &Value, servers: &[ForeignServer]) -> bool {
    let containers: Vec<&Value> = ["mcpServers", "servers"].iter().filter_map(|key| root.get(key)).collect();
    let strange = |entry: &Value| {
        ["httpUrl", "environment", "env_vars", "cmd"].iter().any(|key| entry.get(key).is_some())
            || entry.get("transport").is_some_and(Value::is_object)
            || entry.get("command").is_some_and(|command| command.is_array() || command.is_object())
    };
    let counted: usize =
        containers.iter().filter_map(|container| container.as_object()).map(|members| members.len()).sum();
    // What an editor would ask for, or a file would hold, is told of and left out, where nothing else is wrong; our own reader
    // would stop there, and knows the place of each mistake.
    let is_asked = |server: &ForeignServer| server.notes.iter().any(|note| note.starts_with(FOR_NOW));
    let is_left_out = servers.iter().any(is_asked) && servers.iter().all(|server| server.outcome.is_ok());
    serde_json::from_str::<Value>(text).is_ok()
        && !is_left_out
        && !containers.is_empty()
        && servers.len() <= counted
        && !containers
            .iter()
            .filter_map(|container| container.as_object())
            .flat_map(|members| members.values())
            .any(strange)
}
