//! Small requests that ask for enormous results: refused before anything large is made, and counted while working.

use serde_json::{Map, Value, json};
use toolfold_core::{Fuel, Spent, Stop};
use toolfold_gateway::Output;

use crate::arguments::Arguments;
use crate::private::Private;
use crate::problem::{LARGEST, Problem};
use crate::{BOUNDS, all};

/// The answer as it would go out, and the fuel that is left.
fn call(name: &str, arguments: &Value) -> (Output, u64) {
    let tool = all().into_iter().find(|tool| tool.name == name).unwrap();
    let fuel = Fuel::new(BOUNDS.fuel);
    let output = crate::answer(tool.run, arguments, &fuel, &Private::default());
    (output, fuel.left())
}

fn refused(name: &str, arguments: &Value) {
    match call(name, arguments).0 {
        Output::Refusal(refusal) => assert_eq!(refusal.code.as_str(), "TOO_LARGE", "{name}"),
        Output::Failure(why) => assert!(why.contains("more than") || why.contains("too"), "{name}: {why}"),
        _ => panic!("{name} answered"),
    }
}

#[test]
fn what_would_be_enormous_is_refused() {
    let long = |c: &str| c.repeat(200_000);
    refused("regex_replace", &json!({"pattern": "(a+)", "text": long("a"), "replacement": "$1".repeat(200_000)}));
    refused("regex_find", &json!({"pattern": "(".repeat(40) + "a*" + &")".repeat(40), "text": long("a")}));
    refused("text_replace", &json!({"text": long("a"), "find": "a", "replacement": long("b")}));
    refused("markdown_table", &json!({"rows": vec![json!({}); 20_000], "columns": vec!["c"; 2_000]}));
    let mut rows = vec![json!({"a": long("x")})];
    rows.extend(vec![json!({}); 10_000]);
    refused("markdown_table", &json!({"rows": rows}));
    refused("markdown_table", &json!({"rows": [{"a": long("x")}], "columns": vec!["a"; 1000]}));
    refused("csv_to_json", &json!({"csv": format!("{}\n{}", long("h"), "1\n".repeat(10_000))}));
    refused("csv_to_json", &json!({"csv": ",".repeat(1_000_000)}));
    refused("json_format", &json!({"json": vec![1; 99_000], "indent": 8}));
    refused("text_case", &json!({"text": "ΐ".repeat(500_000), "case": "upper"}));
    refused("url_encode", &json!({"text": "ä".repeat(400_000)}));
    refused("hex_encode", &json!({"text": "a".repeat(600_000)}));
    refused("json_query", &json!({"json": "[1,".repeat(100_001), "path": ""}));
    let keys: Map<String, Value> = (0..200).map(|n| (n.to_string(), json!(1))).collect();
    let others: Map<String, Value> = (0..200).map(|n| (n.to_string(), json!(2))).collect();
    refused("json_diff", &json!({"before": {long("k"): keys}, "after": {long("k"): others}}));
}

#[test]
fn work_that_doubles_ends_with_the_fuel() {
    let mut definitions = Map::new();
    for n in 0..40 {
        let next = json!({"$ref": format!("#/$defs/a{}", n + 1)});
        definitions.insert(format!("a{n}"), json!({"allOf": [next, next]}));
    }
    definitions.insert("a40".to_owned(), json!({"type": "object"}));
    let (output, left) =
        call("json_validate", &json!({"json": {}, "schema": {"$ref": "#/$defs/a0", "$defs": definitions}}));
    assert!(matches!(output, Output::Refusal(refusal) if refusal.code.as_str() == "TOO_LARGE"));
    assert_eq!(left, 0);
}

/// Lines are told apart once, not millions of times: the work is that of short lines.
#[test]
fn long_lines_are_compared_as_cheaply_as_short_ones() {
    let lines = |sign: i32| (1..500).map(|n| format!("{}{}\n", "x".repeat(1000), n * sign)).collect::<String>();
    let (output, left) = call("text_diff", &json!({"before": lines(1), "after": lines(-1)}));
    assert!(matches!(output, Output::Text(_) | Output::Refusal(_)));
    assert!(BOUNDS.fuel - left < 1_000_000, "{}", BOUNDS.fuel - left);
}

/// A match that is found late is not found by counting lines from the start for each.
#[test]
fn places_are_counted_once() {
    let text = "\n".repeat(1_000_000) + &"Z".repeat(1000);
    let (output, left) = call("regex_find", &json!({"pattern": "Z", "text": text, "limit": 1000}));
    let Output::Json(found) = output else { panic!("no matches") };
    assert_eq!(found["matches"][999], json!({"match": "Z", "line": 1_000_001, "column": 1000}));
    assert!(BOUNDS.fuel - left < 5_000_000, "{}", BOUNDS.fuel - left);
}

#[test]
fn a_cancelled_call_stops() {
    for tool in all() {
        // Those that do next to nothing may as well finish.
        if !["text_case", "regex_replace", "json_validate", "text_diff", "search_files"].contains(&tool.name) {
            continue;
        }
        let stop = Stop::default();
        stop.set();
        let arguments = json!({"text": "a b", "case": "snake", "pattern": "a", "replacement": "b", "json": {},
            "schema": {}, "before": "a", "after": "b", "path": ""});
        let fuel = Fuel::stoppable(BOUNDS.fuel, stop);
        let answer = (tool.run)(&Arguments::new(&arguments, &fuel, &Private::default()));
        assert!(matches!(answer, Err(Problem::Spent(Spent::Stopped))), "{}", tool.name);
    }
}

#[test]
fn a_problem_never_quotes_at_length() {
    let long = "x".repeat(LARGEST);
    for (name, arguments) in [
        ("read_file", json!({"path": long})),
        ("unit_convert", json!({"value": 1, "from": long, "to": "m"})),
        ("time_convert", json!({"time": long, "to": "UTC"})),
        ("json_query", json!({"json": {}, "path": long})),
        ("calculate", json!({"expression": long})),
        ("regex_find", json!({"pattern": long, "text": ""})),
    ] {
        match call(name, &arguments).0 {
            Output::Failure(why) => assert!(why.len() < 3000, "{name}: {} bytes", why.len()),
            _ => panic!("{name} answered"),
        }
    }
}
