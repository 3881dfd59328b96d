//! One request to a server, and the ways it can fail. An error of the server itself is an answer like any other and
//! passes through; everything else says whether it can be tried again.

use std::sync::Arc;
use std::time::Duration;

use toolfold_core::Principal;
use toolfold_wire::{Object, Peer, Raw, RpcError, Spool};

use crate::oauth::Need;

/// Nobody but its future cancels it: whoever drops that has cancelled the call.
#[derive(Clone)]
pub struct Call {
    pub method: String,
    pub params: Object,
    /// Who hears the progress of this call and is asked the server's questions about it.
    pub peer: Arc<dyn Peer>,
    /// Which client asks. A question that could belong to two clients is put to neither.
    pub client: u64,
    /// Who asks: logins at servers may be each one's own.
    pub principal: Principal,
    /// What the client can do, for servers of the stateless era.
    pub client_capabilities: Option<Raw>,
    /// From now to the answer, the start of the server included; the server's own setting where `None`.
    pub timeout: Option<Duration>,
    /// Another replica has sent it: it goes to a process of this one, or nowhere.
    pub here: bool,
    /// Where a long answer may go while it comes in; what is answered then has its texts cut short.
    pub spool: Option<Arc<dyn Spool>>,
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum CallError {
    /// The server's own JSON-RPC error, as it came.
    #[error("the server answered with an error: {0}")]
    Answered(RpcError),
    #[error("{why}")]
    Unavailable { why: String, retry_in: Option<Duration> },
    /// Somebody has to log in first. The server has not looked at the request.
    #[error("{}", .0.why())]
    Login(Need),
    #[error("no answer within {after:?}")]
    Timeout { after: Duration },
    #[error("the server's answer is larger than {limit} bytes")]
    TooLarge { limit: usize },
}

impl CallError {
    pub(crate) fn unavailable(why: impl Into<String>) -> Self {
        CallError::Unavailable { why: why.into(), retry_in: None }
    }
}
