//! `gateway`: every method, with the members its clients read.

use serde_json::{Value, json};
use toolfold_core::Surface;
use toolfold_disclosure::level::{compact_schema, micro_schema, short_description};
use toolfold_disclosure::{Action, route, tokens};
use toolfold_wire::raw;

use crate::catalogs::{file, home, refactor, storage};
use crate::fixture::{Fixture, source, tool};

fn fixture() -> Fixture {
    Fixture::of([storage(), refactor(), home(), file()])
}

fn say(name: &str, arguments: Value) -> Value {
    fixture().say(Surface::Backends, name, arguments)
}

fn names(answer: &Value) -> Vec<&str> {
    answer["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn search_tools_filters_and_pages() {
    let all = say("gateway_search_tools", json!({}));
    assert_eq!((&all["total"], &all["hasMore"], names(&all).len()), (&json!(27), &json!(false), 27));
    let page = say("gateway_search_tools", json!({"limit": 5, "offset": 20}));
    assert_eq!((names(&page).len(), &page["hasMore"]), (5, &json!(true)));
    let last = say("gateway_search_tools", json!({"limit": 5, "offset": 25}));
    assert_eq!((names(&last).len(), &last["hasMore"]), (2, &json!(false)));
    assert_eq!(say("gateway_search_tools", json!({"backend": "refactor"}))["total"], 2);
    assert_eq!(say("gateway_search_tools", json!({"prefix": "get_"}))["total"], 6);
    assert_eq!(say("gateway_search_tools", json!({"prefix": "storage__"}))["total"], 2);
    let stored = say("gateway_search_tools", json!({"category": "storage"}));
    assert!(["put_object", "read_file"].iter().all(|name| names(&stored).contains(name)), "the capability: {stored}");
    let auth = say("gateway_search_tools", json!({"category": "auth"}));
    assert_eq!(auth, json!({"tools": [], "total": 0, "hasMore": false}), "known, though nothing is in it");
    assert_eq!(names(&say("gateway_search_tools", json!({"query": "thermostat"})))[0], "set_thermostat");
    assert_eq!(
        say("gateway_search_tools", json!({"query": "zxqwv"})),
        json!({"tools": [], "total": 0, "hasMore": false})
    );
    assert_eq!(say("gateway_search_tools", json!({"backend": "hom"}))["error"]["hints"], json!(["home"]));
    assert_eq!(say("gateway_search_tools", json!({"detailLevel": "much"}))["error"]["code"], "INVALID_REQUEST");
}

#[test]
fn every_detail_level_has_its_members() {
    let at = |level: &str, examples: bool| {
        let arguments =
            json!({"query": "rename_symbol", "detailLevel": level, "includeExamples": examples, "limit": 1});
        let mut tool = say("gateway_search_tools", arguments)["tools"][0].take();
        // Whether it has a category depends on the nodes there are.
        tool.as_object_mut().unwrap().shift_remove("category");
        tool
    };
    assert_eq!(at("name_only", false), json!({"name": "rename_symbol", "backend": "refactor"}));
    let described = at("name_description", false);
    let description = "Renames a symbol project-wide and updates references";
    assert_eq!(
        described,
        json!({"name": "rename_symbol", "backend": "refactor", "description": description, "shortDescription": description})
    );
    let micro = at("micro_schema", false);
    assert_eq!(
        micro["inputSchema"],
        json!({"p": {
            "project_root": {"t": "s", "r": 1},
            "symbol": {"t": "s", "r": 1},
            "new_name": {"t": "s", "r": 1},
            "language": {"t": "s", "e": ["ts", "js", "py", "go", "java"]},
            "dry_run": {"t": "b", "d": true},
        }})
    );
    let full = at("full_schema", true);
    assert_eq!(full["inputSchema"]["type"], "object");
    assert_eq!(full["inputExamples"].as_array().unwrap().len(), 1);
    for level in ["micro_schema", "compact_schema", "full_schema"] {
        let mut shown =
            say("gateway_search_tools", json!({"query": "rename_symbol", "detailLevel": level, "limit": 1}))["tools"]
                [0]
            .take();
        let said = shown.as_object_mut().unwrap().shift_remove("estimatedTokens").unwrap();
        assert_eq!(said, json!(tokens::count(&shown.to_string())), "{level}");
    }
}

#[test]
fn schemas_of_one_tool_and_of_several() {
    let one = say("gateway_get_tool_schema", json!({"toolName": "read_file"}));
    assert_eq!(
        one["inputSchema"]["properties"]["offset"]["description"],
        "Line number to start reading from (1-indexed)"
    );
    assert!(one["estimatedTokens"].is_u64() && one["shortDescription"] == "Reads a file from the filesystem");
    let compact = json!({"type": "integer", "default": 1, "minimum": 1});
    for mode in [json!("compact"), json!(true)] {
        let one = say("gateway_get_tool_schema", json!({"toolName": "file.read_file", "mode": mode}));
        assert_eq!(one["inputSchema"]["properties"]["offset"], compact);
    }
    let micro = say("gateway_get_tool_schema", json!({"toolName": "read_file", "mode": "micro"}));
    assert_eq!(micro["inputSchema"]["p"]["offset"], json!({"t": "i", "d": 1}));
    let missing = say("gateway_get_tool_schema", json!({"toolName": "red_file"}));
    assert_eq!(missing["error"]["code"], "TOOL_NOT_FOUND");
    assert_eq!(missing["error"]["next_action"]["tool"], "gateway_search_tools");
    let several =
        say("gateway_get_tool_schemas", json!({"toolNames": ["read_file", "nope", "set_light"], "mode": "micro"}));
    assert_eq!(several["notFound"], json!(["nope"]));
    assert_eq!(names(&several), ["read_file", "set_light"]);
}

#[test]
fn categories_tree_stats_names_and_backends() {
    let categories = say("gateway_get_tool_categories", json!({}));
    let counted: u64 =
        categories.as_object().unwrap().values().map(|category| category["count"].as_u64().unwrap()).sum();
    assert_eq!(counted, 27);
    for (name, category) in categories.as_object().unwrap() {
        assert_eq!(category["tools"].as_array().unwrap().len() as u64, category["count"].as_u64().unwrap(), "{name}");
    }
    let files = categories["filesystem"]["tools"].as_array().unwrap();
    assert!(files.contains(&json!("read_file")), "by the name that clients know: {categories}");
    let coding = categories["Coding"]["tools"].as_array().unwrap();
    assert!(coding.contains(&json!("rename_symbol")), "{categories}");
    let tree = say("gateway_get_tool_tree", json!({}));
    assert_eq!((&tree[2]["name"], &tree[2]["type"]), (&json!("refactor"), &json!("server")));
    assert_eq!(
        tree[2]["children"][0],
        json!({"name": "rename_symbol", "type": "tool", "tool": {
            "name": "rename_symbol",
            "description": "Renames a symbol project-wide and updates references",
            "backend": "refactor",
        }})
    );
    let stats = say("gateway_get_tool_stats", json!({}));
    assert_eq!(stats["storage"], json!({"toolCount": 2, "tools": ["put_object", "create_bucket"]}));
    let all = say("gateway_list_tool_names", json!({}));
    assert_eq!((all.as_array().unwrap().len(), &all[0]), (27, &json!("copy_file")));
    let backend = say("gateway_get_tools_by_backend", json!({"backend": "refactor"}));
    assert_eq!(backend[0]["description"], "Renames a symbol project-wide and updates references");
    assert_eq!(backend, say("gateway_get_tools_by_backend", json!({"backendId": "refactor"})));
}

#[test]
fn call_tool_calls() {
    let fixture = fixture();
    let call = json!({"toolName": "set_light", "arguments": {"device_id": "a"}});
    assert!(matches!(
        route(Surface::Backends, &fixture.view(), "gateway_call_tool", Some(&raw(&call))),
        Action::Call { .. }
    ));
}

#[test]
fn schemas_are_reduced_as_their_clients_expect() {
    let schema = json!({"$schema": "x", "type": "object", "description": "d", "required": ["description"], "properties": {
        "description": {"type": "string", "description": "What it is", "examples": ["a"]},
        "list": {"type": "array", "items": {"type": "integer", "description": "one"}},
        "any": {"type": ["string", "null"], "default": {"description": "kept"}},
        "who": {"$ref": "#/$defs/Who"},
    }, "$defs": {"Who": {"type": "object", "description": "somebody"}}});
    assert_eq!(
        compact_schema(&schema),
        json!({"type": "object", "required": ["description"], "properties": {
        "description": {"type": "string"},
        "list": {"type": "array", "items": {"type": "integer"}},
        "any": {"type": ["string", "null"], "default": {"description": "kept"}},
        "who": {"$ref": "#/$defs/Who"},
    }, "$defs": {"Who": {"type": "object"}}})
    );
    assert_eq!(
        micro_schema(&schema),
        json!({"p": {
            "description": {"t": "s", "r": 1},
            "list": {"t": "a", "i": "i"},
            "any": {"t": ["string", "null"], "d": {"description": "kept"}},
            "who": {"t": "o"},
        }})
    );
    let odd = json!({"type": "string"});
    assert_eq!(micro_schema(&odd), odd);
    assert_eq!(short_description("", "name"), "name");
    assert_eq!(short_description("Short. And more that goes on for longer than sixty characters do.", "n"), "Short");
    let long = "A description that has no end in sight before sixty characters are over and done";
    assert_eq!(short_description(long, "n"), "A description that has no end in sight before sixty chara...");
}

#[test]
fn names_are_those_that_can_be_called() {
    let fixture = Fixture::of([source("s", &[tool("t", "Does.", json!({"type": "object"}))])]);
    assert_eq!(fixture.say(Surface::Backends, "gateway_list_tool_names", json!({})), json!(["s__t"]));
}
