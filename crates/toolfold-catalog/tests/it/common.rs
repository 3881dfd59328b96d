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

fn described(descriptions: &[&str]) -> Vec<Value> {
    let tool = |(number, said): (usize, &&str)| json!({"name": format!("t{number}"), "description": said, "inputSchema": {"type": "object"}});
    descriptions.iter().enumerate().map(tool).collect()
}

/// What three begin with and go on from is known of each, and whether a phrase is over there.
#[test]
fn what_some_tools_begin_with_is_known() {
    let server = ServerTools::read(source(
        "lifts",
        true,
        &described(&[
            "Generates the documentation of a lift in a tower.",
            "Generates the documentation of a lift, as of today.",
            "Generates the documentation of a lift.",
            "Stop a lift",
            "Stop a lift",
            "Stop a lift",
            "Start one motor at once.",
            "Start one door.",
            "Start one motor.",
            "Start one light.",
        ]),
    ))
    .0;
    let alike: Vec<&str> = server.entries.iter().map(|entry| entry.alike()).collect();
    assert_eq!(alike[..3], ["Generates the documentation of a lift"; 3]);
    assert_eq!(alike[3..6], [""; 3], "who says nothing else is told apart by nothing");
    assert_eq!(alike[6..], [""; 4], "two words are little");
    assert!(server.entries[0].alike.is_some_and(|alike| alike.is_phrase));
    let things = ["Show all rooms of a tower", "Show all rooms north of a tower", "Show all rooms below a tower"];
    let server = ServerTools::read(source("lifts", true, &described(&things))).0;
    assert!(server.entries.iter().all(|entry| entry.alike() == "Show all rooms"));
    assert!(server.entries.iter().all(|entry| !entry.alike.is_some_and(|alike| alike.is_phrase)));
    // Who sees two of them sees nothing of what the third one says.
    let server = std::sync::Arc::new(server);
    let seen = server.only(|entry| entry.name() != "t2").unwrap();
    assert!(seen.entries.iter().all(|entry| entry.alike.is_none()));
}
