//! What was packed, installed the way people do and run, each in a folder of its own: nothing of this machine is changed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::{Release, files};
use crate::shell;

type Install = fn(&Release, &Path, &Path) -> Result<PathBuf>;

/// How a package's name ends, and how it is installed into a folder: what comes back is the program.
const INSTALLS: [(&str, Install); 6] =
    [(".tar.gz", tarball), (".deb", debian), (".rpm", redhat), (".whl", wheel), (".mcpb", bundle), (".npm.tgz", node)];

pub(super) fn run(release: &Release, again: &Release) -> Result<()> {
    same(release, again)?;
    bill(release)?;
    for (ending, install) in INSTALLS {
        let folder = release.work.join("try").join(ending.trim_start_matches('.'));
        fs::create_dir_all(&folder)?;
        let package = found(release, ending)?;
        let program = install(release, &package, &folder).with_context(|| files::name(&package))?;
        runs(release, &program, &folder).with_context(|| files::name(&package))?;
        println!("{:<60} installed and run", files::name(&package));
    }
    if release.is_static {
        bare(release)?;
    }
    unit(release)
}

/// A static binary runs where there is nothing else at all: not a library, not a shell, not a configuration.
fn bare(release: &Release) -> Result<()> {
    let folder = release.work.join("try/bare");
    files::copy(&release.binary, &folder.join("toolfold"))?;
    let root = format!("--root={}", folder.display());
    let inside = ["--user", "--map-root-user", &root, "/toolfold", "call", "calculate", "expression=6*7"];
    ensure!(
        shell::output("unshare", &inside, &folder)?.contains("42"),
        "a call answers something else where nothing is"
    );
    println!("it runs in an empty root");
    Ok(())
}

/// The same bytes from two runs.
fn same(release: &Release, again: &Release) -> Result<()> {
    let sums = |release: &Release| fs::read_to_string(release.out.join("SHA256SUMS"));
    let (first, second) = (sums(release)?, sums(again)?);
    let differ: Vec<&str> = first.lines().filter(|line| !second.contains(line)).collect();
    ensure!(differ.is_empty(), "a second run made something else of these:\n{}", differ.join("\n"));
    fs::remove_dir_all(&again.out)?;
    println!("two runs made the same bytes");
    Ok(())
}

/// The first package whose name ends so.
fn found(release: &Release, ending: &str) -> Result<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(&release.out)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    paths.into_iter().find(|path| files::name(path).ends_with(ending)).with_context(|| format!("no {ending} was made"))
}

/// It tells its version, finds a tool by meaning, calls one, and serves MCP on stdio.
fn runs(release: &Release, program: &Path, folder: &Path) -> Result<()> {
    let told = |arguments: &[&str]| -> Result<String> {
        let output = alone(program, folder).args(arguments).stdin(Stdio::null()).output()?;
        ensure!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    };
    ensure!(told(&["--version"])?.trim() == format!("toolfold {}", release.version), "another version");
    ensure!(
        told(&["search", "what time is it", "-n", "1"])?.contains("toolbox.time_now"),
        "search finds something else"
    );
    ensure!(told(&["call", "calculate", "expression=6*7"])?.contains("42"), "a call answers something else");
    let ask = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"dist","version":"1"}}}"#;
    let mut command = alone(program, folder);
    command.args(["serve", "--stdio"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take().context("stdin is a pipe")?;
    writeln!(stdin, "{ask}")?;
    drop(stdin);
    let answer = String::from_utf8(child.wait_with_output()?.stdout)?;
    ensure!(answer.contains("\"serverInfo\""), "initialize was answered with {answer:?}");
    Ok(())
}

/// A program that knows of no other home.
fn alone(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder.join("home")).current_dir(folder);
    command
}

fn tarball(_: &Release, package: &Path, folder: &Path) -> Result<PathBuf> {
    shell::run("tar", &["-xzf", &shown(package)], folder)?;
    let name = files::name(package);
    let inside = folder.join(name.trim_end_matches(".tar.gz"));
    for script in
        ["completions/toolfold.bash", "completions/_toolfold", "man/toolfold.1", "man/toolfold-serve.1", "LICENSE"]
    {
        ensure!(inside.join(script).exists(), "{script} is not in it");
    }
    shell::run("bash", &["-n", "completions/toolfold.bash"], &inside)?;
    Ok(inside.join("toolfold"))
}

fn debian(_: &Release, package: &Path, folder: &Path) -> Result<PathBuf> {
    for below in ["info", "updates"] {
        fs::create_dir_all(folder.join("var/lib/dpkg").join(below))?;
    }
    fs::write(folder.join("var/lib/dpkg/status"), "")?;
    let root = format!("--root={}", folder.display());
    let mut command = Command::new("dpkg");
    command.args([root.as_str(), "--force-not-root", "--install"]).arg(package).stdout(Stdio::null());
    shell::run_command(command.current_dir(folder))?;
    installed(folder)
}

fn redhat(_: &Release, package: &Path, folder: &Path) -> Result<PathBuf> {
    // Debian's rpm wants to hear that it is meant; the folder has a database of its own.
    let root = format!("--root={}", folder.display());
    let arguments = [root.as_str(), "--force-debian", "--install", "--nodeps", "--nosignature", &shown(package)];
    shell::run("rpm", &arguments, folder)?;
    installed(folder)
}

/// What both kinds of packages put where.
fn installed(root: &Path) -> Result<PathBuf> {
    for file in [
        "usr/share/man/man1/toolfold.1.gz",
        "usr/lib/systemd/user/toolfold.service",
        "usr/share/doc/toolfold/copyright",
    ] {
        ensure!(root.join(file).exists(), "{file} is not in it");
    }
    Ok(root.join("usr/bin/toolfold"))
}

fn wheel(_: &Release, package: &Path, folder: &Path) -> Result<PathBuf> {
    shell::run("python3", &["-m", "venv", "venv"], folder)?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", &shown(package)];
    shell::run(folder.join("venv/bin/python"), &pip, folder)?;
    Ok(folder.join("venv/bin/toolfold"))
}

/// As a client would: unpack, and run what the manifest says.
fn bundle(_: &Release, package: &Path, folder: &Path) -> Result<PathBuf> {
    zip::ZipArchive::new(fs::File::open(package)?)?.extract(folder)?;
    let manifest: Value = serde_json::from_str(&fs::read_to_string(folder.join("manifest.json"))?)?;
    let command = manifest["server"]["mcp_config"]["command"].as_str().context("the manifest names no command")?;
    Ok(PathBuf::from(command.replace("${__dirname}", &folder.display().to_string())))
}

/// Both packages at once: offline, npm has to be shown the optional one.
fn node(release: &Release, package: &Path, folder: &Path) -> Result<PathBuf> {
    let platform = release.out.join(format!("toolfold-linux-x64-{}.npm.tgz", release.version));
    fs::write(folder.join("package.json"), "{\"private\": true}\n")?;
    let install = |more: &[&str]| {
        let quiet = ["install", "--offline", "--no-audit", "--no-fund", "--loglevel=error"];
        shell::run("npm", &[&quiet[..], more, &[&shown(&platform), &shown(package)]].concat(), folder)
    };
    let program = folder.join("node_modules/.bin/toolfold");
    // Where nothing may run while packages are installed, the launcher does it; it is a script.
    install(&["--ignore-scripts"])?;
    let starts = |program: &Path| Ok::<_, std::io::Error>(fs::read(program)?.starts_with(b"#!"));
    ensure!(starts(&program)?, "there is no launcher");
    runs(release, &program, folder).context("by the launcher")?;
    fs::remove_dir_all(folder.join("node_modules"))?;
    install(&[])?;
    ensure!(!starts(&program)?, "the binary is not in the launcher's place");
    Ok(program)
}

/// The bill names every crate with its licence.
fn bill(release: &Release) -> Result<()> {
    let bill: Value = serde_json::from_str(&fs::read_to_string(found(release, ".cdx.json")?)?)?;
    let components = bill["components"].as_array().context("the bill has no components")?;
    ensure!(components.iter().any(|component| component["name"] == "tokio"), "tokio is not in the bill");
    let silent: Vec<&Value> = components.iter().filter(|component| component["licenses"].is_null()).collect();
    if !silent.is_empty() {
        bail!("without a licence in the bill: {silent:?}");
    }
    println!("{} components in the bill, each with its licence", components.len());
    Ok(())
}

fn unit(release: &Release) -> Result<()> {
    if shell::find("systemd-analyze").is_none() {
        return Ok(());
    }
    // It looks for the program too, which is installed nowhere here.
    let text = fs::read_to_string(release.packaging("toolfold.service"))?.replace("/usr/bin/toolfold", "/bin/true");
    let copy = release.work.join("try/toolfold.service");
    files::write(&copy, text)?;
    let mut command = Command::new("systemd-analyze");
    // A user's units are read with a folder that a login would have made.
    command.args(["--user", "verify", "--man=no"]).arg(&copy).env("XDG_RUNTIME_DIR", &release.work);
    shell::run_command(&mut command)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
