//! Tools for regular expressions. The engine takes linear time on any pattern, so a hostile one is slow at worst to
//! compile, and that is bounded.

use regex::{Captures, Regex, RegexBuilder};
use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::encoding::LARGEST;
use super::tool::{Answer, Reply, Tool, flag, integer, text};

const PATTERN_SIZE: usize = 1 << 20;

pub(crate) fn tools() -> Vec<Tool> {
    let pattern = "The regular expression (no look-around and no back-references)";
    let count = json!({"type": "integer"});
    vec![
        Tool::new(
            "regex_find",
            "Find by pattern",
            "Find all matches of a regular expression in a text, each with its place and its groups.",
            find,
        )
        .needs("pattern", text(pattern))
        .needs("text", text("The text to search"))
        .takes("ignore_case", flag("Upper and lower case are the same"))
        .takes("multi_line", flag("^ and $ match at every line"))
        .takes("limit", integer("The most matches to give", 100, 1, 1000))
        .gives(json!({"matches": {"type": "array", "items": {"type": "object"}}, "count": count})),
        Tool::new(
            "regex_replace",
            "Replace by pattern",
            "Replace all matches of a regular expression. $1 or ${name} in the replacement stands for a group, $$ for a \
             dollar sign.",
            replace,
        )
        .needs("pattern", text(pattern))
        .needs("text", text("The text to change"))
        .needs("replacement", text("What to put in place of each match"))
        .takes("ignore_case", flag("Upper and lower case are the same"))
        .takes("multi_line", flag("^ and $ match at every line"))
        .gives(json!({"text": {"type": "string"}, "replaced": count})),
    ]
}

fn find(arguments: &Arguments<'_>) -> Answer {
    let (regex, text) = (compile(arguments)?, arguments.text("text")?);
    let limit = arguments.count("limit", 100, 1000)?;
    let matches: Vec<Value> =
        regex.captures_iter(text).take(limit).map(|found| describe(&regex, &found, text)).collect();
    Ok(Reply::Json(json!({"count": matches.len(), "matches": matches})))
}

fn describe(regex: &Regex, found: &Captures<'_>, text: &str) -> Value {
    let whole = found.get(0).map_or(0..0, |whole| whole.range());
    let line = text[..whole.start].matches('\n').count() + 1;
    let column = text[..whole.start].rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let mut described = json!({"match": text[whole], "line": line, "column": column});
    let group = |n: usize, name: Option<&str>| {
        let key = name.map_or_else(|| n.to_string(), str::to_owned);
        (key, found.get(n).map_or(Value::Null, |group| group.as_str().into()))
    };
    let groups: Map<String, Value> =
        regex.capture_names().enumerate().skip(1).map(|(n, name)| group(n, name)).collect();
    if !groups.is_empty() {
        described["groups"] = groups.into();
    }
    described
}

fn replace(arguments: &Arguments<'_>) -> Answer {
    let (regex, text) = (compile(arguments)?, arguments.text("text")?);
    let replacement = arguments.text("replacement")?;
    let (mut changed, mut last, mut replaced) = (String::new(), 0, 0);
    for found in regex.captures_iter(text) {
        let Some(whole) = found.get(0) else { continue };
        changed.push_str(&text[last..whole.start()]);
        found.expand(replacement, &mut changed);
        if changed.len() > LARGEST {
            return Err("The result would be too large. Replace in smaller pieces.".to_owned());
        }
        last = whole.end();
        replaced += 1;
    }
    changed.push_str(&text[last..]);
    Ok(Reply::Json(json!({"text": changed, "replaced": replaced})))
}

fn compile(arguments: &Arguments<'_>) -> Result<Regex, String> {
    let pattern = arguments.text("pattern")?;
    RegexBuilder::new(pattern)
        .case_insensitive(arguments.flag("ignore_case")?)
        .multi_line(arguments.flag("multi_line")?)
        .size_limit(PATTERN_SIZE)
        .build()
        .map_err(|error| format!("`pattern` cannot be used: {error}"))
}
