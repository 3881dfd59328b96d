//! What every surface owes a client: definitions as they came, refusals as results.

use insta::assert_snapshot;
use serde_json::json;
use toolfold_core::{Code, Refusal, Surface};
use toolfold_disclosure::{
    Action, answer, instructions, is_reserved, refusal_result, reserved_names, route, tokens, tools,
};
use toolfold_wire::raw;

use crate::fixture::Fixture;

#[test]
fn direct_lists_every_tool_as_it_came_but_for_the_name() {
    let fixture = Fixture::new();
    let list: Vec<String> =
        tools(Surface::Direct, &fixture.view()).iter().map(|raw| raw.get().chars().take(72).collect()).collect();
    assert_snapshot!(list.join("\n"), @r#"
    {"name":"github__create_issue","description":"Create a new issue in a Gi
    {"name":"github__list_issues","description":"List issues in a repository
    {"name":"github__merge_pull_request","description":"Merge a pull request
    {"name":"notes__call_tool","description":"Calls whoever wrote the note."
    { "name" : "search",  "description": "Search notes by text", "inputSchem
    {"name":"slack__post_message","description":"This tool posts a message t
    {"name":"slack__list_channels","inputSchema":{"type":"object"},"annotati
    "#);
    let untouched = tools(Surface::Direct, &fixture.view())[4].get().to_owned();
    assert_eq!(untouched, fixture.entry("notes.search").definition.get());
    assert!(tokens::count(&instructions(Surface::Direct, &[])) <= 120);
}

#[test]
fn direct_calls_tools_and_nothing_else() {
    let fixture = Fixture::new();
    let call = |name: &str| route(Surface::Direct, &fixture.view(), name, Some(&raw(&json!({}))));
    assert!(matches!(call("github__create_issue"), Action::Call { .. }));
    assert!(matches!(call("search"), Action::Call { .. }));
    assert!(matches!(call("notes__call_tool"), Action::Call { .. }));
    let refused = answer(Surface::Direct, &fixture.view(), &call("find_tools")).unwrap_err();
    assert_eq!(refused.code, Code::ToolNotFound);
}

#[test]
fn a_refusal_is_a_result_that_says_so() {
    let refusal = Refusal::new(Code::ServerTimeout, "It took too long.").hint("try again").cause("secret path");
    assert_snapshot!(refusal_result(&refusal).get(), @r#"{"content":[{"type":"text","text":"{\"error\":{\"code\":\"SERVER_TIMEOUT\",\"message\":\"It took too long.\",\"hints\":[\"try again\"]}}"}],"structuredContent":{"error":{"code":"SERVER_TIMEOUT","message":"It took too long.","hints":["try again"]}},"isError":true}"#);
}

#[test]
fn every_surface_has_short_stable_rules_and_definitions() {
    let fixture = Fixture::new();
    for surface in Surface::ALL {
        let names: Vec<String> = (0..40).map(|i| format!("server{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = instructions(surface, &names);
        assert!(tokens::count(&text) <= 120, "{surface}: {} tokens", tokens::count(&text));
        assert!(surface == Surface::Direct || text.contains("Do not assume"), "{surface}");
        let list: Vec<String> = tools(surface, &fixture.view()).iter().map(|raw| raw.get().to_owned()).collect();
        assert_eq!(list, tools(surface, &fixture.view()).iter().map(|raw| raw.get().to_owned()).collect::<Vec<_>>());
        if surface == Surface::Direct {
            continue;
        }
        println!(
            "{surface}: {} tokens, rules {}",
            tokens::count(&list.concat()),
            tokens::count(&instructions(surface, &[]))
        );
        for definition in &list {
            let parsed: serde_json::Value = serde_json::from_str(definition).unwrap();
            assert_eq!(parsed.to_string(), *definition, "no byte is wasted");
            assert_eq!(parsed["_meta"]["anthropic/alwaysLoad"], true);
            let name = parsed["name"].as_str().unwrap();
            assert!(is_reserved(name), "{name} is reserved");
        }
    }
}

#[test]
fn meta_tools_take_anything_without_falling_over() {
    let fixture = Fixture::new();
    let odd = [
        json!({}),
        json!({"query": 7, "limit": "x", "cursor": [], "path": {}, "tags": 1}),
        json!({"query": "x".repeat(10_000), "limit": 1e300, "path": ["a/b", "c"], "category_path": [1]}),
        json!({"name": {}, "names": [1], "tool": [], "toolNames": "one", "mode": 3, "detail": 1, "offset": -5}),
    ];
    for surface in Surface::ALL {
        for name in reserved_names() {
            for arguments in &odd {
                let action = route(surface, &fixture.view(), name, Some(&raw(arguments)));
                if let Err(refusal) = answer(surface, &fixture.view(), &action) {
                    let next = refusal.next_action.map(|next| next.tool);
                    let has_it = matches!(surface, Surface::Compact | Surface::Code);
                    assert!(has_it || next.as_deref() != Some("find_tools"), "{surface} {name}");
                }
            }
        }
    }
}
