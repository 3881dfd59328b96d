//! Kept results and other people's clients: what a listed tool promised with an `outputSchema` its client checks, on every
//! surface, and what is kept is never in the way of that.

use std::process::Command;

use serde_json::{Value, json};
use toolfold_test::FakeServer;

use crate::clients::{python, text, typescript};
use crate::fakes::world;
use crate::peers::lines;

/// Each surface, and how a tool is called through it where it has a way.
fn surfaces() -> [(&'static str, Option<(&'static str, Value)>); 10] {
    let named = |meta: &'static str, key: &str| Some((meta, json!({key: "fake.report", "arguments": {}})));
    let single = json!({"action": "execute", "tool_name": "fake.report", "tool_args": {}});
    [
        ("compact", named("call_tool", "tool")),
        ("code", named("call_tool", "tool")),
        ("hybrid", named("use_tool", "name")),
        ("two-phase", None),
        ("single", Some(("discover_and_use_tool", single))),
        ("lifecycle", None),
        ("levels", named("call_tool", "tool")),
        ("ontology", named("call_tool", "tool_id")),
        ("gateway", named("gateway_call_tool", "toolName")),
        ("direct", None),
    ]
}

#[test]
fn python_legacy() {
    check(|| python("legacy"));
}

#[test]
fn python_modern() {
    check(|| python("auto"));
}

#[test]
fn typescript_1() {
    check(|| typescript("client-v1.mjs", &[]));
}

#[test]
fn typescript_2_modern() {
    check(|| typescript("client-v2.mjs", &["auto"]));
}

fn check(client: impl Fn() -> Command) {
    let rows: Vec<Value> = (0..400).map(|n| json!({"id": n, "name": format!("row {n}")})).collect();
    let long = json!({"rows": rows});
    let schema = json!({"type": "object", "required": ["rows"], "additionalProperties": false, "properties": {"rows": {"type": "array"}}});
    let input = json!({"type": "object"});
    let report =
        json!({"name": "report", "description": "Report all rows.", "inputSchema": input, "outputSchema": schema});
    let wrong = json!({"name": "wrong", "description": "Promise more than there is.", "inputSchema": input, "outputSchema": schema});
    let plain = json!({"name": "plain", "description": "Say all rows.", "inputSchema": input});
    let said = json!({"content": [{"type": "text", "text": long.to_string()}], "structuredContent": long});
    let less = json!({"content": [{"type": "text", "text": long.to_string()}], "structuredContent": {"lines": rows}});
    let fake = FakeServer::script(json!({"tools": [report, wrong, plain], "calls": {
        "report": {"result": said}, "wrong": {"result": less}, "plain": {"result": {"content": said["content"]}}}}));
    let pins = "pin = [\"fake.report\", \"fake.wrong\", \"fake.plain\"]\n[results]\nkeep_over = 2000\n";
    let world = world(pins, &[("fake", &fake)]).learn();
    let served = world.serve();
    for (surface, through) in surfaces() {
        let call = |name: &str| json!({"call": name, "arguments": {}});
        let mut steps = vec![json!({"list": {}}), call("fake__report"), call("fake__wrong"), call("fake__plain")];
        steps.extend(through.iter().map(|(meta, arguments)| json!({"call": meta, "arguments": arguments})));
        let mut client = world.settle(client());
        client.args(["http", &format!("{}/{surface}", served.url)]);
        let answers = lines(client, &steps);
        let (list, listed, unkept) = (&answers[1], &answers[2], &answers[3]);
        assert!(list.to_string().contains("fake__report"), "{surface}: {list}");
        assert_eq!(listed["structuredContent"], long, "{surface}: what was promised comes whole");
        assert!(unkept["raised"].is_string(), "{surface}: this client does not check at all: {unkept}");
        let kept = |answer: &Value| {
            assert!(text(answer).contains("It is kept whole"), "{surface}: {answer:#}");
            assert_eq!(
                (answer["content"][1]["type"].as_str(), answer.get("structuredContent")),
                (Some("resource_link"), None)
            );
        };
        kept(&answers[4]);
        answers.iter().skip(5).for_each(kept);
        assert_eq!(answers.len(), steps.len() + 1, "{surface}");
    }
}
