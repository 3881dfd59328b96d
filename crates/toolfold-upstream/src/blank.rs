//! What must not be read in a log, a status or an error: the secrets a server was given. Their values are blanked out of
//! everything the server says in prose.
//!
//! What a reader would get wrong: a server need not print a secret on one line. A value with line breaks is printed over
//! several, and any value can be broken in two, so a line that ends like the beginning of a secret is held back until
//! the next one is there ([`Blanking`]).

use std::ops::Range;

use toolfold_config::{DocumentPlace, KeptIn, Server, Transport};
use toolfold_core::Secret;

const BLANK: &str = "…";
/// Shorter values are not hidden: `1` or `on` would take half the text with them.
const SHORTEST: usize = 4;
/// From here on a value is hidden whatever it looks like and whatever it is called.
const LONG: usize = 8;
/// More is not held back: a secret is not printed a letter a line.
const MOST_HELD: usize = 64;

/// The values to hide, longest first, so that one that contains another is hidden whole.
#[derive(Clone, Default)]
pub struct Blanks(Vec<String>);

/// Addresses that may have a secret in them, and headers that are one.
fn addresses(transport: &Transport) -> (Vec<&str>, Vec<(&String, &Secret)>) {
    let (urls, headers) = match transport {
        Transport::Stdio { .. } => return Default::default(),
        Transport::Http { url, headers } => (vec![url.as_str()], headers),
        Transport::Agent { card, headers } => (vec![card.as_str()], headers),
        Transport::Api(source) => {
            let document = match &source.document {
                Some(DocumentPlace::Url(url)) => Some(url.as_str()),
                _ => None,
            };
            (document.into_iter().chain(source.base_url.as_deref()).collect(), &source.headers)
        }
    };
    (urls, headers.iter().collect())
}

impl Blanks {
    /// What this server was given by its configuration, what it inherits under a name that speaks of a secret, and
    /// `others`, which it should not know at all.
    pub fn of(config: &Server, others: &[Secret]) -> Self {
        let inherited = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.to_str().filter(|name| speaks_of_secret(name))?.to_owned();
            Some((name, value.to_string_lossy().into_owned()))
        });
        Blanks::new(config, others, inherited)
    }

    fn new(config: &Server, others: &[Secret], inherited: impl Iterator<Item = (String, String)>) -> Self {
        let mut values = Vec::new();
        match &config.transport {
            Transport::Stdio { env, .. } => {
                env.iter().for_each(|(name, value)| add(&mut values, name, value.expose()));
                inherited.for_each(|(name, value)| add(&mut values, &name, &value));
            }
            Transport::Http { .. } | Transport::Api(_) | Transport::Agent { .. } => {
                let (urls, headers) = addresses(&config.transport);
                if let Transport::Api(source) = &config.transport {
                    source.env.iter().for_each(|(name, value)| add(&mut values, name, value.expose()));
                    if source.programs().next().is_some() {
                        inherited.for_each(|(name, value)| add(&mut values, &name, &value));
                    }
                }
                headers.iter().for_each(|(_, value)| add(&mut values, "secret", value.expose()));
                urls.into_iter().flat_map(secrets_in_url).for_each(|value| add(&mut values, "secret", &value));
                let auth = &config.auth;
                let kept = [&auth.private_key, &auth.assertion].into_iter().flatten().filter_map(|kept| match kept {
                    KeptIn::Text(secret) => Some(secret),
                    KeptIn::File(_) => None,
                });
                let own = auth.client_secret.iter().chain(&auth.identity_client_secret).chain(kept);
                own.for_each(|value| add(&mut values, "secret", value.expose()));
            }
        }
        others.iter().for_each(|value| add(&mut values, "secret", value.expose()));
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Blanks(values)
    }

    /// What any of these servers was given, and `others`.
    pub fn of_all<'a>(servers: impl IntoIterator<Item = &'a Server>, others: &[Secret]) -> Self {
        let mut values: Vec<String> = servers.into_iter().flat_map(|server| Blanks::of(server, &[]).0).collect();
        others.iter().for_each(|value| add(&mut values, "secret", value.expose()));
        values.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        values.dedup();
        Blanks(values)
    }

    /// Text that is whole: a message, an error.
    pub fn blank(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for value in &self.0 {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), BLANK);
            }
        }
        text
    }

    /// Where the secrets are in this text, in order and without overlap.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for value in &self.0 {
            found.extend(text.match_indices(value.as_str()).map(|(at, value)| at..at + value.len()));
        }
        found.sort_by_key(|range| range.start);
        let mut apart: Vec<Range<usize>> = Vec::new();
        for range in found {
            match apart.last_mut().filter(|last| range.start < last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => apart.push(range),
            }
        }
        apart
    }

    /// How much of the end of this text may be the beginning of a secret.
    fn begun(&self, text: &str) -> usize {
        let longest = |value: &String| {
            let lengths = value.char_indices().skip(1).map(|(at, _)| at);
            lengths.filter(|length| text.ends_with(&value[..*length])).max().unwrap_or(0)
        };
        self.0.iter().map(longest).max().unwrap_or(0)
    }
}

/// A stream of lines with the secrets taken out, over line ends too.
#[derive(Default)]
pub(crate) struct Blanking {
    blanks: Blanks,
    held: Vec<String>,
}

impl Blanking {
    pub(crate) fn new(blanks: Blanks) -> Self {
        Blanking { blanks, held: Vec::new() }
    }

    pub(crate) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// The lines that can be shown now that this one is known.
    pub(crate) fn feed(&mut self, line: &str) -> Vec<String> {
        self.held.push(line.trim_end_matches('\r').to_owned());
        let joined = self.held.concat();
        self.blank_held(&self.blanks.find(&joined));
        let begun = self.blanks.begun(&self.held.concat());
        let keep = if self.held.len() > MOST_HELD { 0 } else { self.lines_within(begun) };
        self.held.drain(..self.held.len() - keep).collect()
    }

    /// The rest, when no more will come, or not soon.
    pub(crate) fn flush(&mut self) -> Vec<String> {
        std::mem::take(&mut self.held)
    }

    /// Takes these places of all held lines, put end to end, out of them.
    fn blank_held(&mut self, places: &[Range<usize>]) {
        let mut start = 0;
        for line in &mut self.held {
            let end = start + line.len();
            for place in places.iter().rev().filter(|place| place.start < end && place.end > start) {
                line.replace_range(place.start.max(start) - start..place.end.min(end) - start, BLANK);
            }
            start = end;
        }
    }

    /// How many lines it takes, from the last one backwards, to hold so many bytes.
    fn lines_within(&self, bytes: usize) -> usize {
        let mut held = 0;
        let within = |line: &&String| {
            let before = held;
            held += line.len();
            before < bytes
        };
        self.held.iter().rev().take_while(within).count()
    }
}

/// The value itself, and its parts where they are secrets of their own: the lines of a key, the password in an
/// address, what comes after `Bearer`.
fn add(values: &mut Vec<String>, name: &str, value: &str) {
    let lines = value.split(['\r', '\n']).map(str::trim);
    let whole: String = value.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    let after_scheme = value.split_once(' ').map(|(_, rest)| rest.trim().to_owned());
    let parts = lines.map(str::to_owned).chain([whole]).chain(after_scheme).chain(secrets_in_url(value));
    values.extend(parts.filter(|part| is_hidden(name, part)));
}

fn is_hidden(name: &str, value: &str) -> bool {
    const COMMON: [&str; 10] =
        ["true", "false", "none", "null", "auto", "default", "enabled", "disabled", "debug", "info"];
    let plain =
        || value.chars().all(|c| c.is_ascii_lowercase()) || value.chars().all(|c| c.is_ascii_digit() || c == '.');
    let length = value.chars().count();
    length >= LONG || (length >= SHORTEST && !COMMON.contains(&value) && (speaks_of_secret(name) || !plain()))
}

/// The password and the values of the query.
fn secrets_in_url(text: &str) -> impl Iterator<Item = String> {
    let url = text.contains("://").then(|| url::Url::parse(text).ok()).flatten();
    let password = url.as_ref().and_then(|url| url.password()).map(str::to_owned);
    let query: Vec<String> =
        url.iter().flat_map(|url| url.query_pairs()).map(|(_, value)| value.into_owned()).collect();
    password.into_iter().chain(query)
}

/// Whether a variable of this name holds a secret, for all one can tell.
pub fn speaks_of_secret(name: &str) -> bool {
    const WORDS: [&str; 18] = [
        "TOKEN",
        "TOKENS",
        "KEY",
        "KEYS",
        "APIKEY",
        "SECRET",
        "SECRETS",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "PASS",
        "PW",
        "CREDENTIAL",
        "CREDENTIALS",
        "COOKIE",
        "PAT",
        "JWT",
        "DSN",
    ];
    let name = name.to_ascii_uppercase();
    let ends = ["TOKEN", "KEY", "SECRET", "PASSWORD", "_AUTH", "_PWD"].iter().any(|end| name.ends_with(end));
    ends || name.split(['_', '-', '.']).any(|word| WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blanking(values: &[(&str, &str)]) -> Blanking {
        let mut known = Vec::new();
        values.iter().for_each(|(name, value)| add(&mut known, name, value));
        known.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Blanking::new(Blanks(known))
    }

    fn shown(values: &[(&str, &str)], lines: &[&str]) -> Vec<String> {
        let mut blanking = blanking(values);
        let mut shown: Vec<String> = lines.iter().flat_map(|line| blanking.feed(line)).collect();
        shown.extend(blanking.flush());
        shown
    }

    #[test]
    fn a_secret_is_hidden_on_one_line_and_over_several() {
        let secret = [("A", "alpha-beta-gamma")];
        assert_eq!(shown(&secret, &["x alpha-beta-gamma y", "plain"]), ["x … y", "plain"]);
        assert_eq!(shown(&secret, &["key alpha-be", "ta-gamma!", "end"]), ["key …", "…!", "end"]);
        assert_eq!(shown(&secret, &["key alp", "ha-", "beta-gam", "ma"]), ["key …", "…", "…", "…"]);
        assert_eq!(shown(&secret, &["al", "alpha", "lima"]), ["al", "alpha", "lima"]);
        let lines = [("A", "first-line-1\nsecond-line-2")];
        assert_eq!(shown(&lines, &["A=first-line-1", "second-line-2 first-line-1"]), ["A=…", "… …"]);
    }

    #[test]
    fn only_a_line_that_may_be_the_beginning_of_a_secret_is_held_back() {
        let mut blanking = blanking(&[("A", "alpha-beta-gamma")]);
        assert_eq!(blanking.feed("nothing to hide."), ["nothing to hide."]);
        assert!(blanking.feed("it ends in alpha-").is_empty());
        assert_eq!(blanking.feed("and that was all."), ["it ends in alpha-", "and that was all."]);
    }

    #[test]
    fn short_values_are_hidden_where_they_are_secrets() {
        for (name, value, hidden) in [
            ("SHORT_SECRET", "pw7chrs", true),
            ("K", "pw7chrs", true),
            ("DB_PASSWORD", "hunter", true),
            ("MODE", "debug", false),
            ("PORT", "8080", false),
            ("TOKENIZERS", "true", false),
            ("API_KEY", "abc", false),
        ] {
            assert_eq!(is_hidden(name, value), hidden, "{name}={value}");
        }
        assert_eq!(shown(&[("X", "Bearer abcdefgh1")], &["got abcdefgh1"]), ["got …"]);
        assert_eq!(shown(&[("U", "postgres://me:s3cret-pw@db/x")], &["for s3cret-pw"]), ["for …"]);
    }

    #[test]
    fn names_of_secrets() {
        for name in ["GITHUB_TOKEN", "apiKey", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "NPM_AUTH", "MY_PAT"] {
            assert!(speaks_of_secret(name), "{name}");
        }
        for name in ["PATH", "PWD", "SSH_AUTH_SOCK", "KEYBOARD", "HOME", "TOKENIZERS_PARALLELISM"] {
            assert!(!speaks_of_secret(name), "{name}");
        }
    }
}
