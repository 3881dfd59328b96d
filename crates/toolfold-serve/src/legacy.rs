//! One conversation of the session era, whatever carries it: it begins with `initialize` and remembers its client.

use std::sync::Arc;

use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use toolfold_core::{Principal, Surface};
use toolfold_gateway::{Client, Gateway, Request};
use toolfold_wire::{Id, Message, Object, Raw, RpcError, negotiate};

use crate::asks::{Asked, Asks, Outlet};
use crate::info;
use crate::running::Running;

pub(crate) struct Legacy {
    pub(crate) gateway: Gateway,
    pub(crate) client: Arc<Client>,
    pub(crate) version: &'static str,
    asks: Arc<Asks>,
    pub(crate) running: Running,
}

impl Legacy {
    /// Answers `initialize` and begins the conversation.
    pub(crate) fn begin(gateway: &Gateway, surface: Surface, params: Option<&Raw>) -> Result<(Self, Raw), RpcError> {
        let params = params.and_then(Object::parse).unwrap_or_default();
        let Some(requested) = params.string("protocolVersion") else {
            return Err(RpcError::invalid_params("initialize needs `protocolVersion`, a string."));
        };
        let version = negotiate(&requested);
        let capabilities = params.get("capabilities").map(ToOwned::to_owned);
        let legacy = Legacy {
            gateway: gateway.clone(),
            client: Arc::new(Client::session(Principal::local(), surface, capabilities)),
            version,
            asks: Arc::default(),
            running: Running::default(),
        };
        Ok((legacy, info::initialized(gateway, surface, version)))
    }

    /// Works on a request; `None` where the client cancelled it and expects no answer.
    pub(crate) async fn request(&self, id: Id, method: String, params: Option<Raw>, outlet: Outlet) -> Option<Message> {
        let cancel = self.running.begin(&id);
        let params = match Request::params_of(&method, params.as_ref()) {
            Ok(params) => params,
            Err(error) => {
                self.running.end(&id);
                return Some(Message::response(id, Err(error)));
            }
        };
        let request = Request {
            client: self.client.clone(),
            peer: Arc::new(Asked { asks: self.asks.clone(), outlet }),
            method,
            params,
            cancel: cancel.clone(),
        };
        let outcome = tokio::select! {
            outcome = self.gateway.handle(request) => outcome,
            () = cancel.cancelled() => return None,
        };
        self.running.end(&id);
        Some(Message::response(id, outcome))
    }

    /// Tells the client of changes until the conversation is over.
    pub(crate) fn tell_changes(&self, outlet: Outlet, over: CancellationToken) {
        let (mut changes, client) = (self.gateway.changes(), self.client.clone());
        tokio::spawn(async move {
            loop {
                let change = tokio::select! {
                    () = over.cancelled() => return,
                    change = changes.recv() => change,
                };
                match change {
                    Ok(change) => {
                        if let Some((method, params)) = change.notification(&client) {
                            outlet(Message::notification(method, params));
                        }
                    }
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        });
    }

    pub(crate) async fn notification(&self, method: &str, params: Option<Raw>) {
        match method {
            "notifications/cancelled" => self.running.cancel(params.as_ref()),
            "notifications/initialized" => {}
            _ => self.gateway.notified(method, params).await,
        }
    }

    pub(crate) fn answered(&self, id: &Id, outcome: Result<Raw, RpcError>) -> bool {
        self.asks.answered(id, outcome)
    }
}
