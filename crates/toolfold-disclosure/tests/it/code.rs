//! `code`: what a model is shown, and what it asks for with it.

use serde_json::{Value, json};
use toolfold_core::Surface;
use toolfold_disclosure::{Action, answer, describing, finding, route, tokens, tools, written_as};
use toolfold_wire::raw;

use crate::fixture::{Fixture, source, tool};

fn fixture() -> Fixture {
    let schema = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    Fixture::of([source(
        "my-server",
        &[
            tool("get-it", "Gets it.", schema.clone()),
            tool("get.it", "Gets it too.", schema.clone()),
            tool("Put_It", "Puts it.", schema),
        ],
    )])
}

#[test]
fn the_list_is_short_and_says_what_a_program_finds() {
    let fixture = fixture();
    let listed = tools(Surface::Code, &fixture.view());
    let whole: Vec<&str> = listed.iter().map(|raw| raw.get()).collect();
    let cost = tokens::count(&format!("[{}]", whole.join(",")));
    assert!(cost <= 350, "{cost} tokens");
    for word in ["tools.", "call(", "find(", "describe(", "print(", "show(", "result(", "input"] {
        assert!(whole[1].contains(word), "{word}");
    }
}

#[test]
fn a_program_is_run_and_one_that_is_missing_is_asked_for() {
    let fixture = fixture();
    let ask = |arguments: Value| route(Surface::Code, &fixture.view(), "run_code", Some(&raw(&arguments)));
    let Action::Run { code, input } = ask(json!({"code": "return 1", "input": {"a": 1}})) else { panic!("not run") };
    assert_eq!((code.as_str(), input.unwrap().get()), ("return 1", "{\"a\":1}"));
    assert!(matches!(ask(json!({"script": "return 1"})), Action::Run { .. }));
    for wrong in [json!({}), json!({"code": ""}), json!({"code": {}}), json!({"code": ["a", "b"]})] {
        let Action::Refuse(refusal) = ask(wrong) else { panic!("not refused") };
        assert_eq!(refusal.code.as_str(), "INVALID_REQUEST");
    }
    // Nowhere else is it a meta-tool.
    assert!(matches!(route(Surface::Compact, &fixture.view(), "run_code", None), Action::Unknown(_)));
}

#[test]
fn a_program_gets_data() {
    let fixture = fixture();
    let found = answer(Surface::Code, &fixture.view(), &finding("put it".to_owned(), 1)).unwrap();
    let found: Value = serde_json::from_str(found.get()).unwrap();
    let hits: Value = serde_json::from_str(found["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(hits[0]["id"], "my-server.Put_It");
    assert_eq!(hits[0]["line"], "my-server.Put_It(id: string) — Puts it");
    let described = answer(Surface::Code, &fixture.view(), &describing("Put_It".to_owned())).unwrap();
    let described: Value = serde_json::from_str(described.get()).unwrap();
    let whole = &described["structuredContent"];
    assert_eq!((&whole["id"], &whole["inputSchema"]["required"]), (&json!("my-server.Put_It"), &json!(["id"])));
    assert!(answer(Surface::Code, &fixture.view(), &describing("nothing".to_owned())).is_err());
}

#[test]
fn names_of_a_program_are_those_of_tools() {
    let fixture = fixture();
    let view = fixture.view();
    let meant = |name: &str| {
        let known = view.resolve(name).ok().map(|position| view.entry(position).id.to_string());
        known.or_else(|| written_as(&view, name))
    };
    assert_eq!(meant("my_server.put_it").as_deref(), Some("my-server.Put_It"));
    assert_eq!(meant("my-server.get-it").as_deref(), Some("my-server.get-it"));
    // Two could be meant, and then it is neither.
    assert_eq!(written_as(&view, "my_server.get_it"), None);
    assert_eq!(meant("my_server.nothing"), None);
}
