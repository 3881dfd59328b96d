//! Tools of real servers, none of which is known to be malicious: how often the scanner cries over nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use toolfold_scan::{Context, Severity, scan_definition};
use toolfold_wire::{Object, Raw, raw_of};

fn text(tool: &Raw, key: &str) -> String {
    Object::parse(tool).and_then(|tool| tool.string(key)).unwrap_or_default()
}

#[test]
fn real_tools_are_rarely_reported() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/catalogs");
    let Ok(files) = fs::read_dir(&folder) else {
        println!("skipped: there is no {}", folder.display());
        return;
    };
    let mut servers: BTreeMap<String, Vec<Raw>> = BTreeMap::new();
    for file in files.flatten().map(|file| file.path()) {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if !name.starts_with('_') {
            // As they are written: a value would have lost what is there twice.
            let list = Object::parse(&raw_of(&fs::read_to_string(&file).unwrap()).unwrap()).unwrap();
            servers.insert(name, list.items("tools", usize::MAX));
        }
    }
    let mut context = Context::new();
    for (server, tools) in &servers {
        let told: Vec<(String, String)> =
            tools.iter().map(|tool| (text(tool, "name"), text(tool, "description"))).collect();
        context.add(server, told.iter().map(|(name, description)| (name.as_str(), description.as_str())));
    }
    let (mut all, mut hard, mut review) = (0, 0, 0);
    let mut families: BTreeMap<&str, usize> = BTreeMap::new();
    for (server, tools) in &servers {
        for tool in tools {
            let report = scan_definition(server, tool, &context);
            all += 1;
            hard += usize::from(report.severity() == Some(Severity::Hard));
            review += usize::from(report.severity() == Some(Severity::Review));
            for family in report.findings.iter().map(|finding| finding.family.as_str()).collect::<BTreeSet<_>>() {
                *families.entry(family).or_default() += 1;
            }
            for finding in &report.findings {
                println!(
                    "{server}.{} {} {:?}: {}",
                    text(tool, "name"),
                    finding.rule,
                    finding.severity,
                    finding.excerpt
                );
            }
        }
    }
    println!("{all} tools: {hard} hard, {review} to review; by family: {families:?}");
    assert!(all > 4_000);
    assert!(hard <= 2, "{hard}");
    assert!(review as f64 <= 0.015 * all as f64, "{review} of {all}");
}
