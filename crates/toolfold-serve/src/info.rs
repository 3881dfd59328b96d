//! What Toolfold says of itself.

use serde_json::{Value, json};
use toolfold_core::Surface;
use toolfold_gateway::{Advertised, Gateway};
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
pub(crate) fn initialized(gateway: &Gateway, surface: Surface, version: &str, advertised: Advertised) -> Raw {
    raw(&json!({
        "protocolVersion": version,
        "capabilities": capabilities(advertised),
        "serverInfo": server_info(),
        "instructions": gateway.instructions(surface),
    }))
}

/// The answer to `server/discover`.
pub(crate) async fn discovered(gateway: &Gateway, surface: Surface) -> Raw {
    raw(&json!({
        "supportedVersions": supported(),
        "capabilities": capabilities(gateway.advertised().await),
        "instructions": gateway.instructions(surface),
    }))
}

/// Newest first.
pub(crate) fn supported() -> Vec<&'static str> {
    std::iter::once(MODERN).chain(LEGACY.into_iter().rev()).collect()
}
