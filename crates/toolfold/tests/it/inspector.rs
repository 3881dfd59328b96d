//! The inspector's command line, the tool people reach for first when something is wrong.

use serde_json::Value;

use crate::peers;
use crate::world::World;

#[test]
fn the_inspector_lists_tools_over_http_in_either_era() {
    let world = World::with_real_servers();
    let served = world.serve();
    for era in ["legacy", "modern"] {
        assert_eq!(list(&world, &["--protocol-era", era, &served.url]), ["find_tools", "call_tool"], "{era}");
    }
}

#[test]
fn the_inspector_lists_tools_over_stdio() {
    let world = World::with_real_servers();
    // The configuration is found where the inspector runs: it would take `--config` for its own.
    let target = [env!("CARGO_BIN_EXE_toolfold"), "serve", "--stdio"];
    assert_eq!(list(&world, &target), ["find_tools", "call_tool"]);
}

/// The names it lists, with its strict check of the definitions.
fn list(world: &World, target: &[&str]) -> Vec<String> {
    let mut command = world.settle(peers::node());
    command.arg(peers::module(".bin/mcp-inspector")).arg("--cli").args(target);
    command.args(["--method", "tools/list", "--format", "json", "--strict"]);
    let output = command.output().expect("the inspector can be started");
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{said}\n{complained}", output.status);
    let answer: Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("not JSON: {said}\n{complained}"));
    let tools = answer.pointer("/result/tools").or_else(|| answer.get("tools")).and_then(Value::as_array);
    let tools = tools.unwrap_or_else(|| panic!("no tools: {answer:#}"));
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}
