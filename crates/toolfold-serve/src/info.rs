//! What Toolfold says of itself.

use serde_json::{Value, json};
use toolfold_core::{Principal, Surface};
use toolfold_gateway::{Advertised, Client, Gateway};
use toolfold_wire::{LEGACY, MODERN, Raw, raw};

pub(crate) fn server_info() -> Value {
    json!({"name": "toolfold", "title": "Toolfold", "version": env!("CARGO_PKG_VERSION")})
}

fn capabilities(advertised: Advertised) -> Value {
    let mut all = json!({"tools": {"listChanged": true}});
    let parts = [
        (advertised.prompts, "prompts", json!({"listChanged": true})),
        (advertised.resources, "resources", json!({"listChanged": true, "subscribe": true})),
        (advertised.completions, "completions", json!({})),
        (advertised.logging, "logging", json!({})),
    ];
    for (_, part, value) in parts.into_iter().filter(|(has, ..)| *has) {
        all[part] = value;
    }
    all
}

/// The answer to `initialize`.
pub(crate) fn initialized(gateway: &Gateway, client: &Client, version: &str, advertised: Advertised) -> Raw {
    raw(&json!({
        "protocolVersion": version,
        "capabilities": capabilities(advertised),
        "serverInfo": server_info(),
        "instructions": gateway.instructions(client.surface, &client.principal()),
    }))
}

/// The answer to `server/discover`.
pub(crate) async fn discovered(gateway: &Gateway, surface: Surface, principal: &Principal) -> Raw {
    raw(&json!({
        "supportedVersions": supported(),
        "capabilities": capabilities(gateway.advertised(principal).await),
        "instructions": gateway.instructions(surface, principal),
    }))
}

/// Newest first.
pub(crate) fn supported() -> Vec<&'static str> {
    std::iter::once(MODERN).chain(LEGACY.into_iter().rev()).collect()
}
