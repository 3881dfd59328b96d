//! What hosts are told before a tool is called, and the rules that they are given.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};
use toolfold_test::FakeServer;

use crate::fakes::config;
use crate::world::World;

fn asked(world: &World, host: &str, question: &Value) -> Value {
    let mut command = world.toolfold(&["hook", host]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(question.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn tool(name: &str, annotations: Value) -> Value {
    json!({"name": name, "description": "Does it.", "inputSchema": {"type": "object"}, "annotations": annotations})
}

#[test]
fn a_host_is_answered_for_the_tool_that_is_meant() {
    let tools = [
        tool("look", json!({"readOnlyHint": true})),
        tool("wipe", json!({"destructiveHint": true})),
        tool("gone", json!({"readOnlyHint": true})),
        tool("plain", json!({})),
    ];
    let fake = FakeServer::script(json!({ "tools": tools }));
    let text = config("", &[("fake", &fake)]).replace("stop_timeout", "forbid = [\"gone\"]\nstop_timeout");
    let world = World::with_config(&text);
    // What is remembered is what is asked: a hook starts nothing.
    assert!(world.toolfold(&["ls", "Servers"]).output().unwrap().status.success());

    for (tool, verdict, why) in [
        ("fake.look", "allow", "call fake.look, which only reads"),
        ("fake.wipe", "ask", "call fake.wipe, which may destroy something"),
        ("fake.plain", "ask", "call fake.plain"),
        ("fake.gone", "deny", "call fake.gone: not allowed here"),
        ("fake.nothing", "deny", "there is no tool fake.nothing"),
    ] {
        let input = json!({"tool": tool, "arguments": {}});
        let claude =
            json!({"hook_event_name": "PreToolUse", "tool_name": "mcp__toolfold__call_tool", "tool_input": input});
        let answer = &asked(&world, "claude-code", &claude)["hookSpecificOutput"];
        assert_eq!((&answer["hookEventName"], &answer["permissionDecision"]), (&json!("PreToolUse"), &json!(verdict)));
        assert_eq!(answer["permissionDecisionReason"], format!("Toolfold: {why}"), "{tool}");
        let cursor = json!({"tool_name": "call_tool", "tool_input": input.to_string()});
        assert_eq!(asked(&world, "cursor", &cursor)["permission"], verdict, "{tool}");
    }
    // A host may be connected to another surface: there the tools are called otherwise, and mean the same.
    for (name, input, verdict) in [
        ("call_tool", json!({"tool_id": "fake.wipe", "arguments": {}}), "ask"),
        ("call_tool", json!({"tool_id": "fake.look", "arguments": {}}), "allow"),
        ("call_tool", json!({"tool_id": "fake.gone", "arguments": {}}), "deny"),
        ("gateway_call_tool", json!({"toolName": "fake.wipe", "arguments": {}}), "ask"),
        ("search_tool_by_category", json!({"path": [], "query": "look"}), "allow"),
        ("tool_find", json!({"query": "look"}), "allow"),
        ("nothing_of_this_name", json!({}), "deny"),
    ] {
        let question = json!({"tool_name": format!("mcp__toolfold__{name}"), "tool_input": input});
        let answer = asked(&world, "claude-code", &question);
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], verdict, "{name} {input}: {answer}");
    }
    let search = json!({"tool_name": "mcp__toolfold__find_tools", "tool_input": {"query": "look"}});
    assert_eq!(asked(&world, "claude-code", &search)["hookSpecificOutput"]["permissionDecision"], "allow");
    assert_eq!(asked(&world, "cursor", &json!("odd"))["permission"], "ask", "what cannot be read is for the user");

    // Another server's tool, of whatever name: neither allowed nor denied here.
    for name in ["mcp__other__fake.look", "mcp__other__call_tool", "mcp__toolfold_not__look", "Bash", "fake.look"] {
        let input = json!({"tool": "fake.look", "arguments": {}});
        let question = json!({"tool_name": name, "tool_input": input});
        assert_eq!(asked(&world, "claude-code", &question), json!({}), "{name}");
    }
    for (key, place, verdict) in [
        ("command", "npx evil-mcp", "ask"),
        ("url", "https://elsewhere.example/mcp", "ask"),
        ("command", "/usr/bin/toolfold serve --stdio", "allow"),
        ("url", "http://127.0.0.1:7420/mcp", "allow"),
    ] {
        for (tool, input) in [("call_tool", json!({"tool": "fake.look"})), ("fake__look", json!({}))] {
            let question = json!({"tool_name": tool, "tool_input": input.to_string(), key: place});
            assert_eq!(asked(&world, "cursor", &question)["permission"], verdict, "{tool} of {place}");
        }
    }
}

#[test]
fn rules_of_a_host_name_what_only_reads() {
    let fake =
        FakeServer::script(json!({"tools": [tool("look", json!({"readOnlyHint": true})), tool("wipe", json!({}))]}));
    let world = World::with_config(&config("toolbox = false", &[("fake", &fake)]));
    let rules = |host: &str| {
        let output = world.toolfold(&["permissions", "--for", host]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let claude: Value = serde_json::from_str(&rules("claude-code")).unwrap();
    assert_eq!(claude["permissions"]["allow"], json!(["mcp__toolfold__find_tools"]));
    assert_eq!(claude["permissions"]["ask"], json!(["mcp__toolfold__call_tool"]));
    let gemini = rules("gemini");
    assert!(gemini.contains(r"(?:fake\\.look)") && !gemini.contains("wipe"), "{gemini}");
    for host in ["codex", "cursor", "vscode"] {
        assert!(rules(host).contains("find_tools"), "{host}");
    }
}

#[test]
fn doors_are_known_to_hooks_and_rules() {
    let tools = [tool("look", json!({"readOnlyHint": true})), tool("wipe", json!({"destructiveHint": true}))];
    let fake = FakeServer::script(json!({ "tools": tools }));
    let other = FakeServer::script(json!({"tools": [tool("own", json!({}))]}));
    let servers = [("fake", &fake), ("other", &other)];
    let world = World::with_config(&config("doors = \"risk\"", &servers));
    assert!(world.toolfold(&["ls", "Servers"]).output().unwrap().status.success());
    let ask = |world: &World, door: &str, tool: &str| {
        let question = json!({"tool_name": format!("mcp__toolfold__{door}"), "tool_input": {"tool": tool}});
        let answer = asked(world, "claude-code", &question)["hookSpecificOutput"].clone();
        (answer["permissionDecision"].as_str().unwrap().to_owned(), answer["permissionDecisionReason"].to_string())
    };
    assert_eq!(ask(&world, "call_tool_readonly", "fake.look").0, "allow");
    let (verdict, why) = ask(&world, "call_tool_readonly", "fake.wipe");
    assert!(verdict == "deny" && why.contains("Use call_tool"), "{verdict} {why}");
    let rules = world.toolfold(&["permissions", "--for", "claude-code"]).output().unwrap();
    let rules: Value = serde_json::from_slice(&rules.stdout).unwrap();
    let allowed = json!(["mcp__toolfold__find_tools", "mcp__toolfold__call_tool_readonly"]);
    assert_eq!(
        (&rules["permissions"]["allow"], &rules["permissions"]["ask"]),
        (&allowed, &json!(["mcp__toolfold__call_tool"]))
    );

    let world = World::with_config(&config("doors = [\"fake\"]", &servers));
    assert!(world.toolfold(&["ls", "Servers"]).output().unwrap().status.success());
    assert_eq!(ask(&world, "call_fake", "look").0, "allow");
    assert_eq!(ask(&world, "call_fake", "fake.wipe").0, "ask");
    assert_eq!(ask(&world, "call_fake", "other.own").0, "deny");
}

#[test]
fn rules_are_written_shown_and_taken_out() {
    let fake = FakeServer::script(json!({"tools": [tool("look", json!({"readOnlyHint": true}))]}));
    let world = World::with_config(&config("doors = \"risk\"", &[("fake", &fake)]));
    let run = |arguments: &[&str]| {
        let output = world.toolfold(arguments).stdin(Stdio::null()).output().unwrap();
        (
            output.status.success(),
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)),
        )
    };
    let home = world.toolfold(&[]).get_envs().find(|(name, _)| *name == "HOME").unwrap().1.unwrap().to_owned();
    let file = std::path::Path::new(&home).join(".cursor/permissions.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let before = "{\n  // mine\n  \"mcpAllowlist\": [\"other:*\"]\n}\n";
    std::fs::write(&file, before).unwrap();
    let read = || std::fs::read_to_string(&file).unwrap();
    let (_, said) = run(&["permissions", "--for", "cursor", "--write", "--dry-run"]);
    assert!(said.contains("toolfold:call_tool_readonly") && read() == before, "{said}");
    let (_, said) = run(&["permissions", "--for", "cursor", "--write"]);
    assert_eq!(read(), before, "nobody was there to agree: {said}");
    let (done, said) = run(&["permissions", "--for", "cursor", "--write", "--yes"]);
    assert!(done && said.contains("the rules are in") && said.contains("as it was:"), "{said}");
    assert!(read().contains("// mine") && read().contains("\"toolfold:call_tool_readonly\""), "{}", read());
    let (done, said) = run(&["permissions", "--for", "cursor", "--write", "--yes"]);
    assert!(done && said.contains("nothing to do"), "{said}");
    let (done, said) = run(&["permissions", "--for", "cursor", "--undo", "--yes"]);
    assert!(done && said.contains("the rules are out"), "{said}");
    assert_eq!(read(), before);
    let (done, said) = run(&["permissions", "--for", "codex", "--write", "--yes"]);
    assert!(!done && said.contains("toolfold install codex"), "{said}");
}
