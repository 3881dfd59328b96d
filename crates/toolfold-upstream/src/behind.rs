//! Which Toolfolds this one is behind, so that one that is behind itself starts nothing: each would start the next, as
//! fast as the machine can.
//!
//! What a reader would get wrong: a command line does not tell. Through `npx`, a copy under another name or a second file
//! that leads back to the first it looks like any other server. So whatever a Toolfold starts is given a variable with the
//! configurations it is behind. Behind another configuration a Toolfold is a server like any other, up to a depth that nobody
//! needs. What does not inherit an environment (a container, `env -i`, another machine) does not see it.

use std::path::Path;
use std::sync::OnceLock;

use toolfold_core::Fingerprint;

/// Set by us and never inherited: a server that is no Toolfold hands it on to one that it starts.
pub(crate) const VARIABLE: &str = "TOOLFOLD_BEHIND";
/// Toolfolds that one may be behind.
const MOST: usize = 4;
/// Digits of a configuration's hash.
const DIGITS: usize = 16;
/// In place of a hash where there is no file.
const NAMELESS: &str = "-";

/// What this process serves, once it is known.
static OWN: OnceLock<String> = OnceLock::new();

/// Why this Toolfold must start no server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Behind {
    #[error("this Toolfold is behind itself: one with the same configuration has started it")]
    Itself,
    #[error("this Toolfold is behind {0} others: each has started the next, and at most {MOST} may")]
    TooMany(usize),
}

/// What this process is known by to those that its servers start: the configuration it serves.
pub fn stand_for(configuration: &Path) {
    let whole = configuration.canonicalize().unwrap_or_else(|_| configuration.to_owned());
    let hash = Fingerprint::of_text(&whole.to_string_lossy()).to_string();
    let _ = OWN.set(hash.chars().take(DIGITS).collect());
}

/// To be asked before servers are started.
pub fn is_behind() -> Result<(), Behind> {
    look(&inherited(), OWN.get().map(String::as_str))
}

/// What a server gets.
pub(crate) fn of_server() -> String {
    with(inherited(), OWN.get().map_or(NAMELESS, String::as_str))
}

/// What a program gets that is run for a call. It may ask for other tools of the same configuration: only how deep that
/// goes is counted.
pub(crate) fn of_command() -> String {
    with(inherited(), NAMELESS)
}

fn inherited() -> String {
    std::env::var(VARIABLE).unwrap_or_default()
}

fn with(chain: String, last: &str) -> String {
    if chain.is_empty() { last.to_owned() } else { format!("{chain} {last}") }
}

fn look(chain: &str, own: Option<&str>) -> Result<(), Behind> {
    let before = || chain.split_ascii_whitespace();
    match before().count() {
        _ if own.is_some_and(|own| before().any(|one| one == own)) => Err(Behind::Itself),
        many if many > MOST => Err(Behind::TooMany(many)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_no_matter_up_to_a_depth() {
        assert_eq!(look("", Some("aa")), Ok(()));
        assert_eq!(look("bb - cc", Some("aa")), Ok(()));
        assert_eq!(look("aa bb", Some("aa")), Err(Behind::Itself));
        assert_eq!(look("a b c d", None), Ok(()));
        assert_eq!(look("a b - - -", None), Err(Behind::TooMany(5)));
        assert_eq!(with(with(String::new(), "aa"), NAMELESS), "aa -");
    }
}
