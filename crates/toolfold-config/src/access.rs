//! Whose word counts about who somebody is.

use toolfold_core::Secret;

/// One `[[issuers]]`: an authorization server whose tokens are accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct Issuer {
    /// As it says of itself, letter by letter.
    pub issuer: String,
    /// What its tokens may be for, beside the addresses that are served here.
    pub audiences: Vec<String>,
    /// Where its keys are; `None`: where its metadata says.
    pub jwks: Option<String>,
    /// What in a token says who somebody is, and in which groups.
    pub name_claim: String,
    pub groups_claim: String,
    /// Scopes that a client is told to ask for, beside those that rules name.
    pub scopes: Vec<String>,
    /// Where it is asked about tokens that nobody else can read.
    pub introspection: Option<Introspection>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Introspection {
    pub url: String,
    pub client_id: String,
    pub client_secret: Secret,
}
