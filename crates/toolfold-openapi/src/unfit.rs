//! Why an operation of a document is no tool: each completes the sentence "GET /pets …".

use crate::document::BadReference;
use crate::place::BadServer;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    #[error("has a parameter that {0}")]
    Parameter(BadReference),
    #[error("has a body that {0}")]
    Body(BadReference),
    #[error(transparent)]
    Server(#[from] BadServer),
}
