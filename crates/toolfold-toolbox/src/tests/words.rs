//! Text, JSON, tables and patterns.

use serde_json::json;

use super::{answer, check};

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
