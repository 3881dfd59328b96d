//! Where the statements of a TOML file are: its headers and its `key = value` lines. The text has been parsed before, so
//! it is known to be right, and this only has to find the ends of things.

use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    /// From its first character to its last; white space and a comment behind it are not part of it.
    pub(super) range: Range<usize>,
    /// The header's path, or that of the value with the header's before it.
    pub(super) path: Vec<String>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// `[a.b]`, or `[[a.b]]`.
    Header {
        is_item: bool,
    },
    Value(Range<usize>),
}

impl Statement {
    pub(super) fn is_header(&self) -> bool {
        matches!(self.kind, Kind::Header { .. })
    }
}

/// In the order of the file. `None` where something is there that this does not understand.
pub(super) fn statements(text: &str) -> Option<Vec<Statement>> {
    let mut found: Vec<Statement> = Vec::new();
    let mut header: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some(start) = next_statement(text, at) {
        let rest = &text[start..];
        if rest.starts_with('[') {
            let brackets = if rest.starts_with("[[") { 2 } else { 1 };
            let end = start + brackets + unquoted(&rest[brackets..], ']')?;
            header = key_path(&text[start + brackets..end])?;
            let kind = Kind::Header { is_item: brackets == 2 };
            found.push(Statement { range: start..end + brackets, path: header.clone(), kind });
            at = end + brackets;
        } else {
            let equals = start + unquoted(rest, '=')?;
            let value =
                equals + 1 + (text[equals + 1..].len() - text[equals + 1..].trim_start_matches([' ', '\t']).len());
            let end = value + value_length(&text[value..]);
            let path = header.iter().cloned().chain(key_path(&text[start..equals])?).collect();
            found.push(Statement { range: start..end, path, kind: Kind::Value(value..end) });
            at = end;
        }
    }
    Some(found)
}

/// The first place that is neither white space nor in a comment.
fn next_statement(text: &str, mut at: usize) -> Option<usize> {
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        match text[at..].chars().next()? {
            '#' => at += text[at..].find('\n')?,
            _ => return Some(at),
        }
    }
}

/// The length of what comes before a character that is in no quotes.
fn unquoted(text: &str, wanted: char) -> Option<usize> {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        match c {
            _ if c == wanted => return Some(at),
            '"' | '\'' => at += string_length(&text[at..]),
            _ => at += c.len_utf8(),
        }
    }
    None
}

/// Up to the line end or comment that ends the value, white space before that left out.
fn value_length(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while let Some(c) = text[at..].chars().next() {
        match c {
            '"' | '\'' => {
                at += string_length(&text[at..]);
                continue;
            }
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            '#' if depth > 0 => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                continue;
            }
            '#' | '\n' if depth <= 0 => break,
            _ => {}
        }
        at += c.len_utf8();
    }
    text[..at].trim_end().len()
}

/// Quotes included; the text begins with one.
fn string_length(text: &str) -> usize {
    let quote = &text[..1];
    let triple = quote.repeat(3);
    let is_long = text.starts_with(&triple);
    let mut at = if is_long { 3 } else { 1 };
    while at < text.len() {
        let rest = &text[at..];
        if quote == "\"" && rest.starts_with('\\') {
            at += 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
        } else if is_long && rest.starts_with(&triple) {
            // Up to two more quotes may belong to the text.
            let quotes = rest.len() - rest.trim_start_matches(quote).len();
            return at + quotes.min(5);
        } else if !is_long && rest.starts_with(quote) {
            return at + 1;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// `a."b c".d`, read the way TOML reads it.
fn key_path(key: &str) -> Option<Vec<String>> {
    let mut table: toml::Table = toml::from_str(&format!("{} = 0", key.trim())).ok()?;
    let mut path = Vec::new();
    loop {
        let (name, value) = std::mem::take(&mut table).into_iter().next()?;
        path.push(name);
        match value {
            toml::Value::Table(inner) => table = inner,
            _ => return Some(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_values_are_found_whatever_is_in_strings() {
        let text = "a = 1 # [x]\nb.\"c d\" = '''\n[no]\n''''\n[t.'u v'] # z\nk = [ # ]\n  \"]\", # }\n]\n[[ list . item ]]\ne = \"\\\"=\"\n";
        let found = statements(text).unwrap();
        let told: Vec<String> =
            found.iter().map(|s| format!("{} = {}", s.path.join("/"), &text[s.range.clone()])).collect();
        assert_eq!(
            told,
            [
                "a = a = 1",
                "b/c d = b.\"c d\" = '''\n[no]\n''''",
                "t/u v = [t.'u v']",
                "t/u v/k = k = [ # ]\n  \"]\", # }\n]",
                "list/item = [[ list . item ]]",
                "list/item/e = e = \"\\\"=\"",
            ]
        );
    }
}
