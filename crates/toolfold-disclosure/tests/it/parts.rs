//! Parameters that alone are asked for: several within one budget, and long ones in part.

use serde_json::{Value, json};
use toolfold_disclosure::tokens;

use crate::fixture::{Fixture, source, tool};

fn told_at_length() -> Fixture {
    let said = |text: &str, times: usize| json!({"type": "string", "description": text.repeat(times)});
    let mut story = said("It is told at length. ", 90);
    story["default"] = json!("once upon a time");
    story["maxLength"] = json!(9000);
    let values: Vec<String> = (0..900).map(|number| format!("value-{number}")).collect();
    let schema = json!({"type": "object", "properties": {
        "to": said("Whom it is for. ", 1),
        "story": story,
        "epic": said("It never ends. ", 2000),
        "kind": {"type": "string", "enum": values, "description": "Of which kind it is"},
    }});
    Fixture::of([source("s", &[tool("tell", "Tell a story.", schema)])])
}

fn asked_for(fixture: &Fixture, parameter: Value) -> Vec<Value> {
    let said = fixture.find(json!({"tool": "tell", "parameter": parameter}));
    assert!(tokens::count(&said) <= 700, "{} tokens: {said}", tokens::count(&said));
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_short_parameters_leave_over_goes_to_the_longer_ones() {
    let fixture = told_at_length();
    let parts = asked_for(&fixture, json!(["story", "to", "nobody"]));
    let whole = "It is told at length. ".repeat(90);
    assert_eq!(parts[0]["description"], whole, "a third of the answer would not do: {parts:?}");
    assert_eq!(
        (&parts[1]["description"], &parts[2]["error"]["code"]),
        (&json!("Whom it is for. "), &json!("INVALID_REQUEST"))
    );
}

#[test]
fn a_parameter_without_members_is_shortened_where_it_is_long() {
    let fixture = told_at_length();
    let both = asked_for(&fixture, json!(["story", "epic"]));
    for (part, name) in both.iter().zip(["story", "epic"]) {
        assert_eq!((&part["members"], &part["type"]), (&Value::Null, &json!("string")), "{part}");
        let note = format!("ask for parameter {name:?} alone for all of its description");
        assert_eq!(part["note"], note);
        assert!(part["description"].as_str().unwrap().ends_with('…'), "{part}");
    }
    assert_eq!((&both[0]["default"], &both[0]["schema"]["maxLength"]), (&json!("once upon a time"), &json!(9000)));
    assert!(asked_for(&fixture, json!("story"))[0]["note"].is_null(), "alone it fits");
    let epic = &asked_for(&fixture, json!("epic"))[0];
    assert_eq!(epic["note"], "without all of its description: that is more than an answer may cost");
    let kind = &asked_for(&fixture, json!("kind"))[0];
    let shown = kind["enum"].as_array().unwrap().len();
    assert!(shown > 20 && kind["enum"][0] == "value-0", "{kind}");
    assert_eq!(kind["note"], format!("without {} more of its enum: that is more than an answer may cost", 900 - shown));
    assert_eq!(kind["description"], "Of which kind it is");
}

#[test]
fn many_parameters_at_once_keep_the_budget_and_name_the_rest() {
    let properties: serde_json::Map<String, Value> = (0..30)
        .map(|number| (format!("field_{number}"), json!({"type": "string", "description": "A field. ".repeat(9)})))
        .collect();
    let names: Vec<String> = properties.keys().cloned().collect();
    let fixture =
        Fixture::of([source("s", &[tool("tell", "Tell it.", json!({"type": "object", "properties": properties}))])]);
    let parts = asked_for(&fixture, json!(names));
    let left_out = parts.last().unwrap()["left_out"].as_array().unwrap().len();
    assert!(left_out > 0 && left_out + parts.len() > 20, "{parts:?}");
}

/// Whatever is asked for beside it, what is there is told, and what is not makes room.
#[test]
fn what_is_not_there_takes_no_room_from_what_is() {
    let fixture = told_at_length();
    let unknown: Vec<String> = (0..30).map(|number| format!("{}-{number}", "nobody-has-this".repeat(9))).collect();
    let with = |name: &str| unknown[..19].iter().cloned().chain([name.to_owned()]).collect::<Vec<_>>();
    let said = fixture.find(json!({"tool": with("s.tell"), "detail": "full"}));
    assert!(tokens::count(&said) <= 1_400, "{} tokens: {said}", tokens::count(&said));
    assert!(said.starts_with("{\"tool\":\"s.tell\"") && said.contains("left_out"), "{said}");
    let said = fixture.find(json!({"tool": "s.tell", "parameter": with("to")}));
    assert!(said.contains("Whom it is for. "), "{said}");
}
