//! The stateless era: every request brings its version and its client's capabilities, and every result says what it is
//! and how long it may be kept.

use std::net::IpAddr;
use std::sync::{Arc, LazyLock};

use serde_json::json;
use toolfold_core::{Principal, ServerName, Surface};
use toolfold_gateway::{Carriage, Client, Gateway, LogLevel, Request};
use toolfold_wire::{BoxFuture, MODERN, Message, Object, Peer, Raw, RpcError, code, meta, raw};

use crate::asking::Asking;
use crate::conversation::checked_capabilities;
use crate::info;
use crate::outbox::Outbox;
use crate::text::shown;

/// How long a list may be kept without asking again. Whoever wants to know sooner subscribes.
const LIST_TTL_MS: u64 = 30_000;

/// What a request says about itself.
pub(crate) struct Envelope {
    capabilities: Option<Raw>,
    log_level: Option<LogLevel>,
}

impl Envelope {
    /// Reads and checks `_meta`. Both of its required members must be there.
    pub(crate) fn read(about: &Object) -> Result<Self, RpcError> {
        let missing = |key: &str| RpcError::invalid_params(format!("Invalid params: _meta.{key:?} is required."));
        let version = about.string(meta::VERSION).ok_or_else(|| missing(meta::VERSION))?;
        if version != MODERN {
            return Err(unsupported(&version));
        }
        let capabilities = about.get(meta::CLIENT_CAPABILITIES).filter(|raw| raw.get().starts_with('{'));
        let capabilities = capabilities.ok_or_else(|| missing(meta::CLIENT_CAPABILITIES))?;
        Ok(Envelope {
            capabilities: checked_capabilities(Some(capabilities))?,
            log_level: about.string(meta::LOG_LEVEL).and_then(|level| LogLevel::parse(&level)),
        })
    }
}

pub(crate) fn unsupported(requested: &str) -> RpcError {
    let requested = shown(requested);
    RpcError::new(code::UNSUPPORTED_VERSION, format!("Unsupported protocol version: {requested}"))
        .with_data(&json!({"supported": info::supported(), "requested": requested}))
}

/// Who is asking, and on which surface.
#[derive(Clone)]
pub(crate) struct Asker {
    pub(crate) gateway: Gateway,
    pub(crate) principal: Principal,
    pub(crate) surface: Surface,
    pub(crate) from: Whence,
    /// A replica that asks for a server which runs here alone.
    pub(crate) relayed: Option<ServerName>,
}

/// Where requests come from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whence {
    /// As [`Carriage`] has it.
    pub(crate) transport: &'static str,
    pub(crate) address: Option<IpAddr>,
}

impl Asker {
    /// Answers one request, with everything a result of this era must carry. `out`: what its client hears meanwhile.
    pub(crate) async fn answer(
        &self,
        asking: Asking,
        envelope: Envelope,
        out: Option<Outbox>,
    ) -> Result<Raw, RpcError> {
        if let Some(server) = &self.relayed {
            return self.relay(server, asking, envelope, out).await;
        }
        let Asking { id, method, params, about, carrier } = asking;
        let freshness = freshness(self.surface, &method);
        let is_discovery = method == "server/discover";
        let result = match method.as_str() {
            "initialize" | "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => {
                return Err(RpcError::method_not_found(&method));
            }
            _ => {
                let client = Client::request(self.principal.clone(), self.surface, envelope.capabilities)
                    .called(about.get(meta::CLIENT_INFO))
                    .over(Carriage::new(self.from.transport, MODERN), self.from.address);
                let peer = Arc::new(Teller { out, log_level: envelope.log_level });
                let request = Request::new(Arc::new(client), peer, method, params).with_id(&id);
                let request = request.carried_in(carrier.as_deref());
                if is_discovery {
                    let discovered = async { Ok(info::discovered(&self.gateway, self.surface, &self.principal).await) };
                    self.gateway.counted(request, discovered).await?
                } else {
                    self.gateway.handle(request).await?
                }
            }
        };
        Ok(self.complete(freshness, result))
    }

    /// The server's own answer, for another replica, which has let the request in.
    async fn relay(
        &self,
        server: &ServerName,
        asking: Asking,
        envelope: Envelope,
        out: Option<Outbox>,
    ) -> Result<Raw, RpcError> {
        let relay = self.gateway.relay();
        if asking.method == "server/discover" {
            return relay.manifest(server).await;
        }
        if let Some(level) = envelope.log_level {
            relay.set_log_level(server, level);
        }
        let client = Client::request(self.principal.clone(), self.surface, envelope.capabilities);
        let peer = Arc::new(Teller { out, log_level: envelope.log_level });
        let request = Request::new(Arc::new(client), peer, asking.method, asking.params);
        relay.answer(server, request).await
    }

    /// Adds what the era requires and the result does not have, in front of it; what it has is left alone.
    pub(crate) fn complete(&self, freshness: Option<u64>, result: Raw) -> Raw {
        static COMPLETE: LazyLock<Raw> = LazyLock::new(|| raw("complete"));
        static SERVER_INFO: LazyLock<Raw> = LazyLock::new(|| raw(&info::server_info()));
        let Some(object) = Object::parse(&result) else { return result };
        let mut whole = Object::new();
        let mut add = |key: &str, value: Raw| {
            if !object.contains(key) {
                whole.set_raw(key, value);
            }
        };
        add("resultType", COMPLETE.clone());
        let asked = object.get("resultType").is_some_and(|kind| kind.get() != COMPLETE.get());
        if let Some(ttl) = freshness.filter(|_| !asked) {
            // What differs from one principal to the next is for nobody else's cache.
            let config = self.gateway.config();
            let scope = if config.is_open() && config.rules.is_empty() { "public" } else { "private" };
            add("ttlMs", raw(&ttl));
            add("cacheScope", raw(scope));
        }
        let mut about = object.object("_meta").unwrap_or_default();
        if !about.contains(meta::SERVER_INFO) {
            about.set_raw(meta::SERVER_INFO, SERVER_INFO.clone());
        }
        whole.set_raw("_meta", about.to_raw());
        for (key, value) in object.iter().filter(|(key, _)| *key != "_meta") {
            whole.set_raw(key, value.clone());
        }
        whole.to_raw()
    }
}

/// For how long the answer to a method may be kept, where the era wants to know.
fn freshness(surface: Surface, method: &str) -> Option<u64> {
    match method {
        "tools/list" if surface == Surface::Direct => Some(LIST_TTL_MS),
        "tools/list" | "server/discover" => Some(10 * LIST_TTL_MS),
        "prompts/list" | "resources/list" | "resources/templates/list" => Some(LIST_TTL_MS),
        // Whether a resource has changed only its server knows.
        "resources/read" => Some(0),
        _ => None,
    }
}

/// A stateless client during one request: it hears what belongs to the request and is never asked directly.
struct Teller {
    /// `None` where it wants to hear nothing but the answer.
    out: Option<Outbox>,
    log_level: Option<LogLevel>,
}

impl Peer for Teller {
    fn notify(&self, method: &str, params: Option<Raw>) {
        let Some(out) = &self.out else { return };
        if method == "notifications/message" {
            let level = params.as_ref().and_then(Object::parse).and_then(|object| object.string("level"));
            let level = level.and_then(|level| LogLevel::parse(&level)).unwrap_or(LogLevel::Info);
            if self.log_level.is_none_or(|wanted| level < wanted) {
                return;
            }
        }
        // A full or closed stream loses notifications, never answers.
        out.tell(Message::notification(method, params).to_line());
    }

    fn ask<'a>(&'a self, method: &'a str, _params: Option<Raw>) -> BoxFuture<'a, Result<Raw, RpcError>> {
        Box::pin(async move { Err(RpcError::internal(format!("{method} cannot be sent to a stateless client."))) })
    }
}
