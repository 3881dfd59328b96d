//! What went wrong, as an error of JSON-RPC. Nowhere else in this crate is one made into the other.

use toolfold_core::{ServerName, beginning, words};
use toolfold_wire::{Object, RpcError, code};

use crate::gate::Failed;
use crate::request::Client;
use crate::snapshot::Snapshot;

/// Characters that are said back of a name, and of an address.
pub(crate) const SHORT: usize = 128;
const LONG: usize = 512;

pub(crate) fn no_prompt(snapshot: &Snapshot, name: &str) -> RpcError {
    let nearest = words::nearest(name, snapshot.offers.prompts.names());
    let hint = nearest.map_or_else(String::new, |nearest| format!(" Did you mean {nearest:?}?"));
    RpcError::invalid_params(format!("There is no prompt {:?}.{hint}", beginning(name, SHORT)))
}

pub(crate) fn no_resource(client: &Client, uri: &str) -> RpcError {
    not_found(client, uri, String::new())
}

/// Nobody who is there lists it, and a server that is not might: nobody is asked in its place unless by name.
pub(crate) fn may_be_missing(client: &Client, uri: &str, other: &ServerName) -> RpcError {
    let spelling = beginning(uri, LONG);
    not_found(
        client,
        uri,
        format!(". A server that is still starting may have it; {other} is asked for it as {other}+{spelling}"),
    )
}

/// Its server's name is before it, and that one does not run or has none.
pub(crate) fn is_away(client: &Client, uri: &str, server: &ServerName) -> RpcError {
    not_found(
        client,
        uri,
        format!(". It is asked of {server}, which is not running or has no resources: see `toolfold status`"),
    )
}

fn not_found(client: &Client, uri: &str, why: String) -> RpcError {
    let code = if client.has_session() { code::RESOURCE_NOT_FOUND_LEGACY } else { code::INVALID_PARAMS };
    let uri = beginning(uri, LONG);
    RpcError::new(code, format!("Resource not found: {uri}{why}")).with_data(&Object::new().with("uri", &uri))
}

/// Two servers could be meant, and neither may speak for the other.
pub(crate) fn contested(uri: &str, servers: &[ServerName]) -> RpcError {
    let uri = beginning(uri, LONG);
    let spellings: Vec<String> = servers.iter().take(8).map(|server| format!("{server}+{uri}")).collect();
    RpcError::invalid_params(format!("Several servers have {uri}. Ask for one of: {}", spellings.join(", ")))
}

/// Outside of tool calls a refusal is a JSON-RPC error that carries its code.
pub(crate) fn rpc(failed: Failed) -> RpcError {
    match failed {
        Failed::Answered(error) => error,
        Failed::Refused(refusal) => RpcError::internal(refusal.message.clone()).with_data(&refusal.to_json()),
    }
}
