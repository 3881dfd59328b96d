//! Configurations that are no text, no plain text or far too much of it.

use insta::assert_snapshot;

use crate::{said, toml};

#[test]
fn files_that_are_no_text() {
    assert_snapshot!(said("toolfold.toml", b"surface = \"compact\"\n# \xff"), @r#"
    toolfold.toml: is not UTF-8 text (line 2)
      hint: save it as UTF-8
    "#);
    assert_snapshot!(said("toolfold.toml", vec![b'#'; 5 << 20]), @"toolfold.toml: is larger than 4 MiB, too large for a configuration");
    assert_snapshot!(said("toolfold.toml", "\u{feff}budget = 1"), @r#"
    toolfold.toml:1:1: budget: must be between 50 and 1000000
      hint: an answer needs at least 50 tokens to say anything, and a million is more than a model reads
    "#);
}

#[test]
fn control_characters_stay_off_the_terminal() {
    assert_snapshot!(toml("\"\\u001b[31m\" = 1\nsurface = \"\\u001b[2J\""), @r#"
    toolfold.toml:1:1: "\u{1b}[31m": unknown key
      hint: known keys: surface, groups, format, pin, prefer, doors, learn, budget, toolbox, store, agents, skills, scripts, code, nodes, rules, issuers, search, limits, audit, telemetry, results, oauth, cluster, scan, http, servers
    toolfold.toml:2:1: surface: there is no surface "\u{1b}[2J"
      hint: surfaces: compact, hybrid, two-phase, single, lifecycle, levels, ontology, gateway, code, direct
    "#);
}

#[test]
fn a_flood_is_cut() {
    let text: String = (0..20_000).map(|i| format!("key{i:06} = 1\n")).collect();
    let said = toml(&text);
    assert_eq!(said.lines().filter(|line| line.contains("unknown key")).count(), 100);
    assert_snapshot!(said.lines().last().unwrap(), @"19900 more like these are not shown");
}
