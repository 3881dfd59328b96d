//! Reading a set: lines of JSON into a catalog and the questions asked of it. And writing the tools of one, so that
//! somebody can measure search on the tools they have.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use toolfold_catalog::{Catalog, ServerSource, ServerTools};
use toolfold_core::{Entry, ServerName, ToolId, slug};
use toolfold_wire::{Raw, raw};

pub struct EvalSet {
    pub catalog: Catalog,
    pub queries: Vec<EvalQuery>,
}

pub struct EvalQuery {
    pub text: String,
    /// Positions in the catalog. None where no tool of the set can do what is asked.
    pub relevant: Vec<usize>,
}

#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct BadSet {
    pub file: String,
    pub line: usize,
    pub problem: String,
}

/// A tool as a set has it.
#[derive(Debug, Serialize, Deserialize)]
pub struct ToolLine {
    id: String,
    #[serde(default, deserialize_with = "text_or_null")]
    server: String,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, deserialize_with = "text_or_null")]
    description: String,
    #[serde(default)]
    input_schema: Option<Value>,
}

/// Sets are written by many programs, and some write `null` for what is not there.
fn text_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

#[derive(Deserialize)]
struct List {
    tools: Vec<Value>,
}

/// A query as a set has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryLine {
    #[serde(default)]
    pub id: String,
    pub query: String,
    /// Ids of the right tools.
    pub relevant: Vec<String>,
}

impl ToolLine {
    pub fn read(file: &Path) -> Result<Vec<ToolLine>, BadSet> {
        read_lines(file)
    }

    pub fn of(entry: &Entry) -> ToolLine {
        ToolLine {
            id: entry.id.to_string(),
            server: entry.server().to_string(),
            name: entry.name().to_owned(),
            title: entry.title.clone(),
            description: entry.description.clone(),
            input_schema: Some(entry.input_schema()),
        }
    }
}

impl EvalSet {
    pub fn read(tools: Vec<ToolLine>, queries: &Path) -> Result<EvalSet, BadSet> {
        let (catalog, ids) = build(tools);
        EvalSet::asked(catalog, queries, |id| ids.get(id).cloned())
    }

    /// A set of queries that are at hand. Tools that the set has not are left out.
    pub fn of(tools: Vec<ToolLine>, queries: &[QueryLine]) -> EvalSet {
        let (catalog, ids) = build(tools);
        let position = |id: &String| ids.get(id).and_then(|tool| catalog.position(tool));
        let asked = queries.iter().map(|line| EvalQuery {
            text: line.query.clone(),
            relevant: line.relevant.iter().filter_map(position).collect(),
        });
        let queries = asked.collect();
        EvalSet { catalog, queries }
    }

    /// Over what servers answered to `tools/list`: `NAME.json` in a folder for each, queries with ids `NAME.tool`. These are
    /// the definitions themselves, with annotations and all else that a line of a set leaves out.
    pub fn of_lists(folder: &Path, queries: &Path) -> Result<EvalSet, BadSet> {
        let entries = std::fs::read_dir(folder).map_err(|error| bad(folder, 0, error.to_string()))?;
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        let mut servers = Vec::new();
        for file in &files {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            // A name that begins like this is a file about the lists.
            let name = ServerName::new(stem).ok().filter(|name| !name.as_str().starts_with('_'));
            let Some(name) = name.filter(|_| file.extension().is_some_and(|ending| ending == "json")) else { continue };
            let text = std::fs::read_to_string(file).map_err(|error| bad(file, 0, error.to_string()))?;
            let list: List = serde_json::from_str(&text).map_err(|error| bad(file, error.line(), error.to_string()))?;
            let tools = list.tools.iter().map(raw).collect();
            servers.push(Arc::new(
                ServerTools::read(ServerSource { name, prefix: true, title: None, instructions: None, tools }).0,
            ));
        }
        EvalSet::asked(Catalog::merge(1, servers), queries, |id| {
            let (server, tool) = id.split_once('.')?;
            Some(ToolId::new(ServerName::new(server).ok()?, tool))
        })
    }

    fn asked(catalog: Catalog, queries: &Path, named: impl Fn(&str) -> Option<ToolId>) -> Result<EvalSet, BadSet> {
        let asked: Vec<QueryLine> = read_lines(queries)?;
        let mut all = Vec::with_capacity(asked.len());
        for (line, query) in asked.into_iter().enumerate() {
            let position = |id: &String| named(id).and_then(|tool| catalog.position(&tool)).ok_or_else(|| id.clone());
            let relevant = query.relevant.iter().map(position).collect::<Result<Vec<_>, _>>();
            let relevant = relevant.map_err(|id| bad(queries, line + 1, format!("no tool has the id {id:?}")))?;
            all.push(EvalQuery { text: query.query, relevant });
        }
        Ok(EvalSet { catalog, queries: all })
    }
}

fn build(lines: Vec<ToolLine>) -> (Catalog, HashMap<String, ToolId>) {
    let mut ids = HashMap::new();
    let mut taken: HashSet<ToolId> = HashSet::new();
    let mut servers: BTreeMap<ServerName, Vec<Raw>> = BTreeMap::new();
    for line in lines {
        let schema = line.input_schema.filter(Value::is_object).unwrap_or_else(|| json!({"type": "object"}));
        let mut definition = json!({"name": line.name, "description": line.description, "inputSchema": schema});
        if let Some(title) = line.title {
            definition["title"] = title.into();
        }
        let mut tool = ToolId::new(server_name(&line.server, 0), line.name);
        // Two tools of one name cannot live on one server; a set may still have them.
        for turn in 1.. {
            if taken.insert(tool.clone()) {
                break;
            }
            tool.server = server_name(&line.server, turn);
        }
        servers.entry(tool.server.clone()).or_default().push(raw(&definition));
        ids.insert(line.id, tool);
    }
    let read = |(name, tools)| {
        let source = ServerSource { name, prefix: true, title: None, instructions: None, tools };
        Arc::new(ServerTools::read(source).0)
    };
    (Catalog::merge(1, servers.into_iter().map(read)), ids)
}

fn server_name(name: &str, turn: usize) -> ServerName {
    let turned = if turn == 0 { String::new() } else { format!("_{turn}") };
    let plain: String = slug(name).chars().take(64 - turned.len()).collect();
    let plain = if plain.is_empty() { "tools".to_owned() } else { plain };
    ServerName::new(format!("{plain}{turned}")).expect("a slug of fitting length is a server name")
}

fn read_lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Vec<T>, BadSet> {
    let text = std::fs::read_to_string(path).map_err(|error| bad(path, 0, error.to_string()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| serde_json::from_str(line).map_err(|error| bad(path, number + 1, error.to_string())))
        .collect()
}

fn bad(path: &Path, line: usize, problem: String) -> BadSet {
    BadSet { file: path.display().to_string(), line, problem }
}
