//! One word, one thing: two types of one name may not meet in a file. They meet where one is the crate's own and the
//! other is in reach, or where two are in reach.

use std::collections::{BTreeMap, BTreeSet};

/// Names that may stand for two things, and why nobody confuses them.
const ALLOWED: [(&str, &str); 0] = [];

/// Crates whose words nobody else has to read.
const APART: [&str; 3] = ["toolfold-test", "toolfold-bench", "xtask"];

/// A file, by name, and its text up to its unit tests.
type Source = (String, String);

/// Names that mean two things in one file.
pub fn shared_names(sources: &[Source]) -> Vec<String> {
    let sources: Vec<&Source> = sources.iter().filter(|(file, _)| !APART.contains(&krate(file))).collect();
    let mut owners: BTreeMap<&str, Vec<Definition>> = BTreeMap::new();
    for (file, text) in &sources {
        for (name, is_public) in types(text) {
            owners.entry(name).or_default().push(Definition { file, is_public });
        }
    }
    owners.retain(|name, definitions| definitions.len() > 1 && !ALLOWED.iter().any(|(known, _)| known == name));
    let mut findings = Vec::new();
    for (file, text) in &sources {
        let words: BTreeSet<&str> = text.lines().filter(|line| !is_comment(line)).flat_map(split).collect();
        for (name, definitions) in owners.iter().filter(|(name, _)| words.contains(**name)) {
            let met = definitions.iter().filter(|definition| definition.is_met_in(file, &words));
            let places: Vec<&str> = met.map(|definition| definition.file).collect();
            if places.len() > 1 {
                findings.push(format!("{file}: {name} means two things here: {}", places.join(", ")));
            }
        }
    }
    findings
}

struct Definition<'a> {
    file: &'a str,
    is_public: bool,
}

impl Definition<'_> {
    fn is_met_in(&self, file: &str, words: &BTreeSet<&str>) -> bool {
        let theirs = krate(self.file);
        theirs == krate(file) || (self.is_public && words.contains(theirs.replace('-', "_").as_str()))
    }
}

/// Types that are declared for others to use, and whether other crates are among them.
fn types(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix("pub")?;
        let (rest, is_public) = match rest.strip_prefix('(') {
            Some(rest) => (rest.split_once(')')?.1, false),
            None => (rest, true),
        };
        let mut words = rest.split_whitespace();
        let kind = words.next()?;
        let name = split(words.next()?).next()?;
        ["struct", "enum", "trait", "type"].contains(&kind).then_some((name, is_public))
    })
}

fn split(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

fn krate(file: &str) -> &str {
    file.split('/').nth(1).unwrap_or_default()
}
