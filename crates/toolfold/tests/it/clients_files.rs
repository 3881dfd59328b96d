//! From a client's own file to Toolfold and back: `import`, `install`, `add` and `remove` as a person types them, in a home
//! of the test's own.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use toolfold_test::FakeServer;

use crate::world::World;

fn run(world: &World, arguments: &[&str]) -> Output {
    let mut command = world.toolfold(arguments);
    // The file that is written is the user's own.
    command.env_remove("TOOLFOLD_CONFIG").env("PATH", "/usr/bin:/bin").stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("not JSON: {}", said(output)))
}

fn write(world: &World, below: &str, text: &str) -> PathBuf {
    let path = world.path(below);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn own(world: &World) -> PathBuf {
    world.path("config/toolfold/toolfold.toml")
}

/// Claude Code and Cursor with servers, secrets and comments of their own.
fn populated() -> World {
    let world = World::without_config();
    write(
        &world,
        "home/.claude.json",
        "{\n  \"numStartups\": 7,\n  \"mcpServers\": {\n    \"github\": {\"type\": \"stdio\", \"command\": \"npx\", \"args\": [\"-y\", \"gh-mcp\"], \"env\": {\"GITHUB_TOKEN\": \"ghp_hunter2hunter2hunter2\"}}\n  }\n}\n",
    );
    write(
        &world,
        "home/.cursor/mcp.json",
        "{\"mcpServers\": {\"docs\": {\"url\": \"https://docs.example/mcp?key=hunter2\"}}}",
    );
    world
}

#[test]
fn import_shows_then_writes_and_prints_no_secret() {
    let world = populated();
    let shown = run(&world, &["import", "--dry-run"]);
    assert!(shown.status.success(), "{}", said(&shown));
    insta::assert_snapshot!(said(&shown).replace(&world.path("").display().to_string(), "WORLD/"), @r#"
    github  npx gh-mcp              Claude Code (~/.claude.json)
    docs    https://docs.example/…  Cursor (~/.cursor/mcp.json)

    Set these variables where Toolfold is started:
      GITHUB_TOKEN  variable GITHUB_TOKEN of github in ~/.claude.json
      DOCS_KEY      URL parameter key of docs in ~/.cursor/mcp.json

    WORLD/config/toolfold/toolfold.toml: 2 new.
    "#);
    assert!(!own(&world).exists());
    let unasked = run(&world, &["import"]);
    assert!(said(&unasked).contains("Nothing was written. Add --yes to do it."), "{}", said(&unasked));
    assert!(!own(&world).exists());
    let written = run(&world, &["import", "--yes"]);
    assert!(written.status.success(), "{}", said(&written));
    assert!(said(&written).contains("Next: toolfold install claude-code cursor"), "{}", said(&written));
    let text = fs::read_to_string(own(&world)).unwrap();
    assert!(
        text.contains("[servers.github]") && text.contains("[servers.docs]") && !text.contains("hunter2"),
        "{text}"
    );
    let again = json_of(&run(&world, &["import", "--yes", "--json"]));
    assert_eq!((&again["written"], &again["servers"][0]["known_as"]), (&json!(false), &json!("github")), "{again}");
    assert_eq!(fs::read_to_string(own(&world)).unwrap(), text);
    for output in [&shown, &written] {
        assert!(!said(output).contains("hunter2"), "{}", said(output));
    }
    assert!(run(&world, &["check"]).status.code() == Some(2), "the variables are not set");
}

#[test]
fn import_from_one_client_keeps_what_is_there() {
    let world = populated();
    let before = "# mine\nbudget = 900 # tokens\n\n[servers.other]\ncommand = \"o\" # kept\n";
    write(&world, "config/toolfold/toolfold.toml", before);
    assert!(run(&world, &["import", "--from", "cursor", "--yes"]).status.success());
    let text = fs::read_to_string(own(&world)).unwrap();
    assert!(
        text.starts_with(before.trim_end()) && text.contains("[servers.docs]") && !text.contains("github"),
        "{text}"
    );
    let wrong = run(&world, &["import", "--from", "cursr"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(said(&wrong).contains("did you mean cursor?"), "{}", said(&wrong));
    let nothing = run(&World::without_config(), &["import"]);
    assert_eq!(nothing.status.code(), Some(1), "{}", said(&nothing));
}

#[test]
fn install_and_undo_give_every_byte_back() {
    let world = populated();
    run(&world, &["import", "--yes"]);
    let before = fs::read_to_string(world.path("home/.claude.json")).unwrap();
    let shown = run(&world, &["install", "claude-code", "--dry-run"]);
    let text = said(&shown)
        .replace(env!("CARGO_BIN_EXE_toolfold"), "PROGRAM")
        .replace(&world.path("").display().to_string(), "WORLD/");
    insta::assert_snapshot!(text, @r#"
    Claude Code: ~/.claude.json
        5 +     "toolfold": {
        6 +       "type": "stdio",
        7 +       "command": "PROGRAM",
        8 +       "args": [
        9 +         "serve",
       10 +         "--stdio",
       11 +         "--config",
       12 +         "WORLD/config/toolfold/toolfold.toml"
       13 +       ]
       14 +     }
    "#);
    assert_eq!(fs::read_to_string(world.path("home/.claude.json")).unwrap(), before);
    let installed = run(&world, &["install", "claude-code", "--yes"]);
    assert!(said(&installed).contains("Toolfold is in. Restart it to use it."), "{}", said(&installed));
    assert!(said(&installed).contains("Still its own, and behind Toolfold too: github."), "{}", said(&installed));
    let entry: Value = serde_json::from_str(&fs::read_to_string(world.path("home/.claude.json")).unwrap()).unwrap();
    let entry = &entry["mcpServers"]["toolfold"];
    assert_eq!(entry["command"], env!("CARGO_BIN_EXE_toolfold"));
    assert_eq!(entry["args"], json!(["serve", "--stdio", "--config", own(&world)]));
    let again = run(&world, &["install", "claude-code", "--yes"]);
    assert!(said(&again).contains("nothing to do") && again.status.success(), "{}", said(&again));
    let import = said(&run(&world, &["import", "--dry-run"]));
    assert!(import.contains("toolfold of Claude Code (~/.claude.json) is left out: it is Toolfold itself"), "{import}");
    let undone = run(&world, &["install", "claude-code", "--undo", "--yes"]);
    assert!(said(&undone).contains("Toolfold is out"), "{}", said(&undone));
    assert_eq!(fs::read_to_string(world.path("home/.claude.json")).unwrap(), before);
}

#[test]
fn install_for_all_who_are_here() {
    let world = populated();
    let listed = said(&run(&world, &["install"]));
    assert!(listed.lines().any(|line| line.starts_with("cursor ") && line.contains("is here")), "{listed}");
    let all = json_of(&run(&world, &["install", "--all", "--http", "--yes", "--json"]));
    let clients: Vec<&str> = all.as_array().unwrap().iter().filter_map(|done| done["client"].as_str()).collect();
    assert_eq!(clients, ["claude-code", "cursor"]);
    assert!(fs::read_to_string(world.path("home/.cursor/mcp.json")).unwrap().contains("http://127.0.0.1:7420/mcp"));
    assert!(said(&run(&world, &["install"])).contains("uses Toolfold"));
    // What one of them cannot do is said, and no reason to leave the others out.
    write(&world, "config/Claude/claude_desktop_config.json", "{}");
    let wide = run(&world, &["install", "--all", "--http", "--allow-search", "--yes"]);
    let text = said(&wide);
    assert!(wide.status.success(), "{text}");
    assert!(text.contains("Claude Desktop is left out: it takes no URL"), "{text}");
    assert!(text.contains("Cursor will ask about searches too"), "{text}");
    assert!(fs::read_to_string(world.path("home/.claude/settings.json")).unwrap().contains("find_tools"), "{text}");
    let alone = run(&world, &["install", "cursor", "--allow-search", "--yes"]);
    assert_eq!(alone.status.code(), Some(2), "{}", said(&alone));
    let verified = json_of(&run(&world, &["install", "cursor", "--http", "--verify", "--json"]));
    assert_eq!(verified[0]["verified"], "cannot be asked: it has no command that tells.");
    write(&world, "home/.codex/config.toml", "model = ");
    let broken = run(&world, &["install", "codex", "--yes"]);
    assert_eq!(broken.status.code(), Some(2));
    assert!(said(&broken).contains("it is not TOML"), "{}", said(&broken));
    assert_eq!(fs::read_to_string(world.path("home/.codex/config.toml")).unwrap(), "model = ");
}

#[test]
fn a_client_s_own_word() {
    let world = populated();
    let claude = write(&world, "bin/claude", "#!/bin/sh\necho 'toolfold: x - ✔ Connected'\n");
    #[cfg(unix)]
    fs::set_permissions(&claude, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ask = |world: &World| {
        let mut command = world.toolfold(&["install", "claude-code", "--yes", "--verify"]);
        command.env_remove("TOOLFOLD_CONFIG").env("PATH", world.path("bin")).stdin(Stdio::null()).output().unwrap()
    };
    let good = ask(&world);
    assert!(good.status.success() && said(&good).contains("it is connected, by its own word"), "{}", said(&good));
    fs::write(&claude, "#!/bin/sh\necho 'toolfold: x - ✘ Failed to connect'\n").unwrap();
    let bad = ask(&world);
    assert_eq!(bad.status.code(), Some(1), "{}", said(&bad));
    assert!(said(&bad).contains("it does not reach Toolfold: toolfold: x - ✘ Failed to connect"), "{}", said(&bad));
}

/// What another program put up with must not stop Toolfold, with everything else that was taken over.
#[test]
fn what_is_imported_can_be_served() {
    let world = World::without_config();
    let entries = json!({
        "good": {"command": "good-mcp", "timeout": 99_999_999_999_999_u64},
        "scheme": {"url": "ftp://x.example/mcp"},
        "words": {"url": "not a URL"},
        "login": {"url": "https://ada:hunter2@x.example/mcp"},
        "header": {"url": "https://x.example/mcp", "headers": {"two words": "x"}},
        "variable": {"command": "a", "env": {"A=B": "x"}},
        "zero": {"command": "a\0b"},
        "remote": {"command": "npx", "args": ["-y", "mcp-remote", "https://y.example/mcp", "--header", "Authorization: Bearer hunter2"]},
        "work": {"command": "npx", "args": ["-y", "files-mcp", "/home/ada/toolfold"]},
    });
    write(&world, "home/.claude.json", &json!({"mcpServers": entries}).to_string());
    let imported = run(&world, &["import", "--yes"]);
    assert!(imported.status.success() && !said(&imported).contains("hunter2"), "{}", said(&imported));
    let said_of = said(&imported);
    let left_out: Vec<&str> = said_of.lines().filter(|line| line.contains("is left out")).map(str::trim).collect();
    let left_out = left_out.join("\n");
    insta::assert_snapshot!(left_out, @r#"
    login of Claude Code (~/.claude.json) is left out: its URL has a user name or password in it: write it by hand, with them as a header
    scheme of Claude Code (~/.claude.json) is left out: url: begins with neither http:// nor https://
    words of Claude Code (~/.claude.json) is left out: url: is not a URL: relative URL without a base
    header of Claude Code (~/.claude.json) is left out: headers."two words": cannot be the name of an HTTP header
    variable of Claude Code (~/.claude.json) is left out: env."A=B": cannot be the name of a variable
    zero of Claude Code (~/.claude.json) is left out: command: holds a zero byte
    "#);
    let text = fs::read_to_string(own(&world)).unwrap();
    assert!(!text.contains("hunter2") && text.contains("Authorization: Bearer ${REMOTE_TOKEN}"), "{text}");
    // Nothing runs here, and that is all that is wrong: a file that cannot be used ends with 2.
    let served = run(&world, &["prompt"]);
    assert!(served.status.success(), "{}", said(&served));
}

#[test]
fn add_writes_nothing_that_would_not_be_taken() {
    let world = World::without_config();
    let refused = run(&world, &["add", "https://x.example/mcp", "--header", "two words=x"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("cannot be the name of an HTTP header"), "{}", said(&refused));
    assert!(!own(&world).exists());
    let slip = run(&world, &["add", "npm:a-mcp", "--no-start", "--set", "CITY=Ulm"]);
    assert_eq!(slip.status.code(), Some(2), "{}", said(&slip));
    let boxed = run(&world, &["add", "oci:acme/box-mcp", "--no-start", "--env", "MODE=fast"]);
    assert!(boxed.status.success(), "{}", said(&boxed));
    let text = fs::read_to_string(own(&world)).unwrap();
    assert!(text.contains(r#"args = ["run", "-e", "MODE", "-i", "--rm", "acme/box-mcp"]"#), "{text}");
}

#[test]
fn add_starts_it_once_and_remove_takes_it_out() {
    let fake = FakeServer::script(json!({"tools": [{"name": "weather", "inputSchema": {"type": "object"}}]}));
    let (command, args) = fake.stdio_command();
    let world = World::without_config();
    let mut typed = vec!["add", "sky", "--env", "MODE=fast", "--", command.as_str()];
    typed.extend(args.iter().map(String::as_str));
    let added = run(&world, &typed);
    assert!(added.status.success(), "{}", said(&added));
    let text = said(&added);
    assert!(
        text.contains("[servers.sky]") && text.contains("sky started: 1 tool,") && text.contains("sky.weather"),
        "{text}"
    );
    assert!(said(&run(&world, &["ls", "sky"])).contains("sky.weather"));
    let twice = run(&world, &typed);
    assert!(
        twice.status.code() == Some(2) && said(&twice).contains("there is a server sky already"),
        "{}",
        said(&twice)
    );
    let near = run(&world, &["remove", "skye"]);
    assert!(near.status.code() == Some(1) && said(&near).contains("did you mean sky?"), "{}", said(&near));
    assert!(run(&world, &["remove", "sky"]).status.success());
    assert_eq!(fs::read_to_string(own(&world)).unwrap().trim(), "");
}

#[test]
fn add_from_what_people_have() {
    let world = World::without_config();
    let mut command = world.toolfold(&["add", "-"]);
    let mut child = command
        .env_remove("TOOLFOLD_CONFIG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let block = b"Put this into your settings:\n```json\n{\"mcpServers\": {\"gh\": {\"command\": \"npx\", \"args\": [\"-y\", \"gh-mcp\"], \"env\": {\"GH_TOKEN\": \"<your token>\"}}}}\n```\n";
    child.stdin.take().unwrap().write_all(block).unwrap();
    let pasted = child.wait_with_output().unwrap();
    assert!(
        said(&pasted).contains("gh needs variables that are not set here") && said(&pasted).contains("  GH_TOKEN"),
        "{}",
        said(&pasted)
    );
    let package = run(&world, &["add", "npm:@acme/weather-mcp", "--no-start", "--env", "API_KEY=hunter2hunter2"]);
    assert!(package.status.success(), "{}", said(&package));
    let text = fs::read_to_string(own(&world)).unwrap();
    assert!(text.contains("[servers.weather]") && text.contains("env = { API_KEY = \"${API_KEY}\" }"), "{text}");
    assert!(!format!("{text}{}", said(&package)).contains("hunter2"));
    let wants = r#"{"name": "x/city", "packages": [{"registryType": "npm", "identifier": "city-mcp", "packageArguments": [{"type": "positional", "valueHint": "city", "isRequired": true, "description": "Which city"}]}]}"#;
    write(&world, "server.json", wants);
    let asks = run(&world, &["add", "server.json", "--no-start"]);
    assert!(asks.status.code() == Some(2) && said(&asks).contains("--set CITY=… (Which city)"), "{}", said(&asks));
    assert!(run(&world, &["add", "server.json", "--no-start", "--set", "CITY=Ulm"]).status.success());
    assert!(fs::read_to_string(own(&world)).unwrap().contains("\"Ulm\""));
    // It says what is secret, whatever that is called.
    let wants = r#"{"name": "x/vault", "packages": [{"registryType": "npm", "identifier": "vault-mcp", "environmentVariables": [{"name": "MODE", "isRequired": true, "isSecret": true}]}]}"#;
    write(&world, "vault.json", wants);
    for (name, how) in [("one", "--set"), ("two", "--env")] {
        let secret = run(&world, &["add", name, "vault.json", "--no-start", how, "MODE=hunter2"]);
        assert!(secret.status.success(), "{}", said(&secret));
        let text = fs::read_to_string(own(&world)).unwrap();
        assert!(
            text.contains("MODE = \"${MODE}\"") && !format!("{text}{}", said(&secret)).contains("hunter2"),
            "{text}"
        );
        assert!(said(&secret).contains("the value of MODE is not written"), "{}", said(&secret));
    }
    let nothing = run(&world, &["add"]);
    assert_eq!(nothing.status.code(), Some(2));
}

#[test]
fn a_trusted_file_of_a_project_stays_trusted_when_we_change_it() {
    let world = World::with_config("[servers.a]\ncommand = \"a\"\n");
    assert!(run(&world, &["trust"]).status.success());
    let added = run(&world, &["add", "b", "--no-start", "--", "b-mcp"]);
    assert!(said(&added).contains("toolfold.toml"), "{}", said(&added));
    assert!(fs::read_to_string(world.path("toolfold.toml")).unwrap().contains("[servers.b]"));
    assert!(!said(&run(&world, &["prompt"])).contains("has changed since it was trusted"));
}
