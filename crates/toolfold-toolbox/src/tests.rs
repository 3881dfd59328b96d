//! Every tool by example: what it answers, and what it says when it cannot.

mod bounds;
mod files;
mod values;
mod words;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::all as tools;
use toolfold_core::Fuel;

use crate::BOUNDS;
use crate::arguments::Arguments;
use crate::private::Private;
use crate::tool::{Replied, Reply, Tool};

fn run(tool: &Tool, arguments: &Value) -> Replied {
    (tool.run)(&Arguments::new(arguments, &Fuel::new(BOUNDS.fuel), &Private::default()))
}

/// What a call answers, checked against the schemas of the tool on the way in and out.
fn answer(name: &str, arguments: &Value) -> String {
    let tool = tools().into_iter().find(|tool| tool.name == name).unwrap();
    let definition = tool.definition();
    let input = jsonschema::validator_for(&definition["inputSchema"]).unwrap();
    if let Some(error) = input.iter_errors(arguments).next() {
        panic!("{name} {arguments}: {error}");
    }
    let answer = run(&tool, arguments);
    if let (Ok(Reply::Json(value)), Some(schema)) = (&answer, definition.get("outputSchema")) {
        let error = jsonschema::validate(schema, value).err().map(|error| error.to_string());
        assert_eq!(error, None, "{name} answers with {value}");
    }
    if let Ok(reply) = &answer {
        assert_eq!(definition.get("outputSchema").is_some(), matches!(reply, Reply::Json(_)), "{name}");
    }
    written(answer)
}

fn written(answer: Replied) -> String {
    match answer {
        Ok(Reply::Text(text)) => text,
        Ok(Reply::Json(value)) => value.to_string(),
        Err(problem) => format!("error: {problem}"),
    }
}

fn check(examples: &[(&str, Value, &str)]) {
    for (name, arguments, expected) in examples {
        assert_eq!(answer(name, arguments), *expected, "{name} {arguments}");
    }
}

#[test]
fn definitions() {
    let mut names = BTreeSet::new();
    for tool in tools() {
        let definition = tool.definition();
        assert!(names.insert(tool.name), "{} is there twice", tool.name);
        assert!(definition["description"].as_str().unwrap().ends_with('.'), "{}", tool.name);
        for (parameter, schema) in definition["inputSchema"]["properties"].as_object().unwrap() {
            assert!(schema["description"].is_string(), "{}.{parameter} says nothing", tool.name);
        }
        assert!(jsonschema::meta::is_valid(&definition["inputSchema"]), "{}", tool.name);
    }
    let names: Vec<_> = names.into_iter().collect();
    assert_eq!(
        names.join(" "),
        "base64_decode base64_encode calculate csv_to_json file_info hash_digest hex_decode hex_encode json_diff json_format \
         json_query json_validate list_directory markdown_table number_base random_number random_uuid read_file regex_find \
         regex_replace search_files statistics text_case text_count text_diff text_replace text_sort_lines time_add \
         time_convert time_difference time_now unit_convert url_decode url_encode"
    );
}

#[test]
fn one_definition_in_full() {
    let tool = tools().into_iter().find(|tool| tool.name == "text_count").unwrap();
    assert_eq!(
        tool.definition(),
        json!({
            "name": "text_count",
            "title": "Count text",
            "description": "Count the characters, words, lines and bytes of a text.",
            "inputSchema": {
                "type": "object",
                "properties": {"text": {"type": "string", "description": "The text to count"}},
                "additionalProperties": false,
                "required": ["text"],
            },
            "outputSchema": {
                "type": "object",
                "required": ["characters", "words", "lines", "bytes"],
                "properties": {
                    "characters": {"type": "integer"}, "words": {"type": "integer"},
                    "lines": {"type": "integer"}, "bytes": {"type": "integer"},
                },
            },
            "annotations": {
                "title": "Count text", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
                "openWorldHint": false,
            },
        })
    );
}

/// A handler is safe without the gateway's check: whatever comes, it answers.
#[test]
fn arguments_of_the_wrong_kind_are_answered() {
    let odd = [json!(null), json!(1), json!(true), json!("x"), json!([]), json!({}), json!([[1]]), json!(-1e300)];
    for tool in tools() {
        let properties = tool.definition()["inputSchema"]["properties"].clone();
        for value in &odd {
            let all: Value = properties.as_object().unwrap().keys().map(|key| (key.clone(), value.clone())).collect();
            let _ = run(&tool, &all);
            let _ = run(&tool, value);
        }
    }
    let problem = |name: &str, arguments: Value| {
        let tool = tools().into_iter().find(|tool| tool.name == name).unwrap();
        written(run(&tool, &arguments))
    };
    assert_eq!(problem("text_count", json!({})), "error: `text` is missing. Give it and call again.");
    assert_eq!(problem("text_count", json!({"text": 1})), "error: `text` must be a string, but is a number.");
    assert_eq!(
        problem("text_case", json!({"text": "a", "case": "loud"})),
        "error: `case` is \"loud\", which is not known. Use one of: upper, lower, title, snake, kebab, camel, pascal."
    );
    assert_eq!(problem("random_uuid", json!({"count": 0})), "error: `count` must be between 1 and 1000, but is 0.");
}
