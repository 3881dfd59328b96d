//! Lists of tools of any size, out of the tools and queries in `eval/`.
//!
//! What a reader would get wrong: past the tools that are there, each is a mixture: its name from one, its description
//! from another, its schema from a third, and a word of its own, so that no two have the same text.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::mixture::{Chance, spelt};

/// Tools of one page of a list.
const PAGE: usize = 1_000;
const SETS: [&str; 2] = ["eval/toolbox", "eval/project"];

/// `count` definitions, the same each time.
pub(crate) fn tools(root: &Path, count: usize) -> Result<Vec<Value>> {
    let real = lines(root, "tools.jsonl")?;
    ensure!(!real.is_empty(), "eval/ has no tools");
    let mut chance = Chance::default();
    let made = |number: usize| {
        let (a, b, c) = (chance.pick(&real), chance.pick(&real), chance.pick(&real));
        let name = format!("{}_{}", a["name"].as_str().unwrap_or("tool"), spelt(number));
        json!({"name": name, "description": b["description"], "inputSchema": c["input_schema"]})
    };
    Ok((0..count).map(made).collect())
}

pub(crate) fn queries(root: &Path) -> Result<Vec<String>> {
    let text = |line: &Value| line["query"].as_str().map(str::to_owned);
    Ok(lines(root, "queries.jsonl")?.iter().filter_map(text).collect())
}

/// Writes a list as the thin server reads it: a line per page.
pub(crate) fn write(file: &Path, tools: &[Value]) -> Result<()> {
    let pages = tools.len().div_ceil(PAGE);
    let mut text = String::new();
    for (number, page) in tools.chunks(PAGE).enumerate() {
        let mut result = json!({"tools": page});
        if number + 1 < pages {
            result["nextCursor"] = json!((number + 1).to_string());
        }
        text.push_str(&result.to_string());
        text.push('\n');
    }
    fs::write(file, text).with_context(|| file.display().to_string())
}

/// The tool that is called.
pub(crate) fn echo() -> Value {
    json!({
        "name": "echo",
        "description": "Say the same again.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    })
}

fn lines(root: &Path, name: &str) -> Result<Vec<Value>> {
    let mut found = Vec::new();
    for set in SETS {
        let file = root.join(set).join(name);
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        found.extend(text.lines().filter_map(|line| serde_json::from_str(line).ok()));
    }
    Ok(found)
}
