//! The bill of materials: every crate in the binary with version, licence and checksum, as CycloneDX.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Release, SUMMARY, build, files};
use crate::workspace::Workspace;

pub(super) fn make(release: &Release) -> Result<PathBuf> {
    let workspace = Workspace::find()?;
    let metadata = build::metadata(&workspace, &["--filter-platform", "x86_64-unknown-linux-musl"])?;
    let lock = fs::read_to_string(release.root.join("Cargo.lock"))?;
    let bill = bill(release, &metadata, &checksums(&lock)).context("cargo metadata lacks a member")?;
    let path = release.out.join(format!("toolfold-{}.cdx.json", release.version));
    files::write(&path, format!("{}\n", serde_json::to_string_pretty(&bill)?))?;
    Ok(path)
}

fn bill(release: &Release, metadata: &Value, sums: &BTreeMap<(String, String), String>) -> Option<Value> {
    let packages: BTreeMap<&str, &Value> = metadata["packages"]
        .as_array()?
        .iter()
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let nodes: BTreeMap<&str, &Value> =
        metadata["resolve"]["nodes"].as_array()?.iter().filter_map(|node| Some((node["id"].as_str()?, node))).collect();
    let (root, _) = packages.iter().find(|(_, package)| package["name"] == "toolfold")?;
    let mut within = BTreeSet::new();
    let mut left = vec![*root];
    while let Some(id) = left.pop() {
        if within.insert(id) {
            left.extend(needs(nodes.get(id)?));
        }
    }
    let reference = |id: &str| Some(purl(packages.get(id)?));
    let mut components: Vec<Value> =
        within.iter().filter(|id| *id != root).filter_map(|id| component(packages.get(id)?, sums)).collect();
    components.sort_by_key(|component| component["purl"].to_string());
    let mut graph: Vec<Value> = within
        .iter()
        .filter_map(|id| {
            let mut on: Vec<String> = needs(nodes.get(id)?).into_iter().filter_map(reference).collect();
            on.sort();
            on.dedup();
            Some(json!({"ref": reference(id)?, "dependsOn": on}))
        })
        .collect();
    graph.sort_by_key(|node| node["ref"].to_string());
    Some(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {
            "type": "application", "bom-ref": reference(root)?, "name": "toolfold", "version": release.version,
            "description": SUMMARY, "purl": reference(root)?, "licenses": [{"expression": "Apache-2.0"}],
        }},
        "components": components,
        "dependencies": graph,
    }))
}

/// What ends up in the binary or runs while it is built; not what tests need.
fn needs(node: &Value) -> Vec<&str> {
    let dependencies = node["deps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let wanted = |dependency: &&Value| {
        dependency["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"] != "dev"))
    };
    dependencies.iter().filter(wanted).filter_map(|dependency| dependency["pkg"].as_str()).collect()
}

fn component(package: &Value, sums: &BTreeMap<(String, String), String>) -> Option<Value> {
    let (name, version) = (package["name"].as_str()?, package["version"].as_str()?);
    let mut component =
        json!({"type": "library", "bom-ref": purl(package), "name": name, "version": version, "purl": purl(package)});
    if let Some(licence) = package["license"].as_str() {
        // The slash is an old way to say "or", which the standard does not know.
        component["licenses"] = json!([{"expression": licence.replace('/', " OR ")}]);
    }
    if let Some(sum) = sums.get(&(name.to_owned(), version.to_owned())) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    Some(component)
}

fn purl(package: &Value) -> String {
    let word = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    format!("pkg:cargo/{}@{}", word("name"), word("version"))
}

/// Of every package of a registry, out of the lock file.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")));
        line.and_then(|rest| rest.strip_suffix('"')).map(str::to_owned)
    };
    let blocks = lock.split("[[package]]");
    blocks
        .filter_map(|block| Some(((value(block, "name")?, value(block, "version")?), value(block, "checksum")?)))
        .collect()
}
