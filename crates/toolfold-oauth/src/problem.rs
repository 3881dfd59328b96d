//! Why a login does not come about, in words for the person who wants it. What a provider says is quoted, shortened, and
//! never believed.

/// Characters of a provider's words that are shown.
const LONGEST: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("{what} is not an address that may be used ({why}): it must begin with https://")]
    Address { what: &'static str, why: String },
    #[error("the server says that it is {found:?}, which is not the address it was reached at: its login is not used")]
    OtherResource { found: String },
    #[error("{asked:?} describes itself as {found:?}: a login server that is not who it should be is not used")]
    OtherIssuer { asked: String, found: String },
    #[error("no login server describes itself where {issuer:?} should")]
    NoMetadata { issuer: String },
    #[error("the login server {issuer:?} does not offer the protection that a login needs (PKCE with S256)")]
    NoPkce { issuer: String },
    #[error(
        "the login server {issuer:?} does not let programs register themselves: register Toolfold there and set `client_id`"
    )]
    NoClient { issuer: String },
    #[error(
        "the server now names another login server ({found:?}) than the one its `client_id` is for ({known:?}): if that is right, run `toolfold logout` for it first"
    )]
    IssuerChanged { known: String, found: String },
    #[error("the login server did not register Toolfold: {0}")]
    NotRegistered(String),
    #[error("the login server's metadata names no {0}")]
    NoEndpoint(&'static str),
    #[error("the way back from the login server does not belong to this login")]
    WrongState,
    #[error("the way back from the login server does not say which server it is from, or says another")]
    WrongIssuer,
    #[error("the login was refused: {0}")]
    Denied(String),
    #[error("the login server refused: {0}")]
    Refused(String),
    #[error("the login server's answer cannot be used: {0}")]
    BadAnswer(String),
    #[error("the login server failed (HTTP {0}); it may work later")]
    Failing(u16),
    #[error("the key cannot be used: {0}")]
    Key(&'static str),
}

impl Problem {
    /// Whether trying again may help without anybody doing something.
    pub fn may_pass(&self) -> bool {
        matches!(self, Problem::Failing(_))
    }
}

/// What somebody else said, fit to be quoted.
pub(crate) fn quoted(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect();
    clean.trim().to_owned()
}
