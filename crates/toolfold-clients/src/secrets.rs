//! Secrets that somebody wrote into a client's file. They are taken out of the definition and replaced by a variable; the
//! value itself goes nowhere, least of all to a screen.

use toolfold_core::{Secret, words};

use crate::definition::ServerDefinition;
use crate::hidden::hidden;
use crate::variables::has_variable;

/// A secret that was found, and the variable that stands for it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedSecret {
    pub variable: String,
    pub value: Secret,
    /// Where it was: "variable GITHUB_TOKEN", "header Authorization".
    pub place: String,
}

/// Moves every secret out. `name_for` gives the variable's name for a wish and a value, and sees to it that one name
/// never stands for two values.
pub(crate) fn move_out(
    made: &mut ServerDefinition,
    server: &str,
    name_for: &mut dyn FnMut(&str, &str) -> String,
) -> Vec<MovedSecret> {
    let mut moved = Vec::new();
    let mut take = |wish: &str, value: &str, place: String| {
        let variable = name_for(wish, value);
        // `$$` is how the definition spells a dollar sign.
        moved.push(MovedSecret { variable: variable.clone(), value: Secret::new(value.replace("$$", "$")), place });
        format!("${{{variable}}}")
    };
    for (name, value) in &mut made.env {
        if has_variable(value) {
            *value = without_secret_defaults(value, name);
        } else if is_secret(name, value) {
            *value = take(&constant(name), value, format!("variable {name}"));
        } else {
            *value = without_hidden(value, server, false, &format!("variable {name}"), &mut take);
        }
    }
    for (name, value) in &mut made.headers {
        if has_variable(value) {
            *value = without_secret_defaults(value, name);
        } else if !is_harmless_header(name) {
            let (scheme, secret) = match value.split_once(' ') {
                Some((scheme, rest)) if name.eq_ignore_ascii_case("authorization") => {
                    (format!("{scheme} "), rest.trim())
                }
                _ => (String::new(), value.trim()),
            };
            let wish = if name.eq_ignore_ascii_case("authorization") { "TOKEN".to_owned() } else { constant(name) };
            *value =
                format!("{scheme}{}", take(&format!("{}_{wish}", constant(server)), secret, format!("header {name}")));
        }
    }
    move_arguments(&mut made.args, server, &mut take);
    if let Some(url) = &mut made.url {
        *url = without_secrets(url, server, &mut take);
    }
    moved
}

impl ServerDefinition {
    /// Moves secrets out of a definition that stands alone; what was moved.
    pub fn move_secrets(&mut self, server: &str) -> Vec<MovedSecret> {
        let mut taken: Vec<(String, String)> = Vec::new();
        move_out(self, server, &mut |wish, value| {
            let numbered = (2..).map(|number| format!("{wish}_{number}"));
            let mut names = std::iter::once(wish.to_owned()).chain(numbered);
            let fits = |name: &String| taken.iter().all(|(known, other)| known != name || other == value);
            let name = names.find(fits).unwrap_or_else(|| wish.to_owned());
            taken.push((name.clone(), value.to_owned()));
            name
        })
    }

    /// Says what a variable holds, once and for all: `${name}` is replaced by the value itself.
    pub fn fill_in(&mut self, name: &str, value: &str) {
        let (spelled, value) = (format!("${{{name}}}"), crate::variables::escaped(value));
        let pairs = self.env.iter_mut().chain(&mut self.headers).map(|(_, text)| text);
        let texts =
            self.command.iter_mut().chain(&mut self.args).chain(&mut self.cwd).chain(&mut self.url).chain(pairs);
        texts.for_each(|text| *text = text.replace(&spelled, &value));
    }
}

type Take<'t> = dyn FnMut(&str, &str, String) -> String + 't;

fn move_arguments(args: &mut [String], server: &str, take: &mut Take<'_>) {
    let mut option: Option<String> = None;
    for word in args.iter_mut() {
        let before = option.take();
        if has_variable(word) {
            continue;
        }
        let flag = word.starts_with('-').then(|| word.split_once('=')).flatten();
        if let Some((name, value)) = flag.map(|(name, value)| (name.to_owned(), value.to_owned())) {
            let place = format!("argument {name}");
            *word = match is_secret(&name, &value) {
                true => format!("{name}={}", take(&format!("{}_{}", constant(server), constant(&name)), &value, place)),
                false => format!("{name}={}", without_hidden(&value, server, is_header_option(&name), &place, take)),
            };
        } else if word.starts_with('-') && !word.contains(char::is_whitespace) {
            option = Some(word.clone());
        } else if let Some(name) = before.as_ref().filter(|name| is_secret(name, word)) {
            let wish = format!("{}_{}", constant(server), constant(name));
            *word = take(&wish, &word.clone(), format!("argument {name}"));
        } else if let Some((name, value)) = word.clone().split_once('=').filter(is_assignment) {
            // `docker run -e TOKEN=…`
            *word = format!("{name}={}", take(&constant(name), value, format!("argument {name}")));
        } else if looks_like_token(word) || has_password(word) {
            *word = take(&format!("{}_KEY", constant(server)), &word.clone(), "argument".to_owned());
        } else {
            let place = before.as_ref().map_or_else(|| "argument".to_owned(), |name| format!("argument {name}"));
            *word = without_hidden(word, server, before.is_some_and(|name| is_header_option(&name)), &place, take);
        }
    }
}

/// `-H`, `--header`, `--headers`
fn is_header_option(name: &str) -> bool {
    name == "-H" || words::split(name).iter().any(|word| word.starts_with("header"))
}

/// A name, and a secret that is all of the rest.
fn is_assignment((name, value): &(&str, &str)) -> bool {
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let is_whole = !value.contains(|c: char| c.is_whitespace() || ";&\"'".contains(c));
    is_name && is_whole && is_secret(name, value)
}

/// A text with its secrets taken out of it, each on its own.
fn without_hidden(text: &str, server: &str, is_header: bool, place: &str, take: &mut Take<'_>) -> String {
    if text.starts_with("http://") || text.starts_with("https://") {
        return without_secrets(text, server, take);
    }
    let (mut out, mut end) = (String::new(), 0);
    for secret in hidden(text, is_header) {
        let wish = match secret.name.as_deref() {
            Some(name) if name.eq_ignore_ascii_case("authorization") => "TOKEN".to_owned(),
            Some(name) => constant(name),
            None => "KEY".to_owned(),
        };
        let place = secret.name.map_or_else(|| place.to_owned(), |name| format!("{name} in {place}"));
        out.push_str(&text[end..secret.range.start]);
        out.push_str(&take(&format!("{}_{wish}", constant(server)), &text[secret.range.clone()], place));
        end = secret.range.end;
    }
    out + &text[end..]
}

/// The parts of a URL that are secret: values of its query, and parts of its path that are keys.
fn without_secrets(url: &str, server: &str, take: &mut Take<'_>) -> String {
    let (path, query) = url.split_once('?').map_or((url, None), |(path, query)| (path, Some(query)));
    let parts: Vec<String> = path
        .split('/')
        .enumerate()
        .map(|(at, part)| match at > 2 && !has_variable(part) && looks_like_token(part) {
            true => take(&format!("{}_URL_KEY", constant(server)), part, "URL".to_owned()),
            false => part.to_owned(),
        })
        .collect();
    let query = query.map(|query| {
        let pairs = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name, value)) if !has_variable(value) && is_secret(name, value) => {
                let wish = format!("{}_{}", constant(server), constant(name));
                format!("{name}={}", take(&wish, value, format!("URL parameter {name}")))
            }
            _ => pair.to_owned(),
        });
        format!("?{}", pairs.collect::<Vec<_>>().join("&"))
    });
    parts.join("/") + &query.unwrap_or_default()
}

/// `${TOKEN:-the-real-one}` without what should not be there.
fn without_secret_defaults(text: &str, name: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let Some(end) = rest[at..].find('}') else { break };
        let inner = &rest[at + 2..at + end];
        out.push_str(&rest[..at]);
        match inner.split_once(":-") {
            Some((variable, default)) if is_secret(name, default) || is_secret(variable, default) => {
                out.push_str(&format!("${{{variable}}}"));
            }
            _ => out.push_str(&format!("${{{inner}}}")),
        }
        rest = &rest[at + end + 1..];
    }
    out + rest
}

const SECRET_WORDS: [&str; 22] = [
    "token",
    "tokens",
    "key",
    "keys",
    "apikey",
    "secret",
    "secrets",
    "password",
    "passwd",
    "pwd",
    "pass",
    "passphrase",
    "pat",
    "credential",
    "credentials",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "session",
    "dsn",
    "jwt",
];

/// Whether a value is secret, by what it is called and what it looks like.
pub(crate) fn is_secret(name: &str, value: &str) -> bool {
    let value = value.trim();
    if value.is_empty() || has_variable(value) {
        return false;
    }
    let called = words::split(name).iter().any(|word| SECRET_WORDS.contains(&word.to_lowercase().as_str()));
    let plain = ["true", "false", "none", "null", "yes", "no", "oauth", "basic", "bearer"]
        .contains(&value.to_lowercase().as_str())
        || value.parse::<f64>().is_ok_and(|_| value.len() < 6)
        || is_path(value)
        || (value.starts_with("http") && value.contains("://") && !has_password(value));
    (called && !plain) || looks_like_token(value) || has_password(value)
}

fn is_path(value: &str) -> bool {
    ["/", "./", "../", "~/", "C:\\", "c:\\"].iter().any(|start| value.starts_with(start)) && !value.contains(' ')
}

/// `scheme://user:password@host`
pub(crate) fn has_password(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    host.rsplit_once('@').is_some_and(|(user, _)| user.contains(':') && !has_variable(user))
}

const PREFIXES: [&str; 24] = [
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "pk_live_",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "eyJ",
    "hf_",
    "npm_",
    "pypi-",
    "dop_v1_",
    "lin_api_",
    "ntn_",
];

/// A known beginning, or a long word of letters and digits that nobody would make up.
pub(crate) fn looks_like_token(value: &str) -> bool {
    let is_word = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.~+=".contains(c));
    if PREFIXES.iter().any(|prefix| value.starts_with(prefix)) && value.len() >= 16 && is_word(value) {
        return true;
    }
    let letters: Vec<char> = value.chars().filter(char::is_ascii_alphanumeric).collect();
    let digits = letters.iter().filter(|c| c.is_ascii_digit()).count();
    let distinct = letters.iter().collect::<std::collections::BTreeSet<_>>().len();
    // Names have words in them: parts that are letters alone, or a version.
    let longest = value.split(['-', '_', '.']).map(str::len).max().unwrap_or(0);
    is_word(value) && letters.len() >= 24 && digits >= 4 && distinct >= 10 && longest >= 16
}

pub(crate) fn is_harmless_header(name: &str) -> bool {
    let name = name.to_lowercase();
    let known =
        ["accept", "accept-language", "content-type", "user-agent", "origin", "referer", "mcp-protocol-version"];
    known.contains(&name.as_str()) || name.ends_with("-version")
}

/// `api-key` as the name of a variable: `API_KEY`.
pub(crate) fn constant(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    let trimmed = plain.trim_matches('_');
    match trimmed.chars().next() {
        None => "SECRET".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("_{trimmed}"),
        Some(_) => trimmed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_secret() {
        for (name, value) in [
            ("GITHUB_TOKEN", "abc"),
            ("apiKey", "x1y2"),
            ("X", "ghp_0123456789abcdef0123"),
            ("DATABASE_URL", "postgres://u:p@h/d"),
            ("--api-key", "short"),
            ("ANY", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"),
            ("DB_PASSWORD", "hunter2"),
        ] {
            assert!(is_secret(name, value), "{name}");
        }
        for (name, value) in [
            ("LOG_LEVEL", "debug"),
            ("KEY_PATH", "/etc/key.pem"),
            ("TOKEN", "${TOKEN}"),
            ("AUTH", "true"),
            ("MAX_TOKENS", "4096"),
            ("HOME_URL", "https://example.com/a"),
            ("PACKAGE", "@modelcontextprotocol/server-github"),
            ("KEYBOARD", "qwerty"),
            ("MODEL", "claude-sonnet-4-5-20250929"),
        ] {
            assert!(!is_secret(name, value), "{name}");
        }
    }

    #[test]
    fn secrets_leave_every_part() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut made = ServerDefinition {
            command: Some("x".to_owned()),
            args: [
                "--api-key",
                "s3cret",
                "--token=s3cret",
                "-e",
                "PASSWORD=s3cret",
                "ghp_0123456789abcdef0123",
                "plain",
                "--header",
                "Authorization: Bearer s3cret",
                "https://far.example/mcp?token=s3cret",
                "--opt=Password=s3cret;Mode=fast",
                "X_TOKEN=s3cret exec run",
            ]
            .map(str::to_owned)
            .to_vec(),
            env: vec![
                pair("API_KEY", "s3cret"),
                pair("MODE", "fast"),
                pair("T", "${T_TOKEN:-s3cret}"),
                pair("HEADERS", r#"{"Authorization": "Bearer s3cret"}"#),
            ],
            url: Some("https://h.example/s/9f86d081884c7d659a2feaa0c55ad015/mcp?api_key=s3cret&mode=fast".to_owned()),
            headers: vec![pair("Authorization", "Bearer s3cret"), pair("Accept", "a/b"), pair("X-Team", "s3cret")],
            ..ServerDefinition::default()
        };
        let moved = move_out(&mut made, "my-srv", &mut |wish, _| wish.to_owned());
        let texts: Vec<&str> = made.texts().map(String::as_str).collect();
        assert!(
            !texts.iter().any(|text| text.contains("s3cret") || text.contains("ghp_") || text.contains("9f86")),
            "{texts:?}"
        );
        assert_eq!(made.headers[0].1, "Bearer ${MY_SRV_TOKEN}");
        assert_eq!(made.args[..3], ["--api-key", "${MY_SRV_API_KEY}", "--token=${MY_SRV_TOKEN}"]);
        assert_eq!(
            made.url.as_deref(),
            Some("https://h.example/s/${MY_SRV_URL_KEY}/mcp?api_key=${MY_SRV_API_KEY}&mode=fast")
        );
        assert_eq!(made.env[0].1, "${API_KEY}");
        assert_eq!(made.env[3].1, r#"{"Authorization": "Bearer ${MY_SRV_TOKEN}"}"#);
        assert_eq!(
            made.args[8..],
            [
                "Authorization: Bearer ${MY_SRV_TOKEN}",
                "https://far.example/mcp?token=${MY_SRV_TOKEN}",
                "--opt=Password=${MY_SRV_PASSWORD};Mode=fast",
                "X_TOKEN=${MY_SRV_X_TOKEN} exec run",
            ]
        );
        assert_eq!(moved.len(), 14);
        assert!(!format!("{made:?}{moved:?}").contains("s3cret"));
    }
}
