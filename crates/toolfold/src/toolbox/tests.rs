//! Every tool by example: what it answers, and what it says when it cannot.

mod files;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::tool::{Answer, Reply};
use super::tools;

/// What a call answers, checked against the schemas of the tool on the way in and out.
fn answer(name: &str, arguments: &Value) -> String {
    let tool = tools().into_iter().find(|tool| tool.name == name).unwrap();
    let definition = tool.definition();
    let input = jsonschema::validator_for(&definition["inputSchema"]).unwrap();
    if let Some(error) = input.iter_errors(arguments).next() {
        panic!("{name} {arguments}: {error}");
    }
    let answer = (tool.run)(&Arguments(arguments));
    if let (Ok(Reply::Json(value)), Some(schema)) = (&answer, definition.get("outputSchema")) {
        let error = jsonschema::validate(schema, value).err().map(|error| error.to_string());
        assert_eq!(error, None, "{name} answers with {value}");
    }
    if let Ok(reply) = &answer {
        assert_eq!(definition.get("outputSchema").is_some(), matches!(reply, Reply::Json(_)), "{name}");
    }
    written(answer)
}

fn written(answer: Answer) -> String {
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
            let _ = (tool.run)(&Arguments(&all));
            let _ = (tool.run)(&Arguments(value));
        }
    }
    let problem = |name: &str, arguments: Value| {
        let tool = tools().into_iter().find(|tool| tool.name == name).unwrap();
        written((tool.run)(&Arguments(&arguments)))
    };
    assert_eq!(problem("text_count", json!({})), "error: `text` is missing. Give it and call again.");
    assert_eq!(problem("text_count", json!({"text": 1})), "error: `text` must be a string, but is a number.");
    assert_eq!(
        problem("text_case", json!({"text": "a", "case": "loud"})),
        "error: `case` is \"loud\", which is not known. Use one of: upper, lower, title, snake, kebab, camel, pascal."
    );
    assert_eq!(problem("random_uuid", json!({"count": 0})), "error: `count` must be between 1 and 1000, but is 0.");
}

#[test]
fn text() {
    check(&[
        ("text_count", json!({"text": "Grüße,\nWelt"}), r#"{"characters":11,"words":2,"lines":2,"bytes":13}"#),
        ("text_count", json!({"text": ""}), r#"{"characters":0,"words":0,"lines":0,"bytes":0}"#),
        (
            "text_replace",
            json!({"text": "a.b.c", "find": ".", "replacement": "::"}),
            r#"{"text":"a::b::c","replaced":2}"#,
        ),
        (
            "text_replace",
            json!({"text": "a", "find": "", "replacement": "x"}),
            "error: `find` is empty. Say which string to replace.",
        ),
        ("text_case", json!({"text": "hello wORLD", "case": "title"}), "Hello World"),
        ("text_case", json!({"text": "HTTPServer parseUrl", "case": "snake"}), "httpserver_parse_url"),
        ("text_case", json!({"text": "parse-the URL", "case": "camel"}), "parseTheUrl"),
        ("text_case", json!({"text": "parse the url", "case": "pascal"}), "ParseTheUrl"),
        ("text_case", json!({"text": "Straße", "case": "upper"}), "STRASSE"),
        ("text_sort_lines", json!({"text": "b\na\nb", "unique": true}), "a\nb"),
        ("text_sort_lines", json!({"text": "10 x\n9 y\nnone\n-1", "by": "numeric"}), "-1\n9 y\n10 x\nnone"),
        ("text_sort_lines", json!({"text": "aa\nb", "by": "length", "descending": true}), "aa\nb"),
    ]);
}

#[test]
fn text_diff() {
    check(&[
        ("text_diff", json!({"before": "a\n", "after": "a\n"}), "The texts are equal."),
        ("text_diff", json!({"before": "a\n", "after": "a"}), "The texts differ only in how their lines end."),
        ("text_diff", json!({"before": "a\nb\nc", "after": "a\nB\nc"}), "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"),
        ("text_diff", json!({"before": "", "after": "new"}), "@@ -0,0 +1,1 @@\n+new\n"),
        (
            "text_diff",
            json!({"before": "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12", "after": "1\nx\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13"}),
            "@@ -1,5 +1,5 @@\n 1\n-2\n+x\n 3\n 4\n 5\n@@ -10,3 +10,4 @@\n 10\n 11\n 12\n+13\n",
        ),
    ]);
    let lines = |from: usize| (from..from + 3000).map(|n| format!("{n}\n")).collect::<String>();
    let far = json!({"before": lines(0), "after": lines(10_000)});
    assert_eq!(
        answer("text_diff", &far),
        "error: The texts differ in too many lines to compare. Compare smaller parts."
    );
}

#[test]
fn json_tools() {
    let people = json!({"people": [{"name": "Ada", "a/b": 1}, {"name": "Bob"}]});
    check(&[
        ("json_query", json!({"json": people, "path": "people[*].name"}), r#"{"count":2,"matches":["Ada","Bob"]}"#),
        ("json_query", json!({"json": people, "path": "/people/0/a~1b"}), r#"{"count":1,"matches":[1]}"#),
        ("json_query", json!({"json": people, "path": "$.people[1]['name']"}), r#"{"count":1,"matches":["Bob"]}"#),
        ("json_query", json!({"json": people, "path": "people[7].name"}), r#"{"count":0,"matches":[]}"#),
        ("json_query", json!({"json": "[1, 2]", "path": "[*]"}), r#"{"count":2,"matches":[1,2]}"#),
        (
            "json_query",
            json!({"json": people, "path": "people[x"}),
            "error: `path` \"people[x\" cannot be read. Write it like items[0].name or /items/0/name.",
        ),
        ("json_format", json!({"json": "{\"b\":1,\"a\":[]}", "indent": 0, "sort_keys": true}), r#"{"a":[],"b":1}"#),
        ("json_format", json!({"json": {"a": [1]}, "indent": 1}), "{\n \"a\": [\n  1\n ]\n}"),
        ("json_format", json!({"json": "{a}"}), "error: `json` is not JSON: key must be a string at line 1 column 2."),
        ("json_diff", json!({"before": "[1]", "after": [1]}), r#"{"equal":true,"differences":[]}"#),
        (
            "json_diff",
            json!({"before": {"a": 1, "b": [1, 2]}, "after": {"b": [1, 3], "c/d": null}}),
            r#"{"equal":false,"differences":[{"path":"/a","change":"removed","before":1},{"path":"/b/1","change":"changed","before":2,"after":3},{"path":"/c~1d","change":"added","after":null}]}"#,
        ),
        ("json_validate", json!({"json": 1, "schema": {"type": "integer"}}), r#"{"valid":true,"errors":[]}"#),
        (
            "json_validate",
            json!({"json": {"age": "x"}, "schema": {"properties": {"age": {"type": "integer"}}, "required": ["name"]}}),
            r#"{"valid":false,"errors":[{"path":"","message":"\"name\" is a required property"},{"path":"/age","message":"\"x\" is not of type \"integer\""}]}"#,
        ),
    ]);
    let unusable = answer("json_validate", &json!({"json": 1, "schema": {"type": "whole"}}));
    assert!(unusable.starts_with("error: `schema` is not a JSON Schema that can be used: "), "{unusable}");
}

#[test]
fn tables() {
    check(&[
        (
            "csv_to_json",
            json!({"csv": "name,note\r\nAda,\"one, \"\"two\"\"\nthree\"\n\nBob,\n"}),
            r#"{"count":2,"rows":[{"name":"Ada","note":"one, \"two\"\nthree"},{"name":"Bob","note":""}]}"#,
        ),
        (
            "csv_to_json",
            json!({"csv": "1\t2", "delimiter": "\\t", "no_header": true}),
            r#"{"count":1,"rows":[{"column1":"1","column2":"2"}]}"#,
        ),
        (
            "csv_to_json",
            json!({"csv": "a\n\"open"}),
            "error: A quoted field is never closed. Add the missing \" to `csv`.",
        ),
        ("csv_to_json", json!({"csv": "a\n1,2"}), "error: Row 2 has 2 fields, which is more than the header has."),
        (
            "csv_to_json",
            json!({"csv": "a", "delimiter": "--"}),
            "error: `delimiter` is \"--\". Give a single character, such as , or ;.",
        ),
        (
            "markdown_table",
            json!({"rows": [{"name": "Ada", "born": 1815}, {"name": "a|b\nc"}]}),
            "| name      | born |\n| --------- | ---- |\n| Ada       | 1815 |\n| a\\|b<br>c |      |\n",
        ),
        ("markdown_table", json!({"rows": [{"a": 1, "b": 2}], "columns": ["b"]}), "| b   |\n| --- |\n| 2   |\n"),
        ("markdown_table", json!({"rows": []}), "error: There is nothing to show: `rows` has no row with a column."),
    ]);
}

#[test]
fn time() {
    check(&[
        (
            "time_convert",
            json!({"time": "2025-03-30 10:00", "from": "America/New_York", "to": "Europe/Berlin"}),
            r#"{"time":"2025-03-30T16:00:00+02:00","zone":"Europe/Berlin","weekday":"Sunday","unix":1743343200}"#,
        ),
        (
            "time_convert",
            json!({"time": "1743343200", "to": "UTC"}),
            r#"{"time":"2025-03-30T14:00:00+00:00","zone":"UTC","weekday":"Sunday","unix":1743343200}"#,
        ),
        (
            "time_convert",
            json!({"time": "noon", "to": "UTC"}),
            "error: The time \"noon\" cannot be read. Write it like 2025-03-30T10:00:00+02:00, 2025-03-30 10:00 or 2025-03-30.",
        ),
        (
            "time_convert",
            json!({"time": "2025-03-30", "to": "Berlin"}),
            "error: There is no time zone \"Berlin\". Use an IANA name such as Europe/Berlin, or UTC.",
        ),
        (
            // A day later is the same time of day, although the clock was changed in between.
            "time_add",
            json!({"time": "2025-03-29T12:00", "duration": "1 day", "zone": "Europe/Berlin"}),
            r#"{"time":"2025-03-30T12:00:00+02:00","zone":"Europe/Berlin","weekday":"Sunday","unix":1743328800}"#,
        ),
        (
            "time_add",
            json!({"time": "2024-01-31", "duration": "P1M"}),
            r#"{"time":"2024-02-29T00:00:00+00:00","zone":"UTC","weekday":"Thursday","unix":1709164800}"#,
        ),
        (
            "time_add",
            json!({"time": "2024-01-31", "duration": "soon"}),
            "error: `duration` \"soon\" cannot be read. Write it like 3 days, -2 hours 30 minutes, or P1DT2H.",
        ),
        (
            "time_difference",
            json!({"from": "2024-02-28", "to": "2025-03-01T01:30"}),
            r#"{"words":"1 year, 1 day, 1 hour, 30 minutes","iso":"P1Y1DT1H30M","seconds":31714200}"#,
        ),
        (
            "time_difference",
            json!({"from": "2025-01-02", "to": "2025-01-01", "largest": "hours"}),
            r#"{"words":"24 hours earlier","iso":"-PT24H","seconds":-86400}"#,
        ),
    ]);
    let now: Value = serde_json::from_str(&answer("time_now", &json!({"zone": "Asia/Tokyo"}))).unwrap();
    assert!(now["time"].as_str().unwrap().ends_with("+09:00"), "{now}");
    answer("time_now", &json!({}));
}

#[test]
fn encoding() {
    check(&[
        ("base64_encode", json!({"text": "Grüße?>"}), "R3LDvMOfZT8+"),
        ("base64_encode", json!({"text": "Grüße?>", "url_safe": true}), "R3LDvMOfZT8-"),
        ("base64_decode", json!({"text": "R3LDvMOf\nZT8-"}), r#"{"text":"Grüße?>","encoding":"text"}"#),
        ("base64_decode", json!({"text": "/w=="}), r#"{"text":"ff","encoding":"hex"}"#),
        ("base64_decode", json!({"text": "a!"}), "error: `text` is not base64: Invalid symbol 33, offset 1."),
        ("hex_encode", json!({"text": "é"}), "c3a9"),
        ("hex_decode", json!({"hex": "C3:A9 41"}), "éA"),
        ("hex_decode", json!({"hex": "abc"}), "error: `hex` has an odd number of digits. Every byte is two digits."),
        ("hex_decode", json!({"hex": "zz"}), "error: `hex` has something other than the digits 0-9 and a-f in it."),
        ("url_encode", json!({"text": "a b/ü&~"}), "a%20b%2F%C3%BC%26~"),
        ("url_decode", json!({"text": "a%20b%2F%C3%BC+"}), "a b/ü+"),
        ("url_decode", json!({"text": "a+b", "form": true}), "a b"),
        ("url_decode", json!({"text": "100%"}), "error: A % in `text` is not followed by two hexadecimal digits."),
        ("url_decode", json!({"text": "%FF"}), "error: The decoded bytes are not text in UTF-8."),
        (
            "hash_digest",
            json!({"text": "abc"}),
            r#"{"algorithm":"sha256","hex":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","base64":"ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="}"#,
        ),
    ]);
    for (algorithm, length) in [("sha224", 56), ("sha384", 96), ("sha512", 128)] {
        let digest: Value =
            serde_json::from_str(&answer("hash_digest", &json!({"text": "", "algorithm": algorithm}))).unwrap();
        assert_eq!(digest["hex"].as_str().unwrap().len(), length);
    }
}

#[test]
fn patterns() {
    check(&[
        (
            "regex_find",
            json!({"pattern": r"(?P<key>\w+)=(\d+)?", "text": "a=1\nbé=x"}),
            r#"{"count":2,"matches":[{"match":"a=1","line":1,"column":1,"groups":{"key":"a","2":"1"}},{"match":"bé=","line":2,"column":1,"groups":{"key":"bé","2":null}}]}"#,
        ),
        (
            "regex_find",
            json!({"pattern": "^A", "text": "a\na", "ignore_case": true, "multi_line": true, "limit": 1}),
            r#"{"count":1,"matches":[{"match":"a","line":1,"column":1}]}"#,
        ),
        ("regex_find", json!({"pattern": "z", "text": "a"}), r#"{"count":0,"matches":[]}"#),
        (
            "regex_replace",
            json!({"pattern": r"(\w+) (\w+)", "text": "Ada Lovelace", "replacement": "$2, $1"}),
            r#"{"text":"Lovelace, Ada","replaced":1}"#,
        ),
    ]);
    let broken = answer("regex_find", &json!({"pattern": "(", "text": ""}));
    assert!(broken.starts_with("error: `pattern` cannot be used: regex parse error:"), "{broken}");
    let huge = answer("regex_find", &json!({"pattern": "(\\w{500}){500}", "text": ""}));
    assert!(huge.starts_with("error: `pattern` cannot be used: Compiled regex exceeds size limit"), "{huge}");
    let bomb = json!({"pattern": "", "text": "x".repeat(3000), "replacement": "y".repeat(3000)});
    assert_eq!(answer("regex_replace", &bomb), "error: The result would be too large. Replace in smaller pieces.");
}

#[test]
fn calculations() {
    let examples = [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("-2^2", "-4"),
        ("2^-1", "0.5"),
        ("2^3^2", "512"),
        ("2**10", "1024"),
        ("10 % 4", "2"),
        ("7 / 2", "3.5"),
        ("1_000 * 1.5e3", "1500000"),
        ("sqrt(16) + max(1, 2, 3)", "7"),
        ("round(2 * PI * 100) / 100", "6.28"),
        ("2e", "error: `expression` cannot be calculated: at character 2, 'e' was not expected."),
        ("1 +", "error: `expression` cannot be calculated: at character 4, it ends too early."),
        ("(1", "error: `expression` cannot be calculated: at character 3, a ')' is missing."),
        ("1 / 0", "error: The result is infinite: something is divided by zero or grows too large."),
        ("sqrt(-1)", "error: The result is not a number: a root or logarithm of a negative number, or zero by zero."),
        ("1.2.3", "error: `expression` cannot be calculated: at character 1, 1.2.3 is not a number."),
    ];
    for (expression, expected) in examples {
        let answer = answer("calculate", &json!({"expression": expression}));
        let expected =
            if expected.starts_with("error") { expected.to_owned() } else { format!(r#"{{"result":{expected}}}"#) };
        assert_eq!(answer, expected, "{expression}");
    }
    for deep in ["(".repeat(100_000), "-".repeat(100_000), "sin(".repeat(100_000), "2^".repeat(100_000)] {
        assert!(answer("calculate", &json!({"expression": deep})).contains("it nests too deeply"));
    }
}

#[test]
fn numbers() {
    check(&[
        (
            "unit_convert",
            json!({"value": 100, "from": "°F", "to": "celsius"}),
            r#"{"value":37.77777777777777,"unit":"°C"}"#,
        ),
        ("unit_convert", json!({"value": 1, "from": "Miles", "to": "km"}), r#"{"value":1.609344,"unit":"km"}"#),
        ("unit_convert", json!({"value": 8, "from": "Mb", "to": "MB"}), r#"{"value":1,"unit":"MB"}"#),
        (
            "unit_convert",
            json!({"value": 1, "from": "K", "to": "rad"}),
            "error: K is a unit of temperature and rad one of angle: they cannot be converted. Units of temperature: K °C °F.",
        ),
        ("number_base", json!({"number": "255", "to": 16}), "ff"),
        ("number_base", json!({"number": "0xFF", "to": 2}), "11111111"),
        ("number_base", json!({"number": "-zz", "from": 36, "to": 10}), "-1295"),
        ("number_base", json!({"number": "0b1", "from": 16, "to": 10}), "177"),
        (
            "number_base",
            json!({"number": "12", "from": 2, "to": 10}),
            "error: `number` \"12\" is not a whole number in base 2, or is too large.",
        ),
        (
            "statistics",
            json!({"numbers": [4, 1, 3, 2]}),
            r#"{"count":4,"sum":10,"mean":2.5,"median":2.5,"min":1,"max":4,"quartile1":1.75,"quartile3":3.25,"standard_deviation":1.118033988749895}"#,
        ),
    ]);
    let unknown = answer("unit_convert", &json!({"value": 1, "from": "parsec", "to": "m"}));
    assert!(
        unknown.starts_with("error: `from` is \"parsec\", which is not a known unit. Known are length: m km"),
        "{unknown}"
    );
}

#[test]
fn randomness() {
    let uuids = answer("random_uuid", &json!({"count": 3, "version": "v7"}));
    let found = answer(
        "regex_find",
        &json!({"pattern": "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", "text": uuids}),
    );
    assert!(found.starts_with(r#"{"count":3"#), "{uuids}");
    assert_ne!(answer("random_uuid", &json!({})), answer("random_uuid", &json!({})));
    assert_eq!(answer("random_number", &json!({"min": -7, "max": -7, "count": 2})), r#"{"numbers":[-7,-7]}"#);
    let drawn: Value =
        serde_json::from_str(&answer("random_number", &json!({"min": 1, "max": 3, "count": 1000}))).unwrap();
    let drawn: BTreeSet<i64> = drawn["numbers"].as_array().unwrap().iter().filter_map(Value::as_i64).collect();
    assert_eq!(drawn, BTreeSet::from([1, 2, 3]));
    answer("random_number", &json!({"min": i64::MIN, "max": i64::MAX}));
    assert_eq!(
        answer("random_number", &json!({"min": 2, "max": 1})),
        "error: `min` (2) is larger than `max` (1). Swap them."
    );
}
