//! Where a message from a server goes: to the call it answers, to the client it concerns, or to the supervisor.
//!
//! What a reader would get wrong: a process is shared by all clients, so a question or a log line is passed on only
//! when it can be meant for one client alone. The stream it came on says so (HTTP), or the fact that only that
//! client has calls open. What can be meant for two, or for none, reaches nobody: it is not broadcast.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use toolfold_wire::{BadMessage, Id, LONGEST_ID, LONGEST_METHOD, Message, Object, Raw, RpcError, meta, raw};

use crate::call::CallError;
use crate::connection::Connection;
use crate::outgoing::{token_of, with_token};
use crate::owner::Owner;
use crate::question::put_question;
use crate::shared::{Stale, lock};

/// Questions of a server that are put to clients at once.
pub const MOST_QUESTIONS: usize = 64;

/// The questions of the server that are being answered.
pub(crate) struct Questions {
    running: Mutex<HashMap<Id, CancellationToken>>,
    slots: Arc<Semaphore>,
}

impl Default for Questions {
    fn default() -> Self {
        Questions { running: Mutex::default(), slots: Arc::new(Semaphore::new(MOST_QUESTIONS)) }
    }
}

impl Connection {
    /// Takes what a server sent, one message or several, and returns what was none. `on`: the request on whose own
    /// stream it came.
    pub(crate) fn receive_bytes(self: &Arc<Self>, bytes: Bytes, on: Option<u64>) -> Result<(), BadMessage> {
        let mut bad = None;
        for message in Message::parse_all(bytes.clone()) {
            if !message.as_ref().is_ok_and(|message| self.is_answer(message)) {
                self.shared.heard_unasked();
            }
            match message {
                Ok(message) => self.receive(message, on),
                Err(error) => bad = bad.or(self.receive_bad(error, &bytes)),
            }
        }
        bad.map_or(Ok(()), Err)
    }

    /// Whether somebody waits for it.
    fn is_answer(&self, message: &Message) -> bool {
        matches!(message, Message::Response { id, .. } if id.as_number().is_some_and(|id| self.is_open(id)))
    }

    fn receive(self: &Arc<Self>, message: Message, on: Option<u64>) {
        match message {
            Message::Response { id, outcome } => {
                if let Some(id) = id.as_number() {
                    self.answer(id, outcome.map_err(|error| self.shared.answered(error)));
                }
            }
            // Both are kept while a client thinks, apart from the message and so from what is counted.
            Message::Request { id, method, .. } if id.as_json().len() > LONGEST_ID || method.len() > LONGEST_METHOD => {
                tracing::debug!(server = %self.shared.config.name, "a question was dropped: its id or method is too long")
            }
            Message::Notification { method, .. } if method.len() > LONGEST_METHOD => {}
            Message::Notification { method, params } => self.hear(&method, params, on),
            Message::Request { id, method, params } => self.be_asked(id, method, params, on),
        }
    }

    /// Something with the id of an open request that is no proper response: that request will get no other.
    fn receive_bad(&self, error: BadMessage, bytes: &[u8]) -> Option<BadMessage> {
        let id = error.id.clone().or_else(|| id_of(bytes));
        let Some(id) = id.as_ref().and_then(Id::as_number).filter(|id| self.is_open(*id)) else { return Some(error) };
        let why = "the server's answer is not a valid JSON-RPC response";
        self.answer(id, Err(CallError::unavailable(why)));
        None
    }

    fn hear(self: &Arc<Self>, method: &str, params: Option<Raw>, on: Option<u64>) {
        match method {
            "notifications/progress" => self.hear_progress(params.as_ref()),
            "notifications/tools/list_changed" => self.shared.stale.mark(Stale::TOOLS),
            "notifications/prompts/list_changed" => self.shared.stale.mark(Stale::PROMPTS),
            "notifications/resources/list_changed" => self.shared.stale.mark(Stale::RESOURCES),
            "notifications/subscriptions/acknowledged" => {
                let id = on.or_else(|| subscription_of(params.as_ref()?)).unwrap_or_else(|| self.last_id());
                self.confirmed.send_replace(id);
            }
            "notifications/cancelled" => self.take_back(params.as_ref()),
            "notifications/resources/updated" => self.hear_update(params.as_ref()),
            _ => self.pass_on(method, params, on),
        }
    }

    /// Log messages and whatever else a server says in the middle of a call.
    fn pass_on(&self, method: &str, params: Option<Raw>, on: Option<u64>) {
        let owner = match on {
            Some(id) => self.owner_of(id),
            None => self.undoubted_owner().inspect(|owner| self.hear_beside(owner)),
        };
        match owner.filter(|_| self.shared.admits_notification()) {
            Some(owner) => owner.peer.notify(method, params),
            None => {
                tracing::debug!(server = %self.shared.config.name, "a notification that belongs to no call is dropped")
            }
        }
    }

    /// Passed on for what was subscribed to here, and nothing else: a server has no say over others' resources.
    fn hear_update(&self, params: Option<&Raw>) {
        let Some(uri) = params.and_then(Object::parse).and_then(|params| params.string("uri")) else { return };
        if self.shared.is_subscribed(&uri) && self.shared.admits_notification() {
            self.shared.report_update(uri);
        }
    }

    fn hear_progress(&self, params: Option<&Raw>) {
        let Some(params) = params else { return };
        let Some((owner, token)) = token_of(params).and_then(|id| self.owner_of_token(id)) else { return };
        if !self.shared.admits_notification() {
            return;
        }
        owner.peer.notify("notifications/progress", with_token(params, &token));
    }

    fn owner(&self, on: Option<u64>) -> Option<Owner> {
        match on {
            Some(id) => self.owner_of(id),
            None => self.sole_owner(),
        }
    }

    fn be_asked(self: &Arc<Self>, id: Id, method: String, params: Option<Raw>, on: Option<u64>) {
        let Ok(slot) = self.questions.slots.clone().try_acquire_owned() else {
            // Even the refusal costs something; a server that floods gets none.
            return tracing::debug!(server = %self.shared.config.name, "a question was dropped: too many are open");
        };
        if method == "ping" {
            return self.reply(id, Ok(raw(&json!({}))), slot);
        }
        let Some(owner) = self.owner(on) else {
            return self.reply(id, Err(cannot_ask(&method)), slot);
        };
        let taken_back = CancellationToken::new();
        lock(&self.questions.running).insert(id.clone(), taken_back.clone());
        let connection = self.clone();
        owner.thinking.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            let answer = tokio::select! {
                answer = put_question(&*owner.peer, &method, params) => Some(answer),
                () = taken_back.cancelled() => None,
                () = connection.closed() => None,
            };
            owner.thinking.fetch_sub(1, Ordering::Relaxed);
            lock(&connection.questions.running).remove(&id);
            if let Some(answer) = answer {
                connection.reply(id, answer, slot);
            }
        });
    }

    fn reply(self: &Arc<Self>, id: Id, outcome: Result<Raw, RpcError>, slot: OwnedSemaphorePermit) {
        let message = Message::response(id, outcome);
        let connection = self.clone();
        tokio::spawn(async move {
            let _ = connection.send(&message).await;
            drop(slot);
        });
    }

    /// The server no longer wants to know.
    fn take_back(&self, params: Option<&Raw>) {
        let id = params.and_then(Object::parse).and_then(|params| Id::from_raw(params.get("requestId")?));
        let running = id.and_then(|id| lock(&self.questions.running).remove(&id));
        if let Some(running) = running {
            running.cancel();
        }
    }
}

/// The id of something that is an object but no message, such as an error without a code.
fn id_of(bytes: &[u8]) -> Option<Id> {
    let object: Object = serde_json::from_slice(bytes).ok()?;
    Id::from_raw(object.get("id").filter(|_| !object.contains("method"))?)
}

fn subscription_of(params: &Raw) -> Option<u64> {
    Object::parse(params)?.object("_meta")?.read(meta::SUBSCRIPTION_ID)
}

/// For a question of the server that cannot be put to anybody.
fn cannot_ask(method: &str) -> RpcError {
    RpcError::internal(format!(
        "Toolfold cannot tell which of its clients {method} is meant for: no call, or calls of several clients, are open. \
         Ask while exactly one call is open."
    ))
}
