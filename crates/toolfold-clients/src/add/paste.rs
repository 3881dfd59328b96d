//! The JSON block of a README, as people paste it: with a fence around it or words before it, a whole file or one entry.

use std::path::Path;

use serde_json::Value;
use toolfold_core::beginning;

use super::{AddError, Missing, NewServer, name_of_package, server_json};
use crate::format::FileFormat;
use crate::read::{ForeignServer, Reading, server, servers};
use crate::table::{Variables, clients};

pub(super) fn read(name: Option<&str>, text: &str, home: Option<&Path>) -> Result<Vec<NewServer>, AddError> {
    let value = find(text)
        .ok_or_else(|| AddError::NotUnderstood("there is no JSON or TOML with servers in the text".to_owned()))?;
    if server_json::is_one(&value) {
        let mut made = server_json::read(&value)?;
        made.name = name.map_or(made.name, str::to_owned);
        return Ok(vec![made]);
    }
    let reading = Reading { variables: Variables::Any, timeout: None, home, project: None };
    let mut found = entries(&value, reading);
    if let ([only], Some(name)) = (found.as_mut_slice(), name) {
        only.name = name.to_owned();
    }
    let made: Vec<NewServer> = found.into_iter().map(new_server).collect::<Result<_, _>>()?;
    if made.is_empty() {
        return Err(AddError::NotUnderstood("there is no server in the text".to_owned()));
    }
    Ok(made)
}

/// The first piece of the text that can be read and has a server in it.
fn find(text: &str) -> Option<Value> {
    let trimmed = text.trim();
    let fenced =
        trimmed.split("```").skip(1).step_by(2).map(|block| block.split_once('\n').map_or(block, |(_, body)| body));
    let braces = trimmed.find('{').zip(trimmed.rfind('}')).filter(|(open, close)| open < close);
    let braced = braces.map(|(open, close)| trimmed[open..=close].to_owned());
    // `"github": {…}`, without the braces around it.
    let bare = trimmed.starts_with('"').then(|| format!("{{{}}}", trimmed.trim_end_matches(',')));
    let pieces = std::iter::once(trimmed.to_owned()).chain(fenced.map(str::to_owned)).chain(bare).chain(braced);
    pieces.into_iter().find_map(|piece| {
        let formats = [FileFormat::Jsonc, FileFormat::Toml];
        let mut values = formats.iter().filter_map(|format| format.parse(&piece).ok());
        values.find(is_useful)
    })
}

fn is_useful(value: &Value) -> bool {
    let reading = Reading { variables: Variables::Any, timeout: None, home: None, project: None };
    server_json::is_one(value) || !entries(value, reading).is_empty()
}

/// Any client's container, a table of servers, or one entry.
fn entries(value: &Value, reading: Reading<'_>) -> Vec<ForeignServer> {
    let mut paths: Vec<&[&str]> = clients().flat_map(|client| client.containers.iter().copied()).collect();
    // VS Code's settings have it a level deeper.
    paths.push(&["mcp", "servers"]);
    // The deepest first: `mcp.servers` is in `mcp`.
    paths.sort_by_key(|path| std::cmp::Reverse(path.len()));
    let container = paths.iter().find_map(|path| path.iter().try_fold(value, |value, key| value.get(key)));
    if let Some(container) = container {
        return servers(container, reading);
    }
    if is_entry(value) {
        let mut only = server("", value, reading);
        only.name = match &only.outcome {
            Ok(definition) => name_of_package(definition.told().split_whitespace().last().unwrap_or_default()),
            Err(_) => String::new(),
        };
        return vec![only];
    }
    let members = value.as_object().into_iter().flatten();
    members.filter(|(_, inner)| is_entry(inner)).map(|(name, inner)| server(name, inner, reading)).collect()
}

fn is_entry(value: &Value) -> bool {
    ["command", "cmd", "url", "httpUrl", "serverUrl", "uri"]
        .iter()
        .any(|key| value.get(key).is_some_and(|v| !v.is_null()))
}

fn new_server(found: ForeignServer) -> Result<NewServer, AddError> {
    let refused = |why| AddError::Unusable(format!("{:?} cannot be added: {why}", beginning(&found.name, 100)));
    let mut definition = found.outcome.map_err(refused)?;
    let mut missing = Vec::new();
    for (name, value) in definition.env.iter_mut() {
        if is_blank(value) {
            missing.push(Missing {
                name: name.clone(),
                about: String::new(),
                is_secret: crate::secrets::is_secret(name, "?"),
                choices: Vec::new(),
            });
            *value = format!("${{{name}}}");
        }
    }
    Ok(NewServer { name: found.name, definition, missing, notes: found.notes })
}

/// What READMEs write where a value belongs: `<your-token>`, `YOUR_API_KEY`, `xxx`, or nothing.
fn is_blank(value: &str) -> bool {
    let lower = value.trim().to_lowercase();
    let crossed = !lower.is_empty() && lower.chars().all(|c| matches!(c, 'x' | '*' | '.' | '…'));
    lower.is_empty()
        || crossed
        || (lower.starts_with('<') && lower.ends_with('>'))
        || (lower.starts_with('[') && lower.ends_with(']'))
        || ["your-", "your_", "your ", "replace-", "replace_", "changeme", "enter-your", "insert-"]
            .iter()
            .any(|start| lower.starts_with(start))
}
