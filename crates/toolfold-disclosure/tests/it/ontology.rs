//! `ontology`: list, search, expand, call; and every standard error with a way out.

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolfold_catalog::{Node, SERVERS};
use toolfold_core::Surface;
use toolfold_disclosure::{Action, route};
use toolfold_wire::raw;

use crate::catalogs::{bare, file, home, project, refactor, storage};
use crate::fixture::{Fixture, tool};

fn fixture() -> Fixture {
    Fixture::of([storage(), refactor(), home(), file(), project()])
}

fn say(name: &str, arguments: Value) -> Value {
    fixture().say(Surface::Ontology, name, arguments)
}

fn keys(value: &Value) -> Vec<&String> {
    value.as_object().unwrap().keys().collect()
}

#[test]
fn a_whole_cycle_from_the_root_to_the_call() {
    let root = say("list", json!({}));
    assert_eq!(keys(&root), ["path", "nodes", "tools", "next_cursor"]);
    assert_eq!((&root["path"], &root["tools"]), (&json!([]), &json!([])));
    assert_eq!(keys(&root["nodes"][0]), ["name", "path", "summary", "tags"]);
    let inside = say("list", json!({"path": ["Servers", "refactor"]}));
    let ids: Vec<&str> =
        inside["tools"].as_array().unwrap().iter().map(|tool| tool["tool_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["refactor.extract_function", "refactor.rename_symbol"]);
    let found = say(
        "search_tool_by_category",
        json!({"query": "rename symbol", "category_path": ["Servers", "refactor"], "limit": 5, "cursor": null}),
    );
    assert_eq!(keys(&found), ["category_path", "results", "next_cursor"]);
    let pointer = &found["results"][0];
    assert_eq!(keys(pointer), ["tool_id", "path", "summary", "tags", "confidence"]);
    assert_eq!(pointer["tool_id"], "refactor.rename_symbol");
    assert_eq!(pointer["path"], json!(["Servers", "refactor"]));
    assert_eq!(pointer["summary"], "Renames a symbol project-wide and updates references");
    assert!(pointer["confidence"].as_f64().unwrap() > 0.5);
    let expanded = say("expand_tool", json!({"tool_id": "refactor.rename_symbol"}));
    assert_eq!(keys(&expanded), ["tool_id", "path", "summary", "args_schema", "result_schema"]);
    assert_eq!(expanded["args_schema"]["properties"]["dry_run"], json!({"type": "boolean", "default": true}));
    assert_eq!(expanded["result_schema"]["required"], json!(["changed_files"]));
    let call = json!({"tool_id": "refactor.rename_symbol", "arguments": {"project_root": ".", "symbol": "a", "new_name": "b"}});
    let fixture = fixture();
    assert!(matches!(route(Surface::Ontology, &fixture.view(), "call_tool", Some(&raw(&call))), Action::Call { .. }));
}

#[test]
fn capabilities_are_walked_from_the_root_to_a_tool() {
    let root = say("list", json!({"limit": 50}));
    let names: Vec<&str> =
        root["nodes"].as_array().unwrap().iter().map(|node| node["name"].as_str().unwrap()).collect();
    assert_eq!((names[0], names[names.len() - 1]), ("Coding", "Servers"), "{names:?}");
    let storage = say("list", json!({"path": ["storage"]}));
    assert_eq!(storage["path"], json!(["Storage"]));
    let buckets = json!({
        "name": "Object storage",
        "path": ["Storage", "Object storage"],
        "summary": "Buckets, blobs and storage accounts",
        "tags": ["storage", "objects"],
    });
    assert!(storage["nodes"].as_array().unwrap().contains(&buckets), "{storage}");
    let listed = say("list", json!({"path": ["Coding", "Refactoring"]}));
    let pointer = &listed["tools"].as_array().unwrap().last().unwrap();
    assert_eq!(pointer["tool_id"], "refactor.rename_symbol");
    assert_eq!(pointer["path"], json!(["Coding", "Refactoring"]));
    assert_eq!(pointer["tags"], json!(["refactor", "lint", "rename", "symbol"]));
    let asked = json!({"query": "rename a symbol across the codebase", "category_path": ["Coding", "Refactoring"]});
    assert_eq!(say("search_tool_by_category", asked)["results"][0]["tool_id"], "refactor.rename_symbol");
    let expanded = say("expand_tool", json!({"tool_id": "refactor.rename_symbol"}));
    assert_eq!(expanded["path"], json!(["Coding", "Refactoring"]));
    let found = say("search_nodes", json!({"query": "rename a symbol", "limit": 2}));
    let paths: Vec<&Value> = found["results"].as_array().unwrap().iter().map(|result| &result["path"]).collect();
    assert!(paths.contains(&&json!(["Coding", "Refactoring"])), "{found}");
    let unknown = say("list", json!({"path": ["Coding", "Refactring"]}));
    assert_eq!(unknown["error"]["hints"], json!(["Coding/Refactoring"]));
}

#[test]
fn thirty_tools_of_a_project_have_their_places() {
    let fixture = Fixture::of([project()]);
    let names = |node: &Node| {
        let names = node.own_entries().into_iter().map(|at| fixture.catalog.entry(at).name().to_owned());
        format!("{}: {}", node.path.join("/"), names.collect::<Vec<_>>().join(" "))
    };
    let nodes = fixture.catalog.root().children.iter().filter(|root| root.name() != SERVERS).flat_map(Node::walk);
    let lines: Vec<String> = nodes.filter(|node| !node.own_entries().is_empty()).map(names).collect();
    assert_snapshot!(lines.join("\n"), @"
    Coding/Scaffolding: generate generate_component generate_from_spec spec_show template_list
    Web: spec_archive
    Web/APIs: spec_create spec_init spec_validate
    AI/Agents: agent_execute agent_list agent_status
    Projects: spec_delete
    Projects/Tasks: registry_deps registry_list registry_next registry_sync registry_update
    System/Workflows: loop_cancel loop_get loop_set loop_start workflow_approve workflow_list workflow_start workflow_status
    Other: metrics_show registry_init spec_list spec_update
    ");
}

#[test]
fn a_query_filters_a_list_and_reaches_below_it() {
    let listed = say("list", json!({"path": ["Servers"], "query": "upload file"}));
    let ids: Vec<&Value> = listed["tools"].as_array().unwrap().iter().map(|tool| &tool["tool_id"]).collect();
    assert!(ids.contains(&&json!("storage.put_object")), "{ids:?}");
    assert!(
        listed["nodes"].as_array().unwrap().iter().any(|node| node["name"] == "file" || node["name"] == "storage"),
        "{listed}"
    );
}

#[test]
fn tags_filter_too() {
    let listed = say("list", json!({"path": ["Servers", "home"], "tags": ["thermostat"]}));
    assert_eq!(listed["tools"].as_array().unwrap().len(), 1);
    assert_eq!(listed["tools"][0]["tool_id"], "home.set_thermostat");
    let none = say("list", json!({"path": ["Servers", "home"], "tags": ["oauth"]}));
    assert_eq!(none["error"]["code"], "NO_MATCH_IN_CATEGORY");
}

#[test]
fn pages_are_ten_long_unless_said_and_fifty_at_most() {
    let page = |arguments: Value| say("list", arguments);
    let mut arguments = json!({"path": ["Servers", "project"]});
    let mut seen: Vec<Value> = Vec::new();
    for _ in 0..3 {
        let answer = page(arguments.clone());
        assert_eq!(answer["tools"].as_array().unwrap().len(), 10);
        seen.extend(answer["tools"].as_array().unwrap().iter().map(|tool| tool["tool_id"].clone()));
        arguments["cursor"] = answer["next_cursor"].clone();
    }
    assert_eq!(arguments["cursor"], Value::Null, "thirty tools are three pages");
    let unique: std::collections::BTreeSet<String> = seen.iter().map(Value::to_string).collect();
    assert_eq!(unique.len(), 30);
    assert_eq!(page(json!({"path": ["Servers", "project"], "limit": 1000}))["tools"].as_array().unwrap().len(), 30);
    let cursor = page(json!({"path": ["Servers", "project"]}))["next_cursor"].clone();
    let smaller = Fixture::of([storage()]);
    let gone = smaller.say(Surface::Ontology, "list", json!({"cursor": cursor}));
    assert_eq!(gone["error"]["code"], "INVALID_CURSOR");
    let again = Fixture::of([project()]).say(Surface::Ontology, "list", json!({"cursor": cursor}));
    assert_eq!(again["tools"].as_array().unwrap().len(), 10, "it survives a change elsewhere");
    assert_eq!(page(json!({"cursor": "made up"}))["error"]["next_action"], json!({"tool": "list", "arguments": {}}));
    let other = json!({"cursor": cursor, "query": "something else"});
    assert_eq!(page(other)["error"]["code"], "INVALID_CURSOR");
}

#[test]
fn search_nodes_finds_where_to_start() {
    let found = say("search_nodes", json!({"query": "rename a symbol in the code", "limit": 5}));
    assert_eq!(keys(&found["results"][0]), ["path", "summary", "confidence"]);
    let paths: Vec<&Value> = found["results"].as_array().unwrap().iter().map(|node| &node["path"]).collect();
    assert!(paths.contains(&&json!(["Servers", "refactor"])), "{found}");
    let none = say("search_nodes", json!({"query": "zxqwv"}));
    assert_eq!(none["error"]["code"], "NO_MATCH_IN_CATEGORY");
    assert_eq!(none["error"]["next_action"], json!({"tool": "list", "arguments": {}}));
}

#[test]
fn a_capability_that_nothing_has_is_found_by_its_words() {
    let contacts = tool("list_contacts", "List the contacts in the address book", json!({"type": "object"}));
    let fixture = Fixture::of([bare("people", &[contacts]), refactor()]);
    let found = fixture.say(Surface::Ontology, "search_nodes", json!({"query": "oauth login"}));
    assert_eq!(found["results"][0]["path"], json!(["User"]), "{found}");
}

/// A tool or two for many nodes, so that each of these is there.
fn many_nodes() -> Fixture {
    let plain = |name: &str, said: &str| tool(name, said, json!({"type": "object"}));
    let tools = [
        plain("read_file", "Read the contents of a text file"),
        plain("write_file", "Write, create or edit a file"),
        plain("find_symbol", "Find files, symbols and references in the source code of a project"),
        plain("get_file_contents", "Get the contents of a file in a remote repository on GitHub"),
        plain("create_bucket", "Create an object storage bucket"),
        plain("list_bucket_objects", "List the objects in a bucket"),
        plain("call_api", "Call any REST API with a path, query parameters and a body"),
        plain("log_in", "Log in to the service with OAuth"),
        plain("list_roles", "List the roles and permissions of a user"),
        plain("add_comment", "Add a comment to a discussion"),
        plain("list_comments", "List the comments and replies"),
        plain("approve_pull_request", "Approve a pull request and comment on it"),
        plain("send_email", "Send an email message"),
        plain("list_mail_folders", "List the mail folders of the inbox"),
        plain("read_cells", "Read a range of cells in an Excel worksheet"),
        plain("create_event", "Create a calendar event and invite attendees"),
        plain("crop_image", "Crop or resize an image"),
        plain("play_media", "Play media on a speaker at home"),
        plain("run_query", "Run a SQL query on a database"),
        plain("tap_screen", "Tap on the screen of a mobile phone, by its simulator"),
        plain("list_devices", "List the simulators and mobile phones that apps are installed on"),
        plain("get_site", "Get a SharePoint site by its path"),
        plain("create_list_item", "Create an item in a SharePoint list of an intranet site"),
    ];
    let servers = ["api-keys", "auth-helper", "buckets-of-files", "email-tester", "google-calendar"]
        .map(|name| bare(name, &[plain("ping", "Ping")]));
    Fixture::of(servers.into_iter().chain([bare("all", &tools)]))
}

#[test]
fn what_a_node_is_called_comes_before_what_is_said_of_it() {
    let fixture = many_nodes();
    let best = |query: &str| {
        let found = fixture.say(Surface::Ontology, "search_nodes", json!({"query": query, "limit": 50}));
        let results = found["results"].as_array().unwrap().clone();
        let sure: Vec<f64> = results.iter().map(|result| result["confidence"].as_f64().unwrap()).collect();
        assert!(sure.is_sorted_by(|a, b| a >= b) && sure.iter().all(|sure| (0.0..=1.0).contains(sure)), "{found}");
        let path = |result: &Value| {
            result["path"].as_array().unwrap().iter().filter_map(Value::as_str).collect::<Vec<_>>().join("/")
        };
        format!("{query}: {} {}", path(&results[0]), sure[0])
    };
    let asked = [
        "filesystem",
        "file",
        "files",
        "api",
        "APIs",
        "auth",
        "media",
        "buckets",
        "permissions",
        "comments",
        "email",
        "spreadsheets",
        "calendar",
        "Office/Calendar",
        "databases",
        "google calendar",
    ];
    assert_snapshot!(asked.map(best).join("\n"), @"
    filesystem: Storage/Files 0.98
    file: Storage/Files 0.98
    files: Storage/Files 0.98
    api: Web/APIs 0.98
    APIs: Web/APIs 0.98
    auth: User 0.98
    media: Media 0.98
    buckets: Storage/Object storage 0.98
    permissions: User/Permissions 0.98
    comments: Projects/Comments 0.98
    email: Messaging/Email 0.98
    spreadsheets: Office/Spreadsheets 0.98
    calendar: Office/Calendar 0.98
    Office/Calendar: Office/Calendar 0.98
    databases: Databases 0.98
    google calendar: Servers/google-calendar 0.98
    ");
}

/// What is asked for may be deeper than the children that are shown, and called otherwise than they are.
#[test]
fn a_list_with_a_query_shows_the_way_to_what_is_deeper() {
    let fixture = many_nodes();
    for (query, root) in
        [("permissions", "User"), ("comments", "Projects"), ("google calendar", "Servers"), ("auth", "User")]
    {
        let listed = fixture.say(Surface::Ontology, "list", json!({"path": [], "query": query}));
        let nodes: Vec<&str> =
            listed["nodes"].as_array().unwrap().iter().filter_map(|node| node["name"].as_str()).collect();
        assert_eq!(nodes.first(), Some(&root), "{query}: {nodes:?}");
        assert!(nodes.iter().enumerate().all(|(at, node)| !nodes[..at].contains(node)), "{nodes:?}");
    }
}

#[test]
fn a_path_of_words_leads_to_the_nodes_that_have_them() {
    let fixture = many_nodes();
    let at = |path: Value| {
        let listed = fixture.say(Surface::Ontology, "list", json!({"path": path}));
        match listed["error"]["hints"].as_array() {
            Some(hints) => {
                let next = &listed["error"]["next_action"]["arguments"]["path"];
                format!("? {} -> {next}", hints.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
            }
            None => listed["path"].to_string(),
        }
    };
    let asked = [
        json!(["intranet sites"]),
        json!(["phone"]),
        json!(["shared excel sheets"]),
        json!(["Office", "meeting invitations"]),
        json!(["Storage", "calendar events"]),
        json!(["Servers", "google"]),
    ];
    assert_snapshot!(asked.map(at).join("\n"), @r#"
    ["Projects","Intranet"]
    ["Devices","Phones"]
    ? Office/Spreadsheets -> ["Office","Spreadsheets"]
    ? Office/Calendar -> ["Office","Calendar"]
    ? Office/Calendar, Servers/google-calendar -> ["Office","Calendar"]
    ? Servers/google-calendar -> ["Servers","google-calendar"]
    "#);
    let nowhere = fixture.say(Surface::Ontology, "list", json!({"path": ["zqxv wvut"]}));
    assert!(nowhere["error"]["hints"].as_array().unwrap().len() > 5, "all the roots where nothing is near: {nowhere}");
}

#[test]
fn no_match_in_category_suggests_categories() {
    let none = say("search_tool_by_category", json!({"query": "thermostat", "category_path": ["Servers", "file"]}));
    assert_eq!(none["error"]["code"], "NO_MATCH_IN_CATEGORY");
    let hints = none["error"]["hints"].as_array().unwrap();
    assert!(hints.contains(&json!("Servers/home")), "{none}");
    assert_eq!(none["error"]["next_action"], json!({"tool": "search_nodes", "arguments": {"query": "thermostat"}}));
}

#[test]
fn unknown_path_suggests_the_closest() {
    let unknown = say("list", json!({"path": ["Servers", "storge"]}));
    assert_eq!(unknown["error"]["code"], "UNKNOWN_PATH");
    assert_eq!(unknown["error"]["hints"], json!(["Servers/storage"]));
    assert_eq!(unknown["error"]["next_action"], json!({"tool": "list", "arguments": {"path": ["Servers", "storage"]}}));
}

#[test]
fn tool_not_found_names_the_nearest() {
    for (name, key) in [("expand_tool", "tool_id"), ("call_tool", "tool_id")] {
        let missing = say(name, json!({key: "refactor.rename_symbl"}));
        assert_eq!(missing["error"]["code"], "TOOL_NOT_FOUND");
        assert_eq!(missing["error"]["hints"][0], "refactor.rename_symbol");
        assert_eq!(missing["error"]["next_action"]["tool"], "search_nodes");
    }
}
