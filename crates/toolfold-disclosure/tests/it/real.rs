//! The tool lists of real servers, where somebody has put them beside the repository. What must hold for any definition is
//! a property test; here is what must hold for the ones people use, and what they cost.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use toolfold_catalog::{Catalog, ServerSource, ServerTools};
use toolfold_core::{Entry, ServerName, Surface, slug};
use toolfold_disclosure::level::{self, Level};
use toolfold_disclosure::{Checker, View, tokens, tools};
use toolfold_index::Index;
use toolfold_wire::{Raw, raw_of};

use crate::fixture::Fixture;
use crate::reader;

/// What the servers listed, by name; nothing where the lists are not there, which is said.
pub(crate) fn sources() -> Option<Vec<ServerSource>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/catalogs");
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("SKIPPED: there are no real tool lists beside the repository");
        return None;
    };
    let mut sources = Vec::new();
    for file in files.map(|file| file.unwrap().path()) {
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        if stem.starts_with('_') || file.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let list: BTreeMap<String, Raw> = serde_json::from_str(&text).unwrap();
        let tools: Vec<Raw> = serde_json::from_str(list["tools"].get()).unwrap();
        let name = ServerName::new(slug(&stem)).unwrap();
        sources.push(ServerSource { name, prefix: true, title: None, instructions: None, tools });
    }
    sources.sort_by_key(|source| source.name.to_string());
    Some(sources)
}

fn catalog() -> Option<Catalog> {
    let read = |source: ServerSource| {
        let (server, set_aside) = ServerTools::read(source);
        assert_eq!(set_aside, []);
        Arc::new(server)
    };
    Some(Catalog::merge(1, sources()?.into_iter().map(read)))
}

#[test]
fn every_signature_has_every_required_parameter() {
    let Some(catalog) = catalog() else { return };
    for entry in catalog.entries() {
        let text = level::signature(entry).text;
        for name in entry.input_schema()["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            assert!(text.contains(&format!("{name}: ")), "{}: {name} is not in {text}", entry.id);
        }
    }
}

/// Whoever has read the line can call the tool, or has been told to read on.
#[test]
fn every_signature_suffices_for_a_call_or_says_that_it_does_not() {
    let Some(catalog) = catalog() else { return };
    let checker = Checker::new();
    let misled: Vec<String> = catalog.entries().iter().filter_map(|entry| reader::misled(&checker, entry)).collect();
    let marked = catalog.entries().iter().filter(|entry| level::signature(entry).partial).count();
    println!("{} of {} signatures have a ~", marked, catalog.len());
    assert!(misled.is_empty(), "{} of {}: {misled:#?}", misled.len(), catalog.len());
    assert!(marked * 3 < catalog.len(), "a mark that is everywhere is read nowhere");
}

#[test]
fn every_summary_is_short_and_says_something() {
    let Some(catalog) = catalog() else { return };
    for entry in catalog.entries() {
        let summary = level::summary(entry);
        assert!((1..=10).contains(&summary.split_whitespace().count()), "{}: {summary}", entry.id);
        assert_ne!(summary, entry.name());
    }
}

#[test]
fn nearly_every_example_is_accepted() {
    let Some(catalog) = catalog() else { return };
    let checker = Checker::new();
    let mut refused = Vec::new();
    for entry in catalog.entries() {
        let arguments = raw_of(&level::example(entry).to_string()).unwrap();
        if let Err(refusal) = checker.check(entry, Some(arguments.clone())) {
            refused.push(format!("{} {arguments}: {:?}", entry.id, refusal.hints));
        }
    }
    let unusable = checker.take_unusable();
    println!("{} of {} examples are refused, {} schemas are unusable", refused.len(), catalog.len(), unusable.len());
    refused.iter().for_each(|line| println!("  {}", line.chars().take(400).collect::<String>()));
    unusable.iter().for_each(|(id, why)| println!("  {id}: {why}"));
    assert!(refused.len() * 200 <= catalog.len(), "{refused:#?}");
}

#[test]
fn what_each_level_costs() {
    let Some(catalog) = catalog() else { return };
    let mean = |step: usize, cost: &dyn Fn(&Entry) -> usize| {
        let costs: Vec<usize> = catalog.entries().iter().step_by(step).map(|entry| cost(entry)).collect();
        costs.iter().sum::<usize>() as f64 / costs.len() as f64
    };
    let summary = mean(1, &|entry| tokens::count(&format!("{} — {}", entry.id, level::summary(entry))));
    let signature = mean(1, &|entry| {
        tokens::count(&format!("{}({}) — {}", entry.id, level::signature(entry).text, level::summary(entry)))
    });
    let as_json = |level: Level| move |entry: &Entry| tokens::count(level::describe(entry, level).get());
    let details = mean(1, &as_json(Level::Details));
    println!("\nMean tokens of a tool by level, {} real tools", catalog.len());
    println!(
        "  0   name                                   {:>6.1}",
        mean(1, &|entry| tokens::count(&entry.id.to_string()))
    );
    println!("  1   name and summary              (≤ 20)   {summary:>6.1}");
    println!("  1s  name, signature and summary   (≤ 45)   {signature:>6.1}");
    println!("  2   details                       (≤ 90)   {details:>6.1}");
    // The whole schemas of four thousand tools take a while to count.
    println!("  3   full, of every tenth                   {:>6.1}", mean(10, &as_json(Level::Full)));
    println!(
        "      the definition, of every tenth         {:>6.1}",
        mean(10, &|entry| tokens::count(entry.definition.get()))
    );
    let partial = catalog.entries().iter().filter(|entry| level::signature(entry).partial).count();
    println!("  signatures that leave something out: {:.1} %", 100.0 * partial as f64 / catalog.len() as f64);
    assert!(summary <= 20.0 && signature <= 45.0 && details <= 90.0);
}

#[test]
fn direct_gives_every_definition_back_with_nothing_but_its_name_changed() {
    let Some(catalog) = catalog() else { return };
    let index = Index::build(&catalog);
    println!("index: {} bytes, {} a tool", index.bytes(), index.bytes() / catalog.len());
    let view = View::new(&catalog, &index, 700);
    let listed = tools(Surface::Direct, &view);
    assert_eq!(listed.len(), catalog.len());
    let entries = catalog.servers().iter().flat_map(|server| &server.entries);
    for (entry, listed) in entries.zip(listed) {
        let mut shown: Value = serde_json::from_str(listed.get()).unwrap();
        let sent: Value = serde_json::from_str(entry.definition.get()).unwrap();
        let position = catalog.resolve(shown["name"].as_str().unwrap()).unwrap();
        assert_eq!(catalog.entry(position).id, entry.id);
        shown["name"] = sent["name"].clone();
        assert_eq!(shown, sent);
    }
}

/// Whoever asks for everything about a tool gets what fits, and is told how to get the rest.
#[test]
fn the_whole_of_every_tool_keeps_the_budget() {
    let Some(sources) = sources() else { return };
    let fixture = Fixture::of(sources);
    let mut shortened = 0;
    for position in (0..fixture.catalog.len()).step_by(4) {
        let id = fixture.catalog.entry(position).id.to_string();
        let details = fixture.find(json!({"tool": id}));
        assert!(tokens::count(&details) <= 700, "{id}: {} tokens of details", tokens::count(&details));
        let full = fixture.find(json!({"tool": id, "detail": "full"}));
        assert!(tokens::count(&full) <= 700, "{id}: {} tokens", tokens::count(&full));
        let full: Value = serde_json::from_str(&full).unwrap_or_else(|error| panic!("{id}: {error}: {full}"));
        if full["shortened"].is_array() {
            shortened += 1;
            assert!(full["note"].as_str().is_some_and(|note| note.contains("parameter")), "{id}: {full}");
        }
    }
    println!("{shortened} tools of every fourth are shown in part");
}

/// What many tools of one server begin or end with is not what one of them does.
#[test]
fn no_summary_is_what_a_server_says_of_everything() {
    let Some(catalog) = catalog() else { return };
    for entry in catalog.entries() {
        let summary = level::summary(entry).to_lowercase();
        assert!(!["error responses", "this is the public"].iter().any(|words| summary.contains(words)), "{summary}");
    }
}

/// Where three tools of a server have one summary, nothing that they say differs.
#[test]
fn no_summary_is_that_of_several_tools() {
    let Some(catalog) = catalog() else { return };
    for server in catalog.servers() {
        let mut alike: BTreeMap<String, Vec<&Entry>> = BTreeMap::new();
        for entry in &server.entries {
            alike.entry(level::summary(entry)).or_default().push(entry);
        }
        for (summary, entries) in alike.iter().filter(|(_, entries)| entries.len() > 2) {
            let said = entries[0].own_description();
            assert!(entries.iter().all(|entry| entry.own_description() == said), "{}: {summary}", server.name);
        }
    }
}
