//! A folder with five real servers configured in it, and Toolfold in front of them. Everything Toolfold could read or
//! write lies in the folder: nothing of the machine's own configuration gets in, nothing is left behind.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tempfile::TempDir;

use crate::peers;

pub(crate) struct World {
    folder: TempDir,
}

/// Toolfold on a port of its own. Ends with the test.
pub(crate) struct Served {
    child: Child,
    pub(crate) url: String,
    /// What it said up to there.
    pub(crate) announcement: String,
    /// What it has said since.
    said: Arc<Mutex<String>>,
}

impl World {
    pub(crate) fn with_real_servers() -> World {
        let world = World::with_config("");
        let files = world.path("files");
        fs::create_dir(&files).unwrap();
        fs::write(files.join("note.txt"), "Remember the milk.\n").unwrap();
        world.make_repository();
        let entry = |package: &str| peers::module(&format!("@modelcontextprotocol/{package}/dist/index.js"));
        let node = peers::module(".bin/node");
        let text = |path: &Path| Value::from(path.to_str().expect("a path that is text")).to_string();
        let config = format!(
            "[servers.everything]\ncommand = {node}\nargs = [{everything}]\n\n\
             [servers.files]\ncommand = {node}\nargs = [{filesystem}, {files}]\n\n\
             [servers.memory]\ncommand = {node}\nargs = [{memory}]\nenv = {{ MEMORY_FILE_PATH = {graph} }}\n\n\
             [servers.git]\ncommand = {git}\nargs = [\"--repository\", {repository}]\n\n\
             [servers.time]\ncommand = {time}\nargs = [\"--local-timezone\", \"UTC\"]\n",
            node = text(&node),
            everything = text(&entry("server-everything")),
            filesystem = text(&entry("server-filesystem")),
            files = text(&files),
            memory = text(&entry("server-memory")),
            graph = text(&world.path("memory.jsonl")),
            git = text(&peers::venv("mcp-server-git")),
            repository = text(&world.path("repository")),
            time = text(&peers::venv("mcp-server-time")),
        );
        fs::write(world.path("toolfold.toml"), config).unwrap();
        world
    }

    pub(crate) fn with_config(config: &str) -> World {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("toolfold.toml"), config).unwrap();
        World { folder }
    }

    pub(crate) fn without_config() -> World {
        World { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A first run that waits for every server, however long they take, and so remembers them all.
    pub(crate) fn learn(self) -> World {
        let output = self.toolfold(&["ls"]).output().expect("toolfold can be started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self
    }

    /// A program that runs in this folder and knows of no other.
    pub(crate) fn settle(&self, mut command: Command) -> Command {
        command.current_dir(self.folder.path());
        for (variable, folder) in [("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("HOME", "home")] {
            command.env(variable, self.path(folder));
        }
        command.env("TOOLFOLD_STORE", self.path("store.db"));
        // Named, not found: whether a found one is used is a matter of trust, and has tests of its own.
        if self.path("toolfold.toml").exists() {
            command.env("TOOLFOLD_CONFIG", self.path("toolfold.toml"));
        }
        command
    }

    pub(crate) fn toolfold(&self, arguments: &[&str]) -> Command {
        let mut command = self.settle(Command::new(env!("CARGO_BIN_EXE_toolfold")));
        command.args(arguments);
        command
    }

    pub(crate) fn serve(&self) -> Served {
        let mut command = self.toolfold(&["serve", "--listen", "127.0.0.1:0"]);
        Served::start(command.stdin(Stdio::null()).stdout(Stdio::null()))
    }

    fn make_repository(&self) {
        let repository = self.path("repository");
        fs::create_dir(&repository).unwrap();
        fs::write(repository.join("README"), "A repository.\n").unwrap();
        let git = |arguments: &[&str]| {
            let mut command = self.settle(Command::new("git"));
            command.current_dir(&repository).args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]);
            let output = command.args(arguments).output().expect("git can be started");
            assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        };
        git(&["init", "--quiet", "--initial-branch=main"]);
        git(&["add", "README"]);
        git(&["commit", "--quiet", "--message=The first commit"]);
    }
}

impl Served {
    /// Starts a server that announces its URL on stderr, and returns when it has.
    pub(crate) fn start(command: &mut Command) -> Served {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the server can be started");
        let mut lines = BufReader::new(child.stderr.take().expect("stderr is a pipe")).lines().map_while(Result::ok);
        let mut said = String::new();
        let url = lines.by_ref().find_map(|line| {
            said += &format!("{line}\n");
            announced(&line)
        });
        let url = url.unwrap_or_else(|| panic!("{command:?} announced no URL:\n{said}"));
        // Somebody has to read on, or the pipe fills and the server stands still.
        let since = Arc::new(Mutex::new(String::new()));
        let heard = since.clone();
        std::thread::spawn(move || {
            for line in lines {
                eprintln!("{line}");
                *heard.lock().unwrap() += &format!("{line}\n");
            }
        });
        Served { child, url, announcement: said, said: since }
    }

    /// Whether it has said this since it announced itself.
    pub(crate) fn has_said(&self, words: &str) -> bool {
        self.said.lock().unwrap().contains(words)
    }

    /// What it has said since then, line by line.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.said.lock().unwrap().lines().map(str::to_owned).collect()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns when the server has ended.
    pub(crate) fn wait(&mut self) {
        let _ = self.child.wait();
    }
}

/// `  MCP      http://127.0.0.1:7420/mcp` of Toolfold, `listening on 127.0.0.1:7420` of the fixture.
fn announced(line: &str) -> Option<String> {
    let url = line.split_whitespace().find(|word| word.starts_with("http://") && word.ends_with("/mcp"));
    let address = line.strip_prefix("listening on ");
    url.map(str::to_owned).or_else(|| address.map(|address| format!("http://{address}/mcp")))
}

impl Served {
    /// Asks it to end, and waits until it has.
    pub(crate) fn stop(mut self) {
        let asked = Command::new("kill").arg(self.child.id().to_string()).status().expect("kill can be started");
        assert!(asked.success());
        self.child.wait().expect("it can be waited for");
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Killed, not asked: its servers are the reaper's then, as they would be after a crash.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
