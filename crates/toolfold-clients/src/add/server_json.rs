//! `server.json`, as the registry of servers describes them: the spelling of today, and that with underscores of before.

use serde_json::Value;

use super::package::{is_package, run};
use super::{AddError, Missing, NewServer, name_of_package};
use crate::definition::ServerDefinition;
use crate::secrets::constant;
use crate::variables::{escaped, is_name};

/// Whether it is one at all.
pub(super) fn is_one(value: &Value) -> bool {
    value.get("name").is_some_and(Value::is_string)
        && (value.get("packages").is_some_and(Value::is_array) || value.get("remotes").is_some_and(Value::is_array))
}

/// A remote before a package: it needs nothing on this machine. Of several, the first that Toolfold can run.
pub(super) fn read(value: &Value) -> Result<NewServer, AddError> {
    let title = value.get("name").and_then(Value::as_str).unwrap_or_default();
    let mut wanted = Wanted { missing: Vec::new() };
    let list = |key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let definition = list("remotes").iter().find_map(|remote| wanted.remote(remote));
    let definition = definition.or_else(|| list("packages").iter().find_map(|package| wanted.package(package)));
    let definition = definition.ok_or_else(|| {
        AddError::Unusable(
            "none of its packages is of a kind that Toolfold can run: npm, pypi, oci or nuget".to_owned(),
        )
    })?;
    Ok(NewServer { name: name_of_package(title), definition, missing: wanted.missing, notes: Vec::new() })
}

struct Wanted {
    missing: Vec<Missing>,
}

impl Wanted {
    fn remote(&mut self, remote: &Value) -> Option<ServerDefinition> {
        let url = text(remote, &["url"])?;
        let empty = Value::Null;
        let url = self.filled(&url, remote.get("variables").unwrap_or(&empty));
        let headers = items(remote, &["headers"]);
        let headers =
            headers.iter().filter_map(|header| Some((text(header, &["name"])?, self.value(header, None)?))).collect();
        Some(ServerDefinition { url: Some(url), headers, ..ServerDefinition::default() })
    }

    fn package(&mut self, package: &Value) -> Option<ServerDefinition> {
        let registry = text(package, &["registryType", "registry_type", "registry_name"])?;
        let name = text(package, &["identifier", "name"])?;
        let version = text(package, &["version"]).filter(|version| !version.is_empty() && version != "latest");
        let whole = match (registry.as_str(), version) {
            ("npm", Some(version)) => format!("{name}@{version}"),
            ("pypi", Some(version)) => format!("{name}=={version}"),
            ("oci", Some(version)) if !name.contains('@') && !name.rsplit('/').next().unwrap_or("").contains(':') => {
                format!("{name}:{version}")
            }
            _ => name,
        };
        let runner = text(package, &["runtimeHint", "runtime_hint"]).filter(|runner| is_package(runner));
        let mut made = run(&registry, &whole, runner.as_deref()).filter(|_| is_package(&whole))?;
        for variable in items(package, &["environmentVariables", "environment_variables"]) {
            let Some(name) = text(&variable, &["name"]).filter(|name| is_name(name)) else { continue };
            if let Some(value) = self.value(&variable, Some(&name)) {
                made.env.push((name, value));
            }
        }
        // Arguments of the runner go before the package, which is the last word so far.
        let last = made.args.len().saturating_sub(1);
        let runtime = self.arguments(&items(package, &["runtimeArguments", "runtime_arguments"]));
        // `-y` is there already.
        let runtime: Vec<String> = runtime.into_iter().filter(|word| !made.args.contains(word)).collect();
        made.args.splice(last..last, runtime);
        if registry == "oci" {
            // A container sees no variable that is not handed on.
            let handed = made.env.iter().flat_map(|(name, _)| ["-e".to_owned(), name.clone()]).collect::<Vec<_>>();
            let last = made.args.len().saturating_sub(1);
            made.args.splice(last..last, handed);
        }
        made.args.extend(self.arguments(&items(package, &["packageArguments", "package_arguments"])));
        Some(made)
    }

    fn arguments(&mut self, items: &[Value]) -> Vec<String> {
        let mut words = Vec::new();
        for item in items {
            let hint = text(item, &["name", "valueHint", "value_hint"]);
            let value = self.value(item, hint.as_deref());
            let named = text(item, &["type"]).as_deref() == Some("named");
            match (named.then(|| text(item, &["name"])).flatten(), value) {
                (Some(name), Some(value)) => words.extend([name, value]),
                (Some(name), None) if required(item) => words.push(name),
                (None, Some(value)) => words.push(value),
                _ => {}
            }
        }
        words
    }

    /// What is fixed, else the default, else a variable that somebody has to set. Nothing where it is not needed.
    fn value(&mut self, item: &Value, name: Option<&str>) -> Option<String> {
        let empty = Value::Null;
        if let Some(value) = text(item, &["value"]) {
            return Some(self.filled(&value, item.get("variables").unwrap_or(&empty)));
        }
        let name = name.map(constant).or_else(|| text(item, &["name"]).map(|name| constant(&name)))?;
        match text(item, &["default"]) {
            Some(default) => Some(escaped(&default)),
            None if required(item) => Some(self.ask(name, item)),
            None => None,
        }
    }

    /// `{name}` in a text, from what the table of variables says of it.
    fn filled(&mut self, template: &str, variables: &Value) -> String {
        let mut out = String::new();
        let mut rest = template;
        while let Some(at) = rest.find('{') {
            let Some(end) = rest[at..].find('}') else { break };
            let name = &rest[at + 1..at + end];
            out.push_str(&escaped(&rest[..at]));
            match variables.get(name) {
                Some(item) => match text(item, &["value", "default"]) {
                    Some(value) => out.push_str(&escaped(&value)),
                    None => out.push_str(&self.ask(constant(name), item)),
                },
                None => out.push_str(&escaped(&rest[at..=at + end])),
            }
            rest = &rest[at + end + 1..];
        }
        out + &escaped(rest)
    }

    fn ask(&mut self, name: String, item: &Value) -> String {
        let choices =
            items(item, &["choices"]).iter().filter_map(|choice| choice.as_str().map(str::to_owned)).collect();
        let is_secret = flag(item, &["isSecret", "is_secret"]);
        let about = text(item, &["description"]).unwrap_or_default();
        let spelled = format!("${{{name}}}");
        if !self.missing.iter().any(|missing| missing.name == name) {
            self.missing.push(Missing { name, about, is_secret, choices });
        }
        spelled
    }
}

fn required(item: &Value) -> bool {
    flag(item, &["isRequired", "is_required"])
}

fn flag(item: &Value, keys: &[&str]) -> bool {
    keys.iter().find_map(|key| item.get(*key)?.as_bool()).unwrap_or(false)
}

fn text(item: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| item.get(*key)?.as_str()).map(str::to_owned)
}

fn items(item: &Value, keys: &[&str]) -> Vec<Value> {
    keys.iter().find_map(|key| item.get(*key)?.as_array()).cloned().unwrap_or_default()
}
