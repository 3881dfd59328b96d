//! The other side of a conversation, seen from inside: it can be told things and asked things. Who implements it
//! decides what that means; a stateless client, for one, is asked by ending its request and waiting for the next.

use std::future::Future;
use std::pin::Pin;

use crate::message::RpcError;
use crate::raw::Raw;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

pub trait Peer: Send + Sync {
    /// Tells the peer something. Never waits and never fails: a peer that is gone hears nothing.
    fn notify(&self, method: &str, params: Option<Raw>);

    /// Asks the peer something and waits for its answer.
    fn ask<'a>(&'a self, method: &'a str, params: Option<Raw>) -> BoxFuture<'a, Result<Raw, RpcError>>;

    /// Whether it still listens: who hung up is not thinking about a question any more.
    fn is_there(&self) -> bool {
        true
    }
}

/// A peer that hears nothing and answers no question: a call from the command line.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Peer for Silent {
    fn notify(&self, _method: &str, _params: Option<Raw>) {}

    fn ask<'a>(&'a self, method: &'a str, _params: Option<Raw>) -> BoxFuture<'a, Result<Raw, RpcError>> {
        Box::pin(async move {
            Err(RpcError::new(
                crate::code::METHOD_NOT_FOUND,
                format!("There is no client here that could answer {method}."),
            ))
        })
    }
}
