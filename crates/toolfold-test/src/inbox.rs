//! What came from the server, sorted: answers to whoever waits for them, questions and notifications in order.
//!
//! Every wait ends: a test that would hang fails after [`PATIENCE`] and says what it waited for.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Notify, oneshot};
use toolfold_wire::{Id, Message, Raw, RpcError, raw};

pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A request from the server to the client.
#[derive(Debug, Clone)]
pub struct Question {
    pub id: Id,
    pub method: String,
    pub params: Value,
}

#[derive(Default)]
pub(crate) struct Inbox {
    next: AtomicU64,
    arrived: Notify,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: HashMap<Id, oneshot::Sender<Result<Raw, RpcError>>>,
    questions: VecDeque<Question>,
    notifications: VecDeque<Value>,
    strays: Vec<String>,
}

impl Inbox {
    /// A fresh id and where its answer will come.
    pub(crate) fn expect(&self) -> (Id, oneshot::Receiver<Result<Raw, RpcError>>) {
        let id = Id::number(self.next.fetch_add(1, Ordering::Relaxed) + 1);
        let (sender, receiver) = oneshot::channel();
        self.state().waiting.insert(id.clone(), sender);
        (id, receiver)
    }

    pub(crate) fn take(&self, bytes: &[u8]) {
        let mut state = self.state();
        match Message::parse(bytes.to_vec()) {
            Ok(Message::Response { id, outcome }) => match state.waiting.remove(&id) {
                Some(waiting) => drop(waiting.send(outcome)),
                None => state.strays.push(String::from_utf8_lossy(bytes).into_owned()),
            },
            Ok(Message::Request { id, method, params }) => {
                state.questions.push_back(Question { id, method, params: value(params.as_ref()) });
            }
            Ok(Message::Notification { method, params }) => {
                let notification = serde_json::json!({"method": method, "params": value(params.as_ref())});
                state.notifications.push_back(notification);
            }
            Err(_) => state.strays.push(String::from_utf8_lossy(bytes).into_owned()),
        }
        drop(state);
        self.arrived.notify_waiters();
    }

    /// The connection is gone: nobody will be answered any more.
    pub(crate) fn close(&self) {
        self.state().waiting.clear();
        self.arrived.notify_waiters();
    }

    pub(crate) fn forget(&self, id: &Id) {
        self.state().waiting.remove(id);
    }

    pub(crate) fn notifications(&self) -> Vec<Value> {
        self.state().notifications.drain(..).collect()
    }

    pub(crate) fn strays(&self) -> Vec<String> {
        self.state().strays.clone()
    }

    pub(crate) async fn next_question(&self) -> Question {
        self.wait_for("a request from the server", |state| state.questions.pop_front()).await
    }

    pub(crate) async fn next_notification(&self, method: &str) -> Value {
        self.wait_for(method, |state| {
            let place = state.notifications.iter().position(|message| message["method"] == method)?;
            Some(state.notifications.remove(place)?["params"].take())
        })
        .await
    }

    async fn wait_for<T>(&self, what: &str, mut take: impl FnMut(&mut State) -> Option<T>) -> T {
        let waiting = async {
            loop {
                let arrived = self.arrived.notified();
                tokio::pin!(arrived);
                // Registered before the look, so that nothing slips in between.
                arrived.as_mut().enable();
                if let Some(found) = take(&mut self.state()) {
                    return found;
                }
                arrived.await;
            }
        };
        patiently(what, waiting).await
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits as long as a test may wait.
pub(crate) async fn patiently<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("waited {PATIENCE:?} for {what}"),
    }
}

pub(crate) fn value(raw: Option<&Raw>) -> Value {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

/// `_meta` of a stateless request, added to its parameters.
pub(crate) fn with_modern_meta(mut params: Value, capabilities: &Value) -> Value {
    use toolfold_wire::{MODERN, meta};
    if params.is_null() {
        params = serde_json::json!({});
    }
    let request_meta = &mut params["_meta"];
    request_meta[meta::VERSION] = MODERN.into();
    request_meta[meta::CLIENT_CAPABILITIES] = capabilities.clone();
    request_meta[meta::CLIENT_INFO] = client_info();
    params
}

/// Parameters of the legacy handshake.
pub(crate) fn greeting(version: &str, capabilities: &Value) -> Value {
    serde_json::json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": client_info()})
}

/// `null` stands for no parameters.
pub(crate) fn given(params: &Value) -> Option<Raw> {
    (!params.is_null()).then(|| raw(params))
}

fn client_info() -> Value {
    serde_json::json!({"name": "toolfold-test", "version": "1.0.0"})
}
