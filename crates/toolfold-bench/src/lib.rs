//! Catalogs of any size for measuring search: real tools where there are enough, and mixtures of them beyond that.
//!
//! What a reader would get wrong: a mixture is no copy. It takes its name from one tool and its description from
//! another, and a word of its own, so that a million of them have a million texts.

mod mixture;

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use toolfold_catalog::{Catalog, ServerSource, ServerTools};
use toolfold_core::{ServerName, slug};
use toolfold_wire::{Raw, raw};

use mixture::{Chance, spelt};

/// How many tools a made-up server has.
const PER_SERVER: usize = 50;

/// A tool as evaluation sets have it.
#[derive(Debug, Clone)]
pub struct Tool {
    pub server: String,
    pub name: String,
    pub description: String,
    pub schema: Value,
}

impl Tool {
    /// All its words in one text.
    pub fn text(&self) -> String {
        format!("{} {} {} {}", self.server, self.name, self.description, self.schema)
    }
}

/// The tools of a `tools.jsonl`; lines that are none are passed over.
pub fn read_tools(file: &Path) -> std::io::Result<Vec<Tool>> {
    let text = std::fs::read_to_string(file)?;
    let string = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let tool = |line: Value| Tool {
        server: string(&line, "server"),
        name: string(&line, "name"),
        description: string(&line, "description"),
        schema: line
            .get("input_schema")
            .filter(|schema| schema.is_object())
            .cloned()
            .unwrap_or(json!({"type": "object"})),
    };
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).map(tool).collect())
}

/// The queries of a `queries.jsonl`.
pub fn read_queries(file: &Path) -> std::io::Result<Vec<String>> {
    let text = std::fs::read_to_string(file)?;
    let query = |line: Value| line["query"].as_str().map(str::to_owned);
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).filter_map(query).collect())
}

/// `count` tools: the given ones, then mixtures of them. The same for the same arguments.
pub fn grown(tools: &[Tool], count: usize) -> Vec<Tool> {
    let mut chance = Chance::default();
    let mixture = |number: usize| {
        let (a, b, c) = (chance.pick(tools), chance.pick(tools), chance.pick(tools));
        Tool {
            server: format!("{} {}", c.server, number / PER_SERVER),
            name: format!("{}_{}", a.name, spelt(number)),
            description: b.description.clone(),
            schema: c.schema.clone(),
        }
    };
    let made = (tools.len()..count).map(mixture);
    let real = tools.iter().take(count).cloned();
    real.collect::<Vec<_>>().into_iter().chain(made).collect()
}

pub fn catalog(tools: &[Tool]) -> Catalog {
    let mut servers: std::collections::BTreeMap<String, Vec<Raw>> = Default::default();
    for tool in tools {
        let definition = json!({"name": tool.name, "description": tool.description, "inputSchema": tool.schema});
        servers.entry(slug(&tool.server)).or_default().push(raw(&definition));
    }
    let read = |(name, tools): (String, Vec<Raw>)| {
        let name = ServerName::new(&name).ok()?;
        Some(Arc::new(ServerTools::read(ServerSource { name, prefix: true, title: None, instructions: None, tools }).0))
    };
    Catalog::merge(1, servers.into_iter().filter_map(read))
}
