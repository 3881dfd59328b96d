//! How much of what is known to be malicious is seen, and how much of what is not. Rules may change; these figures may
//! not get worse.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;
use toolfold_scan::{Context, Family, Report, Severity, scan_definition};

struct Labelled {
    id: String,
    malicious: bool,
    category: String,
    language: String,
    report: Report,
}

fn read(path: &Path) -> Option<Vec<Labelled>> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.lines().map(|line| scanned(&serde_json::from_str(line).unwrap())).collect())
}

fn scanned(line: &Value) -> Labelled {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let mut context = Context::new();
    for peer in line["peers"].as_array().into_iter().flatten() {
        let (name, description) = (text(&peer["tool"], "name"), text(&peer["tool"], "description"));
        context.add(&text(peer, "server"), [(name.as_str(), description.as_str())]);
    }
    let family = if line["family"].is_string() { "family" } else { "category" };
    Labelled {
        id: text(line, "id"),
        malicious: line["label"] == "malicious",
        category: text(line, family),
        language: text(line, "language"),
        report: scan_definition(&text(line, "server"), &line["tool"], &context),
    }
}

/// Share of these that have a finding.
fn share(set: &[&Labelled]) -> f64 {
    let found = set.iter().filter(|one| one.report.severity().is_some()).count();
    found as f64 / set.len().max(1) as f64
}

fn table(set: &[Labelled]) {
    let mut rows: BTreeMap<(bool, &str), [usize; 3]> = BTreeMap::new();
    for one in set {
        let row = rows.entry((one.malicious, &one.category)).or_default();
        row[0] += 1;
        row[1] += usize::from(one.report.severity() == Some(Severity::Hard));
        row[2] += usize::from(one.report.severity() == Some(Severity::Review));
    }
    for ((malicious, category), [all, hard, review]) in rows {
        println!(
            "malicious={malicious:<5} {category:<24} {all:>3}  hard {hard:>3}  review {review:>3}  none {:>3}",
            all - hard - review
        );
    }
}

#[test]
fn our_own_definitions() {
    let set = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/definitions.jsonl")).unwrap();
    table(&set);
    let of = |malicious: bool| set.iter().filter(|one| one.malicious == malicious).collect::<Vec<_>>();
    let (bad, good) = (of(true), of(false));
    assert!(bad.len() + good.len() >= 150);
    for one in &set {
        if one.malicious != one.report.severity().is_some() {
            println!("{}: {:?}", one.id, one.report.findings);
        }
    }
    assert!(share(&bad) >= 0.95, "{}", share(&bad));
    assert!(share(&good) <= 0.02, "{}", share(&good));
    assert!(good.iter().all(|one| !one.report.is_hard()));
    for language in ["de", "es", "fr", "zh"] {
        let there: Vec<&Labelled> = bad.iter().copied().filter(|one| one.language == language).collect();
        assert!(there.len() >= 4 && share(&there) >= 0.9, "{language}: {}", share(&there));
    }
}

/// Prints the table of docs/trust.md: by which family what was written for it is reported, and what each one reports elsewhere.
#[test]
fn every_family_speaks_of_its_own() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let of = |name: &str| read(&data.join(name)).unwrap();
    let [set, others_words, calm, fresh] =
        ["definitions", "paraphrases", "calm", "fresh"].map(|name| of(&format!("{name}.jsonl")));
    let others = read(&data.join("../../../../../shared/poison/dev.jsonl")).unwrap_or_default();
    let mut silent = Vec::new();
    for family in Family::ALL {
        let speaks = |one: &&Labelled| one.report.findings.iter().any(|finding| finding.family == family);
        let count = |set: &[Labelled], malicious: bool| {
            set.iter().filter(|one| one.malicious == malicious).filter(speaks).count()
        };
        let written: Vec<_> = set.iter().filter(|one| one.malicious && one.category == family.as_str()).collect();
        let own = written.iter().copied().filter(speaks).count();
        let reported = written.iter().filter(|one| one.report.severity().is_some()).count();
        println!(
            "| {} | {} | {own} | {} | {} | {} / {} | {} | {} / {} | {} / {} |",
            family.as_str(),
            written.len(),
            reported - own,
            written.len() - reported,
            count(&others, true),
            count(&others, false),
            count(&others_words, true),
            count(&calm, true),
            count(&calm, false),
            count(&fresh, true),
            count(&fresh, false),
        );
        if !written.is_empty() && own == 0 {
            silent.push(family.as_str());
        }
    }
    let families: BTreeSet<&str> = set.iter().filter(|one| one.malicious).map(|one| one.category.as_str()).collect();
    assert!(silent.is_empty() && families.len() >= 18, "{silent:?} {}", families.len());
}

/// Attacks that were written by somebody who had not looked at the rules, in other words than any rule had then: 34 of 111 were
/// reported at first. Every second one was then read and learned from; the others were only counted.
#[test]
fn the_same_in_other_words() {
    let set = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/paraphrases.jsonl")).unwrap();
    table(&set);
    let halves = |rest: usize| set.iter().enumerate().filter(move |(place, _)| place % 2 == rest);
    let of = |rest: usize| halves(rest).map(|(_, one)| one).collect::<Vec<_>>();
    for one in set.iter().filter(|one| one.report.severity().is_none()) {
        println!("{} ({}) is not reported", one.id, one.category);
    }
    let (read, counted) = (share(&of(0)), share(&of(1)));
    println!("read {read:.2}, only counted {counted:.2}");
    assert!(set.len() >= 100 && set.iter().all(|one| one.malicious));
    assert!(read >= 0.95, "{read}");
    assert!(counted >= 0.8, "{counted}");
}

/// Attacks as calm as they can be, without an order and without alarm, and as many harmless ones that speak of the same. `c-` and
/// `d-` were read and learned from, `e-` was written afterwards and only counted: what nobody has read is hardly seen.
#[test]
fn calm_ones() {
    let set = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/calm.jsonl")).unwrap();
    let of = |kind: &str| set.iter().filter(|one| one.id.starts_with(kind)).collect::<Vec<_>>();
    for one in set.iter().filter(|one| one.malicious != one.report.severity().is_some()) {
        println!("{} ({}): {:?}", one.id, one.category, one.report.findings);
    }
    let [first, second, counted, harmless] = ["c-", "d-", "e-", "h-"].map(|kind| share(&of(kind)));
    println!("read {first:.2} and {second:.2}, only counted {counted:.2}, harmless {harmless:.2}");
    assert!(set.len() >= 200 && of("h-").iter().all(|one| !one.malicious));
    assert!(first >= 0.9 && second >= 0.8, "{first} {second}");
    assert!(harmless <= 0.05, "{harmless}");
}

/// Written by somebody who had not looked at the rules for a while, in the voice of ordinary descriptions: `f-` and `i-` in one go, `j-`
/// after the rules had learned from them, in yet another manner. Every second one of `f-` and `j-` was read; the others were only
/// counted, as `g-`, which are harmless.
#[test]
fn fresh_ones() {
    let set = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fresh.jsonl")).unwrap();
    let of = |kind: &str, rests: &[usize]| {
        let is_one = |one: &&Labelled| one.id[2..].parse::<usize>().is_ok_and(|number| rests.contains(&(number % 2)));
        set.iter().filter(|one| one.id.starts_with(kind)).filter(is_one).collect::<Vec<_>>()
    };
    for one in of("f-", &[0]).into_iter().chain(of("j-", &[0])).filter(|one| one.report.severity().is_none()) {
        println!("{} ({}) is not reported", one.id, one.category);
    }
    for one in of("g-", &[0, 1]).into_iter().filter(|one| one.report.severity().is_some()) {
        println!("{}: {:?}", one.id, one.report.findings);
    }
    let read = [of("f-", &[0]), of("j-", &[0])].map(|part| share(&part));
    let counted = [of("f-", &[1]), of("i-", &[0, 1]), of("j-", &[1])].map(|part| share(&part));
    let harmless = share(&of("g-", &[0, 1]));
    println!("read {read:.2?}, only counted {counted:.2?}, harmless {harmless:.2}");
    assert!(set.len() == 200 && of("g-", &[0, 1]).iter().all(|one| !one.malicious));
    assert!(read[0] >= 0.9 && counted[0] >= 0.8 && counted[1] >= 0.7, "{read:?} {counted:?}");
    assert!(harmless <= 0.05, "{harmless}");
}

#[test]
fn definitions_of_others() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/poison/dev.jsonl");
    let Some(set) = read(&path) else {
        println!("skipped: there is no {}", path.display());
        return;
    };
    table(&set);
    let of = |malicious: bool| set.iter().filter(|one| one.malicious == malicious).collect::<Vec<_>>();
    assert!(share(&of(true)) >= 0.85, "{}", share(&of(true)));
    assert!(share(&of(false)) <= 0.05, "{}", share(&of(false)));
}
