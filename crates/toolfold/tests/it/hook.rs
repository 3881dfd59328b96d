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
    let search = json!({"tool_name": "mcp__toolfold__find_tools", "tool_input": {"query": "look"}});
    assert_eq!(asked(&world, "claude-code", &search)["hookSpecificOutput"]["permissionDecision"], "allow");
    assert_eq!(asked(&world, "cursor", &json!("odd"))["permission"], "ask", "what cannot be read is for the user");
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
