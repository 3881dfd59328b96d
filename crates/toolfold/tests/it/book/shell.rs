//! A shell in a home of its own, which types a document's commands one after the other. `npx` and `uvx` start the servers
//! that `cargo xtask peers` installed, so nothing comes from the network; port 7420 is another, free one.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::document::{Document, Step};
use crate::peers;

/// The home that documents speak of.
const HOME: &str = "/home/ada";
const PORT: &str = "7420";

pub(super) struct Shell {
    folder: TempDir,
    port: String,
}

/// What is told after each command, so that answers can be told apart.
const MARK: &str = "@@@ that was all @@@";

impl Shell {
    pub(super) fn new() -> Shell {
        let folder = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let shell = Shell { folder, port: free.to_string() };
        for below in ["home/work", "bin"] {
            fs::create_dir_all(shell.folder.path().join(below)).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_toolfold"), shell.folder.path().join("bin/toolfold")).unwrap();
        shell.stand_in("npx", &npx());
        shell.stand_in("uvx", &uvx());
        shell
    }

    /// What each command of a document said, in their order.
    pub(super) fn run(&self, document: &Document) -> Vec<String> {
        let script = self.folder.path().join("script.sh");
        fs::write(&script, self.script(document)).unwrap();
        let mut command = Command::new("sh");
        command.arg(&script).env_clear().current_dir(self.home().join("work")).stdin(Stdio::null());
        command
            .env("HOME", self.home())
            .env("PATH", format!("{}:/usr/bin:/bin", self.folder.path().join("bin").display()));
        command.env("LANG", "C.UTF-8").env("NO_COLOR", "1").env("TOOLFOLD_LISTEN", format!("127.0.0.1:{}", self.port));
        let output = command.output().expect("sh can be started");
        let said = String::from_utf8_lossy(&output.stdout).replace(&self.home().display().to_string(), HOME);
        // Where the program lies is nobody's business; a reader has it from a package.
        let said = said.replace(env!("CARGO_BIN_EXE_toolfold"), "/usr/bin/toolfold").replace(&self.port, PORT);
        let mut answers: Vec<String> = said.split(&format!("{MARK}\n")).map(str::to_owned).collect();
        answers.pop();
        answers
    }

    fn script(&self, document: &Document) -> String {
        let mut script =
            "exec 2>&1\nserving=\ntrap '[ -z \"$serving\" ] || kill $serving 2> /dev/null; wait' EXIT\n".to_owned();
        for (number, step) in document.steps.iter().enumerate() {
            match step {
                Step::File { path, text } => {
                    let source = self.folder.path().join(format!("file{number}"));
                    fs::write(
                        &source,
                        text.replace(PORT, &self.port).replace(HOME, &self.home().display().to_string()),
                    )
                    .unwrap();
                    // The shell knows where it is and what `~` is; the file's own text never meets it.
                    script += &format!("mkdir -p \"$(dirname {path})\"; cp {} {path}\n", source.display());
                }
                Step::Command(typed) => {
                    let command = typed.command.replace("cargo run --", "toolfold").replace(PORT, &self.port);
                    let said = self.folder.path().join(format!("said{number}"));
                    script += &if stays(&command) {
                        serving(&command, &said, document.answer(typed).iter().filter(|line| *line != "...").count())
                    } else {
                        format!("{{ {command}\n}} < /dev/null\n")
                    };
                    script += &format!("echo '{MARK}'\n");
                }
            }
        }
        script
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn stand_in(&self, name: &str, script: &str) {
        let path = self.folder.path().join("bin").join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Whether a person would leave it running and go on in another terminal.
fn stays(command: &str) -> bool {
    command.contains("toolfold serve") && !command.contains("--stdio") && !command.contains("--help")
}

/// Starts what stays, in place of what stayed before, and tells what it said up to its address and as far as is shown.
fn serving(command: &str, said: &Path, lines: usize) -> String {
    let said = said.display();
    format!(
        "[ -z \"$serving\" ] || {{ kill $serving; wait $serving; }} 2> /dev/null\n: > {said}\n\
         {{ {command}\n}} > {said} 2>&1 < /dev/null &\nserving=$!\n\
         for _ in $(seq 200); do\n\
         grep -q /mcp {said} && [ \"$(wc -l < {said})\" -ge {lines} ] && break\nsleep 0.1\ndone\ncat {said}\n"
    )
}

fn npx() -> String {
    let (node, modules) = (peers::module(".bin/node"), peers::module(""));
    format!(
        "#!/bin/sh\n[ \"$1\" = -y ] && shift\npackage=$1; shift\nexec {} {}/\"$package\"/dist/index.js \"$@\"\n",
        node.display(),
        modules.display()
    )
}

fn uvx() -> String {
    format!("#!/bin/sh\nprogram=$1; shift\nexec {}/\"$program\" \"$@\"\n", peers::venv("").display())
}
