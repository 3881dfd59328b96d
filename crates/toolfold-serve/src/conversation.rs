//! One conversation of the session era, whatever carries it: it begins with `initialize` and remembers its client.

use std::sync::Arc;

use toolfold_gateway::{Carriage, Client, Gateway, Request, Stay};
use toolfold_wire::{Id, Message, Object, Raw, RpcError, Silent, code, negotiate};

use crate::asking::Asking;
use crate::asks::{Asked, Asks, Outlet};
use crate::info;
use crate::running::{InFlight, Running, until_cancelled};
use crate::stateless::Asker;

/// The longest `capabilities`: they are kept for as long as the client stays.
pub(crate) const LARGEST_CAPABILITIES: usize = 64 * 1024;
/// Requests of one client that may be worked on at once: half of what one server takes.
pub(crate) const AT_ONCE: usize = 512;

pub(crate) struct Conversation {
    pub(crate) gateway: Gateway,
    pub(crate) client: Arc<Client>,
    stay: Stay,
    pub(crate) version: &'static str,
    asks: Arc<Asks>,
    pub(crate) running: Arc<Running>,
}

impl Conversation {
    /// Answers `initialize` of a client, which is counted like everything that one asks.
    pub(crate) async fn greet(asker: &Asker, asking: &Asking) -> Result<(Self, Raw), RpcError> {
        let Asker { gateway, principal, surface, from, .. } = asker;
        let version = asking.params.string("protocolVersion").map_or("", |requested| negotiate(&requested));
        let client = Client::request(principal.clone(), *surface, None)
            .over(Carriage::new(from.transport, version), from.address);
        let request = Request::new(Arc::new(client), Arc::new(Silent), "initialize", asking.params.clone())
            .with_id(&asking.id)
            .carried_in(asking.carrier.as_deref());
        gateway.counted(request, Conversation::begin(asker, &asking.params)).await
    }

    /// Begins the conversation that an `initialize` asks for, with the answer to it.
    pub(crate) async fn begin(asker: &Asker, params: &Object) -> Result<(Self, Raw), RpcError> {
        let Asker { gateway, principal, surface, from, .. } = asker;
        let Some(requested) = params.string("protocolVersion") else {
            return Err(RpcError::invalid_params("initialize needs `protocolVersion`, a string."));
        };
        let version = negotiate(&requested);
        let capabilities = checked_capabilities(params.get("capabilities"))?;
        let advertised = gateway.advertised(principal).await;
        let client = Client::session(principal.clone(), *surface, capabilities, advertised)
            .called(params.get("clientInfo"))
            .over(Carriage::new(from.transport, version), from.address);
        let greeting = info::initialized(gateway, &client, version, advertised);
        let client = Arc::new(client);
        let conversation = Conversation {
            gateway: gateway.clone(),
            stay: gateway.clients().welcome(&client),
            client,
            version,
            asks: Arc::default(),
            running: Arc::default(),
        };
        Ok((conversation, greeting))
    }

    /// Lets a request in, from when on it can be cancelled; an error where it is not worked on.
    pub(crate) fn admit(&self, asking: &Asking) -> Result<InFlight, RpcError> {
        self.running.begin(&asking.id, AT_ONCE).ok_or_else(too_many)
    }

    /// Works on a request; `None` where the client cancelled it and expects no answer.
    pub(crate) async fn request(&self, asking: Asking, running: InFlight, outlet: impl Outlet) -> Option<Message> {
        let Asking { id, method, params, carrier, .. } = asking;
        let peer = Arc::new(Asked { asks: self.asks.clone(), outlet });
        let request =
            Request::new(self.client.clone(), peer, method, params).with_id(&id).carried_in(carrier.as_deref());
        let outcome = until_cancelled(self.gateway.handle(request), &running.cancel).await?;
        Some(Message::response(id, outcome))
    }

    pub(crate) async fn notification(&self, method: &str, params: Option<Raw>) {
        match method {
            "notifications/cancelled" => self.running.cancel(params.as_ref()),
            "notifications/initialized" => {}
            _ => {
                // What it says in odd parameters nobody could make sense of.
                let Ok(params) = Request::params_of(method, params.as_ref()) else { return };
                let request = Request::new(self.client.clone(), Arc::new(Silent), method, params);
                self.gateway.notified(request).await;
            }
        }
    }

    /// Its client has gone.
    pub(crate) fn leave(&self) {
        self.stay.end();
    }

    pub(crate) fn answered(&self, id: &Id, outcome: Result<Raw, RpcError>) -> bool {
        self.asks.answered(id, outcome)
    }
}

/// Capabilities that are small enough to be kept.
pub(crate) fn checked_capabilities(capabilities: Option<&Raw>) -> Result<Option<Raw>, RpcError> {
    if capabilities.is_some_and(|raw| raw.get().len() > LARGEST_CAPABILITIES) {
        let message = format!("The client's capabilities are larger than {LARGEST_CAPABILITIES} bytes.");
        return Err(RpcError::invalid_params(message));
    }
    Ok(capabilities.cloned())
}

pub(crate) fn too_many() -> RpcError {
    let message = format!("Too many requests at once: at most {AT_ONCE} are worked on. Wait for some of them.");
    RpcError::new(code::INVALID_REQUEST, message)
}
