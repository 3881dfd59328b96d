//! Requests of people who do not ask in English.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold_catalog::Catalog;
use toolfold_index::{Index, Query};

use crate::{catalog, server, tool};

/// The lines of a file of the set that is measured too.
fn lines(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../eval/languages").join(file);
    let text = std::fs::read_to_string(path).expect("the set is in the repository");
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

fn everyday() -> Catalog {
    let mut servers: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for line in lines("tools.jsonl") {
        let text = |key: &str| line[key].as_str().expect("a text").to_owned();
        let schema = line.get("input_schema").cloned().unwrap_or(json!({"type": "object"}));
        servers.entry(text("server")).or_default().push(tool(&text("name"), &text("description"), schema));
    }
    Catalog::merge(1, servers.into_iter().map(|(name, tools)| server(&name, tools)))
}

#[test]
fn every_language_finds_most_and_claims_no_more_than_it_knows() {
    let catalog = everyday();
    let index = Index::build(&catalog);
    // By language: requests, those whose tool is among the first five, and of the sure ones how many were wrong.
    let mut found: BTreeMap<String, [usize; 4]> = BTreeMap::new();
    for line in lines("queries.jsonl") {
        let text = line["query"].as_str().expect("a text");
        let hits = index.search(&catalog, &Query { text, limit: 5, ..Query::default() }).hits;
        let right = |entry: usize| catalog.entry(entry).id.to_string() == line["relevant"][0].as_str().expect("an id");
        let sums = found.entry(line["style"].as_str().expect("a language").to_owned()).or_default();
        let sure = hits.first().is_some_and(|hit| hit.confidence >= 0.8);
        sums[0] += 1;
        sums[1] += usize::from(hits.iter().any(|hit| right(hit.entry)));
        sums[2] += usize::from(sure);
        sums[3] += usize::from(sure && !right(hits[0].entry));
    }
    for (language, [all, among_five, sure, wrong]) in found {
        assert!(among_five * 100 >= all * 65, "{language}: {among_five} of {all}");
        assert!(wrong * 5 <= sure, "{language}: {wrong} of {sure} sure ones are wrong");
    }
}

#[test]
fn what_only_looks_foreign_is_a_name() {
    let catalog = catalog();
    let index = Index::build(&catalog);
    let first = |text: &str| {
        let hits = index.search(&catalog, &Query { text, limit: 1, ..Query::default() }).hits;
        hits.first().map(|hit| catalog.entry(hit.entry).id.to_string())
    };
    assert_eq!(first("gitlab pipeline").as_deref(), Some("gitlab.get_pipeline"));
    assert_eq!(first("ein Ticket im Repository erstellen").as_deref(), first("create issue in repository").as_deref());
}

proptest! {
    #[test]
    fn any_text_is_searched(text in "[a-zäöüßéèñ \u{3040}-\u{30ff}\u{4e00}-\u{4eff},.!?0-9-]{0,60}") {
        let catalog = catalog();
        let found = Index::build(&catalog).search(&catalog, &Query { text: &text, limit: 10, ..Query::default() });
        prop_assert!(found.hits.iter().all(|hit| (0.0..=1.0).contains(&hit.confidence)));
    }
}
