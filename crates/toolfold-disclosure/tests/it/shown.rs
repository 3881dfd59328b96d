//! Answers to everyday requests, whole, as `find_tools` gives them: to be read by people who change how something is shown.
//! On catalogs of our own, and where they are at hand on those of 108 real servers.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolfold_catalog::ServerSource;
use toolfold_disclosure::tokens;

use crate::fixture::{Fixture, source, tool};
use crate::real;

/// The tools of the sets that search is measured on: 200 and more of some thirty servers.
fn ours() -> Vec<ServerSource> {
    let sets = [
        include_str!("../../../../eval/languages/tools.jsonl"),
        include_str!("../../../../eval/project/tools.jsonl"),
        include_str!("../../../../eval/toolbox/tools.jsonl"),
    ];
    let mut servers: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in sets.iter().flat_map(|set| set.lines()) {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| line[key].as_str().unwrap_or_default();
        let schema =
            if line["input_schema"].is_object() { line["input_schema"].clone() } else { json!({"type": "object"}) };
        let server = if text("server").is_empty() { "project" } else { text("server") };
        servers.entry(server.to_owned()).or_default().push(tool(text("name"), text("description"), schema));
    }
    servers.iter().map(|(name, tools)| source(name, tools)).collect()
}

/// Each request with its answer and what that costs.
fn told(fixture: &Fixture, requests: &[&str]) -> String {
    let mut told = String::new();
    for request in requests {
        let answer = fixture.find(json!({"query": request}));
        writeln!(told, "> {request}  ({} tokens)\n{answer}\n", tokens::count(&answer)).unwrap();
    }
    told
}

#[test]
fn answers_over_our_own_catalogs() {
    let fixture = Fixture::of(ours());
    assert_snapshot!(told(
        &fixture,
        &[
            "turn off a feature flag",
            "let bob read a file",
            "commit staged changes",
            "open a pull request",
            "delete a bucket",
            "count the words of a text",
            "parse a date",
            "extract a column from a csv file",
            "start working on the next task",
            "create_issue",
        ],
    ));
}

#[test]
fn answers_over_real_catalogs() {
    let Some(sources) = real::sources() else { return };
    let fixture = Fixture::of(sources);
    assert_snapshot!(told(
        &fixture,
        &[
            "turn off a feature flag",
            "let bob read a file",
            "commit staged changes",
            "open a pull request",
            "send a text message",
            "twilio CreateMessage",
            "post a message in a slack channel",
            "create a page in notion",
            "append a paragraph to a notion page",
            "run a sql query on postgres",
            "refund a payment",
            "restart a droplet",
            "list pods",
            "take a screenshot",
            "search the web",
            "schedule a meeting with alice",
            "convert a time between time zones",
            "delete an object from a bucket",
            "how much did aws cost last month",
            "find a grafana dashboard",
            "navigate to a url in the browser",
            "stock price of apple",
            "show who last changed each line of a file",
            "run a jenkins build",
            "assign a jira issue",
            "upload a file to google drive",
            "order a pizza",
        ],
    ));
}
