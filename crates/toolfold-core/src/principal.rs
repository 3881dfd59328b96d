//! Who is asking. Whatever belongs to somebody (a session, a stream, a call that waits for an answer, a set of tools)
//! belongs to a principal, and in the hands of another it is as good as unknown.
//!
//! What a reader would get wrong: a principal is not a connection. One may have many, and each request says anew who it
//! is from. And two are the same where name and proof are: with another token the same person may have other groups and
//! scopes, which decide what exists for a request and never whose something is.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

#[derive(Clone)]
pub struct Principal {
    identity: Arc<Identity>,
    credential: Credential,
}

/// What somebody came with, as far as it matters for what they leave open: it says neither who they are nor what they may.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Credential {
    /// When a token of ours was given out, in milliseconds since 1970: this tells it from the next one of the same name.
    pub given_at: Option<i64>,
    /// When what was shown is over, in seconds since 1970.
    pub ends_at: Option<u64>,
}

/// What is known of somebody.
#[derive(Debug, Clone)]
pub struct Identity {
    pub name: String,
    pub proof: Proof,
    pub groups: Vec<String>,
    pub scopes: Vec<String>,
    /// What an issuer says beside, flat: a list has several values, and what is neither text, number nor truth is left out.
    pub claims: BTreeMap<String, Vec<String>>,
}

/// How it is known who somebody is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Proof {
    /// They run the program, or came from this machine where that is enough.
    Local,
    /// They have the token of the configuration.
    Token,
    /// They have a token that was given out under their name.
    Named,
    /// An issuer signed that it is them.
    Signed(String),
    /// An issuer said so when it was asked.
    Introspected(String),
}

/// Names that nobody else may have: they stand for whoever runs the program.
pub const RESERVED: [&str; 2] = ["local", "token"];

impl Principal {
    pub fn new(identity: Identity) -> Self {
        Principal { identity: Arc::new(identity), credential: Credential::default() }
    }

    /// The same, with what they came with.
    pub fn showing(self, credential: Credential) -> Self {
        Principal { credential, ..self }
    }

    pub fn credential(&self) -> Credential {
        self.credential
    }

    /// Whoever runs the program: stdio, the command line, loopback where that is enough.
    pub fn local() -> Self {
        Principal::plain("local", Proof::Local)
    }

    /// Whoever has the token of the configuration.
    pub fn token() -> Self {
        Principal::plain("token", Proof::Token)
    }

    /// Whoever has a token that was given out under this name.
    pub fn named(name: &str, groups: Vec<String>) -> Self {
        let mut whole = Principal::plain(name, Proof::Named);
        Arc::make_mut(&mut whole.identity).groups = groups;
        whole
    }

    fn plain(name: &str, proof: Proof) -> Self {
        let (groups, scopes, claims) = (Vec::new(), Vec::new(), BTreeMap::new());
        Principal::new(Identity { name: name.to_owned(), proof, groups, scopes, claims })
    }

    /// Whether it is whoever runs the program, by whichever of their ways.
    pub fn is_owner(&self) -> bool {
        matches!(self.identity.proof, Proof::Local | Proof::Token)
    }

    /// How it is known who this is, in a word.
    pub fn proof(&self) -> &'static str {
        match self.identity.proof {
            Proof::Local => "local",
            Proof::Token | Proof::Named => "token",
            Proof::Signed(_) => "jwt",
            Proof::Introspected(_) => "introspection",
        }
    }

    pub fn name(&self) -> &str {
        &self.identity.name
    }

    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Whose something is, in a text that is kept. No two principals have the same.
    pub fn key(&self) -> String {
        match &self.identity.proof {
            Proof::Local | Proof::Token => self.identity.name.clone(),
            Proof::Named => format!("named {}", self.identity.name),
            Proof::Signed(issuer) | Proof::Introspected(issuer) => format!("{issuer} {}", self.identity.name),
        }
    }

    /// Whether this is the same principal with the same groups, scopes and claims.
    pub fn says_the_same(&self, other: &Principal) -> bool {
        let (a, b) = (&self.identity, &other.identity);
        Arc::ptr_eq(a, b) || (self == other && (&a.groups, &a.scopes, &a.claims) == (&b.groups, &b.scopes, &b.claims))
    }

    /// Who it is: an issuer stands for the same person whether it signs or is asked.
    fn who(&self) -> (&str, u8, &str) {
        let (kind, issuer) = match &self.identity.proof {
            Proof::Local => (0, ""),
            Proof::Token => (1, ""),
            Proof::Named => (2, ""),
            Proof::Signed(issuer) | Proof::Introspected(issuer) => (3, issuer.as_str()),
        };
        (&self.identity.name, kind, issuer)
    }
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        self.who() == other.who()
    }
}

impl Eq for Principal {}

impl Hash for Principal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.who().hash(state);
    }
}

impl PartialOrd for Principal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Principal {
    fn cmp(&self, other: &Self) -> Ordering {
        self.who().cmp(&other.who())
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.identity.name)
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.identity.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_whose_it_was_proven_to_be() {
        let of = |name: &str, proof: Proof| Principal::plain(name, proof);
        let (one, other) = ("https://one.example".to_owned(), "https://other.example".to_owned());
        let all = [
            Principal::local(),
            Principal::token(),
            of("local", Proof::Named),
            of("alice", Proof::Named),
            of("alice", Proof::Signed(one.clone())),
            of("alice", Proof::Signed(other)),
        ];
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate() {
                assert_eq!((a == b, a.key() == b.key()), (i == j, i == j), "{} {}", a.key(), b.key());
            }
        }
        assert_eq!(of("alice", Proof::Signed(one.clone())), of("alice", Proof::Introspected(one)));
    }

    #[test]
    fn other_groups_are_the_same_principal() {
        let (few, many) = (Principal::named("ci", Vec::new()), Principal::named("ci", vec!["ops".into()]));
        assert!(few == many && !few.says_the_same(&many) && few.says_the_same(&few.clone()));
    }
}
