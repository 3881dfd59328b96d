//! Commands: what a program is started with.

use serde_json::{Value, json};
use toolfold_openapi::{BadCommand, BadEndpoint, Base, CommandPlan, endpoint};

use crate::kit::{arguments, body, refused, request};

fn command(words: &[&str], properties: Value) -> Result<CommandPlan, BadCommand> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    CommandPlan::new(&words, &json!({"type": "object", "properties": properties}))
}

fn run(words: &[&str], properties: Value, given: Value) -> Result<Vec<String>, String> {
    command(words, properties).unwrap().arguments(&arguments(given)).map_err(|error| error.to_string())
}

#[test]
fn arguments_are_arguments_whatever_is_in_them() {
    let text = json!({"ref": {"type": "string"}});
    let log = ["git", "log", "{ref}"];
    assert_eq!(
        run(&log, text.clone(), json!({"ref": "main; rm -rf / $(id) `x` \"'"})).unwrap()[1],
        "main; rm -rf / $(id) `x` \"'"
    );
    assert_eq!(run(&log, text.clone(), json!({})).unwrap(), ["log"], "what is not given is left out");
    let all = ["x", "--depth={n}", "{flag}", "--", "{files}"];
    let schema = json!({"n": {"type": "integer"}, "flag": {"type": "string", "enum": ["-v", "-q"]}, "files": {"type": "array", "items": {"type": "string"}}});
    let given = json!({"n": -3, "flag": "-v", "files": ["-rf", "b c"]});
    assert_eq!(run(&all, schema, given).unwrap(), ["--depth=-3", "-v", "--", "-rf", "b c"]);
    assert_eq!(
        run(&["awk", "{print $1}", "{f}"], json!({"f": {"type": "string"}}), json!({"f": "x"})).unwrap(),
        ["{print $1}", "x"]
    );
}

#[test]
fn a_value_is_no_option() {
    let text = || json!({"ref": {"type": "string"}});
    for bad in ["--output=/etc/passwd", "-c", "-", "--"] {
        let why = run(&["git", "log", "{ref}"], text(), json!({ "ref": bad })).unwrap_err();
        assert!(why.contains("begins with a dash"), "{bad}: {why}");
    }
    let list = json!({"refs": {"type": "array", "items": {"type": "string"}}});
    assert!(run(&["git", "log", "{refs}"], list, json!({"refs": ["main", "--all"]})).is_err());
    assert!(
        run(&["x", "{a}{b}"], json!({"a": {"type": "string"}, "b": {"type": "string"}}), json!({"a": "", "b": "-x"}))
            .is_err()
    );
    let pattern = json!({"ref": {"type": "string", "pattern": "^--(all|branches)$"}});
    assert_eq!(run(&["git", "log", "{ref}"], pattern.clone(), json!({"ref": "--all"})).unwrap(), ["log", "--all"]);
    assert!(run(&["git", "log", "{ref}"], pattern, json!({"ref": "--exec=x"})).is_err(), "the pattern holds here too");
    // Dashes among others are meant for names, and a number below zero is an option to many programs.
    for names in ["^[a-z0-9./-]+$", "[a-z]", "^(a|-b)$", "^.*$", "-"] {
        let pattern = json!({"ref": {"type": "string", "pattern": names}});
        assert!(run(&["git", "log", "{ref}"], pattern, json!({"ref": "--all"})).is_err(), "{names}");
    }
    let grouped = json!({"ref": {"type": "string", "pattern": "^(?:--all|-v)$"}});
    assert_eq!(run(&["git", "log", "{ref}"], grouped, json!({"ref": "-v"})).unwrap(), ["log", "-v"]);
    assert!(run(&["kill", "{pid}"], json!({"pid": {"type": "integer"}}), json!({"pid": -1})).is_err());
    let below = json!({"n": {"type": "number", "minimum": -10}});
    assert_eq!(run(&["x", "{n}"], below, json!({"n": -1.5})).unwrap(), ["-1.5"]);
    assert!(run(&["git", "log", "{ref}"], text(), json!({"ref": "a\0b"})).is_err());
    assert!(run(&["git", "log", "{ref}"], text(), json!({"ref": 5})).is_err(), "the schema is checked");
    assert!(run(&["git", "log", "{ref}"], text(), json!({"other": "x"})).is_err());
    assert!(run(&["git", "log", "{ref}"], text(), json!({"ref": "x".repeat(200_000)})).is_err());
}

#[test]
fn a_command_that_makes_no_sense_is_refused_when_it_is_written() {
    let text = || json!({"a": {"type": "string"}});
    assert_eq!(command(&[], text()).unwrap_err(), BadCommand::Empty);
    assert_eq!(command(&["{a}", "x"], text()).unwrap_err(), BadCommand::Open);
    assert_eq!(command(&["git", "{b}"], text()).unwrap_err(), BadCommand::Unknown("b".into()));
    assert_eq!(command(&["git"], text()).unwrap_err(), BadCommand::Unused("a".into()));
}

#[test]
fn endpoints_by_hand() {
    let base = Base::configured("https://h.example/api?key=k").unwrap();
    let input = json!({"type": "object", "properties": {"id": {"type": "string"}, "q": {"type": "string"}, "tags": {"type": "array"}}});
    let made = |method: &str| endpoint(("t", "d"), (method, "/things/{id}?fixed=1"), &input, &base).unwrap();
    let given = json!({"id": "a/b", "q": "x&y", "tags": ["m", "n"]});
    assert_eq!(
        request(&made("get"), given.clone()).url,
        "https://h.example/api/things/a%2Fb?key=k&fixed=1&q=x%26y&tags=m&tags=n"
    );
    let post = request(&made("POST"), given);
    assert_eq!(
        (post.url.as_str(), body(&post)),
        ("https://h.example/api/things/a%2Fb?key=k&fixed=1", r#"{"q":"x&y","tags":["m","n"]}"#)
    );
    assert!(refused(&made("get"), json!({"id": ".."})).contains("path"));
    let bad = |method: &str, path: &str| endpoint(("t", "d"), (method, path), &input, &base).unwrap_err();
    assert_eq!(bad("FETCH", "/x"), BadEndpoint::Method("FETCH".into()));
    assert_eq!(bad("GET", "x"), BadEndpoint::Path("x".into()));
    assert_eq!(bad("GET", "/{other}"), BadEndpoint::Unknown("other".into()));
}
