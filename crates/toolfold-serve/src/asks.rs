//! Questions put to a client of the session era, waiting for its answers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;
use toolfold_wire::{BoxFuture, Id, Message, Object, Peer, Raw, RpcError};

type Answer = Result<Raw, RpcError>;

#[derive(Default)]
pub(crate) struct Asks {
    next: AtomicU64,
    open: Mutex<HashMap<Id, oneshot::Sender<Answer>>>,
}

/// Where messages to the client go. Never waits: what cannot be taken is lost, as on a connection that broke.
pub(crate) trait Outlet: Send + Sync + 'static {
    fn put(&self, message: Message);

    /// Whether anybody listens at the other end.
    fn is_heard(&self) -> bool {
        true
    }
}

impl Asks {
    /// Takes the client's answer; whether anybody waited for it.
    pub(crate) fn answered(&self, id: &Id, outcome: Answer) -> bool {
        let waiting = self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        waiting.is_some_and(|waiting| waiting.send(outcome).is_ok())
    }

    fn open(&self) -> (Id, oneshot::Receiver<Answer>) {
        let id = Id::number(self.next.fetch_add(1, Ordering::Relaxed) + 1);
        let (sender, receiver) = oneshot::channel();
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), sender);
        (id, receiver)
    }

    fn close(&self, id: &Id) -> bool {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(id).is_some()
    }
}

/// A client of the session era, as the gateway sees it during one request.
pub(crate) struct Asked<O> {
    pub(crate) asks: Arc<Asks>,
    pub(crate) outlet: O,
}

impl<O: Outlet> Peer for Asked<O> {
    fn notify(&self, method: &str, params: Option<Raw>) {
        self.outlet.put(Message::notification(method, params));
    }

    fn ask<'a>(&'a self, method: &'a str, params: Option<Raw>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let (id, answer) = self.asks.open();
            let _withdrawn = Withdraw { asked: self, id: id.clone() };
            self.outlet.put(Message::request(id, method, params));
            answer.await.unwrap_or_else(|_| Err(RpcError::internal("The client is gone.")))
        })
    }

    fn is_there(&self) -> bool {
        self.outlet.is_heard()
    }
}

/// Tells the client that nobody waits for its answer any more.
struct Withdraw<'a, O: Outlet> {
    asked: &'a Asked<O>,
    id: Id,
}

impl<O: Outlet> Drop for Withdraw<'_, O> {
    fn drop(&mut self) {
        if self.asked.asks.close(&self.id) {
            let mut params = Object::new();
            params.set_raw("requestId", self.id.to_raw()).set("reason", "The call that asked has ended.");
            self.asked.outlet.put(Message::notification("notifications/cancelled", Some(params.to_raw())));
        }
    }
}
