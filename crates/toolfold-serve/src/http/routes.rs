//! Which path is answered by whom.

use std::net::IpAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};
use toolfold_core::{Principal, Surface};

use super::post::Caller;
use super::reply::{Reply, json_response, text_response};
use super::{App, post, rest};
use crate::text::shown;

/// What the counters are written in.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(crate) async fn answer(app: &Arc<App>, principal: Principal, peer: IpAddr, parts: Parts, body: Incoming) -> Reply {
    let path = parts.uri.path();
    if path == "/mcp" {
        return post::mcp(app, Caller { principal, peer, surface: app.surface }, parts, body).await;
    }
    if let Some(name) = path.strip_prefix("/mcp/") {
        return match Surface::parse(name) {
            Some(surface) => post::mcp(app, Caller { principal, peer, surface }, parts, body).await,
            None => no_surface(name),
        };
    }
    // What is rare has a box of its own, or every call would be as large.
    if path.starts_with("/v1/") {
        return Box::pin(rest::answer(app, principal, parts, body)).await;
    }
    let looks = parts.method == Method::GET || parts.method == Method::HEAD;
    match path {
        "/" | "/healthz" | "/readyz" | "/metrics" | "/openapi.json" if !looks => not_allowed("GET"),
        "/" => front(&parts.headers),
        "/healthz" => json_response(StatusCode::OK, r#"{"status":"ok"}"#),
        "/readyz" => ready(app),
        "/metrics" => metrics(app),
        "/openapi.json" => json_response(StatusCode::OK, rest::OPENAPI),
        _ => text_response(StatusCode::NOT_FOUND, "There is nothing here. The MCP endpoint is /mcp.\n"),
    }
}

/// Whether requests can be answered as they should be; `/healthz` says that there is somebody at all.
fn ready(app: &App) -> Reply {
    match app.gateway.is_ready() {
        true => json_response(StatusCode::OK, r#"{"status":"ready"}"#),
        false => json_response(StatusCode::SERVICE_UNAVAILABLE, r#"{"status":"not ready"}"#),
    }
}

fn metrics(app: &App) -> Reply {
    let mut response = text_response(StatusCode::OK, app.gateway.metrics());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(OPEN_METRICS));
    response
}

fn no_surface(name: &str) -> Reply {
    let known: Vec<&str> = Surface::ALL.iter().map(|surface| surface.as_str()).collect();
    let message = format!("There is no surface {:?}. Use one of: {}.", shown(name), known.join(", "));
    text_response(StatusCode::NOT_FOUND, message)
}

fn front(headers: &HeaderMap) -> Reply {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("127.0.0.1:7420");
    let host = shown(host);
    text_response(
        StatusCode::OK,
        format!(
            "Toolfold {} is running.\n\nMCP endpoint: http://{host}/mcp\nHTTP API: http://{host}/openapi.json\nState of the servers: http://{host}/v1/status\n",
            env!("CARGO_PKG_VERSION")
        ),
    )
}

pub(crate) fn not_allowed(allowed: &'static str) -> Reply {
    let mut response = text_response(StatusCode::METHOD_NOT_ALLOWED, format!("Use {allowed} here.\n"));
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    response
}
