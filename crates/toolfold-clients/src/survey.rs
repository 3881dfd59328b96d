//! Looking through clients' files: which are there, and what is in them. Nothing is changed and nothing is started.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::environment::Environment;
use crate::files::{self, FileError};
use crate::format::Broken;
use crate::read::{ForeignServer, Reading, servers};
use crate::table::{KnownClient, clients};

/// Why there is nothing to see in a file.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Broken(#[from] Broken),
}

/// One container of servers in one file.
#[derive(Debug)]
pub struct SeenFile {
    pub client: &'static KnownClient,
    pub scope: Scope,
    pub path: PathBuf,
    pub outcome: Result<Vec<ForeignServer>, Unreadable>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    User,
    Project,
    /// In the user's file, for one folder alone.
    Folder(PathBuf),
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Scope::User => f.write_str("user"),
            Scope::Project => f.write_str("project"),
            Scope::Folder(folder) => write!(f, "only in {}", folder.display()),
        }
    }
}

/// Files of clients that are there, by name alone: none is opened.
pub fn seen(environment: &Environment) -> Vec<(&'static KnownClient, PathBuf)> {
    let files = |client: &'static KnownClient| {
        let all = client.user_files(environment).into_iter().chain(client.project_files(environment));
        all.map(move |path| (client, path))
    };
    clients().flat_map(files).collect()
}

/// What is in the files of these clients, or of all.
pub fn survey(environment: &Environment, only: &[&'static KnownClient]) -> Vec<SeenFile> {
    let mut found: Vec<SeenFile> = Vec::new();
    for client in clients().filter(|client| only.is_empty() || only.iter().any(|wanted| wanted.id == client.id)) {
        for (scope, paths) in
            [(Scope::User, client.user_files(environment)), (Scope::Project, client.project_files(environment))]
        {
            for path in paths {
                // `.mcp.json` is several clients': it is read as the first one's.
                if !found.iter().any(|seen| seen.path == path) {
                    found.extend(look_into(client, &scope, &path, environment));
                }
            }
        }
    }
    found
}

fn look_into(client: &'static KnownClient, scope: &Scope, path: &Path, environment: &Environment) -> Vec<SeenFile> {
    let seen = |scope: Scope, outcome| SeenFile { client, scope, path: path.to_owned(), outcome };
    let text = match files::read(path) {
        Ok(text) => text.unwrap_or_default(),
        Err(error) => return vec![seen(scope.clone(), Err(error.into()))],
    };
    match client.format.parse(&text) {
        Err(broken) => vec![seen(scope.clone(), Err(broken.into()))],
        Ok(root) => {
            let project = (*scope == Scope::Project).then_some(environment.directory.as_path());
            let mut all = vec![seen(scope.clone(), Ok(in_root(client, &root, environment.home.as_deref(), project)))];
            all.extend(folders(&root).map(|(folder, container)| {
                let reading = reading(client, environment.home.as_deref(), Some(Path::new(folder)));
                seen(Scope::Folder(PathBuf::from(folder)), Ok(servers(container, reading)))
            }));
            all
        }
    }
}

/// The servers of a file that has been read.
pub(crate) fn in_root(
    client: &KnownClient,
    root: &Value,
    home: Option<&Path>,
    project: Option<&Path>,
) -> Vec<ForeignServer> {
    let containers: Vec<_> = client.containers_in(root).collect();
    let mut found = Vec::new();
    for path in &containers {
        let Some(container) = path.iter().try_fold(root, |value, key| value.get(key)) else { continue };
        let inner =
            |name: &str| containers.iter().any(|other| other.len() == path.len() + 1 && other.last() == Some(&name));
        let all = servers(container, reading(client, home, project));
        found.extend(all.into_iter().filter(|server| !inner(&server.name)));
    }
    found
}

fn reading<'a>(client: &KnownClient, home: Option<&'a Path>, project: Option<&'a Path>) -> Reading<'a> {
    Reading { variables: client.variables, timeout: client.timeout, home, project }
}

/// Claude Code keeps servers of single folders in the user's file: `projects."/folder".mcpServers`.
pub(crate) fn folders(root: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let projects = root.get("projects").and_then(Value::as_object).into_iter().flatten();
    let with = projects.filter_map(|(folder, project)| Some((folder.as_str(), project.get("mcpServers")?)));
    with.filter(|(_, container)| container.as_object().is_some_and(|members| !members.is_empty()))
}
