//! Which crate may know which. Dependencies point one way, the way data flows; an edge against it is a finding even
//! where cargo would accept it.

use std::fs;

use anyhow::Result;

use crate::workspace::{Package, Workspace};

/// Each may use those before it.
const ORDER: [&str; 29] = [
    "toolfold-wire",
    "toolfold-core",
    "toolfold-access",
    "toolfold-schema",
    "toolfold-openapi",
    "toolfold-clients",
    "toolfold-config",
    "toolfold-oauth",
    "toolfold-http",
    "toolfold-telemetry",
    "toolfold-upstream",
    "toolfold-catalog",
    "toolfold-scan",
    "toolfold-trust",
    "toolfold-encoder",
    "toolfold-index",
    "toolfold-disclosure",
    "toolfold-store",
    "toolfold-script",
    "toolfold-audit",
    "toolfold-results",
    "toolfold-gateway",
    "toolfold-serve",
    "toolfold-toolbox",
    "toolfold-eval",
    "toolfold-memory",
    "toolfold",
    "toolfold-bench",
    "xtask",
];

/// Crates that may not have what their place in the order would allow.
const WITHOUT: [(&str, &[&str]); 14] = [
    ("toolfold-core", &["tokio"]),
    ("toolfold-access", &["tokio"]),
    ("toolfold-wire", &["tokio"]),
    ("toolfold-clients", &["tokio"]),
    ("toolfold-oauth", &["toolfold-config", "tokio"]),
    ("toolfold-openapi", &["tokio"]),
    ("toolfold-catalog", &["toolfold-config", "toolfold-upstream", "tokio"]),
    ("toolfold-scan", &["toolfold-config", "toolfold-upstream", "tokio"]),
    ("toolfold-trust", &["toolfold-config", "toolfold-upstream", "tokio"]),
    ("toolfold-encoder", &["toolfold-config", "toolfold-upstream", "toolfold-catalog", "tokio"]),
    ("toolfold-index", &["toolfold-config", "toolfold-upstream", "tokio"]),
    ("toolfold-disclosure", &["toolfold-config", "toolfold-upstream", "tokio"]),
    ("toolfold-toolbox", &["toolfold-serve", "toolfold-store", "toolfold-upstream", "tokio"]),
    ("toolfold-eval", &["toolfold-toolbox", "toolfold-serve", "toolfold-gateway", "toolfold-upstream", "tokio"]),
];

/// Who alone may use a library. Tests may use any but `rmcp`, which has a crate of its own for that.
const ONLY: [(&str, &[&str]); 6] = [
    ("axum", &["toolfold-test"]),
    ("clap", &["toolfold"]),
    ("hyper", &["toolfold-http", "toolfold-upstream", "toolfold-serve"]),
    ("rmcp", &["toolfold-test"]),
    ("rusqlite", &["toolfold-store", "toolfold-audit"]),
    ("anyhow", &["toolfold", "xtask"]),
];

pub(super) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let manifest = fs::read_to_string(workspace.root.join("Cargo.toml"))?;
    let mut findings = edges(&workspace.packages);
    findings.extend(reasons(&manifest));
    Ok(findings)
}

/// Edges of the crate graph that should not be there.
pub fn edges(packages: &[Package]) -> Vec<String> {
    let mut findings = Vec::new();
    for package in packages {
        let name = package.name.as_str();
        if name != "toolfold-test" && !ORDER.contains(&name) {
            findings
                .push(format!("crates/{name}: has no place in the order of crates (xtask/src/tidy/dependencies.rs)"));
        }
        for dependency in &package.dependencies {
            let other = dependency.name.as_str();
            if (!dependency.dev || other == "rmcp") && !may_use(name, other) {
                findings.push(format!("crates/{name}/Cargo.toml: may not depend on {other}"));
            }
        }
    }
    findings
}

fn may_use(name: &str, other: &str) -> bool {
    let place = |name: &str| ORDER.iter().position(|known| *known == name);
    let forbidden = WITHOUT.iter().any(|(known, without)| *known == name && without.contains(&other));
    let reserved = ONLY.iter().any(|(library, users)| *library == other && !users.contains(&name));
    let backwards = match other {
        "toolfold-test" => true,
        _ if name == "toolfold-test" => place(other).is_some() && !["toolfold-core", "toolfold-wire"].contains(&other),
        _ if name == "xtask" => place(other).is_some(),
        _ => place(other).is_some_and(|theirs| place(name).is_some_and(|ours| theirs >= ours)),
    };
    !forbidden && !reserved && !backwards
}

/// Direct dependencies in the root manifest without a comment that says why they are there.
pub fn reasons(manifest: &str) -> Vec<String> {
    let ours = |line: &str| line.contains("path = \"crates/");
    let table = manifest.lines().enumerate().skip_while(|(_, line)| line.trim() != "[workspace.dependencies]").skip(1);
    let lines = table.take_while(|(_, line)| !line.starts_with('['));
    let entries = lines.filter(|(_, line)| line.contains('=') && !line.starts_with('#') && !ours(line));
    let silent = entries.filter(|(_, line)| line.split_once(" #").is_none_or(|(_, reason)| reason.trim().is_empty()));
    silent
        .map(|(number, line)| {
            let name = line.split('=').next().unwrap_or_default().trim();
            format!("Cargo.toml:{}: {name} has no comment that says why it is here", number + 1)
        })
        .collect()
}
