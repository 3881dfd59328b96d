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
