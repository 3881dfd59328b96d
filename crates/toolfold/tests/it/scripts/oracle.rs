//! The same scripts in Node: what a program means is not ours to decide.

use serde_json::{Value, json};
use toolfold_script::{End, ScriptLimits};

use super::{run, sections};
use crate::peers::{lines, node, script};

#[tokio::test]
async fn scripts_mean_what_they_mean_in_node() {
    let scripts = sections("oracle.js");
    assert!(scripts.len() >= 30, "{}", scripts.len());
    let codes: Vec<&str> = scripts.iter().map(|(_, code)| code.as_str()).collect();
    let mut command = node();
    command.arg(script("oracle.mjs"));
    let input = json!({"scripts": codes, "input": {"who": "Ada", "list": [1, 2]}});
    let said = lines(command, &[input]);
    let expected: Vec<Value> = said[0].as_array().unwrap().clone();
    assert_eq!(expected.len(), scripts.len());
    let mut wrong = Vec::new();
    for ((name, code), expected) in scripts.iter().zip(expected) {
        let got = match run(code, ScriptLimits::default()).await.end {
            End::Returned(value) => value.map_or(Value::Null, |value| Value::from(value.get())),
            other => Value::from(format!("{other:?}")),
        };
        // Nothing and null are the same to who gets the answer.
        let expected = if expected == "null" { Value::Null } else { expected };
        if got != expected {
            wrong.push(format!("{name}\n  Node:     {expected}\n  Toolfold: {got}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), scripts.len(), wrong.join("\n"));
}
