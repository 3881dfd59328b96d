//! Nothing is lost: what a server lists comes out of `direct` with every field equal.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolfold_test::{FakeServer, HttpClient};

use crate::fakes::world;

/// Definitions with everything that a typed model would drop or refuse.
fn odd_tools() -> Value {
    json!([
        {"name": "plain", "inputSchema": {"type": "object"}},
        {"name": "task", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "forbidden"}, "x-vendor": {"a": [1, 2.5, null]}},
        {"name": "hints", "inputSchema": {}, "annotations": {"readOnlyHint": true, "vendorHint": "x"}, "icons": [{"src": "x", "sizes": "any"}]},
        {"name": "any.output", "inputSchema": {"type": "object", "$defs": {"a": {"$ref": "#/$defs/a"}}}, "outputSchema": true},
        {"name": "Ünïcode 🦀", "title": "T", "description": "", "inputSchema": {"type": "object", "properties": {"z": {}, "a": {}}}, "_meta": {"k": {"deep": {}}}},
        {"name": "x".repeat(200), "inputSchema": {"type": "object"}},
        {"name": "find_tools", "inputSchema": {"type": "object"}},
    ])
}

#[tokio::test]
async fn odd_definitions_come_out_as_they_went_in() {
    let tools = odd_tools();
    let fake = FakeServer::script(json!({"tools": tools}));
    assert_eq!(listed(&fake).await, *tools.as_array().unwrap());
}

#[tokio::test]
async fn the_lists_of_real_servers_come_out_as_they_went_in() {
    let Some(files) = real_catalogs() else {
        println!("not run: no ../shared/catalogs beside this repository");
        return;
    };
    let mut tools = 0;
    for file in &files {
        let saved: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let expected = saved["tools"].as_array().unwrap();
        tools += expected.len();
        let fake = FakeServer::script(json!({"catalog": file}));
        assert_eq!(&listed(&fake).await, expected, "{}", file.display());
    }
    println!("{} lists, {tools} tools", files.len());
}

/// What `direct` shows of one server, under the server's own names.
async fn listed(fake: &FakeServer) -> Vec<Value> {
    let world = world("surface = \"direct\"", &[("one", fake)]);
    let served = world.serve();
    let client = HttpClient::new(&served.url);
    // The server is asked the first time: `find_tools` waits for it where a list would not.
    client.modern("tools/call", json!({"name": "one.nothing", "arguments": {}})).await;
    let list = client.modern("tools/list", json!({})).await;
    let mut tools = list["tools"].as_array().unwrap().clone();
    let saved = fake_names(fake);
    assert_eq!(tools.len(), saved.len());
    for (tool, name) in tools.iter_mut().zip(saved) {
        let exposed = tool["name"].as_str().unwrap();
        assert!(exposed.starts_with("one__") && exposed.len() <= 64, "{exposed}");
        tool["name"] = name;
    }
    tools
}

/// The names in the order the fake serves them, from its own script.
fn fake_names(fake: &FakeServer) -> Vec<Value> {
    let script: Value =
        serde_json::from_str(&std::fs::read_to_string(fake.folder().join("script.json")).unwrap()).unwrap();
    let tools = match script["catalog"].as_str() {
        Some(file) => serde_json::from_str::<Value>(&std::fs::read_to_string(file).unwrap()).unwrap()["tools"].clone(),
        None => script["tools"].clone(),
    };
    tools.as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect()
}

fn real_catalogs() -> Option<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/catalogs");
    let files = std::fs::read_dir(folder.canonicalize().ok()?).ok()?;
    let mut files: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    files.retain(|file| file.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('_')));
    files.sort();
    Some(files)
}
