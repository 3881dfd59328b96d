//! What is common to many tools of one server.

use serde_json::{Value, json};
use toolfold_catalog::ServerTools;

use crate::source;

/// What many tools of a server say tells none of them apart; the description itself stays.
#[test]
fn what_all_tools_of_a_server_say_is_not_said_of_each() {
    let said =
        ["Send a message", "Make a call (Uses the default account)", "Read the log.\nOnly today's.", "List rooms", ""];
    let tools: Vec<Value> = (0..)
        .zip(said)
        .map(|(number, said)| {
            let description =
                format!("Phones - Api: This is the public API. {said}\nError Responses:\n400: Bad request");
            json!({"name": format!("t{number}"), "description": description, "inputSchema": {"type": "object"}})
        })
        .collect();
    let server = ServerTools::read(source("phones", true, &tools)).0;
    let own: Vec<&str> = server.entries.iter().map(|entry| entry.own_description()).collect();
    assert_eq!(own[..2], ["Send a message", "Make a call (Uses the default account)"]);
    assert_eq!(own[2], "Read the log.\nOnly today's.");
    assert_eq!(own[4], server.entries[4].description, "what would have nothing left to say keeps it all");
    assert!(server.entries.iter().all(|entry| entry.description.starts_with("Phones - Api: ")));
    let few = ServerTools::read(source("phones", true, &tools[..3])).0;
    assert!(few.entries.iter().all(|entry| entry.own.is_none()), "three tools may be alike by chance");
}

/// A full stop behind a parenthesis is the same in many descriptions, and without it two sentences are one.
#[test]
fn a_sentence_ends_where_it_ended() {
    let tools: Vec<Value> = ["room", "call", "log", "number", "queue"]
        .map(|thing| {
            let description = format!("Show a {thing} (of type {thing}). Use it when a {thing} is asked for.");
            json!({"name": format!("show_{thing}"), "description": description, "inputSchema": {"type": "object"}})
        })
        .into();
    let server = ServerTools::read(source("phones", true, &tools)).0;
    assert_eq!(server.entries[0].own_description(), "Show a room (of type room). Use it when a room is asked for.");
}
