//! Tools for plain text. Lengths are counted in characters as a reader sees code points, not in bytes.

use serde_json::json;

use crate::arguments::{Arguments, one_of};
use crate::diff::unified;
use crate::page::Page;
use crate::problem::{LARGEST, Problem, told};
use crate::tool::{Replied, Reply, Tool, choice, flag, text};

/// Lines that are sorted.
const MOST_LINES: usize = 200_000;
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

fn count_text(arguments: &Arguments<'_>) -> Replied {
    let text = arguments.text("text")?;
    Ok(Reply::Json(json!({
        "characters": text.chars().count(), "words": text.split_whitespace().count(),
        "lines": text.lines().count(), "bytes": text.len(),
    })))
}

fn replace(arguments: &Arguments<'_>) -> Replied {
    let (text, find) = (arguments.text("text")?, arguments.text("find")?);
    let replacement = arguments.text("replacement")?;
    if find.is_empty() {
        return Err(told!("`find` is empty. Say which string to replace."));
    }
    let replaced = text.matches(find).count();
    let length = replaced.saturating_mul(replacement.len()).saturating_add(text.len() - replaced * find.len());
    if length > LARGEST {
        return Err(Problem::TooLarge("Replace in smaller pieces."));
    }
    Ok(Reply::Json(json!({"text": text.replace(find, replacement), "replaced": replaced})))
}

fn change_case(arguments: &Arguments<'_>) -> Replied {
    let (text, case) = (arguments.text("text")?, arguments.word("case")?);
    let mut page = Page::new(arguments.fuel, "Change smaller pieces.");
    match case {
        "upper" => text.chars().flat_map(char::to_uppercase).try_for_each(|c| page.push_char(c))?,
        "lower" => page.push(&text.to_lowercase())?,
        "title" => {
            for word in text.split_inclusive(char::is_whitespace) {
                capitalise(word, &mut page)?;
            }
        }
        "snake" => identifier(text, "_", |_| false, &mut page)?,
        "kebab" => identifier(text, "-", |_| false, &mut page)?,
        "pascal" => identifier(text, "", |_| true, &mut page)?,
        "camel" => identifier(text, "", |word| word > 0, &mut page)?,
        other => return Err(one_of("case", other, &CASES)),
    }
    Ok(Reply::Text(page.finish()))
}

/// The words of a text with something between them, those with a capital that `capital` says of their number.
fn identifier(text: &str, between: &str, capital: fn(usize) -> bool, page: &mut Page<'_>) -> Result<(), Problem> {
    let (mut words, mut before) = (0, ' ');
    for c in text.chars() {
        let starts = words == 0 || !before.is_alphanumeric() || (before.is_lowercase() && c.is_uppercase());
        before = c;
        if !c.is_alphanumeric() {
            continue;
        }
        if starts && words > 0 {
            page.push(between)?;
        }
        if starts && capital(words) {
            // A small letter is what has a capital; İ, say, is several of them.
            let small: String = c.to_lowercase().collect();
            capitalise(&small, page)?;
        } else {
            c.to_lowercase().try_for_each(|c| page.push_char(c))?;
        }
        words += usize::from(starts);
    }
    Ok(())
}

fn capitalise(word: &str, page: &mut Page<'_>) -> Result<(), Problem> {
    let mut chars = word.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars.flat_map(char::to_lowercase)).try_for_each(|c| page.push_char(c))
}

fn diff(arguments: &Arguments<'_>) -> Replied {
    let (before, after) = (arguments.text("before")?, arguments.text("after")?);
    if before == after {
        return Ok(Reply::Text("The texts are equal.".to_owned()));
    }
    let diff = unified(before, after, arguments.fuel)?;
    let same = "The texts differ only in how their lines end.";
    Ok(Reply::Text(if diff.is_empty() { same.to_owned() } else { diff }))
}

fn sort(arguments: &Arguments<'_>) -> Replied {
    let mut lines: Vec<&str> = arguments.text("text")?.lines().take(MOST_LINES + 1).collect();
    if lines.len() > MOST_LINES {
        return Err(Problem::TooLarge("Sort fewer lines at a time."));
    }
    // Each is compared with some twenty others.
    arguments.fuel.burn(20 * lines.len() as u64)?;
    match arguments.word_or("by", "alphabetic")? {
        "alphabetic" => lines.sort_unstable(),
        "numeric" => lines.sort_by_cached_key(|line| (Number(leading_number(line)), *line)),
        "length" => lines.sort_by_cached_key(|line| (line.chars().count(), *line)),
        other => return Err(one_of("by", other, &ORDERS)),
    }
    if arguments.flag("unique")? {
        lines.dedup();
    }
    if arguments.flag("descending")? {
        lines.reverse();
    }
    let mut page = Page::new(arguments.fuel, "Sort fewer lines at a time.");
    for (n, line) in lines.into_iter().enumerate() {
        page.push(if n == 0 { "" } else { "\n" })?;
        page.push(line)?;
    }
    Ok(Reply::Text(page.finish()))
}

/// A number in the order of numbers.
#[derive(PartialEq)]
struct Number(f64);

impl Eq for Number {}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The number a line begins with; lines without one come last.
fn leading_number(line: &str) -> f64 {
    let line = line.trim_start();
    let end = line.find(|c: char| !(c.is_ascii_digit() || "+-.".contains(c))).unwrap_or(line.len());
    line[..end].parse().unwrap_or(f64::INFINITY)
}
