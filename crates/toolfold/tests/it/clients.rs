//! Five servers through one Toolfold, with every client there is: the same steps, the same answers, whatever the
//! language, the era and the transport. What differs between clients is how they connect, and nothing else.

use std::process::Command;

use serde_json::{Value, json};

use crate::peers::{self, lines, node, script};
use crate::world::World;

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

#[test]
fn python_legacy_over_stdio() {
    check_stdio(python("legacy"), LEGACY);
}

#[test]
fn python_legacy_over_http() {
    check_http(python("legacy"), LEGACY);
}

#[test]
fn python_modern_over_stdio() {
    check_stdio(python("auto"), MODERN);
}

#[test]
fn python_modern_over_http() {
    check_http(python("auto"), MODERN);
}

#[test]
fn typescript_1_over_stdio() {
    check_stdio(typescript("client-v1.mjs", &[]), LEGACY);
}

#[test]
fn typescript_1_over_http() {
    check_http(typescript("client-v1.mjs", &[]), LEGACY);
}

#[test]
fn typescript_2_legacy_over_stdio() {
    check_stdio(typescript("client-v2.mjs", &["legacy"]), LEGACY);
}

#[test]
fn typescript_2_legacy_over_http() {
    check_http(typescript("client-v2.mjs", &["legacy"]), LEGACY);
}

#[test]
fn typescript_2_modern_over_stdio() {
    check_stdio(typescript("client-v2.mjs", &["auto"]), MODERN);
}

#[test]
fn typescript_2_modern_over_http() {
    check_http(typescript("client-v2.mjs", &["auto"]), MODERN);
}

/// The server is of the old era: it asks in the middle of its call. A stateless client is asked by `input_required`.
#[test]
fn questions_of_a_server_reach_clients_of_either_era() {
    let world = World::with_real_servers().learn();
    let served = world.serve();
    let steps = [
        json!({"call": "everything__trigger-elicitation-request", "arguments": {}}),
        json!({"call": "everything__trigger-sampling-request", "arguments": {"prompt": "What is it?", "maxTokens": 9}}),
    ];
    for mode in ["legacy", "auto"] {
        let mut client = world.settle(python(mode));
        client.args(["http", &served.url]);
        let answers = lines(client, &steps);
        assert!(answers[1].to_string().contains("Ada"), "{mode}: {:#}", answers[1]);
        assert!(answers[2].to_string().contains("Forty-two."), "{mode}: {:#}", answers[2]);
    }
}

pub(crate) fn python(mode: &str) -> Command {
    let mut command = Command::new(peers::venv("python"));
    command.arg(script("client.py")).arg(mode);
    command
}

pub(crate) fn typescript(client: &str, arguments: &[&str]) -> Command {
    let mut command = node();
    command.arg(script(client)).args(arguments);
    command
}

fn check_stdio(client: Command, protocol: &str) {
    let world = World::with_real_servers().learn();
    let mut client = world.settle(client);
    client.args(["stdio", env!("CARGO_BIN_EXE_toolfold"), "serve", "--stdio"]);
    check(&world, client, protocol);
}

fn check_http(client: Command, protocol: &str) {
    let world = World::with_real_servers().learn();
    let served = world.serve();
    let mut client = world.settle(client);
    client.args(["http", &served.url]);
    check(&world, client, protocol);
}

fn check(world: &World, client: Command, protocol: &str) {
    let repository = world.path("repository");
    let note = world.path("files/note.txt");
    let call = |tool: &str, arguments: Value| json!({"call": "call_tool", "arguments": {"tool": tool, "arguments": arguments}});
    let ada = json!({"name": "Ada", "entityType": "person", "observations": ["wrote the first program"]});
    let tokyo = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let steps = [
        json!({"list": {}}),
        json!({"call": "find_tools", "arguments": {"query": "what time is it in another timezone"}}),
        call("everything.echo", json!({"message": "hello"})),
        call("files.read_text_file", json!({"path": note})),
        call("memory.create_entities", json!({"entities": [ada]})),
        call("memory.read_graph", json!({})),
        call("git.git_log", json!({"repo_path": repository})),
        call("time.convert_time", tokyo),
        call("everything.get-tiny-image", json!({})),
        call("everything.get-structured-content", json!({"location": "Chicago"})),
        call("time.convert_time", json!({"source_timezone": "UTC", "time": 12})),
        json!({"call": "everything__echo", "arguments": {"message": "directly"}}),
        call("time.get_time", json!({})),
    ];
    let answers = lines(client, &steps);
    assert_eq!(answers.len(), steps.len() + 1, "{answers:#?}");

    let [hello, list, found, echo, read, created, graph, log, tokyo, image, structured, wrong, direct, unknown] =
        &answers[..]
    else {
        panic!("as many answers as steps, and one for the connection");
    };
    assert_eq!(hello["protocol"], protocol);
    assert!(hello["instructions"].as_str().is_some_and(|text| text.contains("find_tools")), "{hello}");
    assert_eq!(*list, json!({"tools": ["find_tools", "call_tool"]}));
    assert!(text(found).starts_with("time.get_current_time(timezone: string)"), "{found:#}");

    assert_eq!(text(echo), "Echo: hello");
    assert_eq!(text(read), "Remember the milk.\n");
    assert!(text(created).contains("Ada"), "{created:#}");
    assert_eq!(graph["structuredContent"]["entities"][0]["observations"], json!(["wrote the first program"]));
    assert!(text(log).contains("The first commit"), "{log:#}");
    assert!(text(tokyo).contains("T21:00:00+09:00"), "{tokyo:#}");
    let pictures = image["content"].as_array().unwrap().iter().filter(|part| part["type"] == "image");
    let pictures: Vec<&Value> = pictures.collect();
    assert_eq!(pictures.len(), 1, "{image:#}");
    assert_eq!(pictures[0]["mimeType"], "image/png");
    assert!(pictures[0]["data"].as_str().unwrap().starts_with("iVBORw0KGgo"), "a PNG, as it was");
    assert_eq!(structured["structuredContent"]["conditions"], "Light rain / drizzle", "{structured:#}");

    assert_eq!(wrong["isError"], true);
    assert_eq!(wrong["structuredContent"]["error"]["code"], "INVALID_ARGUMENTS");
    assert!(text(wrong).contains("target_timezone") && text(wrong).contains("time"), "{wrong:#}");
    assert_eq!(text(direct), "Echo: directly");
    assert_eq!(unknown["structuredContent"]["error"]["code"], "TOOL_NOT_FOUND");
    assert!(unknown.to_string().contains("time.get_current_time"), "{unknown:#}");
}

/// The text of a result's first part.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result:#}"))
}
