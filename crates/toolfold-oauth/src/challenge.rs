//! What a server says it wants with a 401 or a 403, read from `WWW-Authenticate`. One header may hold several challenges,
//! and a server may send several headers.

use serde::{Deserialize, Serialize};

use crate::scopes;

/// What a server wants of who asks it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Demand {
    /// Where the server describes itself.
    pub metadata: Option<String>,
    pub scopes: Vec<String>,
    pub error: Option<String>,
    /// It asks for tokens that are bound to a key.
    pub dpop: bool,
}

impl Demand {
    /// Reads all headers together.
    pub fn read<'a>(headers: impl IntoIterator<Item = &'a str>) -> Demand {
        let mut demand = Demand::default();
        for challenge in headers.into_iter().flat_map(challenges) {
            let scheme = challenge.scheme.to_ascii_lowercase();
            if scheme != "bearer" && scheme != "dpop" {
                continue;
            }
            demand.dpop |= scheme == "dpop";
            for (name, value) in challenge.parameters {
                match name.to_ascii_lowercase().as_str() {
                    "resource_metadata" => demand.metadata = demand.metadata.or(Some(value)),
                    "scope" => demand.scopes = scopes::union(&demand.scopes, &scopes::split(&value)),
                    "error" => demand.error = demand.error.or(Some(value)),
                    _ => {}
                }
            }
        }
        demand
    }

    /// The token would do if it had more scopes.
    pub fn is_for_more(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }

    /// The proof lacked a number that the server had not told yet.
    pub fn is_for_nonce(&self) -> bool {
        self.error.as_deref() == Some("use_dpop_nonce")
    }
}

#[derive(Debug, Default)]
struct Challenge {
    scheme: String,
    parameters: Vec<(String, String)>,
}

/// A word is the name of a parameter where `=` follows, and otherwise the scheme of the next challenge.
fn challenges(header: &str) -> Vec<Challenge> {
    let mut all: Vec<Challenge> = Vec::new();
    let mut rest = header;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, ',' | '=')).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if word.is_empty() {
            // An equals sign without a name: nothing that follows can be told apart.
            return all;
        }
        let Some(value) = after.trim_start().strip_prefix('=') else {
            all.push(Challenge { scheme: word.to_owned(), parameters: Vec::new() });
            rest = after;
            continue;
        };
        let (value, after) = read_value(value.trim_start());
        if let Some(challenge) = all.last_mut() {
            challenge.parameters.push((word.to_owned(), value));
        }
        rest = after;
    }
}

/// A quoted text, with backslashes taken out, or everything up to the next comma or space.
fn read_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(|c: char| c.is_whitespace() || c == ',').unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, c)| c)),
            _ => value.push(c),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_header_with_several_challenges() {
        let demand = Demand::read([
            r#"Basic realm="a, b", DPoP algs="ES256", Bearer scope="one two", resource_metadata="https://a.example/\"x\"""#,
        ]);
        assert_eq!(demand.scopes, ["one", "two"]);
        assert_eq!(demand.metadata.as_deref(), Some("https://a.example/\"x\""));
        assert!(demand.dpop && demand.error.is_none());
    }

    #[test]
    fn several_headers_and_loose_writing() {
        let demand = Demand::read(["bearer error = insufficient_scope , scope=\"b a b\"", "Negotiate YII=", "Bearer"]);
        assert!(demand.is_for_more());
        assert_eq!(demand.scopes, ["b", "a"]);
        assert!(!demand.dpop);
    }

    #[test]
    fn nonsense_is_no_demand_and_ends() {
        for header in ["", "=", ",,,", "=\"", "Bearer =x", "Bearer scope=\"never closed", "\u{fffd}=\"\\"] {
            let demand = Demand::read([header]);
            assert!(demand.metadata.is_none(), "{header}");
        }
        assert_eq!(Demand::read(["Bearer scope=\"never closed"]).scopes, ["never", "closed"]);
    }
}
