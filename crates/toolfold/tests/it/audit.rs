//! `toolfold audit` and `toolfold usage`, as a person meets them.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};
use toolfold_test::FakeServer;

use crate::fakes::world;
use crate::world::World;

fn run(world: &World, arguments: &[&str]) -> Output {
    world.toolfold(arguments).output().unwrap()
}

fn printed(world: &World, arguments: &[&str]) -> String {
    let output = run(world, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json_of(world: &World, arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(world, &[arguments, &["--json"]].concat())).unwrap()
}

#[test]
fn what_was_done_can_be_seen_followed_and_verified() {
    let fake = FakeServer::script(json!({"tools": ["look"]}));
    let world = world("", &[("fake", &fake)]);
    let nothing = run(&world, &["audit", "tail"]);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("Nothing is written down yet"));

    printed(&world, &["call", "fake.look"]);
    printed(&world, &["call", "fake.look"]);
    let tail = printed(&world, &["audit", "tail"]);
    assert!(tail.contains("call    fake.look") && tail.contains("result  fake.look"), "{tail}");
    let traced = json_of(&world, &["audit", "trace", "fake.look"]);
    assert_eq!(traced.as_array().unwrap().len(), 4, "{traced}");
    let number = traced[0]["event"]["number"].to_string();
    assert_eq!(json_of(&world, &["audit", "show", &number])["event"]["principal"], "local");
    let head = printed(&world, &["audit", "head"]);
    assert!(printed(&world, &["audit", "verify"]).ends_with(&format!("head {head}")));
    let exported = printed(&world, &["audit", "export"]);
    assert!(exported.lines().all(|line| serde_json::from_str::<Value>(line).unwrap()["hash"].is_string()));
    let cef = printed(&world, &["audit", "export", "--format", "cef"]);
    assert!(cef.lines().all(|line| line.starts_with("CEF:0|Toolfold|Toolfold|")), "{cef}");
    let usage = json_of(&world, &["usage"]);
    assert_eq!(usage["usage"]["tools"]["fake.look"]["calls"], 2, "{usage}");
    assert_eq!(usage, json_of(&world, &["audit", "usage"]));
    assert!(printed(&world, &["usage"]).contains("Saved: about"));

    // Somebody else did it: a letter in the middle of an event.
    let path = world.path("store.audit.db");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(5).position(|window| window == b"local").unwrap();
    bytes[at] = b'v';
    fs::write(&path, bytes).unwrap();
    let broken = run(&world, &["audit", "verify"]);
    let told = String::from_utf8_lossy(&broken.stderr).into_owned();
    assert_eq!(broken.status.code(), Some(1));
    assert!(told.contains("is not as it was written from event "), "{told}");
}

#[test]
fn switched_off_there_is_none() {
    let fake = FakeServer::script(json!({"tools": ["look"]}));
    let world = world("[audit]\nmode = \"off\"", &[("fake", &fake)]);
    printed(&world, &["call", "fake.look"]);
    assert!(!world.path("store.audit.db").exists());
}
