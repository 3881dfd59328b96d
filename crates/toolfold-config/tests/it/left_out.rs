//! Servers that are left out so that the others can be served: a variable is missing, or it is Toolfold itself.

use std::path::Path;

use insta::assert_snapshot;
use toolfold_config::{LoadOptions, Loaded, Problems, load};

use crate::options;

const THREE: &str = r#"[servers.github]
command = "npx"
args = ["${OWNER}"]
env = { GITHUB_PERSONAL_ACCESS_TOKEN = "${GITHUB_TOKEN}", OTHER = "${GITHUB_TOKEN}" }
[servers.web]
url = "https://${WEB_HOST}/mcp"
[servers.files]
command = "files"
"#;

fn load_with(text: &str, change: impl FnOnce(LoadOptions) -> LoadOptions) -> Result<Loaded, Problems> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("toolfold.toml"), text).unwrap();
    load(&change(LoadOptions { file: Some("toolfold.toml".into()), ..options(folder.path()) }))
}

fn told(loaded: Loaded) -> String {
    let served: Vec<&str> = loaded.config.servers.keys().map(|name| name.as_str()).collect();
    format!("served: {}\n{:?}\n{}", served.join(", "), loaded.config.unusable, Problems(loaded.notices))
}

#[test]
fn a_variable_that_is_not_set_costs_its_server_alone() {
    let loaded = load_with(THREE, |options| LoadOptions { lenient: true, ..options }).unwrap();
    assert_snapshot!(told(loaded), @r#"
    served: files
    {ServerName("github"): "the variables OWNER, GITHUB_TOKEN are not set", ServerName("web"): "the variable WEB_HOST is not set"}
    toolfold.toml:1:10: warning: servers.github: is left out: the variables OWNER, GITHUB_TOKEN are not set
      hint: set it where Toolfold is started: clients often start servers with few variables
    toolfold.toml:5:10: warning: servers.web: is left out: the variable WEB_HOST is not set
      hint: set it where Toolfold is started: clients often start servers with few variables
    "#);
}

/// One that is set, and to nothing that could be used, is like one that is not.
#[test]
fn a_variable_that_cannot_be_used_costs_its_server_alone() {
    let text = "[servers.files]\ncommand = \"files\"\n[servers.web]\nurl = \"${EMPTY:-}\"\n[servers.odd]\ncommand = \"${EMPTY:-}\"\n\
        [servers.far]\nurl = \"${ODD:-nonsense}\"\n";
    let lenient = |options| LoadOptions { lenient: true, ..options };
    let loaded = load_with(text, lenient).unwrap();
    let served: Vec<&str> = loaded.config.servers.keys().map(|name| name.as_str()).collect();
    let left_out: Vec<&str> = loaded.config.unusable.keys().map(|name| name.as_str()).collect();
    assert_eq!((served, left_out), (vec!["files"], vec!["far", "odd", "web"]));
    assert_eq!(loaded.notices.len(), 3, "{}", Problems(loaded.notices));
    // Whoever checks is told, and what was typed so is a mistake.
    assert_eq!(load_with(text, |options| options).unwrap_err().errors().count(), 3);
    assert!(load_with("[servers.web]\nurl = \"nonsense\"\n", lenient).is_err());
}

#[test]
fn otherwise_and_elsewhere_it_is_a_mistake() {
    assert_eq!(load_with(THREE, |options| options).unwrap_err().errors().count(), 4);
    let lenient = |options| LoadOptions { lenient: true, ..options };
    let token = load_with("[http]\ntoken = \"${NONE}\"\n", lenient).unwrap_err();
    assert_snapshot!(token, @r"
    toolfold.toml:2:1: http.token: the variable `NONE` is not set
      hint: set it, or give a default: `${NONE:-…}`
    ");
    let wrong = load_with("[servers.a]\ncommand = \"a\"\nargs = [\"${NONE}\"]\nstart = \"soon\"\n", lenient);
    assert_eq!(wrong.unwrap_err().errors().count(), 1, "a mistake is a mistake, whatever else is missing");
}

#[test]
fn toolfold_is_not_behind_itself() {
    let program = std::env::current_exe().unwrap();
    let text = format!(
        r#"[http]
listen = "127.0.0.1:7999"
[servers.exe]
command = "{program}"
args = ["serve", "--stdio"]
[servers.name]
command = "npx"
args = ["-y", "toolfold", "serve", "--stdio", "--config", "toolfold.toml"]
[servers.version]
command = "npx"
args = ["-y", "toolfold@latest", "serve", "--stdio"]
[servers.exact]
command = "npx"
args = ["-y", "toolfold@1.2.3", "serve", "--stdio"]
[servers.shell]
command = "sh"
args = ["-c", "exec /opt/toolfold serve --stdio"]
[servers.local]
url = "http://localhost:7999/mcp"
[servers.v4]
url = "http://127.0.0.1:7999/mcp/direct"
[servers.v6]
url = "http://[::1]:7999/mcp"
[servers.other]
command = "toolfold"
args = ["serve", "--stdio", "--config", "other.toml"]
[servers.port]
url = "http://localhost:7998/mcp"
[servers.another]
command = "/opt/toolfold-2"
args = ["-c", "/elsewhere/toolfold.toml", "serve", "--stdio"]
[servers.folder]
command = "files"
args = ["/src/toolfold"]
"#,
        program = program.display()
    );
    let load = |listen: Option<&str>| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("toolfold.toml"), &text).unwrap();
        std::fs::write(folder.path().join("other.toml"), "").unwrap();
        let listen = listen.map(|listen| listen.parse().unwrap());
        let file = Some("toolfold.toml".into());
        load(&LoadOptions { file, listen, program: Some(program.clone()), ..options(folder.path()) }).unwrap()
    };
    let served = |loaded: &Loaded| loaded.config.servers.keys().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let loaded = load(None);
    assert_eq!(served(&loaded), "another folder other port");
    assert_snapshot!(loaded.notices[0], @r"
    toolfold.toml:3:10: warning: servers.exe: is left out: it is this program, with this file
      hint: take it out: Toolfold would be behind itself
    ");
    assert_snapshot!(loaded.notices[5], @r"
    toolfold.toml:18:10: warning: servers.local: is left out: it is the address that Toolfold listens on
      hint: take it out: Toolfold would be behind itself
    ");
    assert_eq!(served(&load(Some("127.0.0.1:7998"))), "another folder local other v4 v6");
}

#[cfg(unix)]
#[test]
fn a_command_is_looked_for_where_that_is_asked_for() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let program = |path: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    program("bin/there");
    program("beside");
    std::fs::write(folder.path().join("bin/text"), "").unwrap();
    let commands = ["there", "./beside", "npx", "./missing", "text"];
    let servers = commands.iter().enumerate().map(|(i, command)| format!("[servers.s{i}]\ncommand = \"{command}\"\n"));
    std::fs::write(folder.path().join("toolfold.toml"), servers.collect::<String>()).unwrap();
    let mut options = LoadOptions { file: Some("toolfold.toml".into()), ..options(folder.path()) };
    options.environment.insert("PATH".into(), Path::new(folder.path()).join("bin").display().to_string());
    assert!(load(&options).is_ok());
    let problems = load(&LoadOptions { look_for_commands: true, ..options }).unwrap_err();
    assert_snapshot!(problems, @r#"
    toolfold.toml:6:1: servers.s2.command: "npx": is not on the PATH
      hint: install Node.js, or write the whole path of the program
    toolfold.toml:8:1: servers.s3.command: "./missing": there is no such program
      hint: check the path, and that the file may be executed
    toolfold.toml:10:1: servers.s4.command: "text": is not on the PATH
      hint: install it, or write the whole path of the program
    "#);
}
