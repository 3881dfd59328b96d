//! The stateless era: every request brings its version and its client's capabilities, and every result says what it is
//! and how long it may be kept.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolfold_core::{Principal, Surface};
use toolfold_gateway::{Client, Gateway, LogLevel, Request};
use toolfold_wire::{BoxFuture, MODERN, Message, Object, Peer, Raw, RpcError, code, meta};

use crate::era::request_meta;
use crate::info;

/// How long a list may be kept without asking again. Whoever wants to know sooner subscribes.
const LIST_TTL_MS: u64 = 30_000;

/// What a request says about itself.
pub(crate) struct Envelope {
    capabilities: Option<Raw>,
    log_level: Option<LogLevel>,
}

impl Envelope {
    /// Reads and checks `_meta`. Both of its required members must be there.
    pub(crate) fn read(params: Option<&Raw>) -> Result<Self, RpcError> {
        let request = request_meta(params);
        let missing = |key: &str| RpcError::invalid_params(format!("Invalid params: _meta.{key:?} is required."));
        let version = request.string(meta::VERSION).ok_or_else(|| missing(meta::VERSION))?;
        if version != MODERN {
            return Err(unsupported(&version));
        }
        let capabilities = request.get(meta::CLIENT_CAPABILITIES).filter(|raw| raw.get().starts_with('{'));
        let capabilities = capabilities.ok_or_else(|| missing(meta::CLIENT_CAPABILITIES))?;
        Ok(Envelope {
            capabilities: Some(capabilities.to_owned()),
            log_level: request.string(meta::LOG_LEVEL).and_then(|level| LogLevel::parse(&level)),
        })
    }
}

pub(crate) fn unsupported(requested: &str) -> RpcError {
    RpcError::new(code::UNSUPPORTED_VERSION, format!("Unsupported protocol version: {requested}"))
        .with_data(&json!({"supported": info::supported(), "requested": requested}))
}

/// Answers one request, with everything a result of this era must carry.
pub(crate) async fn answer(
    gateway: &Gateway,
    surface: Surface,
    envelope: Envelope,
    method: String,
    params: Option<Raw>,
    out: mpsc::Sender<String>,
    cancel: CancellationToken,
) -> Result<Raw, RpcError> {
    let result = match method.as_str() {
        "server/discover" => info::discovered(gateway, surface),
        "initialize" | "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => {
            return Err(RpcError::method_not_found(&method));
        }
        _ => {
            let client = Arc::new(Client::request(Principal::local(), surface, envelope.capabilities));
            let peer = Arc::new(Teller { out, log_level: envelope.log_level });
            let params = Request::params_of(&method, params.as_ref())?;
            gateway.handle(Request { client, peer, method: method.clone(), params, cancel }).await?
        }
    };
    Ok(complete(gateway, surface, &method, result))
}

/// Adds what the era requires and the result does not have; what it has is left alone.
pub(crate) fn complete(gateway: &Gateway, surface: Surface, method: &str, result: Raw) -> Raw {
    let Some(mut object) = Object::parse(&result) else { return result };
    if !object.contains("resultType") {
        object.set("resultType", "complete");
    }
    let asked = object.string("resultType").as_deref() != Some("complete");
    if !asked && let Some(ttl) = freshness(surface, method) {
        let scope = if gateway.config().http.token.is_some() { "private" } else { "public" };
        for (key, value) in [("ttlMs", json!(ttl)), ("cacheScope", json!(scope))] {
            if !object.contains(key) {
                object.set(key, &value);
            }
        }
    }
    let mut result_meta = object.object("_meta").unwrap_or_default();
    if !result_meta.contains(meta::SERVER_INFO) {
        result_meta.set(meta::SERVER_INFO, &info::server_info());
        object.set("_meta", &result_meta);
    }
    object.to_raw()
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
    out: mpsc::Sender<String>,
    log_level: Option<LogLevel>,
}

impl Peer for Teller {
    fn notify(&self, method: &str, params: Option<Raw>) {
        if method == "notifications/message" {
            let level = params.as_ref().and_then(Object::parse).and_then(|object| object.string("level"));
            let level = level.and_then(|level| LogLevel::parse(&level)).unwrap_or(LogLevel::Info);
            if self.log_level.is_none_or(|wanted| level < wanted) {
                return;
            }
        }
        // A full or closed stream loses notifications, never answers.
        let _ = self.out.try_send(Message::notification(method, params).to_line());
    }

    fn ask<'a>(&'a self, method: &'a str, _params: Option<Raw>) -> BoxFuture<'a, Result<Raw, RpcError>> {
        Box::pin(async move { Err(RpcError::internal(format!("{method} cannot be sent to a stateless client."))) })
    }
}
