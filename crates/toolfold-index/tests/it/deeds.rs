//! What a request wants done decides between tools that are about the same thing.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use toolfold_catalog::Catalog;
use toolfold_index::{Hit, Index, Query, Risk};

use crate::{plain, server};

/// The lines of a file of the set that is measured too.
fn lines(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../eval/deeds").join(file);
    let text = std::fs::read_to_string(path).expect("the set is in the repository");
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

fn catalog() -> Catalog {
    let mut servers: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for tool in lines("tools.jsonl") {
        let text = |key: &str| tool[key].as_str().expect("a text").to_owned();
        servers.entry(text("server")).or_default().push(plain(&text("name"), &text("description")));
    }
    Catalog::merge(1, servers.into_iter().map(|(name, tools)| server(&name, tools)))
}

fn search(catalog: &Catalog, text: &str) -> Vec<(String, Hit)> {
    let found = Index::build(catalog).search(catalog, &Query { text, limit: 5, ..Query::default() });
    found.hits.into_iter().map(|hit| (catalog.entry(hit.entry).id.to_string(), hit)).collect()
}

#[test]
fn the_right_deed_is_nearly_always_first_and_always_near() {
    let catalog = catalog();
    let queries = lines("queries.jsonl");
    let mut first = 0;
    for query in &queries {
        let right = query["relevant"][0].as_str().expect("a text");
        let hits = search(&catalog, query["query"].as_str().expect("a text"));
        first += usize::from(hits.first().is_some_and(|(id, _)| id == right));
        assert!(hits.iter().any(|(id, _)| id == right), "{query}: {hits:?}");
    }
    assert!(100 * first >= 85 * queries.len(), "{first} of {}", queries.len());
}

#[test]
fn nothing_grave_is_first_that_nobody_asked_for() {
    let catalog = catalog();
    for query in lines("queries.jsonl") {
        let right = query["relevant"][0].as_str().expect("a text").to_owned();
        let hits = search(&catalog, query["query"].as_str().expect("a text"));
        let risk =
            |id: &str| catalog.entries().iter().find(|entry| entry.id.to_string() == id).map(|entry| Risk::of(entry));
        let destroys = risk(&hits[0].0) == Some(Risk::Destroys);
        assert!(!destroys || risk(&right) == Some(Risk::Destroys), "{query}: {}", hits[0].0);
    }
}

#[test]
fn who_does_something_else_is_not_sure() {
    let catalog = catalog();
    let hits = search(&catalog, "commit staged changes");
    assert_eq!(hits[0].0, "code.git_commit");
    let diff = hits.iter().find(|(id, _)| id == "code.git_diff_staged").expect("it is near");
    assert!(diff.1.confidence < 0.3, "{diff:?}");
    let off = search(&catalog, "turn off a feature flag");
    let delete = off.iter().find(|(id, _)| id == "flags.delete_flag").expect("it is near");
    assert!(off[0].0 == "flags.update_flag" && delete.1.confidence < off[0].1.confidence / 2.0, "{off:?}");
}
