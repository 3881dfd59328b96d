//! `levels`: browse, decide, dive in; for tools and for agents.

use std::collections::BTreeSet;

use std::sync::Arc;

use serde_json::{Value, json};
use toolfold_catalog::{Catalog, ServerTools};
use toolfold_core::{Entry, Groups, Kind, ServerName, Surface};
use toolfold_disclosure::{tokens, tools};
use toolfold_index::Index;
use toolfold_wire::raw;

use crate::catalogs::{file, home, project};
use crate::fixture::{Fixture, source, tool};

fn discover(arguments: Value) -> Value {
    Fixture::of([file()]).say(Surface::Levels, "discover_tools", arguments)
}

#[test]
fn discovery_tool_has_three_levels() {
    let browsed = discover(json!({}));
    assert_eq!(browsed["tools"][8], json!({"name": "write_file", "summary": "Write to file"}));
    assert_eq!(browsed["tools"].as_array().unwrap().len(), 9);
    let details = discover(json!({"tool": "read_file"}));
    assert_eq!(
        details.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["name", "description", "parameters", "usage", "returns"]
    );
    assert_eq!(details["parameters"], json!(["file_path", "offset", "limit"]));
    assert!(details["usage"].as_str().unwrap().starts_with("read_file(file_path='"), "{details}");
    let full = discover(json!({"tool": "read_file", "detail": "full"}));
    let offset = json!({
        "type": "integer",
        "description": "Line number to start reading from (1-indexed)",
        "required": false,
        "default": 1,
        "validation": "minimum 1",
    });
    assert_eq!(full["parameters"]["offset"], offset);
    assert_eq!(full["parameters"]["file_path"]["required"], true);
    for key in ["returns", "examples", "errors", "notes"] {
        assert!(!full[key].is_null(), "{key}");
    }
    assert_eq!(full["examples"][0]["code"], details["usage"]);
    assert_eq!(full["errors"][0]["type"], "INVALID_ARGUMENTS");
    let notes = full["notes"].as_array().unwrap();
    assert!(notes.contains(&json!("Changes nothing: it only reads.")), "{notes:?}");
    assert!(notes.contains(&json!("For files above 10MB, read in chunks.")), "{notes:?}");
}

#[test]
fn one_parameter_whole() {
    let page = discover(json!({"tool": "read_file", "parameter": "offset"}));
    assert_eq!(
        (&page["tool"], &page["parameter"], &page["type"]),
        (&json!("read_file"), &json!("offset"), &json!("integer"))
    );
    assert_eq!((&page["default"], &page["examples"][0]), (&json!(1), &json!("offset=1 (default)")));
    let missing = discover(json!({"tool": "read_file", "parameter": "ofset"}));
    assert_eq!(missing["error"]["hints"], json!(["offset"]));
    assert_eq!(
        missing["error"]["next_action"],
        json!({"tool": "discover_tools", "arguments": {"tool": "file.read_file"}})
    );
    assert_eq!(discover(json!({"tool": "read_file", "detail": "everything"}))["error"]["hints"], json!(["full"]));
    assert_eq!(discover(json!({"tool": "red_file"}))["error"]["code"], "TOOL_NOT_FOUND");
}

#[test]
fn nested_schemas_are_whole_at_level_three() {
    let nested = json!({"type": "object", "$defs": {"Who": {"type": "object", "properties": {"id": {"type": "integer"}}}},
        "properties": {"to": {"type": "array", "items": {"$ref": "#/$defs/Who"}}}, "required": ["to"]});
    let fixture = Fixture::of([source("mail", &[tool("send", "Send mail.", nested.clone())])]);
    let full = fixture.say(Surface::Levels, "discover_tools", json!({"tool": "send", "detail": "full"}));
    assert_eq!(full["parameters"]["to"]["schema"], nested["properties"]["to"]);
    assert_eq!(full["inputSchema"], nested);
    let to = fixture.say(Surface::Levels, "discover_tools", json!({"tool": "send", "parameter": "to"}));
    assert_eq!(to["schema"]["items"], nested["$defs"]["Who"], "a page of one parameter can be read by itself");
}

/// One required text, one optional choice, one object of forty members, and a text that is told at length.
fn large() -> Fixture {
    let member =
        |n: usize| (format!("member{n}"), json!({"type": "string", "description": "One of very many. ".repeat(4)}));
    let members: serde_json::Map<String, Value> = (0..40).map(member).collect();
    let schema = json!({"type": "object", "properties": {
        "operation": {"type": "string", "description": "What to do", "minLength": 2},
        "state": {"type": "string", "enum": ["open", "closed"], "default": "open", "description": "Which ones"},
        "body": {"type": "object", "properties": members, "required": ["member7"]},
        "story": {"type": "string", "maxLength": 9000, "description": "It is told at length. ".repeat(200)},
    }, "required": ["operation", "body"]});
    let description = format!("Works on records.\n\n{}\n- openRecord: opens one", "It is a long story. ".repeat(200));
    let output =
        json!({"type": "object", "properties": {"rows": {"type": "array", "description": "Rows. ".repeat(300)}}});
    let mut definition = tool("records", &description, schema);
    definition["outputSchema"] = output;
    Fixture::of([source("s", &[definition])])
}

fn fitted(fixture: &Fixture, arguments: Value) -> Value {
    let said = fixture.say(Surface::Levels, "discover_tools", arguments.clone());
    let cost = tokens::count(&said.to_string());
    assert!(cost <= 700, "{arguments}: {cost} tokens: {said}");
    said
}

#[test]
fn level_three_of_a_large_tool_keeps_the_budget_and_says_what_is_missing() {
    let fixture = large();
    let full = fitted(&fixture, json!({"tool": "records", "detail": "full"}));
    let operation =
        json!({"type": "string", "description": "What to do", "required": true, "validation": "minLength 2"});
    assert_eq!(full["parameters"]["operation"], operation, "what fits is as it always is");
    assert_eq!(full["parameters"]["state"]["enum"], json!(["open", "closed"]));
    assert_eq!(full["shortened"], json!(["body", "story"]));
    assert_eq!(full["parameters"]["body"]["required"], true);
    assert!(full["parameters"]["body"]["members"]["member7"].is_object(), "{full}");
    assert_eq!(full["returns"], json!({"type": "object", "description": "{rows?: any[]}"}));
    assert!(full["note"].as_str().unwrap().contains("parameter"), "{full}");
    for key in ["name", "description", "examples", "errors", "notes"] {
        assert!(!full[key].is_null(), "{key}");
    }
}

#[test]
fn what_level_three_left_out_can_be_had() {
    let fixture = large();
    let body = fitted(&fixture, json!({"tool": "records", "parameter": "body"}));
    assert_eq!(body["members"]["member7"]["required"], true, "{body}");
    let member = fitted(&fixture, json!({"tool": "records", "parameter": "body.member7"}));
    assert_eq!((&member["type"], &member["note"]), (&json!("string"), &Value::Null));
    let story = fitted(&fixture, json!({"tool": "records", "parameter": "story"}));
    assert_eq!((&story["members"], &story["schema"]["maxLength"]), (&Value::Null, &json!(9000)), "{story}");
    assert!(tokens::count(&story.to_string()) > 600, "the room is used: {story}");
    let several = fitted(&fixture, json!({"tool": "records", "parameter": ["operation", "story", "nothing"]}));
    assert_eq!(
        (&several[0]["description"], &several[2]["error"]["code"]),
        (&json!("What to do"), &json!("INVALID_REQUEST"))
    );
    assert!(several[1]["note"].as_str().unwrap().contains("\"story\" alone"), "{several}");
    let said = fitted(&fixture, json!({"tool": "records", "parameter": "openRecord"}));
    assert_eq!(said["said"], "- openRecord: opens one");
    let many: Vec<String> = (0..20).map(|n| format!("body.member{n}")).collect();
    let many = fitted(&fixture, json!({"tool": "records", "parameter": many}));
    let left_out = many.as_array().unwrap().last().unwrap();
    assert!(left_out["left_out"].as_array().is_some_and(|names| !names.is_empty()), "{many}");
}

#[test]
fn what_is_too_much_to_look_through_is_shown_by_group() {
    let fixture = Fixture::of([file(), home(), project()]).pinned(&["read_file"]);
    let browsed = fixture.say(Surface::Levels, "discover_tools", json!({}));
    assert_eq!(browsed["tools"][0]["name"], "read_file");
    let listed = browsed["tools"].as_array().unwrap().len();
    assert_eq!(browsed["more"], 53 - listed);
    assert!(listed > 10 && tokens::count(&browsed.to_string()) <= 700, "{listed} tools: {browsed}");
    let mut seen: Vec<Value> = browsed["tools"].as_array().unwrap().clone();
    let mut page = browsed.clone();
    while let Some(cursor) = page["cursor"].as_str() {
        page = fixture.say(Surface::Levels, "discover_tools", json!({"cursor": cursor}));
        assert_eq!(page["groups"], Value::Null, "groups are shown once");
        seen.extend(page["tools"].as_array().unwrap().clone());
    }
    let names: BTreeSet<&str> = seen.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!((seen.len(), names.len()), (53, 53), "every tool is on some page, once");
    let behind = Fixture::of([file()]).say(Surface::Levels, "discover_tools", json!({"cursor": browsed["cursor"]}));
    assert_eq!(behind["error"]["code"], "INVALID_CURSOR", "{behind}");
    let junk = fixture.say(Surface::Levels, "discover_tools", json!({"cursor": "junk"}));
    assert_eq!(junk["error"]["code"], "INVALID_CURSOR");
    let groups: Vec<&str> =
        browsed["groups"].as_array().unwrap().iter().map(|group| group["name"].as_str().unwrap()).collect();
    assert!(groups.contains(&"Servers/file") && groups.contains(&"Servers/project"), "{groups:?}");
    for group in ["file", "Servers/file"] {
        let tools = fixture.say(Surface::Levels, "discover_tools", json!({"group": group}));
        assert_eq!(tools["tools"].as_array().unwrap().len(), 9, "{group}");
    }
    let unknown = fixture.say(Surface::Levels, "discover_tools", json!({"group": "fil"}));
    assert_eq!(
        unknown["error"]["next_action"],
        json!({"tool": "discover_tools", "arguments": {"group": "Servers/file"}})
    );
}

#[test]
fn split_groups_have_a_tool_each() {
    let mut fixture =
        Fixture::of([file(), source("my-mail", &[tool("send", "Send mail.", json!({"type": "object"}))])]);
    fixture.settings.groups = Groups::Split;
    let list = tools(Surface::Levels, &fixture.view());
    let names: Vec<Value> =
        list.iter().map(|raw| serde_json::from_str::<Value>(raw.get()).unwrap()["name"].clone()).collect();
    assert_eq!(names, ["discover_file_tools", "discover_my_mail_tools", "discover_agents", "call_tool"]);
    assert!(!list[0].get().contains("group"));
    let mail = fixture.say(Surface::Levels, "discover_my_mail_tools", json!({}));
    assert_eq!(mail, json!({"tools": [{"name": "my-mail__send", "summary": "Send mail"}]}));
    assert_eq!(fixture.say(Surface::Levels, "discover_file_tools", json!({"tool": "read_file"}))["name"], "read_file");
}

#[test]
fn agents_have_the_same_levels() {
    let agents = ServerName::new("agents").unwrap();
    let explorer = json!({
        "name": "explorer",
        "description": "Searches codebase for files, patterns, and code",
        "whenToUse": "Use when you need to find code or understand structure",
        "capabilities": ["file-search", "code-search"],
        "constraints": ["read-only"],
        "systemPrompt": "You are a codebase exploration specialist...",
        "tools": ["read_file", "search_files", "grep"],
        "prohibitedTools": ["write_file", "edit_file"],
    });
    let documents = [explorer.clone(), json!({"name": "planner"})];
    let entries =
        documents.map(|definition| Arc::new(Entry::document(&agents, Kind::Agent, &raw(&definition)).unwrap()));
    let catalog = Catalog::merge(1, [Arc::new(ServerTools::documents(agents, "Agents", entries.to_vec()))]);
    let fixture = Fixture { index: Index::build(&catalog), catalog, ..Fixture::of([]) };
    let say = |arguments: Value| fixture.say(Surface::Levels, "discover_agents", arguments);
    assert_eq!(
        say(json!({}))[0],
        json!({"name": "explorer", "summary": "Searches codebase for files, patterns, and code"})
    );
    let details = say(json!({"agent": "explorer"}));
    assert_eq!(
        details.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["name", "description", "whenToUse", "capabilities", "constraints"]
    );
    assert_eq!(say(json!({"agent": "Explorer", "detail": "full"})), explorer);
    assert_eq!(say(json!({"agent": "planner", "detail": "full"})), json!({"name": "planner"}));
    let missing = say(json!({"agent": "explorr"}));
    assert_eq!(missing["error"]["hints"], json!(["explorer"]));
    assert_eq!(missing["error"]["next_action"]["tool"], "discover_agents");
    assert_eq!(fixture.say(Surface::Levels, "discover_tools", json!({})), json!({"tools": []}));
}
