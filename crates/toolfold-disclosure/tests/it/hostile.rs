//! Definitions that are small and mean no end of work: a test that does not end has failed.

use serde_json::{Map, Value, json};
use toolfold_core::Surface;
use toolfold_disclosure::level::{details_page, example, full_page, micro_schema, parameter_page, signature, usage};
use toolfold_disclosure::{answer, route, tokens};
use toolfold_wire::raw;

use crate::fixture::{Fixture, entry, source, tool};

/// Levels of so many members, each of which is everything of the next level: `width` to the power of `levels`.
fn multiplied(width: usize, levels: usize, required: bool) -> Value {
    let names: Vec<String> = (0..width).map(|number| format!("m{number}")).collect();
    let level = |level: usize| {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        let members: Map<String, Value> = names.iter().map(|name| (name.clone(), next.clone())).collect();
        let required = if required { json!(names) } else { json!([]) };
        json!({"type": "object", "properties": members, "required": required})
    };
    let mut schema = level(0);
    let mut defs: Map<String, Value> = (1..levels).map(|number| (format!("l{number}"), level(number))).collect();
    defs.insert(format!("l{levels}"), json!({"type": "string", "description": "the last"}));
    schema["$defs"] = Value::Object(defs);
    schema
}

/// Everything that is ever said of a tool.
fn say_everything(schema: Value) {
    let definition = tool("odd", "Does odd things.", schema.clone());
    let one = entry(schema);
    let said = [signature(&one).text, usage(&one), example(&one).to_string(), details_page(&one, "odd").to_string()];
    assert!(said.iter().all(|text| text.len() < 4_000_000), "{:?}", said.map(|text| text.len()));
    assert!(full_page(&one, "odd").to_string().len() < 20_000_000);
    assert!(micro_schema(&one.input_schema()).to_string().len() < 20_000_000);
    let _ = parameter_page(&one, "odd", "m0.m1.m2");
    let fixture = Fixture::of([source("bad", &[definition])]);
    for asked in [
        json!({"query": "odd things"}),
        json!({"tool": "bad.odd", "detail": "signature"}),
        json!({"tool": "bad.odd"}),
        json!({"tool": "bad.odd", "detail": "full"}),
        json!({"tool": "bad.odd", "parameter": ["m0", "m0.m1", "m0.m1.m2.m3", "nothing.of.it"]}),
    ] {
        let text = fixture.find(asked.clone());
        // What is required is told whatever it costs, of each parameter that is asked for.
        let budget = 10 * fixture.view().budget();
        assert!(tokens::count(&text) <= budget, "{asked}: {} tokens", tokens::count(&text));
    }
    for surface in Surface::ALL {
        let view = fixture.view();
        let asked = raw(&json!({"tool": "bad.odd", "name": "bad.odd", "tool_id": "bad.odd", "query": "odd things"}));
        for name in
            ["find_tools", "describe_tool", "expand_tool", "gateway_search_tools", "tool_details", "search_tools"]
        {
            let _ = answer(surface, &view, &route(surface, &view, name, Some(&asked)));
        }
    }
}

#[test]
fn members_of_members_by_reference() {
    say_everything(multiplied(60, 8, true));
    say_everything(multiplied(60, 8, false));
    say_everything(multiplied(3, 200, true));
}

#[test]
fn lists_and_alternatives_of_themselves() {
    let itself = json!({"$ref": "#"});
    say_everything(
        json!({"type": "object", "properties": {"m0": {"type": "array", "prefixItems": vec![itself.clone(); 500]}}}),
    );
    say_everything(
        json!({"type": "object", "properties": {"m0": {"type": "array", "minItems": 20, "items": itself.clone()}}, "required": ["m0"]}),
    );
    for key in ["anyOf", "oneOf", "allOf"] {
        say_everything(
            json!({"type": "object", "properties": {"m0": {key: vec![itself.clone(); 300]}}, "required": ["m0"]}),
        );
        say_everything(
            json!({"type": "object", key: vec![itself.clone(); 300], "properties": {"m0": itself.clone()}, "required": ["m0"]}),
        );
    }
    let parts: Vec<Value> = (0..5_000).map(|number| json!({format!("x-{number}"): number})).collect();
    say_everything(json!({"type": "object", "properties": {"m0": {"allOf": parts}}, "required": ["m0"]}));
}

#[test]
fn very_many_parameters_are_counted_and_not_named() {
    let names: Vec<String> = (0..20_000).map(|number| format!("parameter_{number}")).collect();
    let members: Map<String, Value> = names.iter().map(|name| (name.clone(), json!({"type": "string"}))).collect();
    // What a call cannot do without is named further than what it can.
    for (required, more) in [(json!(names), 19_800), (json!([]), 19_940)] {
        let schema = json!({"type": "object", "properties": members, "required": required});
        say_everything(schema.clone());
        let fixture = Fixture::of([source("bad", &[tool("odd", "Does odd things.", schema)])]);
        let details = fixture.find(json!({"tool": "bad.odd"}));
        assert!(details.contains(&format!("… and {more} more")), "{}", &details[details.len() - 300..]);
    }
}

/// A path of dots, and names that have dots themselves: there are more ways to split it than anybody can try.
#[test]
fn names_with_dots_in_them() {
    let names: Vec<String> = (1..200).map(|length| vec!["a"; length].join(".")).collect();
    let inner: Map<String, Value> = names.iter().map(|name| (name.clone(), json!({"$ref": "#"}))).collect();
    let one = entry(json!({"type": "object", "properties": inner}));
    let path = format!("{}.b", vec!["a"; 240].join("."));
    assert!(parameter_page(&one, "odd", &path).is_err());
}

/// The same large thing, referred to by every parameter, is not copied for each of them.
#[test]
fn something_large_that_everything_refers_to() {
    let values: Vec<String> = (0..4_000).map(|number| format!("value {number}")).collect();
    let large = json!({"type": "string", "description": "long ".repeat(200_000), "enum": values, "default": "long ".repeat(9_000)});
    let members: Map<String, Value> =
        (0..300).map(|number| (format!("m{number}"), json!({"$ref": "#/$defs/large"}))).collect();
    say_everything(json!({"type": "object", "properties": members, "$defs": {"large": large}}));
    let constant = json!({"const": vec!["long "; 100_000]});
    let required: Vec<&String> = members.keys().take(100).collect();
    say_everything(
        json!({"type": "object", "properties": members, "required": required, "$defs": {"large": constant}}),
    );
}
