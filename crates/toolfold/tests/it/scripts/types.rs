//! `toolfold types`, judged by the compiler of TypeScript: over our own catalogs always, over all real ones where they are.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use toolfold_test::FakeServer;

use crate::fakes::{config, world};
use crate::peers;
use crate::world::World;

/// What the compiler says about these files; nothing where it accepts them.
fn compile(world: &World, files: &[&str]) -> String {
    let mut command = Command::new(peers::module(".bin/node"));
    command.arg(peers::module("typescript/bin/tsc")).current_dir(world.path("."));
    command.args(["--strict", "--noEmit", "--target", "es2022", "--lib", "es2023", "--types", ""]).args(files);
    let output = command.output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // A judge that is not there has not said yes.
    assert!(output.status.success() || said.contains("error TS"), "the compiler did not run: {said}");
    if output.status.success() { String::new() } else { said }
}

fn types(world: &World, servers: &[&str]) -> String {
    let arguments: Vec<&str> = ["types"].iter().chain(servers).copied().collect();
    let output = world.toolfold(&arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Names and schemas that are hard to say in TypeScript.
fn odd() -> FakeServer {
    let tool = |name: &str, input: Value| json!({"name": name, "description": "Ends */ here.\n// and not", "inputSchema": input});
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    FakeServer::script(json!({"tools": [
        tool("delete", object(json!({"a-b": {"type": "string"}, "default": {"enum": ["x", "y", 1, null, true, {"z": 1}]}}))),
        tool("2fa-enable", json!({"type": "object", "properties": {"n": {"const": -1.5}}, "required": ["n", "other", "other"]})),
        tool("a-b", object(json!({}))),
        tool("a_b", object(json!({"t": {"type": ["string", "null", "array"], "items": {"type": "integer"}}}))),
        tool("tree", json!({"type": "object", "properties": {"root": {"$ref": "#/$defs/node"}}, "$defs": {"node": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}}})),
        tool("loop", json!({"type": "object", "properties": {"a": {"$ref": "#/properties/a"}, "b": {"$ref": "#/nowhere"}}})),
        tool("choice", json!({"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, {"type": "object", "properties": {"b": {"type": "number"}}}], "type": "object"})),
        tool("both", json!({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"properties": {"a": {"type": "number"}}, "required": ["a"]}], "type": "object"})),
        tool("more", json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "number"}})),
        tool("any", json!({"type": "object", "properties": {"x": true, "y": {}, "z": {"type": "something"}, "w": {"type": 5}, "": {"type": "string"}, "\u{2028}\"\\": {"type": "string", "description": "*/ } ; /*"}}})),
        tool("tuple", object(json!({"t": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "items": false}, "u": {"items": [{"type": "string"}]}}))),
        tool("wide", object(json!({"e": {"enum": (0..500).collect::<Vec<_>>()}, "n": {"nullable": true, "type": "string"}, "big": {"enum": [18446744073709551615u64, 1e300]}}))),
        tool("with space ✓", object(json!({}))),
        {"name": "typed", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}}}, "required": ["rows"]}},
    ]}))
}

#[test]
fn whatever_a_schema_is_the_declarations_are_right() {
    let (first, second) = (odd(), odd());
    // The same tools twice: without somebody who vouches for it, one would be held for imitating the other.
    let config = config("", &[("default", &first), ("my-server", &second)]);
    let world = World::with_config(&config.replace("stop_timeout", "trust = \"always\"\nstop_timeout"));
    let text = types(&world, &[]);
    fs::write(world.path("tools.d.ts"), &text).unwrap();
    let used = "async function main() {\n  const r = await tools.my_server.typed();\n  const ids: number[] = r.rows.map((row) => row.id);\n  \
        await tools.my_server.delete({ 'a-b': 'x', default: 'y' });\n  await tools.default.a_b({ t: [1] });\n  \
        await tools.my_server._2fa_enable({ n: -1.5, other: 1 });\n  const hits = await find('x'); print(hits[0].line, input, ids);\n  \
        try { await call('a.b', {}) } catch (e) { if (e instanceof ToolError) print(e.code, e.hints) }\n}\n";
    fs::write(world.path("used.ts"), used).unwrap();
    assert_eq!(compile(&world, &["tools.d.ts", "used.ts"]), "", "{text}");
    // The judge judges: what is wrong is not let through.
    fs::write(world.path("wrong.ts"), "async function wrong() { await tools.my_server.typed({ x: 1 }).then((r) => r.nothing); await tools.my_server._2fa_enable({}); }").unwrap();
    let said = compile(&world, &["tools.d.ts", "wrong.ts"]);
    assert!(said.contains("nothing") && said.contains("missing the following properties"), "{said}");
    let only = types(&world, &["my-server"]);
    assert!(only.contains("namespace my_server") && !only.contains("namespace default_"), "{only}");
    let unknown = world.toolfold(&["types", "my-servr"]).output().unwrap();
    let complained = String::from_utf8_lossy(&unknown.stderr);
    assert!(complained.contains("my-server") && unknown.status.code() == Some(2), "{complained}");
}

#[test]
fn the_declarations_of_the_toolbox_are_right() {
    let world = World::without_config();
    let text = types(&world, &[]);
    assert!(text.contains("namespace toolbox {") && text.contains("function calculate(args: {"), "{text}");
    fs::write(world.path("tools.d.ts"), text).unwrap();
    assert_eq!(compile(&world, &["tools.d.ts"]), "");
}

#[test]
fn the_declarations_of_all_real_tools_are_right() {
    let catalogs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/catalogs");
    let Ok(files) = fs::read_dir(&catalogs) else {
        println!("not checked: {} is not there; our own catalogs are checked beside this", catalogs.display());
        return;
    };
    let mut paths: Vec<_> = files.flatten().map(|file| file.path()).collect();
    paths.sort();
    let is_catalog = |path: &std::path::PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.ends_with(".json") && !name.starts_with('_')
    };
    let mut fakes = Vec::new();
    for path in paths.iter().filter(|path| is_catalog(path)) {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap().replace('.', "-");
        fakes.push((name, FakeServer::script(json!({"catalog": path}))));
    }
    let servers: Vec<(&str, &FakeServer)> = fakes.iter().map(|(name, fake)| (name.as_str(), fake)).collect();
    let world = world("", &servers);
    let text = types(&world, &["--wait"]);
    let count = text.matches("export function ").count() + text.matches("    // call(").count();
    println!("{count} tools of {} servers, {} bytes of declarations", servers.len(), text.len());
    assert!(count > 4_000, "{count}");
    fs::write(world.path("tools.d.ts"), text).unwrap();
    assert_eq!(compile(&world, &["tools.d.ts"]), "");
}
