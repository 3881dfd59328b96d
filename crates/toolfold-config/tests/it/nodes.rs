//! `[[nodes]]`: what a good one becomes, and what is wrong with the others.

use insta::assert_snapshot;
use toolfold_core::NodeRule;

use crate::{load_as, toml};

#[test]
fn what_is_said_and_what_is_left_alone() {
    let text = r#"
[[nodes]]
path = ["Business", " Payments "]
summary = "Everything about money"
tags = ["money"]
match = ["stripe.*", "refund a charge"]
[[nodes]]
path = ["${NONE:-Mine}"]
"#;
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let expected = [
        NodeRule {
            path: texts(&["Business", "Payments"]),
            summary: Some("Everything about money".to_owned()),
            tags: Some(texts(&["money"])),
            matches: Some(texts(&["stripe.*", "refund a charge"])),
        },
        NodeRule { path: texts(&["Mine"]), ..NodeRule::default() },
    ];
    assert_eq!(load_as("toolfold.toml", text).unwrap().config.nodes, expected);
    assert!(NodeRule::is_pattern("stripe.*") && NodeRule::is_pattern("a.b") && !NodeRule::is_pattern("send mail."));
}

#[test]
fn what_nobody_could_browse_to() {
    assert_snapshot!(toml(r#"
[[nodes]]
summary = "nowhere"
[[nodes]]
path = []
[[nodes]]
path = ["a", ""]
[[nodes]]
path = ["a/b"]
[[nodes]]
path = ["servers", "mine"]
[[nodes]]
path = ["a", "b", "c", "d", "e"]
[[nodes]]
path = ["Twice"]
[[nodes]]
path = ["twice"]
[[nodes]]
path = ["x"]
match = ["", 7]
[[nodes]]
path = ["y"]
match = [""]
pattern = "a.*"
[[nodes]]
path = "z"
"#), @r#"
    toolfold.toml:2:1: nodes[0]: has no path
      hint: write the names from the root down: `path = ["Business", "Payments"]`
    toolfold.toml:5:1: nodes[1].path: is empty
      hint: write the names from the root down: `path = ["Business", "Payments"]`
    toolfold.toml:7:1: nodes[2].path: has an empty name in it
      hint: write the names from the root down: `path = ["Business", "Payments"]`
    toolfold.toml:9:1: nodes[3].path: has a name with a `/` or `>` in it
      hint: write the names from the root down: `path = ["Business", "Payments"]`
    toolfold.toml:11:1: nodes[4].path: is where every server has its node
      hint: choose another root
    toolfold.toml:13:1: nodes[5].path: has more than four names
      hint: write the names from the root down: `path = ["Business", "Payments"]`
    toolfold.toml:16:1: nodes[7]: there is another node "twice"
      hint: make one of the two
    toolfold.toml:20:14: nodes[8].match[1]: expected a string, found an integer
      hint: put it in quotes
    toolfold.toml:23:10: nodes[9].match[0]: is empty
      hint: write a pattern such as `github.*`, or words that its tools would say of themselves
    toolfold.toml:24:1: nodes[9].pattern: unknown key
      hint: known keys: path, summary, tags, match
    toolfold.toml:26:1: nodes[10].path: expected a list of strings, found a string
      hint: write it as `["…", "…"]`
    "#);
    assert_snapshot!(toml("[nodes]\npath = [\"a\"]"), @r"
    toolfold.toml:1:2: nodes: expected a list of tables, found a table
      hint: write `[[nodes]]` with two brackets
    ");
}
