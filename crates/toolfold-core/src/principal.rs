//! Who is asking. Whatever belongs to somebody (a session, a stream, a call that waits for an answer, a set of tools)
//! belongs to a principal, and in the hands of another it is as good as unknown.
//!
//! What a reader would get wrong: a principal is not a connection. One may have many, and each request says anew who it
//! is from.

use std::fmt;
use std::sync::Arc;

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Principal(Arc<str>);

impl Principal {
    /// Whoever runs the program: stdio, the command line, loopback without a token.
    pub fn local() -> Self {
        Principal("local".into())
    }

    /// Whoever has the token of the configuration.
    pub fn token() -> Self {
        Principal("token".into())
    }

    /// How it is known who this is.
    pub fn proof(&self) -> &'static str {
        if *self == Principal::local() { "local" } else { "token" }
    }

    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
