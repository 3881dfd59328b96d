//! Tools for regular expressions. The engine's time is linear in the text for any pattern, but a large pattern takes
//! longer for every byte of it: both are counted.

use regex::{Captures, Regex, RegexBuilder};
use serde_json::{Map, Value, json};
use toolfold_core::Fuel;

use crate::arguments::Arguments;
use crate::page::Page;
use crate::problem::{LARGEST, Problem, told};
use crate::tool::{Replied, Reply, Tool, flag, integer, text};

/// The sizes that a compiled pattern may have, and what sixteen bytes of text then cost: at worst the engine looks at
/// every state of the pattern for every byte.
const CLASSES: [(usize, u64); 4] = [(16 << 10, 8), (64 << 10, 32), (256 << 10, 128), (1 << 20, 512)];
const BYTES: usize = 16;
const COMPILING: u64 = 20_000;
/// A pattern takes this many times its own text while it is read.
const LONGEST_PATTERN: usize = 64 << 10;
/// Matches that are replaced.
const MOST_REPLACED: usize = 100_000;

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

/// A compiled pattern that knows what it costs.
pub(crate) struct Matcher {
    pub(crate) regex: Regex,
    cost: u64,
}

impl Matcher {
    pub(crate) fn new(pattern: &str, ignore_case: bool, multi_line: bool, fuel: &Fuel) -> Result<Matcher, Problem> {
        if pattern.len() > LONGEST_PATTERN {
            return Err(told!("`pattern` has {} bytes; at most {LONGEST_PATTERN} are taken.", pattern.len()));
        }
        let build = |size: usize| {
            RegexBuilder::new(pattern)
                .case_insensitive(ignore_case)
                .multi_line(multi_line)
                .size_limit(size)
                .dfa_size_limit(1 << 20)
                .build()
        };
        let mut refused = String::new();
        for (size, cost) in CLASSES {
            fuel.burn(COMPILING + 40 * pattern.len() as u64)?;
            match build(size) {
                Ok(regex) => return Ok(Matcher { regex, cost }),
                Err(error @ regex::Error::CompiledTooBig(_)) => refused = error.to_string(),
                Err(error) => return Err(told!("`pattern` cannot be used: {error}")),
            }
        }
        Err(told!("`pattern` cannot be used: {refused}"))
    }

    /// Before so many bytes are searched.
    pub(crate) fn burn(&self, bytes: usize, fuel: &Fuel) -> Result<(), Problem> {
        Ok(fuel.burn(1 + self.cost * (bytes / BYTES) as u64)?)
    }
}

fn given(arguments: &Arguments<'_>) -> Result<Matcher, Problem> {
    let (ignore_case, multi_line) = (arguments.flag("ignore_case")?, arguments.flag("multi_line")?);
    Matcher::new(arguments.text("pattern")?, ignore_case, multi_line, arguments.fuel)
}

fn find(arguments: &Arguments<'_>) -> Replied {
    let (pattern, text) = (given(arguments)?, arguments.text("text")?);
    let limit = arguments.count("limit", 100, 1000)?;
    pattern.burn(text.len(), arguments.fuel)?;
    let mut place = Lines { text, at: 0, line: 1, column: 1 };
    let (mut matches, mut size) = (Vec::new(), 0);
    for found in pattern.regex.captures_iter(text).take(limit) {
        // Groups may hold the whole text, each of them.
        size += found.iter().flatten().map(|group| group.len() + 16).sum::<usize>();
        arguments.fuel.burn_for(found.len() + size, BYTES)?;
        if size > LARGEST {
            return Err(Problem::TooLarge("Look for something shorter, or set a smaller `limit`."));
        }
        matches.push(describe(&pattern.regex, &found, &mut place));
    }
    Ok(Reply::Json(json!({"count": matches.len(), "matches": matches})))
}

/// A place in a text that only goes forward: lines are counted once, not from the start for each match.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    column: usize,
}

impl Lines<'_> {
    fn go(&mut self, to: usize) -> (usize, usize) {
        for c in self.text[self.at..to].chars() {
            (self.line, self.column) = if c == '\n' { (self.line + 1, 1) } else { (self.line, self.column + 1) };
        }
        self.at = to;
        (self.line, self.column)
    }
}

fn describe(regex: &Regex, found: &Captures<'_>, place: &mut Lines<'_>) -> Value {
    let whole = found.get(0).map_or(0..0, |whole| whole.range());
    let (line, column) = place.go(whole.start);
    let mut described = json!({"match": place.text[whole], "line": line, "column": column});
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

fn replace(arguments: &Arguments<'_>) -> Replied {
    let (pattern, text) = (given(arguments)?, arguments.text("text")?);
    let parts = parts(arguments.text("replacement")?, arguments.fuel)?;
    pattern.burn(text.len(), arguments.fuel)?;
    let mut page = Page::new(arguments.fuel, "Replace in smaller pieces.");
    let (mut last, mut replaced) = (0, 0);
    for found in pattern.regex.captures_iter(text) {
        let Some(whole) = found.get(0) else { continue };
        arguments.fuel.burn(found.len() as u64)?;
        page.push(&text[last..whole.start()])?;
        for part in &parts {
            let group = match part {
                Part::Text(text) => Some(*text),
                Part::Numbered(n) => found.get(*n).map(|group| group.as_str()),
                Part::Named(name) => found.name(name).map(|group| group.as_str()),
            };
            page.push(group.unwrap_or_default())?;
        }
        last = whole.end();
        replaced += 1;
        if replaced > MOST_REPLACED {
            return Err(Problem::TooLarge("Replace in smaller pieces."));
        }
    }
    page.push(&text[last..])?;
    Ok(Reply::Json(json!({"text": page.finish(), "replaced": replaced})))
}

/// A piece of a replacement.
enum Part<'r> {
    Text(&'r str),
    Numbered(usize),
    Named(&'r str),
}

/// `$1`, `$name`, `${name}` and `$$`; any other dollar sign is one.
fn parts<'r>(replacement: &'r str, fuel: &Fuel) -> Result<Vec<Part<'r>>, Problem> {
    let mut parts = Vec::new();
    let mut rest = replacement;
    while let Some(dollar) = rest.find('$') {
        fuel.burn(2)?;
        parts.push(Part::Text(&rest[..dollar]));
        let after = &rest[dollar + 1..];
        let plain = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
        let (name, length) = match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some((name, _)) => (name, name.len() + 2),
            None => (&after[..plain], plain),
        };
        if let Some(literal) = after.strip_prefix('$') {
            parts.push(Part::Text("$"));
            rest = literal;
            continue;
        }
        parts.push(match (name, name.parse()) {
            ("", _) => Part::Text("$"),
            (_, Ok(n)) => Part::Numbered(n),
            (name, Err(_)) => Part::Named(name),
        });
        rest = &after[length..];
    }
    parts.push(Part::Text(rest));
    Ok(parts)
}
