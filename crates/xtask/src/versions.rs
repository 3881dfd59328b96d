//! How much of a server is held when it is updated: two published versions of real servers, one after the other under one name, as
//! somebody has them who updates. `docs/trust.md` has the table.
//!
//! What a reader would get wrong: nothing is compared here. The first version is accepted at first use, the second one comes in its
//! place, and what is counted is what `toolfold approve` lists then. How many entries there are is what it lists where nothing is
//! believed by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::shell;
use crate::workspace::Workspace;

struct Server {
    package: &'static str,
    versions: [&'static str; 2],
    arguments: &'static [&'static str],
    /// Variables that it wants to see before it starts; none of them is anybody's.
    variables: &'static [&'static str],
}

const fn server(package: &'static str, versions: [&'static str; 2]) -> Server {
    Server { package, versions, arguments: &[], variables: &[] }
}

const SERVERS: [Server; 14] = [
    Server { arguments: &["."], ..server("@modelcontextprotocol/server-filesystem", ["2026.7.10", "2026.8.31"]) },
    server("@modelcontextprotocol/server-everything", ["2026.7.4", "2026.8.31"]),
    server("@modelcontextprotocol/server-memory", ["2026.7.4", "2026.8.31"]),
    server("@modelcontextprotocol/server-sequential-thinking", ["2026.7.4", "2026.8.31"]),
    server("@upstash/context7-mcp", ["4.0.2", "4.1.1"]),
    server("@playwright/mcp", ["0.0.79", "0.0.83"]),
    Server { variables: &["NOTION_TOKEN"], ..server("@notionhq/notion-mcp-server", ["2.5.1", "2.5.2"]) },
    Server { variables: &["BRAVE_API_KEY"], ..server("@brave/brave-search-mcp-server", ["2.0.80", "2.1.4"]) },
    Server { variables: &["SUPABASE_ACCESS_TOKEN"], ..server("@supabase/mcp-server-supabase", ["0.11.0", "0.13.0"]) },
    Server { variables: &["TAVILY_API_KEY"], ..server("tavily-mcp", ["0.2.19", "0.2.22"]) },
    Server { variables: &["FIRECRAWL_API_KEY"], ..server("firecrawl-mcp", ["3.24.0", "3.26.0"]) },
    Server { variables: &["EXA_API_KEY"], ..server("exa-mcp-server", ["3.2.1", "3.4.1"]) },
    Server { variables: &["SENTRY_ACCESS_TOKEN"], ..server("@sentry/mcp-server", ["0.37.0", "0.39.0"]) },
    server("mcp-server-kubernetes", ["4.1.2", "4.1.7"]),
];

/// All of them, or those whose package has one of the words.
pub fn run(workspace: &Workspace, words: &[String]) -> Result<()> {
    let chosen: Vec<&Server> = SERVERS
        .iter()
        .filter(|server| words.is_empty() || words.iter().any(|word| server.package.contains(word.as_str())))
        .collect();
    if chosen.is_empty() {
        bail!("no server is called anything like {}", words.join(" or "));
    }
    let toolfold = workspace.target.join("debug/toolfold");
    ensure!(toolfold.exists(), "there is no {}\n\nhint: cargo build --bins", toolfold.display());
    println!("| server | versions | entries | held | what changed | new |\n|---|---|---|---|---|---|");
    let (mut entries, mut held, mut failed) = (0, 0, Vec::new());
    for server in chosen {
        match update(workspace, &toolfold, server) {
            Ok(update) => {
                let ([old, new], Update { changed, fresh, .. }) = (server.versions, &update);
                println!(
                    "| {} | {old}, {new} | {} | {} | {changed} | {fresh} |",
                    server.package, update.entries, update.held
                );
                (entries, held) = (entries + update.entries, held + update.held);
            }
            Err(why) => {
                println!("| {} | not measured: {} | | | | |", server.package, format!("{why:#}").replace('\n', " "));
                failed.push(server.package);
            }
        }
    }
    println!("\nOf {entries} entries {held} would be held.");
    ensure!(failed.is_empty(), "{} could not be measured", failed.join(", "));
    Ok(())
}

struct Update {
    /// Of the first version: tools, prompts, resources, and what the server says of itself.
    entries: usize,
    held: usize,
    /// Members of definitions, and in how many entries each of them changed.
    changed: String,
    /// Of the second version, that the first did not have.
    fresh: usize,
}

fn update(workspace: &Workspace, toolfold: &Path, server: &Server) -> Result<Update> {
    let folder = workspace.target.join("versions").join(server.package.replace(['@', '/'], "_"));
    let state = folder.join("state");
    let _ = fs::remove_dir_all(&state);
    fs::create_dir_all(&state)?;
    let trial = Trial { toolfold, node: node(workspace), folder: &folder, server };
    let mut all: Vec<BTreeSet<String>> = Vec::new();
    let mut held = Vec::new();
    for version in server.versions {
        let program = install(&folder.join(version), server.package, version)?;
        // One name for both: a server that is started otherwise is another one.
        let link = folder.join("server.js");
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(&program, &link)?;
        // Where everything new is held, what is held is all there is.
        let whole = trial.held("review", version)?;
        all.push(whole.iter().filter_map(|entry| Some(entry["id"].as_str()?.to_owned())).collect());
        // What is remembered of the version before is forgotten, and what was accepted of it is not.
        for file in ["first-use.db", "first-use.db-wal", "first-use.db-shm"] {
            let _ = fs::remove_file(state.join(file));
        }
        held = trial.held("first-use", version)?;
    }
    // All of them together have more than a gigabyte.
    fs::remove_dir_all(&folder)?;
    let mut changed: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in &held {
        // `/inputSchema/properties/…`, with what it was and is in lines below that are set in.
        let places = entry["diff"].as_str().unwrap_or_default().lines().filter(|line| line.starts_with('/'));
        let members: BTreeSet<&str> = places.filter_map(|place| place.split('/').nth(1)).collect();
        members.into_iter().for_each(|member| *changed.entry(member).or_default() += 1);
    }
    let changed: Vec<String> = changed.iter().map(|(member, times)| format!("{times} {member}")).collect();
    let fresh = all[1].difference(&all[0]).count();
    Ok(Update { entries: all[0].len(), held: held.len(), changed: changed.join(", "), fresh })
}

/// The one that runs the peers of the tests, where it is there: some servers need a newer one than the system has.
fn node(workspace: &Workspace) -> String {
    let own = workspace.target.join("peers/node_modules/.bin/node");
    if own.exists() { own.display().to_string() } else { "node".to_owned() }
}

/// By name and exact version; where its program is.
fn install(folder: &Path, package: &str, version: &str) -> Result<PathBuf> {
    let own = folder.join("node_modules").join(package);
    if !own.join("package.json").exists() {
        fs::create_dir_all(folder)?;
        let manifest = json!({"private": true, "dependencies": {package: version}});
        fs::write(folder.join("package.json"), manifest.to_string())?;
        let quiet = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--loglevel=error"];
        shell::run("npm", &quiet, folder)?;
    }
    let about: Value = serde_json::from_str(&fs::read_to_string(own.join("package.json"))?)?;
    let program = about["bin"].as_str().or_else(|| about["bin"].as_object()?.values().next()?.as_str());
    Ok(own.join(program.with_context(|| format!("{package} {version} has no program"))?))
}

struct Trial<'a> {
    toolfold: &'a Path,
    node: String,
    folder: &'a Path,
    server: &'a Server,
}

impl Trial<'_> {
    /// What is held of the version that is there now, once it is listed. Each way to trust has a store of its own.
    fn held(&self, trust: &str, version: &str) -> Result<Vec<Value>> {
        let Trial { node, folder, server, .. } = self;
        let variables: String =
            server.variables.iter().map(|name| format!("{name} = \"0123456789abcdef\"\n")).collect();
        let program = folder.join("server.js").display().to_string();
        let given: Vec<&str> = std::iter::once(program.as_str()).chain(server.arguments.iter().copied()).collect();
        let config = format!(
            "[servers.x]\ncommand = {node:?}\nargs = {}\ntrust = {trust:?}\n[servers.x.env]\n{variables}",
            json!(given)
        );
        fs::write(folder.join("toolfold.toml"), config)?;
        let store = match trust {
            "review" => format!("state/{trust}-{version}.db"),
            _ => format!("state/{trust}.db"),
        };
        let listed = self.ask(&store, &["status", "--wait", "--json"])?;
        let known = listed.as_array().and_then(|all| all.first()).context("no server is listed")?;
        ensure!(known["state"] != "failing", "{version} does not start: {}", known["why"]);
        let held = self.ask(&store, &["approve", "--list", "--json"])?;
        held["held"].as_array().cloned().context("nothing is said of what is held")
    }

    fn ask(&self, store: &str, arguments: &[&str]) -> Result<Value> {
        let output = Command::new(self.toolfold)
            .args(arguments)
            .args(["--config", "toolfold.toml"])
            .env("TOOLFOLD_STORE", self.folder.join(store))
            .current_dir(self.folder)
            .output()?;
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr)))
    }
}
