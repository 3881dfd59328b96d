//! The command as a person meets it: help, first run, errors, exit codes.

use std::process::Output;

use serde_json::{Value, json};
use toolfold_test::FakeServer;

use crate::fakes::world;
use crate::world::World;

fn run(world: &World, arguments: &[&str]) -> Output {
    world.toolfold(arguments).output().unwrap()
}

/// What the command printed and how it ended, for a snapshot.
fn transcript(world: &World, arguments: &[&str]) -> String {
    let output = run(world, arguments);
    let clean = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&world.path("").display().to_string(), "./");
    let mut text = format!("$ toolfold {}\n{}", arguments.join(" "), clean(&output.stdout));
    if !output.stderr.is_empty() {
        text.push_str(&format!("--- stderr\n{}", clean(&output.stderr)));
    }
    if !output.status.success() {
        text.push_str(&format!("--- exit {}\n", output.status.code().unwrap()));
    }
    text
}

#[test]
fn every_page_of_help() {
    let world = World::without_config();
    let mut pages = transcript(&world, &["--help"]);
    let first =
        ["serve", "check", "doctor", "trust", "search", "ls", "tree", "show", "call", "status", "tokens", "page"];
    let then = ["logs", "approve", "scan", "audit", "usage", "prompt", "eval", "forget", "reference", "completions"];
    let files = ["import", "install", "add", "remove"];
    for command in first.into_iter().chain(then).chain(files) {
        pages.push_str(&transcript(&world, &[command, "--help"]));
    }
    insta::assert_snapshot!(pages);
}

#[test]
fn the_first_run() {
    let world = World::without_config();
    let mut told = String::new();
    for arguments in [
        &["check"][..],
        &["status"],
        &["ls"],
        &["search", "what", "time", "is", "it", "-n", "1"],
        &["show", "time_convert"],
        &["prompt"],
        &["prompt", "--surface", "ontology", "--json"],
        &["call", "calculate", "expression=6*7"],
        &["call", "base64_encode", "text=hello", "--json"],
    ] {
        told.push_str(&transcript(&world, arguments));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn mistakes_say_what_to_do() {
    let world = World::without_config();
    let mut told = String::new();
    for arguments in [
        &["call", "calculat", "expression=1"][..],
        &["call", "calculate", "expresion=1"],
        &["call", "calculate", "nonsense"],
        &["call", "calculate", "expression=1/0"],
        &["show", "time_convert", "--parameter", "colour"],
        &["ls", "toolbx"],
        &["search", "zxqwv"],
        &["serve", "--surface", "compct"],
        &["serve", "--listen", "0.0.0.0:0"],
        &["check", "--config", "missing.toml"],
    ] {
        told.push_str(&transcript(&world, arguments));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn a_failing_server_is_exit_code_three() {
    let broken = FakeServer::script(json!({"exit_at_start": 1, "stderr": 1}));
    let world = world("", &[("broken", &broken)]);
    let output = run(&world, &["status", "--json"]);
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status[0]["state"], "failing");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_search_can_be_narrowed() {
    let world = World::without_config();
    let found = |more: &[&str]| -> Vec<String> {
        let output = run(&world, &[&["search", "time", "--json"], more].concat());
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        found["hits"].as_array().unwrap().iter().map(|hit| hit["tool"].as_str().unwrap().to_owned()).collect()
    };
    assert!(found(&["--prefix", "time_"]).iter().all(|tool| tool.starts_with("toolbox.time_")));
    assert!(!found(&["--path", "Data/Dates and times"]).is_empty());
    assert!(found(&["--path", "Storage"]).iter().all(|tool| tool.contains("file")));
    assert!(found(&["--tag", "none-has-this"]).is_empty());
    let lost = run(&world, &["search", "time", "--path", "Data/Dates and tides"]);
    assert_eq!(lost.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&lost.stderr).contains("hint: "), "{lost:?}");
}

#[test]
fn programs_get_json_and_people_are_told_apart() {
    let world = World::without_config();
    let output = run(&world, &["search", "hash", "--json", "--explain"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["hits"][0]["tool"], "toolbox.hash_digest");
    assert!(output.stderr.is_empty());
    let tree: Value = serde_json::from_slice(&run(&world, &["tree", "--json"]).stdout).unwrap();
    let servers = tree["nodes"].as_array().unwrap().last().unwrap();
    assert_eq!(servers["nodes"][0]["path"], json!(["Servers", "toolbox"]));
    let bash = run(&world, &["completions", "bash"]);
    assert!(String::from_utf8_lossy(&bash.stdout).contains("_toolfold"));
}

#[test]
fn the_toolbox_as_a_tree() {
    let world = World::without_config();
    insta::assert_snapshot!(transcript(&world, &["tree", "--names"]), @"
    $ toolfold tree --names
    Storage  Files, folders, objects, disks and backups
      Files  Read, write, move and find files and directories
        toolbox.file_info
        toolbox.list_directory
        toolbox.read_file
        toolbox.search_files
    Data  Analyse, convert, calculate and move data
      Conversion  Convert, encode, decode, parse and format values
        toolbox.base64_decode
        toolbox.base64_encode
        toolbox.csv_to_json
        toolbox.hash_digest
        toolbox.hex_decode
        toolbox.hex_encode
        toolbox.json_diff
        toolbox.json_format
        toolbox.json_query
        toolbox.json_validate
        toolbox.markdown_table
        toolbox.number_base
        toolbox.unit_convert
        toolbox.url_decode
        toolbox.url_encode
      Text  Change, compare, search and measure text
        toolbox.regex_find
        toolbox.regex_replace
        toolbox.text_case
        toolbox.text_count
        toolbox.text_diff
        toolbox.text_replace
        toolbox.text_sort_lines
      Calculation  Arithmetic, statistics, random values and identifiers
        toolbox.calculate
        toolbox.random_number
        toolbox.random_uuid
        toolbox.statistics
      Dates and times  Clocks, dates, durations and time zones
        toolbox.time_add
        toolbox.time_convert
        toolbox.time_difference
        toolbox.time_now
    Servers  every tool, by the server it belongs to
      toolbox  34 tools
    ");
}

#[test]
fn a_reader_that_has_enough_is_no_error() {
    let world = World::without_config();
    let script = format!("{} tree | head -1", env!("CARGO_BIN_EXE_toolfold"));
    let output = world.settle(std::process::Command::new("sh")).args(["-c", &script]).output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
