//! What is said beside an answer, and written into logs: each thing once, and to whom it is of use.

use std::process::Output;

use serde_json::{Value, json};
use toolfold_test::FakeServer;

use crate::fakes::{until, world};
use crate::world::World;

fn run(world: &World, arguments: &[&str]) -> Output {
    world.toolfold(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test]
async fn what_stays_as_it_is_is_written_once() {
    let nameless = json!({"description": "It has no name."});
    let fake = FakeServer::script(json!({"tools": ["fine", nameless]}));
    let world = world("", &[("odd", &fake)]);
    for _ in 0..3 {
        assert!(run(&world, &["ls", "odd"]).status.success());
        assert!(run(&world, &["call", "odd.fine"]).status.success());
    }
    let logs = stdout(&run(&world, &["logs", "odd"]));
    assert_eq!(logs.matches("a tool is set aside").count(), 1, "{logs}");
    let other = json!({"description": "It has no name.", "inputSchema": 1, "name": 7});
    fake.rewrite(json!({"tools": ["fine", other, nameless]}));
    let call_and_count = || {
        assert!(run(&world, &["call", "odd.fine"]).status.success());
        stdout(&run(&world, &["logs", "odd"])).matches("a tool is set aside").count()
    };
    until("the other is written, too", || call_and_count() == 2).await;
}

/// As many are held as before, and they are others.
#[tokio::test]
async fn what_is_held_instead_of_another_is_written() {
    let tool = |name: &str, says: &str| json!({"name": name, "description": says, "inputSchema": {"type": "object"}});
    let list = |one: &str, two: &str| json!({"tools": [tool("one", one), tool("two", two)]});
    let fake = FakeServer::script(list("One.", "Two."));
    let world = world("", &[("s", &fake)]);
    assert!(run(&world, &["call", "s.one"]).status.success());
    let held = || {
        let logs = stdout(&run(&world, &["logs", "s"]));
        let held = logs.lines().filter_map(|line| Some(line.split_once(" is held until ")?.1.split_once(" ids=")?.1));
        held.map(str::to_owned).collect::<Vec<_>>()
    };
    for (changed, called, all) in
        [(list("Now one.", "Two."), "s.two", &["s.one"][..]), (list("One.", "Now two."), "s.one", &["s.one", "s.two"])]
    {
        fake.rewrite(changed);
        let is_written = || run(&world, &["call", called]).status.success() && held() == all;
        until("what is held is written", is_written).await;
    }
}

/// Of thousands that are set aside, each once, and at the end of a short command.
#[test]
fn thousands_that_are_set_aside_are_written_at_once() {
    let tools: Vec<Value> =
        std::iter::once(json!("fine")).chain((0..3_000).map(|_| json!({"description": "No name."}))).collect();
    let fake = FakeServer::script(json!({ "tools": tools }));
    let world = world("", &[("odd", &fake)]);
    for _ in 0..2 {
        assert!(run(&world, &["ls", "odd"]).status.success());
    }
    let logs = stdout(&run(&world, &["logs", "odd", "--lines", "100000"]));
    assert_eq!(logs.matches("a tool is set aside").count(), 3_000);
}

#[test]
fn whom_a_command_waits_for_is_said_and_written() {
    let slow = FakeServer::script(json!({"silent": ["server/discover", "initialize"]}));
    let world = world("", &[("slow", &slow)]);
    let told = stderr(&run(&world, &["ls"]));
    assert!(told.starts_with("waiting for slow …\n"), "{told}");
    let logs = stdout(&run(&world, &["logs", "slow"]));
    assert!(logs.contains("had not answered yet, and was not waited for any longer waited=15s"), "{logs}");
}

#[test]
fn a_person_is_not_sent_to_a_person() {
    let broken = FakeServer::script(json!({"exit_at_start": 1}));
    let world = world("", &[("broken", &broken)]);
    let told = stderr(&run(&world, &["call", "broken.work"]));
    insta::assert_snapshot!(told, @"
    error: broken is configured and not running: the server exited (status 1).

    hint: `toolfold doctor` tries it and says what to do
    ");
}

/// Quiet is about what was not asked.
#[test]
fn why_a_server_that_was_asked_for_is_not_there_is_said_quietly_too() {
    let broken = FakeServer::script(json!({"exit_at_start": 1}));
    let world = world("", &[("broken", &broken)]);
    for command in [
        &["ls", "broken"][..],
        &["call", "broken.work"],
        &["show", "broken.work"],
        &["tree", "Servers/broken"],
        &["types", "broken"],
        &["access", "broken.work"],
        &["search", "work", "--server", "broken"],
        &["tokens", "broken"],
        &["logs", "broken"],
        &["status"],
    ] {
        let output = run(&world, &[command, &["--quiet"]].concat());
        let said = stdout(&output) + &stderr(&output);
        assert!(said.contains("the server exited (status 1)"), "{command:?}: {said}");
    }
}

#[test]
fn a_list_is_written_as_json() {
    let schema = json!({"type": "object", "properties": {
        "tags": {"type": "array", "items": {"type": "string"}}, "options": {"type": "object"}, "count": {"type": "integer"}}});
    let fake = FakeServer::script(json!({"tools": [{"name": "save", "inputSchema": schema}]}));
    let world = world("", &[("notes", &fake)]);
    let told = stderr(&run(&world, &["call", "notes.save", "tags=a,b", "options=x", "count=many"]));
    let hints: Vec<&str> = told.lines().filter(|line| line.contains("written as JSON")).collect();
    insta::assert_snapshot!(hints.join("\n"), @r#"
    hint: a list is written as JSON: tags='["a", "b"]'
    hint: an object is written as JSON: options='{"key": "value"}'
    "#);
    assert!(run(&world, &["call", "notes.save", r#"tags=["a", "b"]"#]).status.success());
}

#[test]
fn what_has_no_names_is_not_nothing() {
    let tool = |name: &str, schema: Value| json!({"name": name, "inputSchema": schema});
    let fake = FakeServer::script(json!({"tools": [
        tool("labels", json!({"type": "object", "patternProperties": {"^l_": {"type": "string"}}})),
        tool("root", json!({"$ref": "#/$defs/it", "$defs": {"it": {"type": "object", "properties": {"a": {"type": "string"}}}}})),
        tool("nothing", json!({"type": "object", "properties": {}, "additionalProperties": false})),
        tool("bare", json!({"type": "object"})),
    ]}));
    let world = world("", &[("s", &fake)]);
    let says = |tool: &str| stdout(&run(&world, &["show", tool]));
    for tool in ["s.nothing", "s.bare"] {
        assert!(says(tool).contains("\n  It takes nothing.\n"), "{}", says(tool));
    }
    assert!(
        says("s.labels").contains("What it takes has no names here: toolfold show s.labels --schema"),
        "{}",
        says("s.labels")
    );
    assert!(!says("s.root").contains("It takes nothing"), "{}", says("s.root"));
}
