//! How much an answer says: as many hits as it takes, one line for what several servers do, and large schemas in parts.

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolfold_core::{ServerName, Surface};
use toolfold_disclosure::{answer, level, route, tokens, tools};
use toolfold_wire::raw;

use crate::fixture::{Fixture, source, text, tool};

fn navigate(name: &str, description: &str) -> Value {
    tool(name, description, json!({"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}))
}

fn issue(service: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]});
    tool("create_issue", &format!("Create a new issue in a {service} project"), schema)
}

fn browsers() -> Fixture {
    let broken = tool("browser_navigate", "Navigate to a URL", json!({"type": "object"}));
    Fixture::of([
        source("alpha", &[broken]),
        source("beta", &[navigate("browser_navigate", "Navigates to a URL")]),
        source("gamma", &[navigate("gamma_navigate", "Navigate to a URL")]),
        source("github", &[issue("GitHub")]),
        source("gitlab", &[issue("GitLab")]),
        source("gitlab-two", &[issue("GitLab")]),
    ])
}

#[test]
fn what_several_servers_do_is_one_line() {
    let fixture = browsers();
    let first = |query: &str| fixture.find(json!({"query": query})).lines().next().unwrap().to_owned();
    assert_snapshot!(first("browser navigate to url"), @"beta.browser_navigate(url: string) — Navigates to a URL (also in alpha, gamma.gamma_navigate)");
    assert_snapshot!(first("gitlab create issue"), @"gitlab.create_issue(title: string) — Create a new issue in a GitLab project (also in gitlab-two)");
    let gitlab = fixture.find(json!({"query": "gitlab create issue"}));
    assert!(!gitlab.contains(", github)"), "another service is not the same: {gitlab}");
    let apart = fixture.find(json!({"query": "gitlab create issue", "limit": 10}));
    assert!(!apart.contains("also in"), "who asks for a number of hits gets them one by one: {apart}");
}

#[test]
fn one_word_for_two_things_is_two_lines() {
    let by = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    let tables = |verb: &str| {
        tool(&format!("{verb}_table"), &format!("{verb} a table of a database schema with SQL"), by("table"))
    };
    let commits =
        |verb: &str| tool(&format!("{verb}_commit"), &format!("{verb} a commit of a git repository"), by("commit"));
    let fixture = Fixture::of([
        source(
            "rows",
            &[
                tool("delete_branch", "Deletes a development branch", by("branch_id")),
                tables("create"),
                tables("list"),
                tables("drop"),
            ],
        ),
        source(
            "code",
            &[
                tool("delete_branch", "Delete branch from project", by("branch")),
                commits("create"),
                commits("list"),
                commits("revert"),
            ],
        ),
    ]);
    let answer = fixture.find(json!({"query": "delete a branch"}));
    assert!(!answer.contains("also in"), "{answer}");
    assert!(answer.contains("rows.delete_branch") && answer.contains("code.delete_branch"), "{answer}");
}

#[test]
fn a_preferred_server_comes_first_among_equals() {
    let fixture = browsers();
    let preferred = [ServerName::new("gamma").unwrap(), ServerName::new("alpha").unwrap()];
    let view = fixture.view().preferring(&preferred);
    let ask = |query: &str| {
        let action = route(Surface::Compact, &view, "find_tools", Some(&raw(&json!({"query": query}))));
        text(&answer(Surface::Compact, &view, &action).unwrap())
    };
    let first = ask("navigate to url");
    assert!(first.starts_with("gamma.gamma_navigate(url: string)"), "{first}");
    assert!(ask("gitlab create issue").starts_with("gitlab"), "it is no reason to answer with something else");
}

fn logs() -> Fixture {
    let by = |names: &[&str]| {
        let text = json!({"type": "string"});
        let members: serde_json::Map<String, Value> =
            names.iter().map(|name| (name.to_string(), text.clone())).collect();
        json!({"type": "object", "properties": members, "required": names})
    };
    let said = "Get the logs of a pod in a cluster";
    Fixture::of([
        source("clouds", &[tool("get_pod_logs", said, by(&["cluster_name", "namespace", "pod_name"]))]),
        source("kube", &[tool("pod_logs_get", said, by(&["name"]))]),
        source("kube-two", &[tool("get_pod_logs", said, by(&["pod_name"]))]),
    ])
}

#[test]
fn what_one_needs_the_other_must_take() {
    let answer = logs().find(json!({"query": "get pod logs"}));
    assert!(!answer.contains("also in clouds") && answer.contains("clouds.get_pod_logs(cluster_name"), "{answer}");
    assert!(
        answer.contains("(also in kube")
            && answer.matches("pod_name: string").count() + answer.matches("(name: string").count() == 2,
        "{answer}"
    );
}

#[test]
fn a_preferred_server_leads_what_is_like_it_whatever_the_others_need() {
    let fixture = logs();
    let preferred = [ServerName::new("kube").unwrap()];
    let view = fixture.view().preferring(&preferred);
    let ask = |query: &str| {
        let action = route(Surface::Compact, &view, "find_tools", Some(&raw(&json!({"query": query}))));
        text(&answer(Surface::Compact, &view, &action).unwrap())
    };
    assert!(ask("get pod logs").starts_with("kube.pod_logs_get(name: string)"), "{}", ask("get pod logs"));
    assert!(ask("clouds get pod logs").starts_with("clouds."), "another one was named: {}", ask("clouds get pod logs"));
}

#[test]
fn a_request_in_another_language_is_asked_for_in_english() {
    let answer = browsers().find(json!({"query": "スクリーンショットを撮る"}));
    assert_snapshot!(answer, @r#"No tool here fits "スクリーンショットを撮る": ask in English."#);
}

#[test]
fn one_unknown_parameter_is_no_reason_to_keep_the_others() {
    let schema = json!({"type": "object", "properties": {
        "title": {"type": "string", "description": "What it is called"}, "labels": {"type": "array"}}});
    let fixture = Fixture::of([source("s", &[tool("make_list", "Make a list.", schema)])]);
    let said = fixture.find(json!({"tool": "make_list", "parameter": ["title", "label"]}));
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["schema"], json!({"type": "string"}), "what is said beside it is not said again: {said}");
    assert!(lines[1].to_string().contains("labels"), "{said}");
    assert!(fixture.find(json!({"tool": "make_list", "parameter": ["label"]})).contains("labels"));
}

#[test]
fn many_tools_at_once_and_the_names_of_the_rest_keep_the_budget() {
    let tools: Vec<Value> = (0..20)
        .map(|number| {
            navigate(&format!("make_things_of_kind_{number}"), "Make things of that kind, and put them down.")
        })
        .collect();
    let fixture = Fixture::of([source("s", &tools)]);
    let names: Vec<String> = (0..20).map(|number| format!("s.make_things_of_kind_{number}")).collect();
    let said = fixture.find(json!({"tool": names}));
    assert!(said.contains("left_out") && tokens::count(&said) <= 700, "{} tokens: {said}", tokens::count(&said));
}

#[test]
fn what_only_comes_back_is_not_asked_for() {
    let body = json!({"type": "object", "properties": {
        "id": {"type": "string", "description": "The number of it. Read-only."},
        "comment": {"type": "string"},
        "start": {"type": "object", "properties": {"dateTime": {"type": "string"}}},
    }});
    let schema = json!({"type": "object", "properties": {"body": body}, "required": ["body"]});
    let fixture = Fixture::of([source("s", &[tool("create_event", "Create an event.", schema)])]);
    let shown = level::signature(fixture.entry("create_event")).text;
    assert_snapshot!(shown, @"body: {start?: {dateTime?: string}, comment?: string, …}");
}

#[test]
fn usage_follows_the_example_that_a_tool_gives() {
    let body = json!({"type": "object", "properties": {"fields": {"type": "object"}}});
    let schema = json!({"type": "object", "properties": {"body": body}, "required": ["body"]});
    let told = "Update it. Body: { Fields: { Title: 'new value', ... } }.";
    let other = "Update it. Body: { nothing: { Title: 'new value' } }.";
    let tools = [tool("update_item", told, schema.clone()), tool("update_other", other, schema)];
    let fixture = Fixture::of([source("s", &tools)]);
    let usage = |name: &str| level::usage(fixture.entry(name));
    assert_snapshot!(usage("update_item"), @r#"s.update_item(body={"fields":{"Title":"new value"}})"#);
    assert_snapshot!(usage("update_other"), @r#"s.update_other(body={"fields":{}})"#);
}

#[test]
fn usage_takes_values_that_only_prose_tells() {
    let said = |text: &str| json!({"type": "string", "description": text});
    let own = json!({"type": "object", "properties": {
        "action": said("What to do - \"list\", \"create\", or \"delete\"."),
        "address": {"type": "object", "properties": {"family": said("One of: v4, v6.")}, "required": ["family"]},
        "colour": {"type": "string", "description": "One of: crimson, vermilion.", "maxLength": 3},
    }, "required": ["action", "address", "colour"]});
    let told = "Manage entries.\n\nArgs:\n    action: What to do (\"add\", \"remove\")\n    place: Where";
    let bare = json!({"type": "object", "properties": {"action": {"type": "string"}, "place": {"type": "string"}},
        "required": ["action", "place"]});
    let tools = [tool("manage_hosts", "Manage hosts.", own), tool("remove_entries", told, bare)];
    let fixture = Fixture::of([source("s", &tools)]);
    let usage = |name: &str| level::usage(fixture.entry(name));
    assert_snapshot!(usage("manage_hosts"), @r#"s.manage_hosts(action='create', address={"family":"v4"}, colour='…')"#);
    assert_snapshot!(usage("remove_entries"), @"s.remove_entries(action='remove', place='…')");
}

#[test]
fn what_prose_says_is_required_is_in_signature_and_usage() {
    let body = json!({"type": "object", "properties": {
        "certificate": {"type": "string", "description": "Optional. Only for what is encrypted."},
        "change": {"type": "string", "description": "Required. What is watched for."},
        "target": {"type": "string", "description": "Required. Where it is sent."},
    }});
    let schema = json!({"type": "object", "properties": {"body": body}, "required": ["body"]});
    let told = "Watch something. Required body: { change (what), target (https) }. The caller must have a right to it.";
    let fixture = Fixture::of([source("s", &[tool("create_watch", told, schema)])]);
    let entry = fixture.entry("create_watch");
    assert_snapshot!(level::signature(entry).text, @"body: {change?: string, target?: string, certificate?: string}");
    assert_snapshot!(level::usage(entry), @r#"s.create_watch(body={"change":"…","target":"…"})"#);
}

#[test]
fn a_clear_best_hit_leaves_little_to_read() {
    let named = ["invoice", "customer", "product", "coupon", "refund", "dispute", "payout", "plan", "price", "quote"];
    let schema = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    let all: Vec<Value> = named
        .iter()
        .flat_map(|noun| {
            ["create", "list", "delete"]
                .map(|verb| tool(&format!("{verb}_{noun}"), &format!("{verb} a {noun} of the shop"), schema.clone()))
        })
        .collect();
    let fixture = Fixture::of([source("shop", &all)]);
    let clear = fixture.find(json!({"query": "create_invoice"}));
    assert!(clear.starts_with("shop.create_invoice(id: string)") && clear.lines().count() <= 4, "{clear}");
    let unclear = fixture.find(json!({"query": "something about the shop"}));
    assert!(unclear.lines().count() > clear.lines().count(), "{unclear}");
    assert_eq!(fixture.find(json!({"query": "create_invoice", "limit": 8})).lines().count(), 9, "eight and a cursor");
}

fn large() -> Fixture {
    let member = |n: usize| {
        (format!("member{n}"), json!({"type": "string", "description": "It is one of very many members. ".repeat(4)}))
    };
    let members: serde_json::Map<String, Value> = (0..40).map(member).collect();
    let schema = json!({"type": "object", "properties": {
        "operation": {"type": "string", "description": "What to do"},
        "body": {"type": "object", "properties": members, "required": ["member7"]},
        "note": {"type": "string"},
    }, "required": ["operation", "body"]});
    let description = format!(
        "Works on records.\n\n{}\n\nOperations:\n- openRecord: opens one\n  Required: body.member7\n- closeRecord: closes one",
        "It is a long story. ".repeat(200)
    );
    Fixture::of([source("s", &[tool("records", &description, schema)])])
}

#[test]
fn the_whole_of_a_large_tool_keeps_the_budget_and_says_what_is_missing() {
    let fixture = large();
    let full = fixture.find(json!({"tool": "records", "detail": "full"}));
    assert!(tokens::count(&full) <= 700, "{}: {full}", tokens::count(&full));
    let full: Value = serde_json::from_str(&full).unwrap();
    assert_eq!(full["shortened"], json!(["body"]));
    assert_eq!(full["parameters"]["operation"]["schema"]["type"], "string");
    assert!(full["note"].as_str().unwrap().contains("parameter"), "{full}");
    let small = Fixture::new().find(json!({"tool": "slack.post_message", "detail": "full"}));
    assert!(small.contains("\"input_schema\"") && !small.contains("\"note\""), "{small}");
}

#[test]
fn a_tool_of_very_many_parameters_keeps_the_budget() {
    let member = |n: usize| {
        [
            (format!("Parameter{n}.Name"), json!({"type": "string"})),
            (format!("Parameter{n}.Value"), json!({"type": "string"})),
        ]
    };
    let mut members: serde_json::Map<String, Value> = (0..99).flat_map(member).collect();
    members.insert("CallSid".to_owned(), json!({"type": "string", "description": "Of the call. ".repeat(30)}));
    let schema = json!({"type": "object", "properties": members, "required": ["CallSid"]});
    let fixture = Fixture::of([source("s", &[tool("start_stream", "Starts a stream of a call.", schema)])]);
    let details = fixture.find(json!({"tool": "start_stream"}));
    assert!(tokens::count(&details) <= 500 && details.contains("… and 139 more"), "{details}");
    let full = fixture.find(json!({"tool": "start_stream", "detail": "full"}));
    assert!(tokens::count(&full) <= 700, "{}: {full}", tokens::count(&full));
    assert!(full.contains("\"CallSid\"") && full.contains(" more\""), "{full}");
}

#[test]
fn several_parameters_and_one_operation_can_be_asked_for() {
    let fixture = large();
    let parts = fixture.find(json!({"tool": "records", "parameter": ["operation", "body.member7", "openRecord"]}));
    let parts: Vec<Value> = parts.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&parts[0]["parameter"], &parts[1]["parameter"]), (&json!("operation"), &json!("body.member7")));
    assert_eq!(parts[2]["said"], "- openRecord: opens one\n  Required: body.member7");
    let body = fixture.find(json!({"tool": "records", "parameter": "body"}));
    assert!(tokens::count(&body) <= 700 && body.contains("\"member7\""), "{body}");
    assert!(fixture.find(json!({"tool": "records", "parameter": "operatoin"})).contains("INVALID_REQUEST"));
}

#[test]
fn what_a_parameter_refers_to_stands_in_its_place() {
    let node =
        json!({"type": "object", "properties": {"label": {"type": "string"}, "child": {"$ref": "#/$defs/Node"}}});
    let column = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let items = json!({"$ref": "#/$defs/Column", "description": "One of them"});
    let schema = json!({"type": "object", "$defs": {"Column": column, "Node": node}, "properties": {
        "columns": {"type": "array", "items": items}, "tree": {"$ref": "#/$defs/Node", "description": "All of it"}}});
    let fixture = Fixture::of([source("s", &[tool("make_list", "Make a list.", schema)])]);
    let part = |path: &str| -> Value {
        serde_json::from_str(&fixture.find(json!({"tool": "make_list", "parameter": path}))).unwrap()
    };
    let mut column = column;
    column["description"] = json!("One of them");
    assert_eq!(part("columns")["schema"]["items"], column);
    let tree = part("tree");
    assert_eq!(tree["description"], "All of it");
    assert_eq!(tree["members"]["label"]["schema"], json!({"type": "string"}), "{tree}");
    assert_eq!(tree["shortened"], json!(["child"]), "what has no end is read in parts");
}

#[test]
fn discovery_changes_nothing_and_says_so() {
    for surface in Surface::ALL.into_iter().filter(|surface| *surface != Surface::Direct) {
        for meta in tools(surface, &Fixture::of([]).view()) {
            let meta: Value = serde_json::from_str(meta.get()).unwrap();
            let name = meta["name"].as_str().unwrap();
            let calls = ["call_tool", "use_tool", "run_code"].iter().any(|caller| name.contains(caller));
            assert_eq!(meta["annotations"]["readOnlyHint"] == true, !calls, "{name}");
        }
    }
}

#[test]
fn usage_shows_what_a_call_is_for() {
    let schema = json!({"type": "object", "properties": {
        "operation": {"type": "string", "enum": ["list", "create", "delete"]},
        "verbose": {"type": "boolean"},
        "body": {"type": "string"},
        "maxPrice": {"type": "number", "description": "Reserved"},
    }, "required": ["operation"]});
    let fixture = Fixture::of([source("s", &[tool("manage_posts", "Manage posts.", schema)])]);
    let details = fixture.find(json!({"tool": "manage_posts"}));
    assert!(details.contains("s.manage_posts(operation='create', body='…')"), "{details}");
    assert!(details.contains(r#"["operation","body?","verbose?","maxPrice?"]"#), "{details}");
}

#[test]
fn usage_has_something_in_an_object_that_could_be_empty() {
    let message = json!({"type": "object", "properties": {
        "id": {"type": "string"}, "createdDateTime": {"type": "string"},
        "body": {"type": "object", "properties": {"contentType": {"type": "string"}, "content": {"type": "string"}}},
    }});
    let schema = json!({"type": "object", "properties": {"message": message}, "required": ["message"]});
    let tools = [tool("send_message", "Send it.", schema.clone()), tool("list_messages", "List them.", schema)];
    let fixture = Fixture::of([source("s", &tools)]);
    let usage = |name: &str| level::usage(fixture.entry(name));
    assert_snapshot!(usage("send_message"), @r#"s.send_message(message={"body":{"content":"…","contentType":"…"}})"#);
    assert_snapshot!(usage("list_messages"), @"s.list_messages(message={})");
}

#[test]
fn a_summary_says_what_is_done_and_has_no_marks() {
    let nothing = json!({"type": "object"});
    let said = "All items of the drive. Read-only.\n\nTIP: Gets the metadata of an item: name and size.";
    let linked = "Creates a page in the [format of pages](https://example.com/pages).";
    let fixture =
        Fixture::of([source("s", &[tool("get-item", said, nothing.clone()), tool("make_page", linked, nothing)])]);
    let summary = |place: usize| level::summary(fixture.catalog.entry(place));
    assert_snapshot!(summary(0), @"Gets the metadata of an item: name and size");
    assert_snapshot!(summary(1), @"Creates a page in the format of pages");
}

#[test]
fn a_monstrous_definition_is_described_within_the_budget() {
    let name = "n".repeat(100_000);
    let values: Vec<String> = (0..100_000).map(|number| format!("value {number}")).collect();
    let schema = json!({"type": "object", "required": [name, "kind"], "properties": {
        name: {"type": "string"}, "kind": {"enum": values}}});
    let monster = tool("monster", &"Words without end. ".repeat(100_000), schema);
    let fixture = Fixture::of([source("x", &[monster])]);
    for detail in ["name", "summary", "signature", "details", "full"] {
        let said = fixture.find(json!({"tool": "x.monster", "detail": detail}));
        assert!(said.len() < 40_000, "{detail}: {} bytes", said.len());
    }
}
