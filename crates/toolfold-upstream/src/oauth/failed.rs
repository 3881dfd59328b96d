//! Why a login was not made, renewed, or used. What is said of it is for a person: the texts are the errors' own.

use toolfold_core::ServerName;
use toolfold_oauth::Problem;

use super::vault::NotKept;

/// Why a login did not come about.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NoLogin {
    #[error("{0}")]
    Problem(#[from] Problem),
    /// Nobody said no: it may work later.
    #[error("{0}")]
    Unreachable(String),
}

impl NoLogin {
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            NoLogin::Problem(problem) => problem.may_pass(),
            NoLogin::Unreachable(_) => true,
        }
    }
}

/// Why there is no newer login in place of the one that there is.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotRenewed {
    #[error("it was interrupted")]
    Interrupted,
    #[error(transparent)]
    Kept(#[from] NotKept),
    #[error(transparent)]
    Login(#[from] NoLogin),
}

/// Why there is no login that takes no person.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotAcquired {
    #[error("it was interrupted")]
    Interrupted,
    #[error("Toolfold could not log in to {server}: {why}")]
    Refused { server: ServerName, why: NoLogin },
}

/// Why a request cannot be signed with the login that there is.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unsigned {
    #[error(transparent)]
    Proof(#[from] Problem),
    #[error("a token cannot be sent in a header")]
    Header,
}

/// Why nobody is logged in after a visit.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NoVisitor {
    #[error("the login was given up")]
    GivenUp,
    #[error("nobody logged in within {minutes} minutes")]
    Late { minutes: u64 },
    /// The way back to this machine broke.
    #[error("{0}")]
    WayBack(String),
    #[error(transparent)]
    Login(#[from] NoLogin),
}
