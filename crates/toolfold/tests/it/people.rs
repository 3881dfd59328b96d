//! What a new user meets: files that nobody trusts yet, variables that are not set, servers with bad manners, an instance
//! that runs already, and arguments as they are typed.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use toolfold_test::FakeServer;

use crate::fakes::{config, world};
use crate::world::World;

const ESCAPES: &str = "\u{1b}[31mred\u{9b}2J\u{7}\u{202e}\u{2028}\r\n2026-01-01T00:00:00Z ERROR forged\n";

fn run(world: &World, arguments: &[&str]) -> Output {
    world.toolfold(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("not JSON: {}", said(output)))
}

/// As a person would be: the file is found, not named.
fn found(world: &World, arguments: &[&str]) -> Output {
    let mut command = world.toolfold(arguments);
    command.env_remove("TOOLFOLD_CONFIG").output().unwrap()
}

#[test]
fn a_file_that_was_found_is_used_after_it_is_trusted() {
    let fake = FakeServer::script(json!({"tools": [{"name": "evil", "inputSchema": {"type": "object"}}]}));
    let world = world("", &[("cloned", &fake)]);
    let clean = |output: &Output| said(output).replace(&world.path("").display().to_string(), "./");
    for command in [&["ls"][..], &["search", "evil"], &["status"], &["tree"], &["show", "calculate"], &["prompt"]] {
        let output = found(&world, command);
        let text = clean(&output);
        assert!(text.contains("toolfold.toml: warning: not used: it was found here"), "{command:?}: {text}");
        assert!(text.contains("run: toolfold trust ./toolfold.toml"), "{command:?}: {text}");
        assert!(!text.contains("cloned"), "{command:?}: {text}");
    }
    assert!(clean(&found(&world, &["check"])).contains("is right: 1 server."));
    insta::assert_snapshot!(
        clean(&found(&world, &["trust", "--show"])).lines().next().unwrap(),
        @"./toolfold.toml is not trusted. It would start or reach:"
    );
    assert!(clean(&found(&world, &["trust"])).starts_with("./toolfold.toml is trusted as it is now."));
    assert!(clean(&found(&world, &["ls", "cloned"])).contains("cloned.evil"));
    assert!(clean(&found(&world, &["trust", "--list"])).contains("toolfold.toml"));
    fs::write(world.path("toolfold.toml"), config("budget = 900", &[("cloned", &fake)])).unwrap();
    assert!(clean(&found(&world, &["ls"])).contains("it has changed since it was trusted"));
    assert!(found(&world, &["trust", "--revoke"]).status.success());
    assert_eq!(found(&world, &["trust", "--revoke"]).status.code(), Some(1));
}

#[test]
fn a_variable_that_is_not_set_stops_its_server_alone() {
    let fake = FakeServer::script(json!({"tools": [{"name": "fine", "inputSchema": {"type": "object"}}]}));
    let text =
        config("[servers.needy]\ncommand = \"needy\"\nenv = { KEY = \"${NOT_SET_ANYWHERE}\" }", &[("good", &fake)]);
    let world = World::with_config(&text);
    let output = run(&world, &["ls", "good"]);
    assert!(said(&output).contains("good.fine"), "{}", said(&output));
    assert!(said(&output).contains("servers.needy: is left out: the variable NOT_SET_ANYWHERE is not set"));
    // Its node is not there, which is not to say that nobody knows of it.
    for typed in [
        &["ls", "needy"][..],
        &["tree", "Servers/needy"],
        &["types", "needy"],
        &["access", "needy.x"],
        &["search", "x", "--server", "needy"],
    ] {
        let asked = run(&world, typed);
        assert_eq!(asked.status.code(), Some(3), "{typed:?}: {}", said(&asked));
        assert!(said(&asked).contains("needy is configured and not running: the variable NOT_SET_ANYWHERE is not set"));
        assert!(said(&asked).contains("`toolfold doctor` tries it"), "{}", said(&asked));
    }
    assert!(said(&run(&world, &["ls", "Servers/qwertz"])).contains("hint: servers: good"));
    // What is there is told, and what is not beside it.
    for typed in [&["ls"][..], &["ls", "Servers"], &["tree"], &["search", "fine"]] {
        let asked = run(&world, typed);
        assert!(asked.status.success(), "{typed:?}: {}", said(&asked));
        let beside = String::from_utf8_lossy(&asked.stderr);
        assert_eq!(beside.matches("the variable NOT_SET_ANYWHERE is not set").count(), 1, "{typed:?}: {beside}");
    }
    let nothing = run(&world, &["search", "zxqwv"]);
    assert_eq!(said(&nothing).matches("NOT_SET_ANYWHERE is not set").count(), 1, "{}", said(&nothing));
    let logs = run(&world, &["logs", "needy", "--quiet"]);
    insta::assert_snapshot!(said(&logs), @"Nothing is written about needy as it is left out: the variable NOT_SET_ANYWHERE is not set.");
    assert_eq!(run(&world, &["search", "fine", "--quiet"]).stderr, b"");
    let check = run(&world, &["check"]);
    assert_eq!(check.status.code(), Some(2));
    assert!(said(&check).contains("the variable `NOT_SET_ANYWHERE` is not set"), "{}", said(&check));
}

#[test]
fn foreign_text_never_acts_on_a_terminal() {
    let schema = json!({"type": "object", "required": [format!("p{ESCAPES}")], "properties": {
        format!("p{ESCAPES}"): {"type": "string", "description": format!("P{ESCAPES}"), "enum": [format!("e{ESCAPES}")]}}});
    let tool = |name: &str, schema: &Value| json!({"name": name, "description": format!("Draws{ESCAPES}"), "inputSchema": schema});
    let text = |text: String| json!({"content": [{"type": "text", "text": text}]});
    let plain = json!({"type": "object"});
    let fake = FakeServer::script(json!({
        "tools": [tool("plain", &plain), tool("takes", &schema), tool("fails", &plain)],
        "calls": {
            "plain": {"result": text(ESCAPES.to_owned())},
            "fails": {"error": {"code": -32000, "message": format!("E{ESCAPES}")}},
        },
    }));
    let odd = json!({"name": format!("n{ESCAPES}"), "uri": format!("odd://{ESCAPES}"), "description": ESCAPES});
    let held = FakeServer::script(json!({
        "tools": [tool(&format!("n{ESCAPES}"), &schema)], "prompts": [odd.clone()], "resources": [odd],
    }));
    // Else it would be held, and none of it shown.
    let trusted = config("", &[("bad", &fake)]) + "trust = \"always\"\n";
    let world = World::with_config(&config(&trusted, &[("held", &held)]));
    for (command, seen) in [
        (&["ls", "bad"][..], r"\u{1b}[31mred"),
        (&["tree", "Servers/bad"], r"\u{1b}[31mred"),
        (&["search", "draws"], r"\u{1b}[31mred"),
        (&["show", "bad.plain", "--detail", "full"], r"\u{1b}[31mred"),
        (&["show", "bad.takes"], r"\u{1b}[31mred"),
        (&["show", "bad.takes", "--schema"], r"\u001b[31mred"),
        (&["types"], r"p\u001b[31mred"),
        (&["types"], r"e\u001b[31mred"),
        (&["scan"], r"held.n\u{1b}[31mred"),
        (&["approve"], r"held.n\u{1b}[31mred"),
        (&["approve", "--json"], r"held.n\\u{1b}[31mred"),
        (&["eval", "--export"], r"\u009b"),
        (&["access", "bad.takes"], "bad.takes"),
        (&["tokens"], "bad"),
        (&["call", "bad.plain"], r"\u{1b}[31mred"),
        (&["call", "bad.fails"], r"\u{1b}[31mred"),
        (&["call", "bad.takes"], r"\u{1b}[31mred"),
        (&["--json", "ls", "bad"], r"\u001b[31mred"),
        (&["--json", "types"], r"\u001b[31mred"),
        (&["--json", "call", "bad.plain"], r"\u001b[31mred"),
        (&["--json", "call", "bad.fails"], r"\u{1b}[31mred"),
        (&["status", "-vv"], "bad"),
        (&["logs", "bad"], ""),
        (&["usage"], ""),
        (&["call", "no\u{1b}[31msuch"], r"\u{1b}[31msuch"),
        (&["eval", "--queries", "no\u{1b}[31msuch.jsonl"], r"\u{1b}[31msuch"),
    ] {
        let text = said(&run(&world, command));
        assert!(text.contains(seen), "{command:?} does not show {seen}: {text}");
        let acts = |c: char| (c.is_control() && c != '\n') || ['\u{202e}', '\u{2028}'].contains(&c);
        assert!(!text.contains(acts), "{command:?}: {text:?}");
        let forged = text.lines().any(|line| line.starts_with("2026-01-01") && line.contains("forged"));
        assert!(!forged || command == ["call", "bad.plain"], "{command:?}: {text}");
    }
}

/// Who makes a folder may call it anything.
#[test]
fn the_name_of_a_folder_begins_no_line() {
    let world = World::without_config();
    let folder = world.path("odd\nerror: forged\u{202e}\u{1b}[31m");
    fs::create_dir(&folder).unwrap();
    fs::write(
        folder.join("toolfold.toml"),
        "[servers.one]\ncommand = \"true\"\nenv = { A = \"${NOT_SET_ANYWHERE}\" }\n",
    )
    .unwrap();
    let file = folder.join("toolfold.toml");
    let file = file.to_str().unwrap();
    let inner = folder.join("inner");
    fs::create_dir(&inner).unwrap();
    for (directory, arguments) in [
        (&folder, &["ls"][..]),
        (&inner, &["ls"]),
        (&inner, &["check"]),
        (&inner, &["trust", "--show"]),
        (&inner, &["doctor"]),
        (&world.path(""), &["ls", "--config", file]),
        (&world.path(""), &["check", "--config", file]),
        (&world.path(""), &["status", "--config", file]),
    ] {
        let text = said(&world.toolfold(arguments).current_dir(directory).output().unwrap());
        assert!(text.contains("forged"), "{arguments:?}: {text}");
        assert!(!text.lines().any(|line| line.starts_with("error: forged")), "{arguments:?}: {text}");
        assert!(!text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{arguments:?}: {text:?}");
    }
    // What is to be typed means that file.
    let text = said(&world.toolfold(&["ls"]).current_dir(&inner).output().unwrap());
    let command = text.lines().find_map(|line| line.split_once("run: toolfold trust ")).unwrap().1;
    let shell = |script: &str| Command::new("bash").args(["-c", script]).output();
    if shell("true").is_ok() {
        let printed = shell(&format!("printf %s {command}")).unwrap().stdout;
        assert_eq!(String::from_utf8_lossy(&printed), fs::canonicalize(file).unwrap().to_str().unwrap());
    }
}

#[test]
fn commands_ask_the_instance_that_runs() {
    let fake = FakeServer::script(json!({"tools": [{"name": "fine", "inputSchema": {"type": "object"}}]}));
    let world = world("", &[("good", &fake)]);
    let before = said(&run(&world, &["status"]));
    assert!(before.contains("Toolfold is not running with this configuration"), "{before}");
    let served = world.serve();
    let status = said(&run(&world, &["status"]));
    assert!(status.contains(&format!("Toolfold is running (process {}, {})", served.id(), served.url)), "{status}");
    assert!(run(&world, &["call", "good.fine"]).status.success());
    // Only the instance knows that the server runs: a gateway of the command's own would have it from memory.
    let servers = json_of(&run(&world, &["status", "--json"]));
    assert_eq!(servers[0]["state"], "ready", "{servers}");
    let instances = || fs::read_dir(world.path("state/toolfold/instances")).unwrap().flatten().count();
    assert_eq!(instances(), 2);
    drop(served);
    let after = said(&run(&world, &["status"]));
    assert!(after.contains("Toolfold is not running"), "{after}");
    assert_eq!(instances(), 0, "what was left of it is taken away");
}

#[test]
fn who_wants_quiet_is_not_told_where_it_serves() {
    let world = World::with_config("");
    let mut command = world.toolfold(&["serve", "--quiet", "--listen", ":0"]);
    let mut served = command.stderr(Stdio::piped()).spawn().unwrap();
    while !said(&run(&world, &["status"])).contains("Toolfold is running") {
        assert!(served.try_wait().unwrap().is_none(), "it has ended");
    }
    served.kill().unwrap();
    assert_eq!(String::from_utf8_lossy(&served.wait_with_output().unwrap().stderr), "");
}

/// Also while it is tried once more: what was asked for is whether it works.
#[test]
fn status_says_the_same_of_a_failing_server_every_time() {
    let broken = FakeServer::script(json!({"exit_at_start": 1}));
    let world = world("", &[("broken", &broken)]);
    for _ in 0..4 {
        let servers = json_of(&run(&world, &["status", "--json"]));
        assert_eq!(servers[0]["state"], "failing", "{servers}");
    }
}

#[test]
fn what_a_server_writes_can_be_read_later() {
    let broken = FakeServer::script(json!({"exit_at_start": 1, "stderr": 2}));
    let world = world("", &[("broken", &broken)]);
    assert_eq!(run(&world, &["logs", "broken"]).status.code(), Some(1));
    assert_eq!(run(&world, &["status"]).status.code(), Some(3));
    let logs = said(&run(&world, &["logs", "broken"]));
    assert!(logs.contains("the server failed") && logs.contains("line 2 of 2 on stderr"), "{logs}");
    let wrong = run(&world, &["logs", "brocken"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(said(&wrong).contains("did you mean \"broken\"?"), "{}", said(&wrong));
}

#[test]
fn errors_are_json_where_json_was_asked_for() {
    let world = World::without_config();
    for (arguments, exit, code) in [
        (&["call", "calculat", "expression=1", "--json"][..], 1, "TOOL_NOT_FOUND"),
        (&["call", "calculate", "expresion=1", "--json"], 2, "INVALID_ARGUMENTS"),
        (&["call", "calculate", "nonsense", "--json"], 2, "INVALID_REQUEST"),
        (&["ls", "nowhere", "--json"], 1, "NOTHING_FOUND"),
        (&["ls", "--config", "missing.toml", "--json"], 2, "INVALID_CONFIGURATION"),
        (&["search", "", "--json"], 2, "INVALID_REQUEST"),
        (&["--json", "fly"], 2, "INVALID_REQUEST"),
    ] {
        let output = run(&world, arguments);
        let error = &json_of(&output)["error"];
        assert_eq!((output.status.code(), &error["code"]), (Some(exit), &json!(code)), "{arguments:?}: {error}");
        assert!(error["message"].is_string() && error["hints"].is_array(), "{error}");
        assert!(output.stderr.is_empty(), "{arguments:?}: {}", said(&output));
    }
}

#[test]
fn arguments_are_read_as_the_schema_says_from_anywhere() {
    let world = World::without_config();
    let sum = |output: Output| json_of(&output)["structuredContent"].clone();
    let typed = run(&world, &["call", "text_replace", "text=aXa", "find=X", "replacement=-", "--json"]);
    assert!(typed.status.success(), "{}", said(&typed));
    fs::write(world.path("sum.json"), r#"{"expression": "6*7"}"#).unwrap();
    assert_eq!(sum(run(&world, &["call", "calculate", "@sum.json", "--json"])), json!({"result": 42}));
    let mut command: Command = world.toolfold(&["call", "calculate", "-", "--json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(br#"{"expression": "40+2"}"#).unwrap();
    assert_eq!(sum(child.wait_with_output().unwrap()), json!({"result": 42}));
    let uuids = run(&world, &["call", "random_uuid", "count=2", "--json"]);
    assert!(uuids.status.success(), "{}", said(&uuids));
}

#[test]
fn a_search_for_nothing_and_in_no_server_is_said() {
    let world = World::without_config();
    let mut told = String::new();
    for arguments in
        [&["search", ""][..], &["search", "time", "--server", "toolbx"], &["search", "time", "--tag", "none-has-this"]]
    {
        let output = run(&world, arguments);
        told.push_str(&format!("{arguments:?} {:?}\n{}", output.status.code(), said(&output)));
    }
    insta::assert_snapshot!(told, @r#"
    ["search", ""] Some(2)
    error: there is nothing to search for

    hint: say what the tool should do, or look around with `toolfold ls`
    ["search", "time", "--server", "toolbx"] Some(2)
    error: there is no server "toolbx"

    hint: did you mean "toolbox"?
    ["search", "time", "--tag", "none-has-this"] Some(1)
    No tool has the tag "none-has-this".

    hint: there are no tags
    "#);
}

#[test]
fn an_image_is_not_printed_as_text() {
    let image = json!({"content": [{"type": "image", "mimeType": "image/png", "data": "aGVsbG8gd29ybGQh"}]});
    let fake = FakeServer::script(json!({
        "tools": [{"name": "draw", "inputSchema": {"type": "object"}}], "calls": {"draw": {"result": image}},
    }));
    let world = world("", &[("art", &fake)]);
    insta::assert_snapshot!(said(&run(&world, &["call", "art.draw"])), @"[image, image/png, 12 bytes; --output FILE writes it to a file]");
    let file = world.path("image.png").display().to_string();
    assert!(run(&world, &["call", "art.draw", "--output", &file]).status.success());
    assert_eq!(fs::read(world.path("image.png")).unwrap(), b"hello world!");
}

#[test]
fn a_silent_server_keeps_nobody_waiting_who_does_not_need_it() {
    let silent = FakeServer::script(json!({"silent": ["initialize", "server/discover"]}));
    let fine = FakeServer::script(json!({"tools": [{"name": "fine", "inputSchema": {"type": "object"}}]}));
    let world = world("", &[("fine", &fine), ("silent", &silent)]);
    let begun = std::time::Instant::now();
    let output = run(&world, &["show", "fine.fine"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
}
