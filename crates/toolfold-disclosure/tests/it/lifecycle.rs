//! `lifecycle`: find, describe, load, see what is active; on thirty tools of one project.

use serde_json::{Value, json};
use toolfold_core::Surface;
use toolfold_disclosure::{Action, View, active, loaded, route, tokens, tools};
use toolfold_wire::raw;

use crate::catalogs::project;
use crate::fixture::{Fixture, text};

fn fixture() -> Fixture {
    Fixture::of([project()])
}

fn find(fixture: &Fixture, query: &str, limit: usize) -> Vec<String> {
    let found = fixture.say(Surface::Lifecycle, "tool_find", json!({"query": query, "limit": limit}));
    found.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn tool_find_ranks_and_says_what_is_active() {
    let mut fixture = fixture();
    fixture.pins = vec![fixture.catalog.resolve("spec_validate").unwrap()];
    let found = fixture.say(Surface::Lifecycle, "tool_find", json!({"query": "validate spec", "limit": 3}));
    assert_eq!(found.as_array().unwrap().len(), 3);
    assert_eq!(found[0]["name"], "spec_validate");
    assert_eq!(found[0]["description"], "Validate OpenSpec files");
    assert_eq!((&found[0]["active"], &found[1]["active"]), (&json!(true), &json!(false)));
    let scores: Vec<f64> = found.as_array().unwrap().iter().map(|tool| tool["score"].as_f64().unwrap()).collect();
    assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)), "{scores:?}");
    assert_eq!(fixture.say(Surface::Lifecycle, "tool_find", json!({"query": "zxqwv"})), json!([]));
}

#[test]
fn tool_describe_gives_description_and_schema() {
    let described = fixture().say(Surface::Lifecycle, "tool_describe", json!({"name": "spec_validate"}));
    assert_eq!(
        described.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["name", "description", "inputSchema", "active"]
    );
    assert_eq!(described["inputSchema"]["properties"]["type"]["enum"], json!(["spec", "change", "all"]));
    assert_eq!(described["active"], false);
    let missing = fixture().say(Surface::Lifecycle, "tool_describe", json!({"name": "spec_valdate"}));
    assert_eq!(missing["error"]["hints"][0], "project.spec_validate");
    assert_eq!(missing["error"]["next_action"]["tool"], "tool_find");
}

#[test]
fn tool_load_is_all_or_nothing() {
    let fixture = fixture();
    let load =
        |names: Value| route(Surface::Lifecycle, &fixture.view(), "tool_load", Some(&raw(&json!({"names": names}))));
    let Action::Load(loading) = load(json!(["registry_next", "registry_update", "registry_next"])) else {
        panic!("not a load")
    };
    assert_eq!(loading.tools.len(), 2, "each once");
    let refused =
        fixture.say(Surface::Lifecycle, "tool_load", json!({"names": ["registry_next", "nope", "registry_upd"]}));
    assert_eq!(refused["error"]["code"], "TOOL_NOT_FOUND");
    assert_eq!(refused["error"]["details"]["unknown"], json!(["nope", "registry_upd"]));
    assert!(refused["error"]["message"].as_str().unwrap().starts_with("Nothing was loaded"));
    assert!(refused["error"]["hints"].as_array().unwrap().contains(&json!("project.registry_update")));
    for empty in [json!([]), json!(null), json!(vec!["registry_next"; 200])] {
        assert!(matches!(load(empty), Action::Refuse(_)));
    }
}

#[test]
fn what_is_loaded_is_listed_in_that_order() {
    let fixture = fixture();
    let position = |name: &str| fixture.catalog.resolve(name).unwrap();
    let both = [position("workflow_status"), position("spec_init")];
    let view = fixture.view().having_loaded(&both);
    let list = tools(Surface::Lifecycle, &view);
    let names: Vec<Value> =
        list.iter().map(|raw| serde_json::from_str::<Value>(raw.get()).unwrap()["name"].clone()).collect();
    assert_eq!(names, ["tool_find", "tool_describe", "tool_load", "tool_active", "workflow_status", "spec_init"]);
    assert!(list[..4].iter().all(|definition| !definition.get().contains("toolset")), "sessions need no handles");
    let shown: Value = serde_json::from_str(&text(&active(&view))).unwrap();
    assert_eq!(shown.as_array().unwrap().len(), 6);
    assert_eq!(
        shown[4],
        json!({"name": "workflow_status", "description": "Check the status and wait points of a workflow"})
    );
    let result: Value = serde_json::from_str(active(&view).get()).unwrap();
    assert!(result["content"][1]["text"].as_str().unwrap().starts_with("Total active: 6 tools (~"));
    // Without a session the list stays as it is, and there is another way to call what was loaded.
    let stateless = fixture.view().in_session(false);
    assert!(tools(Surface::Lifecycle, &stateless)[4].get().starts_with(r#"{"name":"call_tool""#));
}

#[test]
fn a_load_answers_with_names_or_with_definitions_and_a_handle() {
    let fixture = fixture();
    let both = [fixture.catalog.resolve("spec_init").unwrap(), fixture.catalog.resolve("spec_list").unwrap()];
    let Action::Load(load) =
        route(Surface::Lifecycle, &fixture.view(), "tool_load", Some(&raw(&json!({"names": "spec_list"}))))
    else {
        panic!("not a load")
    };
    let said = |raw: &toolfold_wire::Raw| serde_json::from_str::<Value>(&text(raw)).unwrap();
    let view = fixture.view().having_loaded(&both);
    assert_eq!(
        said(&loaded(&view, &load, None)),
        json!({"loaded": ["spec_list"], "active": ["spec_init", "spec_list"]})
    );
    let handed = said(&loaded(&fixture.view(), &load, Some("abc")));
    assert_eq!((&handed["loaded"], &handed["toolset"]), (&json!(["spec_list"]), &json!("abc")));
    assert_eq!(handed["tools"][0]["name"], "spec_list");
    assert!(handed["tools"][0]["inputSchema"].is_object());
}

#[test]
fn token_reduction_for_simple_tasks() {
    let fixture = fixture();
    let cost = |surface: Surface, view: &View<'_>| -> usize {
        tools(surface, view).iter().map(|raw| tokens::count(raw.get())).sum()
    };
    let all = cost(Surface::Direct, &fixture.view());
    let loaded = [fixture.catalog.resolve("spec_validate").unwrap()];
    let simple = cost(Surface::Lifecycle, &fixture.view().having_loaded(&loaded));
    assert!(simple < 500 && simple * 2 < all, "{simple} of {all}");
}

#[test]
fn search_index_accuracy_above_80_percent_for_common_queries() {
    let queries: [(&str, &[&str]); 25] = [
        ("spec management", &["spec_init", "spec_create", "spec_update", "spec_list", "spec_show"]),
        ("validate spec", &["spec_validate"]),
        ("validate", &["spec_validate"]),
        ("initialize spec", &["spec_init"]),
        ("list changes", &["spec_list"]),
        ("show spec content", &["spec_show"]),
        ("archive change", &["spec_archive"]),
        ("delete spec", &["spec_delete"]),
        ("next task registry", &["registry_next"]),
        ("what task should I work on next", &["registry_next"]),
        ("task dependencies priority", &["registry_deps", "registry_update", "registry_list"]),
        ("update task status", &["registry_update"]),
        ("sync tasks", &["registry_sync"]),
        ("workflow start approve", &["workflow_start", "workflow_approve"]),
        ("workflow status", &["workflow_status"]),
        ("approve wait point", &["workflow_approve"]),
        ("autonomous loop self-correction", &["loop_start"]),
        ("cancel loop", &["loop_cancel"]),
        ("loop state", &["loop_get"]),
        ("generate code scaffold", &["generate", "generate_component", "generate_from_spec"]),
        ("generate from spec", &["generate_from_spec"]),
        ("component code with tests", &["generate_component"]),
        ("execute task with agent", &["agent_execute"]),
        ("running agent progress", &["agent_status"]),
        ("token usage cost", &["metrics_show"]),
    ];
    let fixture = fixture();
    let (mut top_three, mut first) = (0, 0);
    for (query, wanted) in queries {
        let found = find(&fixture, query, 3);
        let hit = found.iter().any(|name| wanted.contains(&name.as_str()));
        top_three += usize::from(hit);
        first += usize::from(found.first().is_some_and(|name| wanted.contains(&name.as_str())));
        assert!(hit, "{query}: {found:?}");
    }
    println!("top 3: {top_three} of 25, first: {first} of 25");
    assert!(first >= 22, "{first} of 25");
}
