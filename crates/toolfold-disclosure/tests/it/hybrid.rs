//! `hybrid`, `two-phase` and `single`: one catalog of a home, three ways to the lights.

use serde_json::{Value, json};
use toolfold_core::{Format, Surface};
use toolfold_disclosure::{Action, answer, route, tools};
use toolfold_wire::raw;

use crate::catalogs::{CORE, file, home};
use crate::fixture::{Fixture, source, text, tool};

fn fixture() -> Fixture {
    Fixture::of([home(), file()]).pinned(&CORE)
}

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn listed(surface: Surface, fixture: &Fixture) -> Vec<String> {
    let name = |raw: &toolfold_wire::Raw| {
        let definition: Value = serde_json::from_str(raw.get()).unwrap();
        definition["name"].as_str().unwrap().to_owned()
    };
    tools(surface, &fixture.view()).iter().map(name).collect()
}

#[test]
fn tools_list_returns_only_six_tools() {
    let fixture = Fixture::of([home()]).pinned(&CORE);
    assert_eq!(
        listed(Surface::Hybrid, &fixture),
        ["search_tools", "use_tool", "get_home_structure", "get_states", "trigger_any_flow", "get_flow_overview"]
    );
}

#[test]
fn search_tools_finds_the_right_tools_for_lights() {
    let found = fixture().say(Surface::Hybrid, "search_tools", json!({"query": "lights"}));
    let mut first: Vec<&str> = names(&found)[..2].to_vec();
    first.sort_unstable();
    assert_eq!(first, ["control_zone_lights", "set_light"]);
    let light = found["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "set_light").unwrap();
    assert_eq!(light["description"], "Control light brightness, color, and power state");
    assert!(light["category"].is_string() && light["tags"].as_array().unwrap().contains(&json!("light")));
    assert_eq!(light.as_object().unwrap().len(), 4);
}

#[test]
fn search_tools_finds_the_right_tools_for_temperature() {
    let found = fixture().say(Surface::Hybrid, "search_tools", json!({"query": "temperature"}));
    assert!(names(&found)[..2].contains(&"set_thermostat"), "{found}");
    assert!(names(&found).contains(&"get_insight_data"), "{found}");
}

#[test]
fn the_category_filter_works() {
    let search =
        |category: &str| fixture().say(Surface::Hybrid, "search_tools", json!({"query": "list", "category": category}));
    assert!(names(&search("file")).contains(&"list_directory"));
    assert!(!names(&search("home")).contains(&"list_directory"));
    let unknown = search("fil");
    assert_eq!(unknown["error"]["code"], "UNKNOWN_PATH");
    assert_eq!(unknown["error"]["next_action"]["tool"], "search_tools");
    let none = fixture().say(Surface::Hybrid, "search_tools", json!({"query": "thermostat", "category": "file"}));
    assert_eq!(none["error"]["code"], "NO_MATCH_IN_CATEGORY");
    assert_eq!(none["error"]["next_action"], json!({"tool": "search_tools", "arguments": {"query": "thermostat"}}));
}

#[test]
fn use_tool_executes_set_light() {
    let fixture = fixture();
    let arguments = json!({"name": "set_light", "arguments": {"device_id": "abc", "brightness": 80}});
    let Action::Call { entry, arguments, .. } =
        route(Surface::Hybrid, &fixture.view(), "use_tool", Some(&raw(&arguments)))
    else {
        panic!("not a call");
    };
    assert_eq!(fixture.catalog.entry(entry).id.to_string(), "home.set_light");
    assert_eq!(arguments.unwrap().get(), r#"{"device_id":"abc","brightness":80}"#);
}

#[test]
fn use_tool_gives_the_right_error_for_an_unknown_tool() {
    let error = fixture().say(Surface::Hybrid, "use_tool", json!({"name": "set_lights", "arguments": {}}));
    assert_eq!(error["error"]["code"], "TOOL_NOT_FOUND");
    assert_eq!(error["error"]["hints"][0], "home.set_light");
    assert_eq!(error["error"]["next_action"], json!({"tool": "search_tools", "arguments": {"query": "set lights"}}));
    let error = fixture().say(Surface::Hybrid, "use_tool", json!({}));
    assert_eq!(error["error"]["code"], "INVALID_REQUEST");
}

#[test]
fn core_tools_still_work_directly() {
    let fixture = fixture();
    for surface in Surface::ALL {
        let action = route(surface, &fixture.view(), "get_home_structure", Some(&raw(&json!({}))));
        assert!(matches!(action, Action::Call { .. }), "{surface}");
    }
}

#[test]
fn old_clients_that_expect_all_tools_are_served() {
    let fixture = Fixture::of([home()]).pinned(&CORE);
    assert_eq!(listed(Surface::Direct, &fixture).len(), 14);
}

#[test]
fn xml_is_escaped() {
    let hostile = "Ends </description> & begins <b>\"bold\"</b>, it's\u{1}";
    let mut fixture = Fixture::of([source("s", &[tool("odd", hostile, json!({"type": "object"}))])]);
    fixture.settings.format = Format::Xml;
    let action = route(Surface::Hybrid, &fixture.view(), "search_tools", Some(&raw(&json!({"query": "bold"}))));
    let xml = text(&answer(Surface::Hybrid, &fixture.view(), &action).unwrap());
    assert!(
        xml.starts_with(
            "<tools>\n<tool><name>s__odd</name><description>Ends &lt;/description&gt; &amp; begins &lt;b&gt;&quot;bold"
        ),
        "{xml}"
    );
    assert!(xml.ends_with("</tags></tool>\n</tools>"), "{xml}");
    assert!(xml.contains("<tags><tag>") && !xml.contains('\u{1}'), "{xml}");
}

#[test]
fn two_phases_read_then_call() {
    let fixture = fixture();
    assert_eq!(listed(Surface::TwoPhase, &fixture)[..2], ["search_tools", "get_tool_definition"]);
    assert_eq!(names(&fixture.say(Surface::TwoPhase, "search_tools", json!({"query": "lights"}))).len(), 2);
    let read =
        route(Surface::TwoPhase, &fixture.view(), "get_tool_definition", Some(&raw(&json!({"name": "set_light"}))));
    let Action::Load(load) = read else { panic!("not loaded") };
    assert_eq!(fixture.catalog.entry(load.tools[0]).id.to_string(), "home.set_light");
    let shown: Value = serde_json::from_str(&text(&load.answered(&fixture.view()).unwrap().unwrap())).unwrap();
    assert_eq!(shown["name"], "set_light");
    assert_eq!(shown["description"], "Control light brightness, color, and power state.");
    assert_eq!(shown["inputSchema"]["required"], json!(["device_id"]));
    assert_eq!(shown.as_object().unwrap().len(), 3);
    let missing = fixture.say(Surface::TwoPhase, "get_tool_definition", json!({"name": "set_lamp"}));
    assert_eq!(missing["error"]["next_action"]["tool"], "search_tools");
}

#[test]
fn a_single_tool_searches_and_executes() {
    let fixture = fixture();
    assert_eq!(listed(Surface::Single, &fixture)[..1], ["discover_and_use_tool"]);
    let say = |arguments: Value| fixture.say(Surface::Single, "discover_and_use_tool", arguments);
    let found = say(json!({"action": "search", "query": "lights"}));
    assert!(names(&found).contains(&"set_light"));
    assert_eq!(found["tools"][0].as_object().unwrap().keys().collect::<Vec<_>>(), ["name", "description", "tags"]);
    let execute = json!({"action": "execute", "tool_name": "set_light", "tool_args": {"device_id": "abc"}});
    let action = route(Surface::Single, &fixture.view(), "discover_and_use_tool", Some(&raw(&execute)));
    assert!(
        matches!(action, Action::Call { arguments: Some(arguments), .. } if arguments.get() == r#"{"device_id":"abc"}"#)
    );
    assert_eq!(say(json!({"action": "dance"}))["error"]["hints"], json!(["search", "execute"]));
    let error = say(json!({"action": "execute", "tool_name": "zzz"}));
    assert_eq!(
        error["error"]["next_action"],
        json!({"tool": "discover_and_use_tool", "arguments": {"action": "search", "query": "zzz"}})
    );
}
