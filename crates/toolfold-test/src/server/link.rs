//! One direction of a connection that messages can be put on, and the questions asked over it that wait for an answer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};
use toolfold_wire::{BoxFuture, Id, Message, Peer, Raw, RpcError};

type Outcome = Result<Raw, RpcError>;

/// Questions by the id they were asked under.
#[derive(Debug, Default)]
pub(super) struct Questions {
    next: AtomicU64,
    waiting: Mutex<HashMap<Id, oneshot::Sender<Outcome>>>,
}

impl Questions {
    pub(super) fn answer(&self, id: &Id, outcome: Outcome) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        if let Some(waiting) = waiting {
            let _ = waiting.send(outcome);
        }
    }

    fn ask(&self) -> (Id, oneshot::Receiver<Outcome>) {
        let id = Id::text(&format!("question {}", self.next.fetch_add(1, Ordering::Relaxed)));
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), sender);
        (id, receiver)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) out: mpsc::UnboundedSender<Message>,
    pub(super) questions: Arc<Questions>,
}

impl Link {
    pub(super) fn send(&self, message: Message) {
        let _ = self.out.send(message);
    }
}

impl Peer for Link {
    fn notify(&self, method: &str, params: Option<Raw>) {
        self.send(Message::notification(method, params));
    }

    fn ask<'a>(&'a self, method: &'a str, params: Option<Raw>) -> BoxFuture<'a, Outcome> {
        let (id, answer) = self.questions.ask();
        self.send(Message::request(id, method, params));
        Box::pin(async move { answer.await.unwrap_or_else(|_| Err(RpcError::internal("the connection ended"))) })
    }
}
