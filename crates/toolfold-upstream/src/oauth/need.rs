//! What is missing before a server can be used.

/// Only a person can help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// Nobody is logged in.
    Login { why: String },
    /// Somebody is, and may do less than the server wants for this.
    More { why: String },
}

impl Need {
    pub(crate) fn login(why: impl Into<String>) -> Self {
        Need::Login { why: why.into() }
    }

    /// In words that a model can pass on.
    pub fn why(&self) -> &str {
        match self {
            Need::Login { why } | Need::More { why } => why,
        }
    }
}
