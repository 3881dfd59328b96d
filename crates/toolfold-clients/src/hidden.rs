//! Secrets inside a longer text: a header on a command line, a connection string, a line for a shell, JSON in a variable.
//!
//! What a reader would get wrong: what is found is the value alone. The words around it stay where they are, so that the variable
//! that takes its place holds what its name says, and the text still works.

use std::ops::Range;

use crate::secrets::{has_password, is_harmless_header, is_secret, looks_like_token};
use crate::variables::has_variable;

/// Where a secret is in a text, and what it is called there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hidden {
    pub(crate) range: Range<usize>,
    /// `None`: it only looks like one.
    pub(crate) name: Option<String>,
}

/// Every secret in a text, in order. `is_header`: the text is a whole header, as of `curl -H`, and those are secret unless they are
/// known not to be.
pub(crate) fn hidden(text: &str, is_header: bool) -> Vec<Hidden> {
    if let Some((name, at)) = header(text) {
        let value = text[at..].trim_end();
        let secret = if is_header { !is_harmless_header(name) } else { is_secret(name, value) };
        if secret && !value.is_empty() && !has_variable(value) {
            return vec![found(at, value, Some(name))];
        }
    }
    let mut all: Vec<Hidden> = Vec::new();
    // What the next piece is the value of.
    let mut asked: Option<String> = None;
    for piece in pieces(text) {
        let word = &text[piece.range.clone()];
        let at = piece.range.start;
        if !piece.is_quoted && matches!(word, ":" | "=") {
            continue;
        }
        if let Some(name) = asked.take().filter(|name| piece.is_quoted && is_secret(name, word)) {
            all.push(found(at, word, Some(&name)));
            continue;
        }
        asked = asks(text, &piece);
        if has_variable(word) {
            continue;
        }
        match word.split_once('=').filter(|(_, value)| !value.is_empty()) {
            Some((name, value)) if is_secret(name, value) => {
                let called = name.rsplit(['?', '/']).next().unwrap_or(name);
                all.push(found(at + name.len() + 1, value, Some(called)));
            }
            _ if has_password(word) || looks_like_token(word) => all.push(found(at, word, None)),
            _ => {
                let last = word.rfind(':').map_or(0, |colon| colon + 1);
                if last > 0 && looks_like_token(&word[last..]) {
                    all.push(found(at + last, &word[last..], None));
                }
            }
        }
    }
    all
}

/// A value without the word before it that says of which kind it is.
fn found(at: usize, value: &str, name: Option<&str>) -> Hidden {
    let kinds = ["bearer", "basic", "token", "apikey", "digest"];
    let (scheme, rest) = value.split_once(' ').map_or(("", value), |(scheme, rest)| (scheme, rest.trim_start()));
    let is_kind = kinds.contains(&scheme.to_lowercase().as_str()) && !rest.is_empty();
    let skipped = if is_kind { value.len() - rest.len() } else { 0 };
    Hidden { range: at + skipped..at + value.len(), name: name.map(str::to_owned) }
}

/// `Name: value` or `Name:value`, from the first letter on: the name, and where the value begins.
fn header(text: &str) -> Option<(&str, usize)> {
    let (name, value) = text.split_once(':')?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let fits = is_name && name.starts_with(|c: char| c.is_ascii_alphabetic()) && !value.starts_with("//");
    fits.then(|| (name, text.len() - value.trim_start().len()))
}

/// A stretch of text between quotes, or between spaces and signs that end a word.
struct Piece {
    range: Range<usize>,
    is_quoted: bool,
}

/// The name of which the next piece is the value, in quotes: `"name": "`, `name="`, `name = "`.
fn asks(text: &str, piece: &Piece) -> Option<String> {
    let word = &text[piece.range.clone()];
    let after = &text[piece.range.end..];
    let (name, after) = match word.strip_suffix(['=', ':']).filter(|_| !piece.is_quoted) {
        Some(name) => (name, after),
        None => {
            let behind = if piece.is_quoted { after.get(1..)? } else { after };
            (word, behind.trim_start().strip_prefix([':', '='])?)
        }
    };
    after.trim_start().starts_with(['"', '\'']).then(|| name.to_owned())
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { break };
        if matches!(first, '"' | '\'') {
            let end = rest[1..].find(first).map_or(rest.len(), |end| end + 1);
            all.push(Piece { range: at + 1..at + end, is_quoted: true });
            at += (end + 1).min(rest.len());
        } else if ends_word(first) {
            at += first.len_utf8();
        } else {
            let end = word_end(rest);
            all.push(Piece { range: at..at + end, is_quoted: false });
            at += end;
        }
    }
    all
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || "\"';,&|(){}[]<>`".contains(c)
}

/// `${…}` is one sign.
fn word_end(text: &str) -> usize {
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if text[at..].starts_with("${") {
            at += text[at..].find('}').map_or(text.len() - at, |end| end + 1);
        } else if ends_word(first) {
            break;
        } else {
            at += first.len_utf8();
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The text with `_` for every secret, and what they are called.
    fn told(text: &str, is_header: bool) -> String {
        let (mut out, mut names) = (text.to_owned(), Vec::new());
        for secret in hidden(text, is_header).iter().rev() {
            out.replace_range(secret.range.clone(), "_");
            names.insert(0, secret.name.clone().unwrap_or_else(|| "?".to_owned()));
        }
        format!("{out} [{}]", names.join(" "))
    }

    #[test]
    fn the_value_alone_is_taken() {
        let check = |text: &str, expected: &str| assert_eq!(told(text, false), expected);
        check("Authorization: Bearer s3cret", "Authorization: Bearer _ [Authorization]");
        check("authorization:s3cret", "authorization:_ [authorization]");
        check("Server=db;Password=s3c:r=et;Trusted=yes", "Server=db;Password=_;Trusted=yes [Password]");
        check("GITHUB_TOKEN=s3cret exec node x.js", "GITHUB_TOKEN=_ exec node x.js [GITHUB_TOKEN]");
        check("A_TOKEN='s3 cret' node", "A_TOKEN='_' node [A_TOKEN]");
        check(
            r#"{"Authorization": "Bearer s3cret", "Notion-Version": "2022-06-28"}"#,
            r#"{"Authorization": "Bearer _", "Notion-Version": "2022-06-28"} [Authorization]"#,
        );
        check(r#"HEADERS={"X-Api-Key":"s3cret"}"#, r#"HEADERS={"X-Api-Key":"_"} [X-Api-Key]"#);
        check("run --db postgres://u:s3cret@h/d now", "run --db _ now [?]");
        check("use ghp_0123456789abcdef0123, please", "use _, please [?]");
        check("run x:ghp_0123456789abcdef0123", "run x:_ [?]");
        check("api_key = \"s3cret\"", "api_key = \"_\" [api_key]");
        check("https://h.example/mcp?api_key=s3cret&mode=fast", "https://h.example/mcp?api_key=_&mode=fast [api_key]");
        assert_eq!(told("X-Team: s3cret", true), "X-Team: _ [X-Team]");
        assert_eq!(told("Accept: text/plain", true), "Accept: text/plain []");
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "Authorization: Bearer ${TOKEN}",
            "TOKEN=${TOKEN} node x.js",
            "https://example.com/a:b?mode=fast",
            "/home/ada/work",
            "read the key: it is on the table",
            "key=true;pass=",
            "@modelcontextprotocol/server-github",
            "{\"mode\": \"fast\"}",
            "C:\\Program Files\\x",
            "=",
            "",
        ] {
            assert_eq!(told(text, false), format!("{text} []"));
        }
    }

    proptest! {
        #[test]
        fn places_are_in_order_and_between_signs(text in "([\"'=:;{}$ é]|Bearer |token|key|ghp_0123456789abcdef0123|a)*") {
            let mut last = 0;
            for secret in hidden(&text, false) {
                prop_assert!(secret.range.start >= last && text.get(secret.range.clone()).is_some(), "{:?}", secret.range);
                last = secret.range.end;
            }
        }
    }
}
