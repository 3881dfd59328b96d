//! A question to a client, whoever has it: a server in the middle of a call, an agent, a login, or a stateless server whose
//! client is of the old era.

use std::time::Duration;

use toolfold_wire::{Peer, Raw, RpcError};

/// People answer some of them; a call that waits for several has a deadline of its own.
const LONGEST: Duration = Duration::from_secs(600);

/// The client's answer. One that is there and says nothing has not answered, and is told that nobody waits any more.
pub async fn put_question(peer: &dyn Peer, method: &str, params: Option<Raw>) -> Result<Raw, RpcError> {
    let late = |_| Err(RpcError::internal(format!("The client did not answer {method} in time.")));
    tokio::time::timeout(LONGEST, peer.ask(method, params)).await.unwrap_or_else(late)
}
