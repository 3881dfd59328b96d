//! What Toolfold says of itself.

use serde_json::{Value, json};
use toolfold_core::Surface;
use toolfold_gateway::Gateway;
use toolfold_wire::{LEGACY, MODERN, Raw, raw};

pub(crate) fn server_info() -> Value {
    json!({"name": "toolfold", "title": "Toolfold", "version": env!("CARGO_PKG_VERSION")})
}

/// Declared whatever is behind us: servers come and go, and a list may well be empty.
fn capabilities() -> Value {
    json!({
        "tools": {"listChanged": true},
        "prompts": {"listChanged": true},
        "resources": {"listChanged": true, "subscribe": true},
        "completions": {},
        "logging": {},
    })
}

/// The answer to `initialize`.
pub(crate) fn initialized(gateway: &Gateway, surface: Surface, version: &str) -> Raw {
    raw(&json!({
        "protocolVersion": version,
        "capabilities": capabilities(),
        "serverInfo": server_info(),
        "instructions": gateway.instructions(surface),
    }))
}

/// The answer to `server/discover`.
pub(crate) fn discovered(gateway: &Gateway, surface: Surface) -> Raw {
    raw(&json!({
        "supportedVersions": supported(),
        "capabilities": capabilities(),
        "instructions": gateway.instructions(surface),
    }))
}

/// Newest first.
pub(crate) fn supported() -> Vec<&'static str> {
    std::iter::once(MODERN).chain(LEGACY.into_iter().rev()).collect()
}
