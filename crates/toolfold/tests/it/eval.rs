//! `toolfold eval`, and the sets in `eval/` that search is measured on.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::world::World;

fn sets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../eval")
}

fn lines(file: &str) -> Vec<Value> {
    let text = fs::read_to_string(sets().join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn run(world: &World, arguments: &[&str]) -> String {
    let output = world.toolfold(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_toolbox_is_measured_as_it_is() {
    let exported = run(&World::without_config(), &["eval", "--export"]);
    let kept = fs::read_to_string(sets().join("toolbox/tools.jsonl")).unwrap();
    assert_eq!(exported, kept, "the toolbox has changed: `cargo xtask eval --record` writes it and its figures anew");
}

#[test]
fn every_tool_is_asked_for_and_every_query_is_asked_once() {
    for set in ["toolbox", "project"] {
        let queries = lines(&format!("{set}/queries.jsonl"));
        let each = |key: &str| queries.iter().map(|query| query[key].as_str().unwrap()).collect::<HashSet<_>>().len();
        assert_eq!((each("id"), each("query")), (queries.len(), queries.len()), "{set}");
        let asked: BTreeSet<&str> =
            queries.iter().flat_map(|query| query["relevant"].as_array().unwrap()).filter_map(Value::as_str).collect();
        let tools = lines(&format!("{set}/tools.jsonl"));
        let tools: BTreeSet<&str> = tools.iter().map(|tool| tool["id"].as_str().unwrap()).collect();
        assert_eq!(asked, tools, "{set}");
    }
}

#[test]
fn a_file_of_queries_is_enough_to_measure_what_is_configured() {
    let world = World::without_config();
    let queries = [
        r#"{"query": "compute a hash", "relevant": ["toolbox.hash_digest"]}"#,
        r#"{"query": "book a hotel room", "relevant": []}"#,
    ];
    fs::write(world.path("queries.jsonl"), queries.join("\n")).unwrap();
    let told = run(&world, &["eval", "--queries", "queries.jsonl", "--calibration", "--json"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["tools"], 34);
    let figures = &told["figures"];
    assert_eq!((&figures["queries"], &figures["unanswerable"]), (&1.into(), &1.into()));
    assert_eq!((&figures["hit_1"], &figures["ndcg_10"]), (&100.0.into(), &100.0.into()));
    let bins = told["calibration"].as_array().unwrap();
    assert_eq!(bins.len(), 10);
    assert!((1..=2).contains(&bins.iter().map(|bin| bin["queries"].as_u64().unwrap()).sum::<u64>()), "{bins:#?}");

    let table = run(&world, &["eval", "--queries", "queries.jsonl", "--calibration"]);
    assert!(table.starts_with("34 tools, 2 queries\nHit@1                       100.0\n"), "{table}");
    assert!(table.contains("\nconfidence  first hits  claimed  right\n"), "{table}");
}

#[test]
fn the_encoder_in_the_repository_finds_more_than_the_fast_tier() {
    let world = World::without_config();
    let weights = sets().join("../weights/precise.bin");
    for set in ["toolbox", "project"] {
        let [tools, queries] = ["tools", "queries"].map(|file| sets().join(format!("{set}/{file}.jsonl")));
        let gain = |more: &[&str]| {
            let arguments =
                ["eval", "--json", "--tools", tools.to_str().unwrap(), "--queries", queries.to_str().unwrap()];
            let told: Value = serde_json::from_str(&run(&world, &[&arguments[..], more].concat())).unwrap();
            told["figures"]["ndcg_10"].as_f64().unwrap()
        };
        let (fast, precise) = (gain(&[]), gain(&["--precise", weights.to_str().unwrap()]));
        assert!(precise > fast, "{set}: {precise} with it, {fast} without");
    }
}

#[test]
fn what_a_set_leaves_out_may_be_null() {
    let world = World::without_config();
    fs::write(
        world.path("tools.jsonl"),
        r#"{"id": "a", "name": "dig", "server": null, "description": null, "input_schema": null}"#,
    )
    .unwrap();
    fs::write(world.path("queries.jsonl"), r#"{"query": "dig", "relevant": ["a"]}"#).unwrap();
    let told = run(&world, &["eval", "--tools", "tools.jsonl", "--queries", "queries.jsonl", "--json"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["figures"]["hit_1"], 100.0);
}

#[test]
fn each_side_of_the_ranking_can_be_seen_alone() {
    let world = World::without_config();
    let queries = sets().join("toolbox/queries.jsonl");
    let arguments = ["eval", "--queries", queries.to_str().unwrap(), "--compare"];
    let told: Value = serde_json::from_str(&run(&world, &[&arguments[..], &["--json"]].concat())).unwrap();
    let good = |side: &str| told[side]["ndcg_10"].as_f64().unwrap();
    assert!(good("lexical") != good("semantic") && good("figures") > good("lexical"), "{told:#}");
    assert_eq!(told["lexical"]["answer_tokens"], Value::Null, "nobody is answered with one side");
    let table = run(&world, &arguments);
    let heading: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(heading, ["lexical", "semantic", "fused"]);
}

#[test]
fn a_set_that_cannot_be_read_says_where() {
    let world = World::without_config();
    fs::write(world.path("queries.jsonl"), "{\"query\": \"x\", \"relevant\": [\"toolbox.nothing\"]}\n").unwrap();
    let output = world.toolfold(&["eval", "--queries", "queries.jsonl"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stderr), @r#"
    error: queries.jsonl:1: no tool has the id "toolbox.nothing"

    hint: each line is a JSON object; `toolfold eval --help` names its members
    "#);
}
