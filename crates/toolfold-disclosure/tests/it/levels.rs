//! Levels of single definitions: what a signature shows, what a summary says.

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolfold_catalog::ServerTools;
use toolfold_core::{Entry, ServerName};
use toolfold_disclosure::level::{Level, describe, parameter, signature, summary, usage};
use toolfold_wire::raw;

use crate::fixture::{entry, source, tool};

fn of(properties: Value, required: Value) -> String {
    let signature = signature(&entry(json!({"type": "object", "properties": properties, "required": required})));
    assert_eq!(signature.partial, signature.text.contains('~'));
    signature.text
}

#[test]
fn types_are_short() {
    assert_snapshot!(
        of(
            json!({
                "note": {"type": ["string", "null"]},
                "count": {"type": "integer"},
                "flag": {"type": "boolean"},
                "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
                "any": {},
                "maybe": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            }),
            json!(["count", "flag"]),
        ),
        @r#"count: int, flag: bool, note?: string, tags?: ("a"|"b")[], any?: any, maybe?: number"#
    );
    assert_snapshot!(
        of(json!({"where": {"type": "object", "properties": {"id": {"type": "integer"}, "deep": {"type": "object", "properties": {"x": {}}}}, "required": ["id"]}}), json!(["where"])),
        @"where: {id: int, deep?: {x?: any}}"
    );
    let months: Vec<String> = (0..40).map(|month| format!("month-{month}")).collect();
    assert_snapshot!(of(json!({"month": {"type": "string", "enum": months}, "": {"const": 1}}), json!(["month", "ghost"])), @r#"month: "month-0"|"month-1"|"month-2"|"month-3"|~, ghost: any, ""?: 1"#);
}

#[test]
fn optional_parameters_give_way_and_required_ones_do_not() {
    let names: Vec<String> = (0..40).map(|i| format!("parameter_number_{i}")).collect();
    let properties: Value =
        names.iter().map(|name| (name.clone(), json!({"type": "string"}))).collect::<serde_json::Map<_, _>>().into();
    let all = of(properties.clone(), json!(names));
    assert!(names.iter().all(|name| all.contains(&format!("{name}: "))));
    assert_snapshot!(of(properties, json!(["parameter_number_39"])), @"parameter_number_39: string, parameter_number_0?: string, parameter_number_1?: string, parameter_number_2?: string, parameter_number_3?: string, …");
}

#[test]
fn conditions_are_marked() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
    assert_snapshot!(signature(&entry(schema)).text, @"a?: string, b?: string, ~");
    let merged = json!({"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"$ref": "#/$defs/More"}], "$defs": {"More": {"properties": {"b": {"type": "integer"}}, "required": ["b"]}}});
    assert_snapshot!(signature(&entry(merged)).text, @"a: string, b: int");
}

#[test]
fn summaries_are_at_most_ten_words() {
    let of = |name: &str, description: &str| {
        let definition = raw(&tool(name, description, json!({})));
        summary(&Entry::tool(&ServerName::new("srv").unwrap(), &definition).unwrap())
    };
    let lines = [
        of("a", "Create a new issue. Then more."),
        of("b", "This tool allows you to search the web, e.g. for news. It is good."),
        of("c", "\n\n# Title\n\n**Bold** `code` words\nthat go on over\nlines and then some more of them for the"),
        of("create_issue", ""),
        of("create_issue", "create_issue"),
        of("日本", "ツールの説明。次の文。"),
        of("d", "Lists files (with sizes, dates, owners and permissions of each of them) in a folder"),
        of("e", "..."),
        of("f", "<usecase>Get the weather</usecase>\nReturns the weather for a city"),
        of("g", "Get a recursive tree view of files and directories as a JSON structure"),
        of("h", "Create the settings of a project, its branches and default rules everywhere"),
        of("i", "Search the web for any topic and get clean, ready-to-use content at once"),
        of("j", "Sends a message to a chat space, or edits an existing one of yours there"),
    ];
    assert_snapshot!(lines.join("\n"), @"
    Create a new issue
    Search the web, e.g. for news
    Bold code words that go
    Create issue with srv
    Create issue with srv
    ツールの説明
    Lists files in a folder
    E with srv
    Returns the weather for a city
    Get a recursive tree view of files and directories
    Create the settings of a project
    Search the web for any topic
    Sends a message to a chat space
    ");
}

/// Three tools that begin alike are told apart by how they go on, or else by their names.
#[test]
fn no_summary_is_that_of_two_others() {
    let summaries = |tools: &[(&str, &str)]| {
        let tools: Vec<Value> = tools.iter().map(|(name, said)| tool(name, said, json!({"type": "object"}))).collect();
        let server = ServerTools::read(source("kit", &tools)).0;
        server.entries.iter().map(|entry| summary(entry)).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(summaries(&[
        ("build_scanner", "This provides a comprehensive and typed documentation of everything for the Kit Scanner, laying the foundation."),
        ("build_camera", "This provides a comprehensive and typed documentation of everything for the Kit Camera Service, and more."),
        ("build_reader", "This provides a comprehensive and typed documentation of everything for the Kit Reader. It is good."),
        ("tunnel_queue", "Creates a small machine for tunnels to reach a stored queue from outside."),
        ("tunnel_table", "Creates a small machine for tunnels to reach a stored table from outside."),
        ("tunnel_file", "Creates a small machine for tunnels to reach a stored file from outside."),
        ("open_one", "Opens what is there. Then closes it."),
        ("open_all", "Opens what is there. Then leaves it."),
        ("open_some", "Opens what is there. Others stay."),
        ("run", "Run a command."),
        ("run_often", "Run a command based on a clock."),
        ("run_late", "Run a command based on a date."),
    ]), @"
    Everything for the Kit Scanner
    Everything for the Kit Camera Service, and more
    Everything for the Kit Reader
    Tunnels to reach a stored queue from outside
    Tunnels to reach a stored table from outside
    Tunnels to reach a stored file from outside
    Open one with kit
    Open all with kit
    Open some with kit
    Run a command
    Run a command based on a clock
    Run a command based on a date
    ");
}

#[test]
fn an_example_can_be_called() {
    let schema = json!({
        "type": "object",
        "properties": {
            "code": {"type": "string", "pattern": "^[A-Z]{2}-\\d{3,}(x|y)?$"},
            "count": {"type": "integer", "exclusiveMinimum": 4, "multipleOf": 5},
            "when": {"type": "string", "format": "date"},
            "who": {"anyOf": [{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}, {"type": "null"}]},
            "quote": {"const": "it's\n"},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": true},
        },
        "required": ["code", "count", "when", "who", "quote", "tags"],
    });
    assert_snapshot!(usage(&entry(schema)), @r#"s.t(code='AA-000', count=5, when='2026-01-31', who={"id":1}, quote='it\'s\n', tags=["…","…1"])"#);
}

#[test]
fn each_level_of_one_tool() {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "integer", "minimum": 1, "default": 3}}, "required": ["name"]});
    let mut definition =
        tool("make", "Make a thing. It takes a while. Returns its number. Never mind the rest.", schema);
    definition["title"] = json!("Make");
    definition["outputSchema"] =
        json!({"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]});
    definition["annotations"] = json!({"readOnlyHint": false});
    let entry = Entry::tool(&ServerName::new("srv").unwrap(), &raw(&definition)).unwrap();
    let levels: Vec<String> = Level::ALL.iter().map(|level| describe(&entry, *level).get().to_owned()).collect();
    assert_snapshot!(levels.join("\n"), @r#"
    {"tool":"srv.make"}
    {"tool":"srv.make","summary":"Make a thing"}
    {"tool":"srv.make","signature":"name: string, size?: int","summary":"Make a thing","estimated_tokens":22}
    {"tool":"srv.make","description":"Make a thing. It takes a while. Returns its number.","parameters":["name","size?"],"usage":"srv.make(name='…')","returns":"{number: int}","estimated_tokens":45}
    {"tool":"srv.make","title":"Make","description":"Make a thing. It takes a while. Returns its number. Never mind the rest.","input_schema":{"type":"object","properties":{"name":{"type":"string"},"size":{"type":"integer","minimum":1,"default":3}},"required":["name"]},"output_schema":{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"]},"annotations":{"readOnlyHint":false},"usage":"srv.make(name='…')","estimated_tokens":104}
    "#);
    assert_snapshot!(parameter(&entry, "size").unwrap().get(), @r#"{"tool":"srv.make","parameter":"size","type":"int","required":false,"default":3,"validation":{"minimum":1},"schema":{"type":"integer","minimum":1,"default":3},"estimated_tokens":42}"#);
    assert_eq!(parameter(&entry, "nmae").unwrap_err(), ["name"]);
}
