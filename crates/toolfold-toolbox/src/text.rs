//! Tools for plain text. Lengths are counted in characters as a reader sees code points, not in bytes.

use serde_json::json;

use super::arguments::{Arguments, one_of};
use super::diff::unified;
use super::tool::{Answer, Reply, Tool, choice, flag, text};

const CASES: [&str; 7] = ["upper", "lower", "title", "snake", "kebab", "camel", "pascal"];
const ORDERS: [&str; 3] = ["alphabetic", "numeric", "length"];

pub(crate) fn tools() -> Vec<Tool> {
    let count = json!({"type": "integer"});
    vec![
        Tool::new("text_count", "Count text", "Count the characters, words, lines and bytes of a text.", count_text)
            .needs("text", text("The text to count"))
            .gives(json!({"characters": count, "words": count, "lines": count, "bytes": count})),
        Tool::new(
            "text_replace",
            "Replace text",
            "Replace every occurrence of a literal string in a text. For patterns use regex_replace.",
            replace,
        )
        .needs("text", text("The text to change"))
        .needs("find", text("The exact string to look for"))
        .needs("replacement", text("What to put in its place; may be empty"))
        .gives(json!({"text": {"type": "string"}, "replaced": count})),
        Tool::new(
            "text_case",
            "Change letter case",
            "Write a text in another case: upper, lower or title case, or as a snake_case, kebab-case, camelCase or \
             PascalCase identifier.",
            change_case,
        )
        .needs("text", text("The text to change"))
        .needs("case", choice("The case to write it in", &CASES)),
        Tool::new(
            "text_diff",
            "Compare texts",
            "Compare two texts line by line and show the differences as a unified diff.",
            diff,
        )
        .needs("before", text("The old text"))
        .needs("after", text("The new text")),
        Tool::new("text_sort_lines", "Sort lines", "Sort the lines of a text, and drop repeated ones if asked.", sort)
            .needs("text", text("The lines to sort"))
            .takes("by", choice("What to sort by; alphabetic if left out", &ORDERS))
            .takes("descending", flag("Largest first"))
            .takes("unique", flag("Keep each line once")),
    ]
}

fn count_text(arguments: &Arguments<'_>) -> Answer {
    let text = arguments.text("text")?;
    Ok(Reply::Json(json!({
        "characters": text.chars().count(), "words": text.split_whitespace().count(),
        "lines": text.lines().count(), "bytes": text.len(),
    })))
}

fn replace(arguments: &Arguments<'_>) -> Answer {
    let (text, find) = (arguments.text("text")?, arguments.text("find")?);
    let replacement = arguments.text("replacement")?;
    if find.is_empty() {
        return Err("`find` is empty. Say which string to replace.".to_owned());
    }
    let replaced = text.matches(find).count();
    if replaced.saturating_mul(replacement.len()) > super::encoding::LARGEST {
        return Err("The result would be too large. Replace in smaller pieces.".to_owned());
    }
    Ok(Reply::Json(json!({"text": text.replace(find, replacement), "replaced": replaced})))
}

fn change_case(arguments: &Arguments<'_>) -> Answer {
    let (text, case) = (arguments.text("text")?, arguments.text("case")?);
    let changed = match case {
        "upper" => text.to_uppercase(),
        "lower" => text.to_lowercase(),
        "title" => text.split_inclusive(char::is_whitespace).map(capitalise).collect(),
        "snake" => lower_words(text).join("_"),
        "kebab" => lower_words(text).join("-"),
        "pascal" => lower_words(text).iter().map(|word| capitalise(word)).collect(),
        "camel" => {
            let words = lower_words(text);
            let rest = words.iter().skip(1).map(|word| capitalise(word));
            words.first().cloned().into_iter().chain(rest).collect()
        }
        other => return Err(one_of("case", other, &CASES)),
    };
    Ok(Reply::Text(changed))
}

fn lower_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in text.chars() {
        let starts = !before.is_alphanumeric() || (before.is_lowercase() && c.is_uppercase());
        if c.is_alphanumeric() {
            match words.last_mut() {
                Some(word) if !starts => word.extend(c.to_lowercase()),
                _ => words.push(c.to_lowercase().collect()),
            }
        }
        before = c;
    }
    words
}

fn capitalise(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars.flat_map(char::to_lowercase)).collect()
}

fn diff(arguments: &Arguments<'_>) -> Answer {
    let (before, after) = (arguments.text("before")?, arguments.text("after")?);
    if before == after {
        return Ok(Reply::Text("The texts are equal.".to_owned()));
    }
    match unified(before, after) {
        Some(diff) if diff.is_empty() => Ok(Reply::Text("The texts differ only in how their lines end.".to_owned())),
        Some(diff) => Ok(Reply::Text(diff)),
        None => Err("The texts differ in too many lines to compare. Compare smaller parts.".to_owned()),
    }
}

fn sort(arguments: &Arguments<'_>) -> Answer {
    let mut lines: Vec<&str> = arguments.text("text")?.lines().collect();
    match arguments.text_or("by", "alphabetic")? {
        "alphabetic" => lines.sort_unstable(),
        "numeric" => lines.sort_by(|a, b| leading_number(a).total_cmp(&leading_number(b)).then_with(|| a.cmp(b))),
        "length" => lines.sort_by(|a, b| a.chars().count().cmp(&b.chars().count()).then_with(|| a.cmp(b))),
        other => return Err(one_of("by", other, &ORDERS)),
    }
    if arguments.flag("unique")? {
        lines.dedup();
    }
    if arguments.flag("descending")? {
        lines.reverse();
    }
    Ok(Reply::Text(lines.join("\n")))
}

/// The number a line begins with; lines without one come last.
fn leading_number(line: &str) -> f64 {
    let line = line.trim_start();
    let end = line.find(|c: char| !(c.is_ascii_digit() || "+-.".contains(c))).unwrap_or(line.len());
    line[..end].parse().unwrap_or(f64::INFINITY)
}
