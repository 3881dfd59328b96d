//! Agents, skills and scripts are files: finding them, and reading them into entries. The only place that touches them.
//!
//! What a reader would get wrong: a bad file is never an error here. It is left out, and said so with its name; the
//! others serve.

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolfold_catalog::ServerTools;
use toolfold_clients::{NoFile, open_file};
use toolfold_config::Config;
use toolfold_core::{BadDefinition, Entry, Kind, ServerName};

use crate::front_matter::{BadDocument, definition};
use crate::scripts::{BadScript, Stored};

const LARGEST: u64 = 1024 * 1024;
const DEEPEST: usize = 6;
/// Folders and files looked at for one list of paths: a path to `/` must not take the day.
const MOST_LOOKED_AT: usize = 20_000;
const MOST_FILES: usize = 2_000;

/// All agents, skills and scripts that a configuration names.
#[derive(Debug, Default)]
pub struct Documents {
    pub(crate) servers: Vec<ServerTools>,
    /// The programs behind the tools of the last of these, where there are any.
    pub(crate) scripts: Vec<Stored>,
    pub unusable: Vec<Unusable>,
}

/// A file or folder that could not be used, and why. For people at this machine: it names a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    pub path: PathBuf,
    pub why: String,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path.display(), self.why)
    }
}

impl Documents {
    /// Reads them all; it blocks.
    pub fn read(config: &Config) -> Documents {
        let mut documents = Documents::default();
        for (kind, paths) in of(config) {
            let found = Found::below(kind, paths);
            documents.unusable.extend(found.unusable);
            if let Some(name) = server_name(kind).filter(|_| !paths.is_empty()) {
                let entries = match kind {
                    Kind::Tool => documents.scripts(&name, &found.files),
                    _ => documents.entries(&name, kind, &found.files),
                };
                documents.servers.push(ServerTools::documents(name, about(kind), entries));
            }
        }
        documents
    }

    fn scripts(&mut self, server: &ServerName, files: &[PathBuf]) -> Vec<Arc<Entry>> {
        let mut names = HashSet::new();
        let mut entries = Vec::new();
        for path in files {
            let read = script(path).and_then(|script| match names.insert(script.name.clone()) {
                true => Ok((Entry::tool(server, &script.definition)?, script)),
                false => Err(LeftOut::Twice(script.name)),
            });
            match read {
                Ok((entry, script)) => {
                    entries.push(Arc::new(entry));
                    self.scripts.push(script);
                }
                Err(why) => self.unusable.push(Unusable { path: path.clone(), why: why.to_string() }),
            }
        }
        entries
    }

    fn entries(&mut self, server: &ServerName, kind: Kind, files: &[PathBuf]) -> Vec<Arc<Entry>> {
        let mut names = HashSet::new();
        let mut entries = Vec::new();
        for path in files {
            let read = entry(server, kind, path).and_then(|entry| match names.insert(entry.name().to_owned()) {
                true => Ok(entry),
                false => Err(LeftOut::Twice(entry.name().to_owned())),
            });
            match read {
                Ok(entry) => entries.push(Arc::new(entry)),
                Err(why) => self.unusable.push(Unusable { path: path.clone(), why: why.to_string() }),
            }
        }
        entries
    }
}

/// The files that would be read now: whoever looks for changes compares these. It blocks.
pub fn document_files(config: &Config) -> Vec<PathBuf> {
    of(config).into_iter().flat_map(|(kind, paths)| Found::below(kind, paths).files).collect()
}

/// A script is a tool.
fn of(config: &Config) -> [(Kind, &[PathBuf]); 3] {
    [(Kind::Agent, &config.agents), (Kind::Skill, &config.skills), (Kind::Tool, &config.scripts)]
}

fn server_name(kind: Kind) -> Option<ServerName> {
    match kind {
        Kind::Tool => ServerName::new("scripts").ok(),
        _ => ServerName::new(format!("{}s", kind.as_str())).ok(),
    }
}

fn about(kind: Kind) -> &'static str {
    match kind {
        Kind::Skill => "Skills: instructions to read before such work",
        Kind::Tool => "Scripts: programs that call several tools",
        _ => "Agents: roles to take on or to delegate to",
    }
}

/// Why a file is left out, in words that follow its name.
#[derive(Debug, thiserror::Error)]
enum LeftOut {
    #[error("does not exist")]
    Missing,
    #[error("may not be read")]
    Forbidden,
    #[error("cannot be read: {0}")]
    Unreadable(std::io::Error),
    #[error("is not a file")]
    NoFile,
    #[error("is larger than 1 MiB")]
    TooLarge,
    #[error("is not UTF-8 text")]
    NoText,
    #[error("is left out: an earlier file is called {0:?} too")]
    Twice(String),
    #[error(transparent)]
    Document(#[from] BadDocument),
    #[error(transparent)]
    Definition(#[from] BadDefinition),
    #[error(transparent)]
    Script(#[from] BadScript),
}

fn entry(server: &ServerName, kind: Kind, path: &Path) -> Result<Entry, LeftOut> {
    // A skill is named after its folder, an agent after its file.
    let named_by = if is_skill(path) { path.parent().and_then(Path::file_name) } else { path.file_stem() };
    let usual_name = named_by.unwrap_or_default().to_string_lossy();
    Ok(Entry::document(server, kind, &definition(&text(path)?, &usual_name)?)?)
}

fn script(path: &Path) -> Result<Stored, LeftOut> {
    let usual_name = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok(Stored::read(&text(path)?, &usual_name)?)
}

fn text(path: &Path) -> Result<String, LeftOut> {
    let mut bytes = Vec::new();
    let read = open_file(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes));
    read.map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST {
        return Err(LeftOut::TooLarge);
    }
    String::from_utf8(bytes).map_err(|_| LeftOut::NoText)
}

fn unreadable(error: std::io::Error) -> LeftOut {
    match error.kind() {
        ErrorKind::NotFound => LeftOut::Missing,
        ErrorKind::PermissionDenied => LeftOut::Forbidden,
        _ if error.get_ref().is_some_and(|inner| inner.is::<NoFile>()) => LeftOut::NoFile,
        _ => LeftOut::Unreadable(error),
    }
}

fn is_skill(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"))
}

fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "js" || ending == "mjs")
}

fn is_agent(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md")) && !name.eq_ignore_ascii_case("README.md")
}

/// The files below some paths, in the order of the paths and then of names.
struct Found {
    kind: Kind,
    files: Vec<PathBuf>,
    unusable: Vec<Unusable>,
    left: usize,
}

impl Found {
    fn below(kind: Kind, paths: &[PathBuf]) -> Found {
        let mut found = Found { kind, files: Vec::new(), unusable: Vec::new(), left: MOST_LOOKED_AT };
        for path in paths {
            match fs::metadata(path) {
                Ok(about) if about.is_dir() => found.walk(path, 0),
                Ok(_) => found.files.push(path.clone()),
                Err(error) => found.unusable.push(Unusable { path: path.clone(), why: unreadable(error).to_string() }),
            }
        }
        if found.files.len() > MOST_FILES || found.left == 0 {
            found.files.truncate(MOST_FILES);
            let why = format!("has more below it than is read: {MOST_FILES} files are, of {MOST_LOOKED_AT} looked at");
            found.unusable.extend(paths.last().map(|path| Unusable { path: path.clone(), why }));
        }
        found
    }

    fn walk(&mut self, folder: &Path, depth: usize) {
        let children = match fs::read_dir(folder) {
            Ok(children) => children.take(self.left),
            Err(error) => {
                self.unusable.push(Unusable { path: folder.to_owned(), why: unreadable(error).to_string() });
                return;
            }
        };
        let mut children: Vec<PathBuf> = children.flatten().map(|child| child.path()).collect();
        self.left = self.left.saturating_sub(children.len());
        children.sort();
        let skill = children.iter().find(|child| is_skill(child) && child.is_file());
        if let (Kind::Skill, Some(skill)) = (self.kind, skill) {
            // What else is in the folder of a skill belongs to it.
            self.files.push(skill.clone());
            return;
        }
        for child in children.iter().filter(|child| !is_hidden(child)) {
            if child.is_dir() {
                if depth < DEEPEST && self.left > 0 {
                    self.walk(child, depth + 1);
                }
            } else if (self.kind == Kind::Agent && is_agent(child)) || (self.kind == Kind::Tool && is_script(child)) {
                self.files.push(child.clone());
            }
        }
    }
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') || name == "node_modules"
}
