//! What every surface owes a client: definitions as they came, refusals as results.

use insta::assert_snapshot;
use serde_json::json;
use toolfold_core::{Code, Refusal, Surface};
use toolfold_disclosure::{Action, instructions, refusal_result, route, tokens, tools};
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
    assert!(matches!(call("find_tools"), Action::Refuse(refusal) if refusal.code == Code::ToolNotFound));
}

#[test]
fn a_refusal_is_a_result_that_says_so() {
    let refusal = Refusal::new(Code::ServerTimeout, "It took too long.").hint("try again").cause("secret path");
    assert_snapshot!(refusal_result(&refusal).get(), @r#"{"content":[{"type":"text","text":"{\"error\":{\"code\":\"SERVER_TIMEOUT\",\"message\":\"It took too long.\",\"hints\":[\"try again\"]}}"}],"structuredContent":{"error":{"code":"SERVER_TIMEOUT","message":"It took too long.","hints":["try again"]}},"isError":true}"#);
}
